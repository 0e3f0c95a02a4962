#include "tracegen/execute/threads/warp_rendezvous.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "tracegen/matrix/execute.h"

namespace heddle::tracegen {

void WarpRendezvous::BeginLaunch(bool has_matrices, bool follows_code) {
  follows_code_ = follows_code;
  warps_.assign((threads_.count() + kWarpWidth - 1) / kWarpWidth, WarpLanes{});
  requests_.assign(threads_.count(), WarpRequest{});
  operands_.assign(threads_.count(), LaneOperands{});
  lane_registers_.resize(has_matrices ? warps_.size() * kWarpWidth : 0);
  groups_.BeginLaunch(follows_code ? warps_.size() : 0);
}

void WarpRendezvous::BeginBlock() {
  uint32_t left = threads_.count();
  for (WarpLanes& warp : warps_) {
    const uint32_t lanes = std::min(kWarpWidth, left);
    left -= lanes;
    warp.alive = lanes == kWarpWidth ? ~0u : (1u << lanes) - 1;
    warp.blocked = 0;
  }
  groups_.BeginBlock();
}

uint32_t WarpRendezvous::Join(uint32_t site) {
  const uint32_t self = threads_.running();
  return groups_.Join(self / kWarpWidth, self % kWarpWidth, site);
}

void WarpRendezvous::Leave(uint32_t barrier) {
  const uint32_t self = threads_.running();
  groups_.Leave(self / kWarpWidth, self % kWarpWidth, barrier);
  if (AnyBlocked(self)) Check(self);
}

bool WarpRendezvous::Arrive(const WarpRequest& request, const LaneOperands& operands) {
  const uint32_t self = threads_.running();
  const uint32_t warp = self / kWarpWidth;
  DeviceThread& thread = threads_.current();
  if (request.operation == WarpOperation::kMeet && (groups_.MembersOf(warp, request.mask) & LaneBit(self)) == 0) {
    return true;  // of a barrier that has let its members go
  }
  thread.state = request.converged ? ThreadState::kConverging : ThreadState::kAtWarpOperation;
  requests_[self] = request;
  operands_[self] = operands;
  Block(self);
  const bool complete = !request.converged && CompleteMasked(warp, self % kWarpWidth);
  if (!complete && NeedsCheck(self)) Check(self);
  ReadyRing& ready = threads_.ready();
  if (thread.state != ThreadState::kReady || ready.empty() || ready.back() != self) return false;
  // Lanes were released in order; the caller, if it is the last of them, need not switch.
  ready.PopBack();
  thread.state = ThreadState::kRunning;
  return true;
}

void WarpRendezvous::Check(uint32_t thread) {
  const uint32_t warp = thread / kWarpWidth;
  if (follows_code_) {
    Settle(warp);
    return;
  }
  const uint32_t first = warp * kWarpWidth;
  const uint32_t end = std::min(first + kWarpWidth, threads_.count());
  for (uint32_t t = first; t < end; ++t) {
    if (threads_[t].state == ThreadState::kAtWarpOperation) CompleteMasked(warp, t - first);
  }
  if (warps_[warp].blocked == warps_[warp].alive) CompleteConverged(warp);
}

bool WarpRendezvous::CompleteMasked(uint32_t warp, uint32_t lane) {
  const uint32_t first = warp * kWarpWidth;
  const WarpRequest& caller = requests_[first + lane];
  const uint32_t needed = caller.mask & warps_[warp].alive;
  if ((warps_[warp].blocked & needed) != needed) return false;
  for (uint32_t rest = needed; rest != 0; rest &= rest - 1) {
    const uint32_t other = first + static_cast<uint32_t>(__builtin_ctz(rest));
    if (threads_[other].state != ThreadState::kAtWarpOperation || requests_[other].mask != caller.mask ||
        requests_[other].operation != caller.operation) {
      return false;
    }
    // Of matrix instructions the value says which it is.
    if (caller.operation == WarpOperation::kMatrix && operands_[other].value != operands_[first + lane].value) {
      return false;
    }
  }
  Complete(warp, needed);
  if (follows_code_) groups_.Unite(warp, needed);
  return true;
}

void WarpRendezvous::Settle(uint32_t warp) {
  const uint32_t first = warp * kWarpWidth;
  const uint32_t end = std::min(first + kWarpWidth, threads_.count());
  for (bool moved = true; moved;) {
    moved = false;
    for (uint32_t t = first; t < end; ++t) {
      if (threads_[t].state == ThreadState::kAtWarpOperation) {
        moved |= CompleteMasked(warp, t - first);
      } else if (threads_[t].state == ThreadState::kConverging) {
        moved |= requests_[t].operation == WarpOperation::kMeet ? CompleteMeeting(warp, t - first)
                                                                : CompleteTogether(warp, t - first);
      }
    }
  }
}

bool WarpRendezvous::CompleteTogether(uint32_t warp, uint32_t lane, bool anyway) {
  const uint32_t first = warp * kWarpWidth;
  const uint32_t together = groups_.TogetherWith(warp, lane) & warps_[warp].alive;
  if ((together & ~warps_[warp].blocked) != 0 && !anyway) return false;
  const WarpRequest& asked = requests_[first + lane];
  uint32_t lanes = 0;
  for (uint32_t rest = together; rest != 0; rest &= rest - 1) {
    const auto other = static_cast<uint32_t>(__builtin_ctz(rest));
    const WarpRequest& request = requests_[first + other];
    const bool is_there = threads_[first + other].state == ThreadState::kConverging &&
                          request.operation == asked.operation && request.site == asked.site;
    if (is_there) lanes |= 1u << other;
  }
  Complete(warp, lanes);
  groups_.Unite(warp, lanes);
  return true;
}

bool WarpRendezvous::CompleteMeeting(uint32_t warp, uint32_t lane, bool anyway) {
  const uint32_t first = warp * kWarpWidth;
  const WarpLanes& of = warps_[warp];
  const uint32_t barrier = requests_[first + lane].mask;
  const uint32_t members = groups_.MembersOf(warp, barrier) & of.alive;
  uint32_t waiting = 0;
  for (uint32_t rest = members; rest != 0; rest &= rest - 1) {
    const auto other = static_cast<uint32_t>(__builtin_ctz(rest));
    const WarpRequest& request = requests_[first + other];
    const bool waits = threads_[first + other].state == ThreadState::kConverging &&
                       request.operation == WarpOperation::kMeet && request.mask == barrier;
    if (waits) waiting |= 1u << other;
  }
  const bool all = waiting == members && !groups_.MayJoin(warp, barrier, of.alive & ~of.blocked);
  if (!all && !anyway) return false;
  Complete(warp, waiting);
  groups_.Unite(warp, waiting);
  for (uint32_t rest = waiting; rest != 0; rest &= rest - 1) {
    groups_.Leave(warp, static_cast<uint32_t>(__builtin_ctz(rest)), barrier);
  }
  return true;
}

bool WarpRendezvous::LetGo() {
  if (!follows_code_) return false;
  // Those that exchange something first: who only meets others would not have to wait to go on rightly.
  for (const bool meets : {false, true}) {
    for (uint32_t t = 0; t < threads_.count(); ++t) {
      const bool asks =
          threads_[t].state == ThreadState::kConverging && (requests_[t].operation == WarpOperation::kMeet) == meets;
      if (!asks) continue;
      const uint32_t warp = t / kWarpWidth;
      const uint32_t lane = t % kWarpWidth;
      meets ? CompleteMeeting(warp, lane, /*anyway=*/true) : CompleteTogether(warp, lane, /*anyway=*/true);
      Settle(warp);
      return true;
    }
  }
  return false;
}

void WarpRendezvous::CompleteConverged(uint32_t warp) {
  const uint32_t first = warp * kWarpWidth;
  const uint32_t end = std::min(first + kWarpWidth, threads_.count());
  // Who goes first can still come to where the others wait, so it is whom these would miss least: lanes that exchange
  // nothing, and then those that are the furthest behind in the program.
  const auto order = [this](uint32_t t) {
    return std::pair(requests_[t].operation != WarpOperation::kSync, requests_[t].site);
  };
  uint32_t lanes = 0;
  uint32_t next = first;
  for (uint32_t t = first; t < end; ++t) {
    if (threads_[t].state != ThreadState::kConverging) continue;
    if (lanes == 0 || order(t) < order(next)) {
      next = t;
      lanes = 0;
    }
    if (order(t) == order(next)) lanes |= 1u << (t - first);
  }
  if (lanes != 0) Complete(warp, lanes);
}

void WarpRendezvous::Complete(uint32_t warp, uint32_t lanes) {
  const uint32_t first = warp * kWarpWidth;
  uint64_t results[kWarpWidth];
  const WarpOperation operation = requests_[first + static_cast<uint32_t>(__builtin_ctz(lanes))].operation;
  if (operation == WarpOperation::kMatrix) {
    const uint64_t code = operands_[first + static_cast<uint32_t>(__builtin_ctz(lanes))].value;
    ExecuteMatrixOperation(code, lanes, &lane_registers_[first]);
    std::fill_n(results, kWarpWidth, 0);
  } else {
    if (operation == WarpOperation::kDiverged) {
      for (uint32_t lane = 0; lane < kWarpWidth && first + lane < threads_.count(); ++lane) {
        operands_[first + lane].b &= warps_[warp].alive;
      }
    }
    ComputeWarpOperation(operation, lanes, &operands_[first], results);
  }
  // The running thread is released last, so that it can go on without a switch.
  const uint32_t running = threads_.running();
  bool running_meets = false;
  for (uint32_t rest = lanes; rest != 0; rest &= rest - 1) {
    const auto lane = static_cast<uint32_t>(__builtin_ctz(rest));
    const uint32_t thread = first + lane;
    threads_[thread].result = results[lane];
    Unblock(thread);
    if (thread == running) {
      running_meets = true;
    } else {
      threads_.Release(thread);
    }
  }
  if (running_meets) threads_.Release(running);
}

void WarpRendezvous::Recount() {
  for (WarpLanes& warp : warps_) warp = WarpLanes{};
  for (uint32_t t = 0; t < threads_.count(); ++t) {
    const ThreadState state = threads_[t].state;
    if (state != ThreadState::kExited) warps_[t / kWarpWidth].alive |= LaneBit(t);
    if (state == ThreadState::kAtBarrier) Block(t);
  }
}

std::string WarpRendezvous::Describe(uint32_t thread, const std::string& place) const {
  const WarpRequest& request = requests_[thread];
  const std::string mask = request.converged ? "" : absl::StrCat(" (mask 0x", absl::Hex(request.mask), ")");
  return absl::StrCat("the ", NameOf(request.operation), mask, " at ", place);
}

}  // namespace heddle::tracegen
