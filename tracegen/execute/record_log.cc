#include "tracegen/execute/record_log.h"

#include <algorithm>
#include <cstring>
#include <utility>

namespace heddle::tracegen {
namespace {

// Entries behind whatever is copied from and to, so that a few can be copied without asking how many they are.
constexpr size_t kRoom = 8;

// Stretches between two barriers are short, and calling memcpy for each would be most of the work.
template <typename Entry>
void Copy(Entry* to, const Entry* from, size_t count) {
  if (count <= kRoom) {
    std::memcpy(to, from, kRoom * sizeof(Entry));
  } else {
    std::memcpy(to, from, count * sizeof(Entry));
  }
}

}  // namespace

void RecordLog::Begin(uint64_t addresses, uint64_t decisions) {
  if (addresses > address_capacity_) {
    addresses_.reset(new uint64_t[addresses + kRoom]);
    address_capacity_ = addresses;
  }
  if (decisions > decision_capacity_) {
    decisions_.reset(new uint8_t[decisions + kRoom]);
    decision_capacity_ = decisions;
  }
  address_end_ = 0;
  decision_end_ = 0;
  kept_addresses_ = 0;
  segments_.clear();
}

bool RecordLog::Gather(uint32_t threads, const BoundsCheck* bounds, std::vector<trace::ThreadRecord>& records) {
  records.assign(threads, trace::ThreadRecord{});
  parts_.assign(threads, Part{});
  Segment before;
  for (const Segment& segment : segments_) {
    Part& part = parts_[segment.thread];
    ++part.segments;
    part.addresses += segment.end_address - before.end_address;
    part.decisions += segment.end_decision - before.end_decision;
    before = segment;
  }
  uint64_t address = 0;
  uint64_t decision = 0;
  for (Part& part : parts_) {
    if (part.segments < 2) continue;
    address += std::exchange(part.addresses, address) + kRoom;
    decision += std::exchange(part.decisions, decision) + kRoom;
  }
  if (joined_addresses_.size() < address) joined_addresses_.resize(address);
  if (joined_decisions_.size() < decision) joined_decisions_.resize(decision);
  for (uint32_t t = 0; t < threads; ++t) {
    if (parts_[t].segments < 2) continue;
    records[t].addresses = std::span(joined_addresses_.data() + parts_[t].addresses, 0);
    records[t].decisions = std::span(joined_decisions_.data() + parts_[t].decisions, 0);
  }
  bool outside = false;
  before = Segment();
  for (const Segment& segment : segments_) {
    trace::ThreadRecord& record = records[segment.thread];
    Part& part = parts_[segment.thread];
    const uint64_t* from = addresses_.get() + before.end_address;
    const uint8_t* bits = decisions_.get() + before.end_decision;
    const size_t addresses = segment.end_address - before.end_address;
    const size_t decisions = segment.end_decision - before.end_decision;
    before = segment;
    if (bounds != nullptr && !outside) outside = bounds->FindOutside({from, addresses}) != BoundsCheck::kNone;
    if (part.segments == 1) {
      record.addresses = std::span(from, addresses);
      record.decisions = std::span(bits, decisions);
      continue;
    }
    Copy(joined_addresses_.data() + part.addresses, from, addresses);
    Copy(joined_decisions_.data() + part.decisions, bits, decisions);
    part.addresses += addresses;
    part.decisions += decisions;
  }
  for (uint32_t t = 0; t < threads; ++t) {
    if (parts_[t].segments < 2) continue;
    trace::ThreadRecord& record = records[t];
    record.addresses = std::span(record.addresses.data(), joined_addresses_.data() + parts_[t].addresses);
    record.decisions = std::span(record.decisions.data(), joined_decisions_.data() + parts_[t].decisions);
  }
  return outside;
}

void RecordLog::PositionsInRecords(std::span<const uint64_t* const> pointers, std::vector<uint64_t>& positions) {
  positions.assign(pointers.size(), 0);
  std::vector<uint64_t> next(pointers.size(), 0);
  uint64_t first = 0;
  for (const Segment& segment : segments_) {
    const uint32_t thread = segment.thread;
    if (pointers[thread] != nullptr) {
      const auto at = static_cast<uint64_t>(pointers[thread] - addresses_.get());
      if (at >= first && at < segment.end_address) positions[thread] = next[thread] + (at - first);
      next[thread] += segment.end_address - first;
    }
    first = segment.end_address;
  }
}

void RecordLog::KeepRests(const std::vector<trace::ThreadRecord>& records, std::span<const uint64_t> consumed,
                          uint64_t room, std::vector<uint64_t*>& starts) {
  uint64_t kept = 0;
  for (size_t t = 0; t < records.size(); ++t) kept += records[t].addresses.size() - consumed[t];
  std::unique_ptr<uint64_t[]> fresh(new uint64_t[kept + room + kRoom]);
  std::vector<Segment> segments;
  uint64_t at = 0;
  starts.assign(records.size(), nullptr);
  for (size_t t = 0; t < records.size(); ++t) {
    std::span<const uint64_t> rest = records[t].addresses.subspan(consumed[t]);
    starts[t] = fresh.get() + at;
    if (rest.empty()) continue;
    std::memcpy(fresh.get() + at, rest.data(), rest.size_bytes());
    at += rest.size();
    segments.push_back({static_cast<uint32_t>(t), static_cast<uint32_t>(at), 0});
  }
  addresses_ = std::move(fresh);
  address_capacity_ = kept + room;
  address_end_ = static_cast<uint32_t>(at);
  kept_addresses_ = at;
  decision_end_ = 0;
  segments_ = std::move(segments);
}

}  // namespace heddle::tracegen
