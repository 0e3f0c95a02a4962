#include "tracegen/execute/record_log.h"

#include <algorithm>
#include <cstring>
#include <utility>

namespace heddle::tracegen {

void RecordLog::Begin(uint64_t addresses, uint64_t decisions) {
  if (addresses > address_capacity_) {
    addresses_.reset(new uint64_t[addresses]);
    address_capacity_ = addresses;
  }
  if (decisions > decision_capacity_) {
    decisions_.reset(new uint8_t[decisions]);
    decision_capacity_ = decisions;
  }
  address_end_ = 0;
  decision_end_ = 0;
  kept_addresses_ = 0;
  segments_.clear();
}

bool RecordLog::Gather(uint32_t threads, const BoundsCheck* bounds, std::vector<trace::ThreadRecord>& records) {
  records.assign(threads, trace::ThreadRecord{});
  count_.assign(threads, 0);
  next_address_.assign(threads, 0);
  next_decision_.assign(threads, 0);
  for (const Segment& segment : segments_) {
    ++count_[segment.thread];
    next_address_[segment.thread] += segment.end_address - segment.first_address;
    next_decision_[segment.thread] += segment.end_decision - segment.first_decision;
  }
  uint64_t address = 0;
  uint64_t decision = 0;
  for (uint32_t t = 0; t < threads; ++t) {
    if (count_[t] < 2) continue;
    address += std::exchange(next_address_[t], address);
    decision += std::exchange(next_decision_[t], decision);
  }
  if (joined_addresses_.size() < address) joined_addresses_.resize(address);
  if (joined_decisions_.size() < decision) joined_decisions_.resize(decision);
  for (uint32_t t = 0; t < threads; ++t) {
    if (count_[t] < 2) continue;
    records[t].addresses = std::span(joined_addresses_.data() + next_address_[t], 0);
    records[t].decisions = std::span(joined_decisions_.data() + next_decision_[t], 0);
  }
  bool outside = false;
  for (const Segment& segment : segments_) {
    trace::ThreadRecord& record = records[segment.thread];
    uint64_t addresses = segment.end_address - segment.first_address;
    uint64_t decisions = segment.end_decision - segment.first_decision;
    const uint64_t* from = addresses_.get() + segment.first_address;
    const uint8_t* bits = decisions_.get() + segment.first_decision;
    if (bounds != nullptr && !outside) outside = bounds->FindOutside({from, addresses}) != BoundsCheck::kNone;
    if (count_[segment.thread] == 1) {
      record.addresses = std::span(from, addresses);
      record.decisions = std::span(bits, decisions);
      continue;
    }
    std::memcpy(const_cast<uint64_t*>(record.addresses.data()) + record.addresses.size(), from, addresses * 8);
    std::memcpy(const_cast<uint8_t*>(record.decisions.data()) + record.decisions.size(), bits, decisions);
    record.addresses = std::span(record.addresses.data(), record.addresses.size() + addresses);
    record.decisions = std::span(record.decisions.data(), record.decisions.size() + decisions);
  }
  return outside;
}

void RecordLog::PositionsInRecords(std::span<const uint64_t* const> pointers, std::vector<uint64_t>& positions) {
  positions.assign(pointers.size(), 0);
  next_address_.assign(pointers.size(), 0);
  for (const Segment& segment : segments_) {
    uint32_t thread = segment.thread;
    if (pointers[thread] == nullptr) continue;
    auto at = static_cast<uint64_t>(pointers[thread] - addresses_.get());
    if (at >= segment.first_address && at < segment.end_address) {
      positions[thread] = next_address_[thread] + (at - segment.first_address);
    }
    next_address_[thread] += segment.end_address - segment.first_address;
  }
}

void RecordLog::KeepRests(const std::vector<trace::ThreadRecord>& records, std::span<const uint64_t> consumed,
                          uint64_t room, std::vector<uint64_t*>& starts) {
  uint64_t kept = 0;
  for (size_t t = 0; t < records.size(); ++t) kept += records[t].addresses.size() - consumed[t];
  std::unique_ptr<uint64_t[]> fresh(new uint64_t[kept + room]);
  std::vector<Segment> segments;
  uint64_t at = 0;
  starts.assign(records.size(), nullptr);
  for (size_t t = 0; t < records.size(); ++t) {
    std::span<const uint64_t> rest = records[t].addresses.subspan(consumed[t]);
    starts[t] = fresh.get() + at;
    if (rest.empty()) continue;
    std::memcpy(fresh.get() + at, rest.data(), rest.size_bytes());
    segments.push_back({static_cast<uint32_t>(t), 0, 0, at, at + rest.size()});
    at += rest.size();
  }
  addresses_ = std::move(fresh);
  address_capacity_ = kept + room;
  address_end_ = at;
  kept_addresses_ = at;
  decision_end_ = 0;
  segments_ = std::move(segments);
}

}  // namespace heddle::tracegen
