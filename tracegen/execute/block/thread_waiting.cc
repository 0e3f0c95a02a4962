// Threads that wait for a change of memory in loops.
#include "absl/strings/str_cat.h"
#include "tracegen/execute/block/block_runner.h"
#include "traces/format/program/kernel_name.h"

namespace heddle::tracegen {

void BlockRunner::Spin(uint32_t wait, uint64_t address) {
  const uint32_t self = running_;
  Thread& thread = threads_[self];
  Polling& polling = polling_[self];
  WaitMarks::Open& open = polling.open;
  const bool again = context_.waiting == wait + 1 && polling.wait == wait + 1 && polling.address == address &&
                     polling.progress == context_.progress;
  if (again) {
    ++polling.spins;
    // Nothing has changed since the iteration began that has just ended in vain: the next one would be the same.
    thread.idle_in = polling.polled_in == waits_->epoch() ? polling.polled_in : 0;
  } else {
    waits_->Changed();
    waits_->End(open, sink_ != nullptr);
    thread.idle_in = 0;
    polling.spins = 1;
    polling.wait = wait + 1;
    polling.address = address;
    polling.progress = context_.progress;
    open = {};
    open.waits = true;
    open.instruction = kernel_->waits[wait].instruction;
    open.address = address;
    open.block = block_;
    open.thread = self;
  }
  context_.waiting = wait + 1;
  ++open.polls;
  waits_->Wait(open);
  context_.own.block_base = nullptr;  // between two blocks of the program no address is outstanding
  Release(self);
  Suspend();
  waits_->Poll(open);
  context_.watches = waits_->watching();
  polling.polled_in = waits_->epoch();
}

void BlockRunner::Wrote(uint64_t address, uint64_t bytes) { waits_->Wrote(address, bytes, block_, running_); }

bool BlockRunner::AllIdle() {
  for (uint32_t i = 0; i < ready_count_; ++i) {
    const uint32_t first = ready_[ready_head_];
    if (threads_[first].idle_in != waits_->epoch()) return false;
    ready_head_ = ready_head_ + 1 == thread_count_ ? 0 : ready_head_ + 1;
    uint32_t slot = ready_head_ + ready_count_ - 1;
    ready_[slot >= thread_count_ ? slot - thread_count_ : slot] = first;
  }
  return true;
}

absl::Status BlockRunner::IdleError(const std::string& more) const {
  const uint32_t first = ready_[ready_head_];
  const Polling& polling = polling_[first];
  const WaitSite& wait = kernel_->waits[polling.wait - 1];
  std::string what = "memory";
  if (polling.address != 0) what = absl::StrCat("address 0x", absl::Hex(polling.address));
  std::string others;
  if (ready_count_ > 1) others = absl::StrCat(", with ", ready_count_ - 1, " other threads of its block");
  return absl::FailedPreconditionError(
      absl::StrCat("kernel '", trace::BriefKernelName(kernel_->name), "', block (", context_.ctaid[0], ",",
                   context_.ctaid[1], ",", context_.ctaid[2], "), thread ", Coordinates(first), ": waits in a loop at ",
                   wait.site.ToString(), " for a change of ", what, " that nobody makes", others, "; ", more));
}

}  // namespace heddle::tracegen
