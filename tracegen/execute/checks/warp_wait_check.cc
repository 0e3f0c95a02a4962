#include "tracegen/execute/checks/warp_wait_check.h"

#include <algorithm>
#include <utility>

namespace heddle::tracegen {

WarpWaitCheck::WarpWaitCheck(const trace::Program& program, uint32_t threads, std::span<const uint32_t> awaited)
    : program_(program), threads_(threads), roles_(program.instruction_count(), kNone), lanes_(kWarpWidth) {
  const auto op = [&program](trace::Pc pc) { return program.instruction(pc).op(); };
  const bool polls = std::ranges::any_of(awaited, [&](uint32_t pc) { return op(pc) == trace::v1::OP_LOAD; });
  for (uint32_t pc = 0; pc < program.instruction_count(); ++pc) {
    if (polls && (op(pc) == trace::v1::OP_STORE || op(pc) == trace::v1::OP_ATOMIC)) roles_[pc] = kWrite;
  }
  for (const uint32_t pc : awaited) roles_[pc] = op(pc) == trace::v1::OP_LOAD ? kPoll : kLock;
  for (const trace::Block& block : program.blocks()) {
    const std::span<const trace::Pc> accesses = program.accesses_of(block);
    looks_.push_back(std::ranges::any_of(accesses, [this](trace::Pc pc) { return roles_[pc] != kNone; }));
    uint8_t barriers = 0;
    for (trace::Pc pc = block.first; pc < block.first + block.count; ++pc) {
      barriers += program.instruction(pc).op() == trace::v1::OP_BARRIER;
    }
    barriers_.push_back(barriers);
    // Functions stand behind the kernel, and threads within a call are behind those that have returned from it.
    order_.push_back(block.first + (block.function == 0 ? uint64_t{1} << 32 : 0));
  }
}

absl::Status WarpWaitCheck::AddBlock(uint64_t block, BlockRecords& records, std::span<const uint64_t> consumed,
                                     bool last) {
  if (!in_block_) {
    states_.assign(threads_, {});
    passed_.assign(threads_, 0);
  }
  in_block_ = !last;
  for (uint32_t first = 0; first < threads_; first += kWarpWidth) {
    const uint32_t lanes = std::min(kWarpWidth, threads_ - first);
    for (uint32_t l = 0; l < lanes; ++l) {
      FollowThread(first + l, records, last || records.exited(first + l), lanes_[l]);
    }
    if (MayWait(lanes, first, records, consumed)) RunTogether(block, lanes, first, records, consumed);
  }
  return absl::OkStatus();
}

void WarpWaitCheck::FollowThread(uint32_t thread, BlockRecords& records, bool to_exit, Lane& lane) {
  lane.path.clear();
  lane.next = 0;
  const std::span<const uint8_t> taken = records.decisions(thread);
  trace::ByteDecisions decisions(taken.data(), taken.size());
  uint64_t instructions = 0;
  uint32_t position = 0;
  trace::Walk(program_, to_exit ? trace::Extent::kRunsToExit : trace::Extent::kCut, decisions, states_[thread],
              ~uint64_t{0}, instructions, [&](uint32_t index, const trace::Block& entered) {
                lane.path.push_back({index, position, passed_[thread]});
                position += entered.access_count;
                passed_[thread] += barriers_[index];
              });
}

// Whether threads of the warp use an address together at all, as few warps do.
bool WarpWaitCheck::MayWait(uint32_t lanes, uint32_t first, BlockRecords& records, std::span<const uint64_t> consumed) {
  std::unordered_map<uint64_t, uint32_t> users;  // of locks and polls: 1 + lane
  const auto for_each = [&](auto&& visit) {
    for (uint32_t l = 0; l < lanes; ++l) {
      for (const Visit& at : lanes_[l].path) {
        if (!looks_[at.block]) continue;
        const std::span<const trace::Pc> accesses = program_.accesses_of(program_.block(at.block));
        for (uint32_t i = 0; i < accesses.size() && at.position + i < consumed[first + l]; ++i) {
          if (const Role role = roles_[accesses[i]]; role != kNone) {
            if (visit(l, role, records.address(first + l, at.position + i))) return true;
          }
        }
      }
    }
    return false;
  };
  const bool locks_together = for_each([&](uint32_t lane, Role role, uint64_t address) {
    if (role == kWrite) return false;
    const auto [user, fresh] = users.try_emplace(address, 1 + lane);
    return role == kLock && !fresh && user->second != 1 + lane;
  });
  if (locks_together) return true;
  if (users.empty()) return false;
  return for_each([&](uint32_t, Role role, uint64_t address) { return role == kWrite && users.contains(address); });
}

void WarpWaitCheck::RunTogether(uint64_t block, uint32_t lanes, uint32_t first, BlockRecords& records,
                                std::span<const uint64_t> consumed) {
  polled_.clear();
  polled_behind_ = 0;
  std::vector<Access> accesses;
  for (;;) {
    std::pair<uint32_t, uint64_t> lowest = {~0u, ~uint64_t{0}};  // barriers, then place in the program
    uint32_t entered = 0;
    for (uint32_t l = 0; l < lanes; ++l) {
      const Lane& lane = lanes_[l];
      if (lane.next == lane.path.size()) continue;
      const Visit& at = lane.path[lane.next];
      if (const std::pair<uint32_t, uint64_t> place = {at.barriers, order_[at.block]}; place < lowest) {
        lowest = place;
        entered = at.block;
      }
    }
    if (lowest.first == ~0u) return;
    if (lowest.first != polled_behind_) polled_.clear();
    polled_behind_ = lowest.first;
    const std::span<const trace::Pc> instructions = program_.accesses_of(program_.block(entered));
    uint32_t together = 0;
    for (uint32_t l = 0; l < lanes; ++l) {
      const Lane& lane = lanes_[l];
      if (lane.next == lane.path.size()) continue;
      const Visit& at = lane.path[lane.next];
      if (at.barriers == lowest.first && at.block == entered) together |= 1u << l;
    }
    for (uint32_t i = 0; looks_[entered] != 0 && i < instructions.size(); ++i) {
      if (roles_[instructions[i]] == kNone) continue;
      accesses.clear();
      for (uint32_t rest = together; rest != 0; rest &= rest - 1) {
        const auto l = static_cast<uint32_t>(__builtin_ctz(rest));
        const uint32_t position = lanes_[l].path[lanes_[l].next].position + i;
        // What lies behind the end of a part may not have been written.
        if (position >= consumed[first + l]) continue;
        accesses.push_back({records.address(first + l, position), instructions[i], l, roles_[instructions[i]]});
      }
      RunStep(block, first, accesses);
    }
    for (uint32_t rest = together; rest != 0; rest &= rest - 1)
      ++lanes_[static_cast<uint32_t>(__builtin_ctz(rest))].next;
  }
}

// All threads of a warp that run an instruction together.
void WarpWaitCheck::RunStep(uint64_t block, uint32_t first, std::span<const Access> accesses) {
  for (size_t i = 0; i < accesses.size(); ++i) {
    const Access& access = accesses[i];
    if (access.role == kLock) {
      // The first one takes it.
      const auto holder = std::find_if(accesses.begin(), accesses.begin() + static_cast<ptrdiff_t>(i),
                                       [&](const Access& other) { return other.address == access.address; });
      if (holder != accesses.begin() + static_cast<ptrdiff_t>(i)) Add(access, holder->lane, block, first);
    }
    if (access.role == kPoll) continue;
    const auto polled = polled_.find(access.address);
    if (polled == polled_.end()) continue;
    const Access& poller = polled->second.first.lane != access.lane ? polled->second.first : polled->second.other;
    if (poller.role == kNone) continue;  // only the thread itself has polled
    Add(poller, access.lane, block, first);
    polled_.erase(polled);
  }
  for (const Access& access : accesses) {
    if (access.role != kPoll) continue;
    const auto [polled, fresh] = polled_.try_emplace(access.address, Pollers{access, {}});
    if (!fresh && polled->second.first.lane != access.lane) polled->second.other = access;
  }
}

void WarpWaitCheck::Add(const Access& waits, uint32_t other, uint64_t block, uint32_t first) {
  trace::v1::WarpWait& wait = waits_[waits.pc];
  const auto distance = [](uint32_t a, uint32_t b) { return a < b ? b - a : a - b; };
  if (wait.count() == 0 || distance(waits.lane, other) < distance(wait.thread(), wait.other_thread())) {
    wait.set_instruction(waits.pc);
    wait.set_lock(waits.role == kLock);
    wait.set_address(waits.address);
    wait.set_block(block);
    wait.set_thread(first + waits.lane);
    wait.set_other_thread(first + other);
  }
  wait.set_count(wait.count() + 1);
}

// A certificate with nothing else in it.
std::string WarpWaitCheck::TakeFindings() {
  trace::v1::Certificate all;
  for (auto& [pc, wait] : waits_) *all.add_warp_wait() = std::move(wait);
  waits_.clear();
  in_block_ = false;
  return all.SerializeAsString();
}

void WarpWaitCheck::AddFindings(std::string_view findings) {
  trace::v1::Certificate all;
  if (!all.ParseFromString(std::string(findings))) return;
  for (trace::v1::WarpWait& wait : *all.mutable_warp_wait()) {
    trace::v1::WarpWait& known = waits_[wait.instruction()];
    const uint64_t count = known.count() + wait.count();
    const auto distance = [](const trace::v1::WarpWait& of) {
      return of.thread() < of.other_thread() ? of.other_thread() - of.thread() : of.thread() - of.other_thread();
    };
    if (known.count() == 0 || distance(wait) < distance(known)) known = std::move(wait);
    known.set_count(count);
  }
}

}  // namespace heddle::tracegen
