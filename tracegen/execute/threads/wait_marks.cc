#include "tracegen/execute/threads/wait_marks.h"

#include <utility>

#include "tracegen/instrument/cluster_window.h"
#include "tracegen/instrument/thread_context.h"

namespace heddle::tracegen {
namespace {

constexpr uint64_t kGranule = 8;
constexpr uint64_t kMostGranules = 64;  // of one write that are looked up; longer ones are compared with all watches
constexpr unsigned kOwnerShift = 40;    // where keys of shared memory hold the owner

bool IsShared(uint64_t address) { return address >= kSharedBase && address < kSharedBase + kSharedBytes; }

}  // namespace

void WaitMarks::Reset() {
  watches_.clear();
  waits_.clear();
  watching_ = 0;
  not_listed_ = 0;
}

uint64_t WaitMarks::Key(const WatchedPlace& place) {
  if (!IsShared(place.address) && !IsInClusterWindow(place.address)) return place.address / kGranule;
  return (place.address - kSharedBase) / kGranule | (place.owner + 1) << kOwnerShift;
}

void WaitMarks::Wait(Open& open) {
  open.since = writes_;
  if (open.address == 0) return;
  ++watching_;
  Watch& watch = watches_[Key(open.place)];
  if (watch.threads++ == 0) watch.write = 0;
}

void WaitMarks::Poll(Open& open) {
  if (open.address == 0) return;
  --watching_;
  const auto found = watches_.find(Key(open.place));
  if (found->second.write > open.since) {
    open.writer_known = true;
    open.writer_block = found->second.block;
    open.writer_thread = found->second.thread;
  }
  if (--found->second.threads == 0) watches_.erase(found);
}

void WaitMarks::End(Open& open, bool record) {
  if (!std::exchange(open.waits, false) || !record) return;
  if (open.meets_block && IsShared(open.address)) return;
  if (waits_.size() < kMaxListed) {
    waits_.push_back(open);
  } else {
    ++not_listed_;
  }
}

void WaitMarks::Wrote(const WatchedPlace& place, uint64_t bytes, uint64_t block, uint32_t thread) {
  ++writes_;
  const auto note = [&](Watch& watch) {
    watch.write = writes_;
    watch.block = block;
    watch.thread = thread;
  };
  const uint64_t first = Key(place);
  const uint64_t last = Key({place.address + bytes - 1, place.owner});
  if (last - first < kMostGranules) {
    for (uint64_t key = first; key <= last; ++key) {
      if (const auto found = watches_.find(key); found != watches_.end()) note(found->second);
    }
    return;
  }
  for (auto& [key, watch] : watches_) {
    if (key >= first && key <= last) note(watch);
  }
}

void WaitMarks::Store(trace::v1::LaunchEnd& end) {
  for (const Open& open : waits_) {
    trace::v1::Wait& wait = *end.add_wait();
    wait.set_instruction(open.instruction);
    wait.set_address(open.address);
    wait.set_block(open.block);
    wait.set_thread(open.thread);
    wait.set_polls(open.polls);
    if (!open.writer_known) continue;
    wait.set_writer_known(true);
    wait.set_writer_block(open.writer_block);
    wait.set_writer_thread(open.writer_thread);
  }
  end.set_waits_not_listed(not_listed_);
  waits_.clear();
  not_listed_ = 0;
}

}  // namespace heddle::tracegen
