#include "tracegen/execute/threads/warp_rendezvous.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "tracegen/matrix/execute.h"

namespace heddle::tracegen {

void WarpRendezvous::BeginLaunch(bool has_matrices) {
  warps_.assign((threads_.count() + kWarpWidth - 1) / kWarpWidth, WarpLanes{});
  requests_.assign(threads_.count(), WarpRequest{});
  operands_.assign(threads_.count(), LaneOperands{});
  lane_registers_.resize(has_matrices ? warps_.size() * kWarpWidth : 0);
}

void WarpRendezvous::BeginBlock() {
  uint32_t left = threads_.count();
  for (WarpLanes& warp : warps_) {
    const uint32_t lanes = std::min(kWarpWidth, left);
    left -= lanes;
    warp.alive = lanes == kWarpWidth ? ~0u : (1u << lanes) - 1;
    warp.blocked = 0;
  }
}

bool WarpRendezvous::Arrive(const WarpRequest& request, const LaneOperands& operands) {
  const uint32_t self = threads_.running();
  const uint32_t warp = self / kWarpWidth;
  DeviceThread& thread = threads_.current();
  thread.state = request.converged ? ThreadState::kConverging : ThreadState::kAtWarpOperation;
  requests_[self] = request;
  operands_[self] = operands;
  Block(self);
  const bool complete = !request.converged && CompleteMasked(warp, self % kWarpWidth);
  if (!complete && AllBlocked(self)) Check(self);
  ReadyRing& ready = threads_.ready();
  if (thread.state != ThreadState::kReady || ready.empty() || ready.back() != self) return false;
  // Lanes were released in order; the caller, if it is the last of them, need not switch.
  ready.PopBack();
  thread.state = ThreadState::kRunning;
  return true;
}

void WarpRendezvous::Check(uint32_t thread) {
  const uint32_t warp = thread / kWarpWidth;
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
  return true;
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
