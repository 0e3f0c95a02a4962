#include "tracegen/execute/block/record_log.h"

#include <algorithm>
#include <cstring>
#include <utility>

namespace heddle::tracegen {
namespace {

// Entries behind whatever is copied from and to, so that a few can be copied without asking how many they are.
constexpr size_t kRoom = 8;

// Segments between two barriers are short, and calling memcpy for each would be most of the work.
template <typename Entry>
void Copy(Entry* to, const Entry* from, size_t count) {
  if (count <= 2) {
    std::memcpy(to, from, 2 * sizeof(Entry));
  } else if (count <= kRoom) {
    std::memcpy(to, from, kRoom * sizeof(Entry));
  } else {
    std::memcpy(to, from, count * sizeof(Entry));
  }
}

// Of so many entries per thread, one thread's behind the other's: adds them where the threads' own go on, or, where
// that is null because there are no others, leaves them in their place. Their ends are where more would follow.
template <typename Entry>
void Distribute(Entry* from, uint32_t count, std::span<Entry*> ends) {
  if (count == 0) return;
  for (Entry*& end : ends) {
    if (end == nullptr) {
      end = from;
    } else {
      Copy(end, from, count);
    }
    end += count;
    from += count;
  }
}

}  // namespace

template <typename Entry>
void RecordLog::Log<Entry>::Reserve(uint64_t count) {
  if (count <= capacity) return;
  entries.reset(new Entry[count + kRoom]);
  capacity = count;
}

template <typename Entry>
template <typename Count>
void RecordLog::Joined<Entry>::MakeRoom(size_t threads, Count&& count) {
  size_t room = 0;
  for (size_t t = 0; t < threads; ++t) {
    if (const size_t wanted = count(t); wanted != 0) room += wanted + kRoom;
  }
  if (entries.size() < room) entries.resize(room);
  ends.assign(threads, nullptr);
  Entry* next = entries.data();
  for (size_t t = 0; t < threads; ++t) {
    const size_t wanted = count(t);
    if (wanted == 0) continue;
    ends[t] = next;
    next += wanted + kRoom;
  }
}

void RecordLog::Begin(uint64_t addresses, uint64_t decisions) {
  addresses_.Reserve(addresses);
  decisions_.Reserve(decisions);
  address_end_ = addresses_.entries.get();
  decision_end_ = decisions_.entries.get();
  kept_addresses_ = 0;
  runs_.assign(1, trace::SegmentRun{});
}

void RecordLog::BeginRun(const trace::SegmentRun& run) { runs_.push_back(run); }

void RecordLog::CountParts(uint32_t threads) {
  parts_.assign(threads + 1, Part{});
  for (const trace::SegmentRun& run : runs_) {
    Part& first = parts_[run.first_thread];
    ++first.segments;
    first.addresses += run.addresses;
    first.decisions += run.decisions;
    Part& behind = parts_[run.first_thread + run.threads];
    --behind.segments;
    behind.addresses -= run.addresses;
    behind.decisions -= run.decisions;
  }
  for (uint32_t t = 1; t < threads; ++t) {
    parts_[t].segments += parts_[t - 1].segments;
    parts_[t].addresses += parts_[t - 1].addresses;
    parts_[t].decisions += parts_[t - 1].decisions;
  }
  parts_.pop_back();
}

void RecordLog::JoinDecisions() {
  std::vector<uint8_t*>& ends = joined_decisions_.ends;
  joined_decisions_.MakeRoom(parts_.size(),
                             [this](size_t t) { return parts_[t].segments < 2 ? 0 : parts_[t].decisions; });
  uint8_t* decision = decisions_.entries.get();
  for (const trace::SegmentRun& run : runs_) {
    Distribute(decision, run.decisions, std::span(ends).subspan(run.first_thread, run.threads));
    decision += size_t{run.decisions} * run.threads;
  }
  for (size_t t = 0; t < parts_.size(); ++t) {
    records_[t].decisions = std::span(ends[t] - parts_[t].decisions, parts_[t].decisions);
  }
}

void RecordLog::FindFirstSegments() {
  is_joined_ = true;
  const uint64_t* address = addresses_.entries.get();
  for (const trace::SegmentRun& run : runs_) {
    if (run.addresses == 0) continue;
    for (uint32_t t = run.first_thread; t < run.first_thread + run.threads; ++t, address += run.addresses) {
      if (records_[t].addresses.empty()) {
        records_[t].addresses = std::span(address, run.addresses);
      } else {
        is_joined_ = false;
      }
    }
  }
}

void RecordLog::Finish(uint32_t threads) {
  CountParts(threads);
  records_.assign(threads, trace::ThreadRecord{});
  access_counts_.resize(threads);
  for (uint32_t t = 0; t < threads; ++t) access_counts_[t] = parts_[t].addresses;
  JoinDecisions();
  FindFirstSegments();
}

bool RecordLog::FindOutside(const BoundsCheck& bounds) const {
  const uint64_t* address = addresses_.entries.get();
  for (const trace::SegmentRun& run : runs_) {
    const size_t addresses = size_t{run.addresses} * run.threads;
    if (bounds.FindOutside({address, addresses}) != BoundsCheck::kNone) return true;
    address += addresses;
  }
  return false;
}

void RecordLog::Join() {
  if (is_joined_) return;
  is_joined_ = true;
  std::vector<uint64_t*>& ends = joined_addresses_.ends;
  joined_addresses_.MakeRoom(parts_.size(), [this](size_t t) {
    const bool is_apart = records_[t].addresses.size() < parts_[t].addresses;
    return is_apart ? parts_[t].addresses : 0;
  });
  uint64_t* address = addresses_.entries.get();
  for (const trace::SegmentRun& run : runs_) {
    Distribute(address, run.addresses, std::span(ends).subspan(run.first_thread, run.threads));
    address += size_t{run.addresses} * run.threads;
  }
  for (size_t t = 0; t < parts_.size(); ++t) {
    records_[t].addresses = std::span(ends[t] - parts_[t].addresses, parts_[t].addresses);
  }
}

void RecordLog::PositionsInRecords(std::span<const uint64_t* const> pointers, std::vector<uint64_t>& positions) {
  positions.assign(pointers.size(), 0);
  std::vector<uint64_t> next(pointers.size(), 0);
  const uint64_t* address = addresses_.entries.get();
  for (const trace::SegmentRun& run : runs_) {
    for (uint32_t t = run.first_thread; t < run.first_thread + run.threads; ++t) {
      const uint64_t* const end = address + run.addresses;
      if (pointers[t] != nullptr && pointers[t] >= address && pointers[t] < end) {
        positions[t] = next[t] + static_cast<uint64_t>(pointers[t] - address);
      }
      next[t] += run.addresses;
      address = end;
    }
  }
}

void RecordLog::KeepRests(std::span<const uint64_t> consumed, uint64_t room, std::vector<uint64_t*>& starts) {
  uint64_t kept = 0;
  for (size_t t = 0; t < records_.size(); ++t) kept += records_[t].addresses.size() - consumed[t];
  std::unique_ptr<uint64_t[]> fresh(new uint64_t[kept + room + kRoom]);
  runs_.assign(1, trace::SegmentRun{});
  uint64_t at = 0;
  starts.assign(records_.size(), nullptr);
  for (size_t t = 0; t < records_.size(); ++t) {
    std::span<const uint64_t> rest = records_[t].addresses.subspan(consumed[t]);
    starts[t] = fresh.get() + at;
    if (rest.empty()) continue;
    std::memcpy(fresh.get() + at, rest.data(), rest.size_bytes());
    at += rest.size();
    runs_.push_back({static_cast<uint32_t>(t), 1, static_cast<uint32_t>(rest.size()), 0});
  }
  addresses_ = {std::move(fresh), kept + room};
  address_end_ = addresses_.entries.get() + at;
  kept_addresses_ = at;
  decision_end_ = decisions_.entries.get();
}

}  // namespace heddle::tracegen
