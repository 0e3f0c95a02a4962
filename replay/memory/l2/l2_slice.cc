#include "replay/memory/l2/l2_slice.h"

#include <algorithm>
#include <bit>
#include <cassert>

#include "absl/strings/str_cat.h"
#include "traces/base/status_macros.h"

namespace heddle::replay {
namespace {

constexpr uint32_t kBlockBitsWithoutCache = 5;  // what an atomic locks where there are no lines: 32 bytes

// Without a cache nothing bounds the requests that DRAM has under way but its own queue, and all of them may come back
// while the network is blocked. No more than this are sent; none are while `output_queue` of them wait for the network.
constexpr uint32_t kReturnedWithoutCache = 1u << 14;

bool HasCache(const machine::v1::L2& l2) { return l2.slices_per_controller() != 0; }

uint32_t LineBits(const machine::v1::L2& l2) {
  return HasCache(l2) ? static_cast<uint32_t>(std::countr_zero(l2.cache().line_bytes())) : kBlockBitsWithoutCache;
}

}  // namespace

void L2SliceCounters::Add(const L2SliceCounters& other) {
  reads += other.reads;
  read_misses += other.read_misses;
  writes += other.writes;
  atomics += other.atomics;
  atomic_passes += other.atomic_passes;
  replies += other.replies;
  fetches += other.fetches;
  write_backs += other.write_backs;
  dram_replies += other.dram_replies;
  atomic_wait += other.atomic_wait;
  output_wait += other.output_wait;
  network_wait += other.network_wait;
  dram_queue_wait += other.dram_queue_wait;
}

L2Slice::L2Slice(const machine::v1::L2& l2, uint32_t slice, uint32_t rop_edges, uint32_t dram_pipe_edges)
    : replies_(l2.output_queue()),
      slice_(slice),
      input_(l2.input_queue() + rop_edges),
      fills_(HasCache(l2) ? l2.cache().mshrs() : kReturnedWithoutCache,
             HasCache(l2) ? l2.cache().mshrs() * l2.cache().mshr_merges() : 0),
      atomics_(LineBits(l2)),
      jobs_(l2.dram_queue() + dram_pipe_edges),
      line_bits_(LineBits(l2)),
      hit_cycles_(HasCache(l2) ? l2.cache().hit_cycles() : 1),
      cache_config_(l2.cache()) {
  if (HasCache(l2)) cache_.emplace(l2.cache());
}

void L2Slice::Invalidate(std::span<const AddressRange> ranges) {
  if (!cache_) return;
  cache_->InvalidateIf([&](uint64_t line) {
    const uint64_t first = line << line_bits_;
    const uint64_t last = first + (uint64_t{1} << line_bits_) - 1;
    // The first range that does not end before the line.
    const auto range = std::ranges::lower_bound(ranges, first, {}, &AddressRange::last);
    return range != ranges.end() && range->first <= last;
  });
}

void L2Slice::BeginLaunch() {
  next_unrun_ = 0;
  atomics_.BeginLaunch();
  wait_ = Wait::kNone;
  counters_ = {};
  if (cache_) {
    cache_->counters() = {};
    cache_->mshrs() = MshrTable(cache_config_.mshrs(), cache_config_.mshr_merges());
  }
}

Edge L2Slice::Run(Edge now, L2SliceLinks& links) {
  if (now != next_unrun_) CreditSkipped(now - next_unrun_);
  next_unrun_ = now + 1;
  // Most edges have something for one or two of the stages only.
  if (atomics_.busy()) EndAtomic(now);
  if (replies_.ready() <= now) ++(replies_.Send(slice_, links) ? counters_.replies : counters_.network_wait);
  fills_.BeginEdge();
  jobs_.BeginEdge();
  if (fills_.busy()) ServeFill(now, links);
  wait_ = Wait::kNone;
  if (input_.ready() <= now) LookUp(now, links);
  const MemoryRequest* arrived = input_.full() ? nullptr : links.Arrived(slice_);
  if (arrived != nullptr) {
    input_.push_back({*arrived, std::max(now + 1, links.AfterRop())});
    links.TakeArrived(slice_);
  }
  return NextEdge(now, arrived != nullptr, links);
}

// Nothing changed in the edges that were left out, so that each waited for what the last one that was run waited for.
void L2Slice::CreditSkipped(uint64_t edges) {
  if (replies_.blocked()) counters_.network_wait += edges;
  switch (wait_) {
    case Wait::kNone:
      break;
    case Wait::kCache:
      cache_->counters().reservation_fails[static_cast<int>(wait_cause_)] += edges;
      break;
    case Wait::kAtomic:
      counters_.atomic_wait += edges;
      break;
    case Wait::kOutput:
      counters_.output_wait += edges;
      break;
    case Wait::kDramQueue:
      counters_.dram_queue_wait += edges;
      break;
  }
}

void L2Slice::EndAtomic(Edge now) {
  if (now < atomics_.done() || replies_.full()) return;
  replies_.Push(atomics_.operation(), now + hit_cycles_ - 1);
  atomics_.End();
}

bool L2Slice::CanAnswer(const MemoryRequest& request) const {
  if (atomics_.HoldsUp(request)) return false;
  if (request.kind == RequestKind::kAtomic) return cache_ || !jobs_.full();
  return !replies_.full();
}

void L2Slice::Answer(const MemoryRequest& request, Edge ready, Edge now, L2SliceLinks& links) {
  if (request.kind != RequestKind::kAtomic) {
    replies_.Push(request, ready);
    return;
  }
  atomics_.Begin(request, now);
  counters_.atomic_passes += request.passes;
  // Without a cache the result goes back to DRAM; nobody waits for that.
  if (!cache_) QueueDramJob(request.address, request.bytes, FillUnit::kNone, true, links);
}

void L2Slice::QueueDramJob(uint64_t address, uint32_t bytes, uint32_t entry, bool write, L2SliceLinks& links) {
  const Edge ready = links.AfterDramPipe();
  jobs_.Push({address, bytes, entry, write, ready});
  ++(write ? counters_.write_backs : counters_.fetches);
  links.DramJobQueued(slice_, ready);
}

void L2Slice::ServeFill(Edge now, L2SliceLinks& links) {
  if (fills_.serving() == FillUnit::kNone) {
    if (cache_) {
      // A line that takes its way only now may push out a dirty one.
      if (cache_config_.allocate() == machine::v1::Cache::ON_FILL && jobs_.full()) {
        fills_.Block();
        jobs_.WantRoom();
        return;
      }
      const CacheEviction eviction = cache_->Fill(static_cast<uint16_t>(fills_.next()));
      if (eviction.dirty) {
        QueueDramJob(eviction.line << line_bits_, cache_config_.line_bytes(), FillUnit::kNone, true, links);
      }
    }
    fills_.BeginNext();
  }
  const auto mshr = static_cast<uint16_t>(fills_.serving());
  if (fills_.in_hand() == nullptr) {
    fills_.TakeInHand(cache_ ? cache_->mshrs().TakeWaiter(mshr, now) : fills_.serving());
  }
  if (!CanAnswer(*fills_.in_hand())) {
    fills_.Block();
    if (!cache_ && jobs_.full()) jobs_.WantRoom();
    return;
  }
  Answer(*fills_.in_hand(), now + 1, now, links);
  fills_.Answered();
  if (!cache_) {
    fills_.EndAndFree();
  } else if (cache_->mshrs().Drained(mshr)) {
    cache_->mshrs().Release(mshr, now);
    fills_.End();
  }
}

void L2Slice::LookUp(Edge now, L2SliceLinks& links) {
  const MemoryRequest& request = input_.front().request;
  if (cache_) {
    AccessWithCache(request, now, links);
  } else {
    AccessWithoutCache(request, links);
  }
  if (wait_ != Wait::kNone) return;
  switch (request.kind) {
    case RequestKind::kRead:
      ++counters_.reads;
      break;
    case RequestKind::kWrite:
      ++counters_.writes;
      break;
    case RequestKind::kAtomic:
      ++counters_.atomics;
      break;
  }
  input_.pop_front();
}

void L2Slice::AccessWithCache(const MemoryRequest& request, Edge now, L2SliceLinks& links) {
  const uint64_t line = request.address >> line_bits_;
  const bool atomic = request.kind == RequestKind::kAtomic;
  if (atomics_.HoldsUp(request)) {
    wait_ = Wait::kAtomic;
    ++counters_.atomic_wait;
    return;
  }
  const uint32_t set = cache_->SetOf(links.LineWithinSlice(request.address) >> line_bits_);
  CacheOperation operation = CacheOperation::kRead;
  if (atomic) operation = CacheOperation::kWrite;
  if (request.kind == RequestKind::kWrite) {
    operation = request.bytes >> line_bits_ != 0 ? CacheOperation::kWriteLine : CacheOperation::kWrite;
  }
  if (replies_.full() && !atomic) {
    // What is answered at once needs room for the answer; what misses goes on.
    const Cache::LineState state = cache_->Peek(line, set);
    const bool there = state == Cache::LineState::kValid || state == Cache::LineState::kDirty;
    const bool takes = operation == CacheOperation::kWriteLine && state == Cache::LineState::kInvalid;
    if (there || takes) {
      wait_ = Wait::kOutput;
      ++counters_.output_wait;
      return;
    }
  }
  const CacheOutcome outcome =
      cache_->Access(line, set, operation, machine::v1::Cache::WRITE_BACK, kNoSlot, jobs_.room(), now);
  if (outcome.result == CacheResult::kReservationFail) {
    wait_ = Wait::kCache;
    wait_cause_ = outcome.cause;
    if (outcome.cause == ReservationFail::kMissQueue) jobs_.WantRoom();
    return;
  }
  if (outcome.waits) {
    fills_.Wait(outcome.waiter, request);
  } else {
    Answer(request, now + hit_cycles_, now, links);
  }
  if (outcome.fetch) {
    if (operation == CacheOperation::kRead) ++counters_.read_misses;
    QueueDramJob(line << line_bits_, cache_config_.line_bytes(), outcome.entry, false, links);
  }
  if (outcome.eviction.dirty) {
    QueueDramJob(outcome.eviction.line << line_bits_, cache_config_.line_bytes(), FillUnit::kNone, true, links);
  }
}

void L2Slice::AccessWithoutCache(const MemoryRequest& request, L2SliceLinks& links) {
  const uint32_t returned = fills_.returned();
  if (returned >= replies_.capacity() || jobs_.unanswered() + returned >= fills_.most_returned()) {
    wait_ = Wait::kOutput;
    ++counters_.output_wait;
    return;
  }
  if (jobs_.full()) {
    wait_ = Wait::kDramQueue;
    jobs_.WantRoom();
    ++counters_.dram_queue_wait;
    return;
  }
  const bool write = request.kind == RequestKind::kWrite;
  QueueDramJob(request.address, request.bytes, fills_.Wait(request), write, links);
}

// What a slice may wait for: docs/reference/timing.md, "Why no machine hangs".
bool L2Slice::WaitsForLater() const {
  const bool holds = !input_.empty() || !replies_.empty() || fills_.busy() || atomics_.busy();
  return !holds || replies_.blocked() || jobs_.unanswered() != 0;
}

Edge L2Slice::NextEdge(Edge now, bool took, const L2SliceLinks& links) const {
  // What waits for room in a queue of the slice goes on in the edge in which that is made, or in the next one.
  Edge next = replies_.blocked() ? kNoEdge : replies_.ready();
  if (wait_ == Wait::kNone) next = std::min(next, input_.ready());
  if (atomics_.busy() && !(atomics_.done() <= now && replies_.full())) next = std::min(next, atomics_.done());
  if (fills_.busy() && !fills_.blocked()) next = now + 1;
  next = std::max(next, now + 1);
  assert((next != kNoEdge || WaitsForLater()) && "a slice holds something and waits for nothing");
  // Where nothing was there to be taken in, nothing is.
  if (took && !input_.full() && next > now + 1 && links.Arrived(slice_) != nullptr) next = now + 1;
  return next;
}

void L2Slice::Returned(uint32_t entry, bool write) {
  ++counters_.dram_replies;
  jobs_.Answered();
  // With a cache nobody waits for a write; without one the answers of atomics are on their way already.
  if (write && (cache_ || entry == FillUnit::kNone)) return;
  fills_.Return(entry);
}

bool L2Slice::drained() const {
  return input_.empty() && replies_.empty() && jobs_.empty() && jobs_.unanswered() == 0 && !fills_.busy() &&
         !atomics_.busy() && (!cache_ || cache_->mshrs().used() == 0);
}

absl::Status L2Slice::CheckDrained() const {
  const auto equal = [&](const char* what, uint64_t left, uint64_t right) {
    if (left == right) return absl::OkStatus();
    return absl::InternalError(absl::StrCat("L2 slice ", slice_, ": ", what, ": ", left, " and ", right));
  };
  const uint64_t requests = counters_.reads + counters_.writes + counters_.atomics;
  if (!drained()) return absl::InternalError(absl::StrCat("L2 slice ", slice_, " is not drained: ", Explain()));
  HEDDLE_RETURN_IF_ERROR(equal("requests and replies", requests, counters_.replies));
  HEDDLE_RETURN_IF_ERROR(
      equal("requests to DRAM and their replies", counters_.fetches + counters_.write_backs, counters_.dram_replies));
  if (!cache_) return absl::OkStatus();
  const CacheCounters& cache = cache_->counters();
  HEDDLE_RETURN_IF_ERROR(equal("requests and accesses", requests, cache.accesses));
  HEDDLE_RETURN_IF_ERROR(equal("accesses and hits + pending hits + misses", cache.accesses,
                               cache.hits + cache.pending_hits + cache.misses));
  return equal("evicted dirty lines and writes to DRAM", cache.write_backs, counters_.write_backs);
}

std::string L2Slice::Explain() const {
  if (drained()) return {};
  std::string text = absl::StrCat("L2 slice ", slice_, ": ", input_.size(), " requests in, ", replies_.size(),
                                  " replies out, ", jobs_.size(), " to DRAM, ", jobs_.unanswered(), " in DRAM in all");
  if (cache_) absl::StrAppend(&text, ", ", cache_->mshrs().used(), " MSHRs in use");
  if (atomics_.busy()) absl::StrAppend(&text, ", an atomic under way until edge ", atomics_.done());
  switch (wait_) {
    case Wait::kNone:
      break;
    case Wait::kCache: {
      constexpr const char* kCauses[] = {"a way of the set", "an MSHR", "a place in the line's MSHR",
                                         "room on the way to DRAM"};
      absl::StrAppend(&text, ", the oldest request waits for ", kCauses[static_cast<int>(wait_cause_)]);
      break;
    }
    case Wait::kAtomic:
      absl::StrAppend(&text, ", the oldest request waits for the atomic");
      break;
    case Wait::kOutput:
      absl::StrAppend(&text, ", the oldest request waits for room for its reply");
      break;
    case Wait::kDramQueue:
      absl::StrAppend(&text, ", the oldest request waits for room on the way to DRAM");
      break;
  }
  if (replies_.blocked()) absl::StrAppend(&text, ", a reply waits for the network");
  return text;
}

}  // namespace heddle::replay
