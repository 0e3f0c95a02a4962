// What an SM says when it can go no further.
#include <algorithm>
#include <bit>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/string_view.h"
#include "replay/core/sm_core.h"

namespace heddle::replay {
namespace {

// More than a full SM normally has: groups are of one block, place and reason.
constexpr size_t kMostGroups = 256;

// What WhatSlotWaitsFor says of slots for which a scheduler, or the fetch policy, has to do something.
constexpr absl::string_view kReady = "are ready, but are not issued";
constexpr absl::string_view kUnfetched = "wait to be fetched for";

// "0-31, 33": ascending numbers as ranges.
std::string Ranges(std::vector<uint32_t> numbers) {
  std::sort(numbers.begin(), numbers.end());
  std::vector<std::string> parts;
  for (size_t i = 0; i < numbers.size();) {
    size_t last = i;
    while (last + 1 < numbers.size() && numbers[last + 1] == numbers[last] + 1) ++last;
    parts.push_back(last == i ? absl::StrCat(numbers[i]) : absl::StrCat(numbers[i], "-", numbers[last]));
    i = last + 1;
  }
  return absl::StrJoin(parts, ", ");
}

}  // namespace

std::string SmCore::ExplainDeadlock() const {
  if (resident() == 0) return "";
  const WarpTable& table = this->table();
  bool at_barrier = false;
  bool at_rendezvous = false;
  bool waits = false;  // for hardware
  bool unfetched = false;
  bool paused = false;
  std::vector<SlotSet> ready(schedulers().size());  // by port
  std::vector<std::string> parts;
  for (size_t place = 0; place < sm_.blocks.size(); ++place) {
    const auto id = static_cast<BlockId>(place);
    const BlockTable::Block& block = sm_.blocks[id];
    if (!block.resident) continue;
    // Threads that wait for the same thing at the same place, in order of place.
    std::map<std::pair<Position, std::string>, std::vector<uint32_t>> waiting;
    for (int i = 0; i < sm_.context.max_threads; ++i) {
      const ThreadId thread = static_cast<ThreadId>(i);
      if (!sm_.formation.is_live(thread) || sm_.formation.block_of(thread) != id) continue;
      const SlotId slot = sm_.formation.slot_of(thread);
      std::string what;
      if (slot == kNoSlot) {
        const bool reconverging = sm_.formation.StateOfThread(thread) == ThreadState::kReconverging;
        what = reconverging ? "wait for siblings at a reconvergence point" : "are held back by the policy";
      } else if (table.state[slot] == SlotState::kBarrier &&
                 sm_.steps[table.position[slot].pc()].kind != Step::kBarrier) {
        what = "wait for the other threads of their warp at a matrix instruction";
        at_rendezvous = true;
      } else if (table.state[slot] == SlotState::kBarrier) {
        const uint8_t number = sm_.barriers.number_of(slot);
        const BarrierUnit::Barrier& barrier = sm_.barriers.barrier(id, number);
        const uint32_t barrier_id = sm_.context.barrier_ids[number];
        const bool of_cluster = barrier_id == LaunchContext::kClusterBarrier;
        what = absl::StrCat("wait at ", of_cluster ? "their cluster's barrier" : absl::StrCat("barrier ", barrier_id),
                            " (", barrier.arrived, " of ", barrier.expected != 0 ? barrier.expected : block.live,
                            " threads arrived");
        if (of_cluster) {
          absl::StrAppend(&what, ", and ", sm_.context.clusters->ArrivedBlocks(block.position), " of ",
                          sm_.context.cluster_blocks, " blocks");
        }
        what += ')';
        at_barrier = true;
      } else if (table.state[slot] == SlotState::kOffered && sm_.IsPaused(slot)) {
        what = "are in a block that the dispatcher has paused";
        paused = true;
      } else if (table.state[slot] == SlotState::kParked) {
        what = "are in a warp that the policy holds back";
      } else if (table.state[slot] == SlotState::kResolving) {
        what = "wait for write-back, which the policy refuses";
      } else {
        what = WhatSlotWaitsFor(slot);
        waits = true;
        unfetched |= what == kUnfetched;
        if (what == kReady && table.port[slot] < ready.size()) ready[table.port[slot]].Insert(slot);
      }
      waiting[{sm_.formation.position_of(thread), std::move(what)}].push_back(sm_.formation.index_in_block(thread));
    }
    for (const auto& [key, indices] : waiting) {
      parts.push_back(absl::StrCat("block ", block.linear_index, " threads ", Ranges(indices), " at pc ",
                                   key.first.pc() * 8, " ", key.second));
    }
  }
  if (resolve_.waits()) {
    parts.insert(parts.begin(), absl::StrCat("the policy refuses the write-back of slot ", resolve_.pending().slot,
                                             " at pc ", resolve_.pending().from.pc() * 8));
  }
  const size_t groups = parts.size();
  if (groups > kMostGroups) {
    parts.resize(kMostGroups);
    parts.push_back(absl::StrCat("and ", groups - kMostGroups, " more groups"));
  }
  // Who has nothing to do with it is not named. Pick has no side effects.
  bool held_back = false;
  for (size_t port = 0; port < ready.size(); ++port) {
    held_back |= !ready[port].empty() && schedulers()[port]->Pick(ready[port]) == kNoSlot;
  }
  const std::string whose = paused      ? absl::StrCat("dispatcher '", sm_.context.dispatch_name, "'")
                            : held_back ? absl::StrCat("scheduler '", sm_.context.scheduler_name, "'")
                            : unfetched ? absl::StrCat("fetch policy '", sm_.context.fetch_name, "'")
                                        : absl::StrCat("divergence policy '", sm_.context.policy_name, "'");
  std::string text = absl::StrCat(waits || paused ? ""
                                  : at_barrier    ? "barrier "
                                  : at_rendezvous ? "matrix instruction "
                                                  : "policy ",
                                  "deadlock under ", whose, " on SM ", sm_.number, " in cycle ", sm_.run.now, ": ",
                                  absl::StrJoin(parts, "; "));
  if (held_back) absl::StrAppend(&text, "; the scheduler lets none of the warps that are ready issue");
  if (const std::string why = sm_.policy->Explain(table); !why.empty())
    absl::StrAppend(&text, "; the policy says: ", why);
  return text;
}

}  // namespace heddle::replay
