#include "tracegen/execute/threads/polling_watch.h"

#include "absl/strings/str_cat.h"
#include "tracegen/instrument/cluster_window.h"

namespace heddle::tracegen {

void PollingWatch::BeginLaunch(const InstrumentedKernel& kernel, bool first_blocks, bool record) {
  kernel_ = &kernel;
  record_ = record;
  polling_.assign(kernel.waits.empty() ? 0 : threads_.count(), Polling{});
  cycles_.assign(polling_.size() * kernel.waits.size(), Cycle{});
  if (first_blocks && !is_shared_) marks_.Reset();
}

void PollingWatch::BeginBlock(uint64_t block, uint64_t cluster) {
  block_ = block;
  owner_ = cluster;
}

WatchedPlace PollingWatch::PlaceOf(uint64_t address) const {
  const uint64_t offset = address - kSharedBase;
  if (context_.cluster_nctarank == 1 || offset >= kSharedBytes) return {address, owner_};
  return {ClusterAddress({context_.cluster_ctarank, offset}), owner_};
}

void PollingWatch::StartActive() {
  polling_[threads_.running()] = Polling{};
  for (uint32_t wait = 0; wait < kernel_->waits.size(); ++wait) LeaveLoop(wait);
  context_.progress = 0;
  context_.waiting = 0;
  context_.watches = marks_.watching();
  marks_.Changed();
}

void PollingWatch::ExitActive() {
  marks_.End(polling_[threads_.running()].open, record_);
  marks_.Changed();
}

void PollingWatch::ResumeActive() {
  const Polling& polling = polling_[threads_.running()];
  context_.progress = polling.kept_progress;
  context_.waiting = polling.waiting;
  context_.watches = marks_.watching();
}

void PollingWatch::KeepActive() {
  Polling& polling = polling_[threads_.running()];
  polling.waiting = context_.waiting;
  if (polling.kept_progress == context_.progress) return;
  polling.kept_progress = context_.progress;
  marks_.Changed();
}

void PollingWatch::NoteSynchronizationActive(uint32_t site, bool brings_value, uint64_t value) {
  NoteActivity();
  if (!brings_value) return;
  Polling& polling = polling_[threads_.running()];
  if (polling.last_site != site + 1 || polling.last_value != value) marks_.Changed();
  polling.last_site = site + 1;
  polling.last_value = value;
}

void PollingWatch::Wait(uint32_t wait, uint64_t address) {
  Polling& polling = polling_[threads_.running()];
  WaitMarks::Open& open = polling.open;
  const bool again = context_.waiting == wait + 1 && polling.wait == wait + 1 && polling.address == address &&
                     polling.progress == context_.progress;
  if (again) {
    ++polling.spins;
    // Nothing has changed since the iteration began that has just ended in vain: the next one would be the same.
    polling.idle_in = polling.polled_in == marks_.epoch() ? polling.polled_in : 0;
  } else {
    marks_.Changed();
    marks_.End(open, record_);
    polling.idle_in = 0;
    polling.spins = 1;
    polling.wait = wait + 1;
    polling.address = address;
    polling.progress = context_.progress;
    open = {};
    open.waits = true;
    open.meets_block = kernel_->waits[wait].meets_block;
    open.instruction = kernel_->waits[wait].instruction;
    open.address = address;
    open.place = PlaceOf(address);
    open.block = block_;
    open.thread = threads_.running();
  }
  context_.waiting = wait + 1;
  ++open.polls;
  marks_.Wait(open);
}

void PollingWatch::Poll() {
  Polling& polling = polling_[threads_.running()];
  marks_.Poll(polling.open);
  context_.watches = marks_.watching();
  polling.polled_in = marks_.epoch();
}

bool PollingWatch::Repeats(uint32_t wait, uint64_t state) {
  Cycle& cycle = CycleOf(wait);
  if (cycle.most == 0) {
    cycle = {.state = state, .most = 1};
    return false;
  }
  ++cycle.steps;
  if (cycle.state == state) {
    cycle.most = cycle.steps;
    cycle.steps = 0;
    cycle.closed = true;
    return true;
  }
  if (cycle.steps < cycle.most) return false;
  if (cycle.closed && context_.waiting == wait + 1) context_.waiting = 0;  // something has let it go on
  cycle = {.state = state, .most = 2 * cycle.most};
  return false;
}

bool PollingWatch::AllIdle() {
  ReadyRing& ready = threads_.ready();
  for (uint32_t i = 0; i < ready.size(); ++i) {
    if (polling_[ready.front()].idle_in != marks_.epoch()) return false;
    ready.Rotate();
  }
  return true;
}

std::string PollingWatch::Describe(uint32_t thread) const {
  const uint64_t address = polling_[thread].address;
  return absl::StrCat("waits in a loop at ", LoopOf(thread).site.ToString(), " for a change of ",
                      address != 0 ? absl::StrCat("address 0x", absl::Hex(address)) : "memory");
}

}  // namespace heddle::tracegen
