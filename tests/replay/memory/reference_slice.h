// An L2 slice that does everything at every edge, written to be read: docs/reference/timing.md, "The L2".
#ifndef HEDDLE_TESTS_REPLAY_MEMORY_REFERENCE_SLICE_H_
#define HEDDLE_TESTS_REPLAY_MEMORY_REFERENCE_SLICE_H_

#include <algorithm>
#include <cstdint>
#include <deque>
#include <functional>
#include <list>
#include <map>
#include <optional>
#include <vector>

#include "proto/machine.pb.h"
#include "replay/memory/cache/cache.h"
#include "replay/memory/l2/l2_slice.h"
#include "replay/memory/ports/memory_request.h"

namespace heddle::replay {

class ReferenceSlice {
 public:
  // A line on its way, or (without a cache) a single request.
  struct Fetch {
    uint64_t line = 0;
    bool dirty = false;
    bool come = false;
    std::deque<MemoryRequest> waiting;
  };
  struct Job {
    uint64_t address = 0;
    uint32_t bytes = 0;
    bool write = false;
    Fetch* fetch = nullptr;  // who gets the data, or learns that they are written
    uint64_t ready = 0;
  };
  // What the slice sees of the rest at the edge that is being run.
  struct World {
    std::function<const MemoryRequest*()> arrived;
    std::function<void()> take_arrived;
    std::function<bool(const MemoryRequest&)> send;
    std::function<uint64_t(uint64_t address)> within_slice;
    uint64_t after_rop;
    uint64_t after_dram_pipe;
  };

  ReferenceSlice(const machine::v1::L2& l2, uint64_t rop_edges, uint64_t dram_pipe_edges)
      : l2_(l2),
        cache_(l2.cache()),
        has_cache_(l2.slices_per_controller() != 0),
        line_bytes_(has_cache_ ? l2.cache().line_bytes() : 32),
        input_limit_(l2.input_queue() + rop_edges),
        job_limit_(l2.dram_queue() + dram_pipe_edges),
        sets_(has_cache_ ? l2.cache().sets() : 0),
        occupancy(has_cache_ ? l2.cache().mshrs() + 1 : 0) {}

  void Tick(uint64_t edge, const World& world) {
    // An atomic ends.
    if (atomic_.has_value() && atomic_end_ <= edge && output_.size() < l2_.output_queue()) {
      output_.push_back({*atomic_, edge + HitCycles() - 1});
      atomic_.reset();
    }
    // The oldest reply leaves.
    if (!output_.empty() && output_.front().ready <= edge) {
      if (world.send(output_.front().request)) {
        output_.pop_front();
        ++counters.replies;
      } else {
        ++counters.network_wait;
      }
    }
    Serve(edge, world);
    if (!input_.empty() && input_.front().ready <= edge && Look(input_.front().request, edge, world)) {
      switch (input_.front().request.kind) {
        case RequestKind::kRead:
          ++counters.reads;
          break;
        case RequestKind::kWrite:
          ++counters.writes;
          break;
        case RequestKind::kAtomic:
          ++counters.atomics;
          break;
      }
      input_.pop_front();
    }
    if (input_.size() < input_limit_ && world.arrived() != nullptr) {
      input_.push_back({*world.arrived(), std::max(edge + 1, world.after_rop)});
      world.take_arrived();
    }
    if (has_cache_) ++occupancy[fetches_.size()];
  }

  // The job that the DRAM controller may take at its edge `edge`.
  const Job* FirstJob(uint64_t edge) const {
    return jobs_.empty() || jobs_.front().ready > edge ? nullptr : &jobs_.front();
  }
  Job TakeJob() {
    const Job job = jobs_.front();
    jobs_.pop_front();
    return job;
  }
  void Returned(const Job& job) {
    if (job.fetch != nullptr) returned_.push_back(job.fetch);
  }
  void ForgetLines() {
    for (auto& set : sets_) set.clear();
  }
  bool empty() const {
    return input_.empty() && output_.empty() && jobs_.empty() && returned_.empty() && fetches_.empty() && !serving_ &&
           !atomic_.has_value();
  }

 private:
  struct Waiting {
    MemoryRequest request;
    uint64_t ready;
  };
  struct Line {
    uint64_t line;
    bool dirty;
    bool reserved;
  };

  uint64_t HitCycles() const { return has_cache_ ? cache_.hit_cycles() : 1; }
  uint64_t LineOf(const MemoryRequest& request) const { return request.address / line_bytes_; }
  bool Locked(const MemoryRequest& request) const {
    return atomic_.has_value() && (request.kind == RequestKind::kAtomic || LineOf(request) == LineOf(*atomic_));
  }
  void AddJob(uint64_t address, uint32_t bytes, bool write, Fetch* fetch, const World& world) {
    jobs_.push_back({address, bytes, write, fetch, world.after_dram_pipe});
    ++(write ? counters.write_backs : counters.fetches);
  }
  void Answer(const MemoryRequest& request, uint64_t ready, uint64_t edge, const World& world) {
    if (request.kind != RequestKind::kAtomic) {
      output_.push_back({request, ready});
      return;
    }
    atomic_ = request;
    atomic_end_ = edge + request.passes;
    counters.atomic_passes += request.passes;
    if (!has_cache_) AddJob(request.address, request.bytes, true, nullptr, world);
  }

  // One waiter of a line that has come.
  void Serve(uint64_t edge, const World& world) {
    if (serving_ == nullptr) {
      if (returned_.empty()) return;
      Fetch* fetch = returned_.front();
      if (has_cache_) {
        if (cache_.allocate() == machine::v1::Cache::ON_FILL) {
          if (jobs_.size() >= job_limit_) return;
          std::list<Line>& set = SetOf(fetch->line, world);
          if (set.size() == cache_.ways()) Evict(set, world);
          set.push_back({fetch->line, fetch->dirty, false});
        } else {
          for (Line& line : SetOf(fetch->line, world)) {
            if (line.line == fetch->line) line = {line.line, fetch->dirty, false};
          }
        }
        fetch->come = true;
      }
      serving_ = fetch;
      returned_.pop_front();
    }
    const MemoryRequest& request = serving_->waiting.front();
    if (Locked(request)) return;
    if (request.kind == RequestKind::kAtomic ? !has_cache_ && jobs_.size() >= job_limit_
                                             : output_.size() >= l2_.output_queue()) {
      return;
    }
    Answer(request, edge + 1, edge, world);
    serving_->waiting.pop_front();
    if (!serving_->waiting.empty()) return;
    fetches_.remove_if([&](const Fetch& fetch) { return &fetch == serving_; });
    serving_ = nullptr;
  }

  // Lines of a set are in the order of their last use. Throws out the first that is not reserved.
  bool CanEvict(const std::list<Line>& set) const {
    return std::any_of(set.begin(), set.end(), [](const Line& line) { return !line.reserved; });
  }
  void Evict(std::list<Line>& set, const World& world) {
    const auto victim = std::find_if(set.begin(), set.end(), [](const Line& line) { return !line.reserved; });
    ++cache_counters.evictions;
    if (victim->dirty) {
      ++cache_counters.write_backs;
      AddJob(victim->line * line_bytes_, line_bytes_, true, nullptr, world);
    }
    set.erase(victim);
  }
  std::list<Line>& SetOf(uint64_t line, const World& world) {
    return sets_[world.within_slice(line * line_bytes_) / line_bytes_ % sets_.size()];
  }
  bool Fail(ReservationFail cause) {
    ++cache_counters.reservation_fails[static_cast<int>(cause)];
    return false;
  }

  // Whether the request has been dealt with.
  bool Look(const MemoryRequest& request, uint64_t edge, const World& world) {
    if (!has_cache_) {
      if (returned_.size() >= l2_.output_queue()) {
        ++counters.output_wait;
        return false;
      }
      if (jobs_.size() >= job_limit_) {
        ++counters.dram_queue_wait;
        return false;
      }
      Fetch& fetch = fetches_.emplace_back();
      fetch.waiting = {request};
      AddJob(request.address, request.bytes, request.kind == RequestKind::kWrite, &fetch, world);
      return true;
    }
    if (Locked(request)) {
      ++counters.atomic_wait;
      return false;
    }
    const uint64_t line = LineOf(request);
    const bool writes = request.kind != RequestKind::kRead;
    const bool whole = request.kind == RequestKind::kWrite && request.bytes == line_bytes_;
    std::list<Line>& set = SetOf(line, world);
    const auto way = std::find_if(set.begin(), set.end(), [&](const Line& there) { return there.line == line; });
    const bool there = way != set.end() && !way->reserved;
    Fetch* fetch = nullptr;
    for (Fetch& candidate : fetches_) {
      if (candidate.line == line && !candidate.come) fetch = &candidate;
    }
    // What is answered at once needs room for the answer.
    if (output_.size() >= l2_.output_queue() && request.kind != RequestKind::kAtomic &&
        (there || (whole && way == set.end()))) {
      ++counters.output_wait;
      return false;
    }
    if (there) {
      ++cache_counters.accesses;
      ++cache_counters.hits;
      way->dirty |= writes;
      set.splice(set.end(), set, way);
      Answer(request, edge + HitCycles(), edge, world);
      return true;
    }
    if (fetch != nullptr) {
      if (fetch->waiting.size() >= cache_.mshr_merges()) return Fail(ReservationFail::kMerge);
      ++cache_counters.accesses;
      ++cache_counters.pending_hits;
      fetch->dirty |= writes;
      fetch->waiting.push_back(request);
      if (way != set.end()) set.splice(set.end(), set, way);
      return true;
    }
    // A miss. A whole line is written without being fetched.
    const bool allocates = whole || cache_.allocate() == machine::v1::Cache::ON_MISS;
    const bool full = set.size() == cache_.ways();
    if (allocates && full && !CanEvict(set)) return Fail(ReservationFail::kWay);
    if (!whole && fetches_.size() == cache_.mshrs()) return Fail(ReservationFail::kMshr);
    uint64_t places = whole ? 0 : 1;
    if (allocates && full) {
      places += std::find_if(set.begin(), set.end(), [](const Line& l) { return !l.reserved; })->dirty;
    }
    if (jobs_.size() + places > job_limit_) return Fail(ReservationFail::kMissQueue);
    ++cache_counters.accesses;
    ++cache_counters.misses;
    if (!writes) ++counters.read_misses;
    if (whole) {
      Answer(request, edge + HitCycles(), edge, world);
    } else {
      fetch = &fetches_.emplace_back();
      fetch->line = line;
      fetch->dirty = writes;
      fetch->waiting = {request};
      AddJob(line * line_bytes_, line_bytes_, false, fetch, world);
    }
    if (allocates) {
      if (full) Evict(set, world);
      set.push_back({line, whole, !whole});
    }
    return true;
  }

  const machine::v1::L2 l2_;
  const machine::v1::Cache cache_;
  const bool has_cache_;
  const uint32_t line_bytes_;
  const uint64_t input_limit_;
  const uint64_t job_limit_;
  std::deque<Waiting> input_;
  std::deque<Waiting> output_;
  std::deque<Job> jobs_;
  std::deque<Fetch*> returned_;
  std::list<Fetch> fetches_;
  Fetch* serving_ = nullptr;
  std::vector<std::list<Line>> sets_;
  std::optional<MemoryRequest> atomic_;
  uint64_t atomic_end_ = 0;

 public:
  L2SliceCounters counters;
  CacheCounters cache_counters;
  std::vector<uint64_t> occupancy;
};

}  // namespace heddle::replay

#endif  // HEDDLE_TESTS_REPLAY_MEMORY_REFERENCE_SLICE_H_
