#include "tests/conformance/harp_model.h"

#include <algorithm>
#include <utility>

namespace heddle::replay {

namespace v1 = trace::v1;

HarpModel::HarpModel(const trace::Program& program, const std::vector<std::vector<ScriptStep>>& threads,
                     const Options& options)
    : program_(program), steps_(threads), options_(options), next_(threads.size(), 0), calls_(threads.size()) {}

HarpModel::Place HarpModel::At(uint32_t thread) const {
  const ScriptStep& step = steps_[thread][next_[thread]];
  return {step.depth, step.pc};
}

bool HarpModel::LaneFree(const Threads& threads, uint32_t thread) const {
  return std::none_of(threads.begin(), threads.end(), [&](uint32_t other) { return Lane(other) == Lane(thread); });
}

// Global memory instructions go to the Waiting-Lookup (section 4.2.1), unless a branch hangs on them.
bool HarpModel::UsesWaitingLookup(uint32_t pc) const {
  const v1::Instruction& instruction = program_.instruction(pc);
  const trace::Block& block = program_.block(program_.block_of(pc));
  const bool last = pc + 1 == block.first + block.count;
  return (instruction.space() == v1::SPACE_GLOBAL || instruction.space() == v1::SPACE_GENERIC) &&
         !(last && block.terminator != v1::FALL_THROUGH);
}

std::vector<HarpModel::Issue> HarpModel::Run() {
  std::vector<Issue> issues;
  for (uint32_t first = 0; first < steps_.size(); first += options_.warp_size) {
    Warp warp;
    for (uint32_t t = first; t < std::min<size_t>(steps_.size(), first + options_.warp_size); ++t) {
      warp.threads.insert(t);
    }
    warp.at = At(first);
    Ready(warp);
  }
  constexpr uint64_t kMostCycles = 1'000'000;
  for (uint64_t now = 0; now < kMostCycles; ++now) {
    now_ = now;
    // Of several commits in a cycle, the one that issued first; all latencies that end now.
    std::vector<InFlight> due;
    std::erase_if(in_flight_, [&](const InFlight& in_flight) {
      if (in_flight.done != now) return false;
      due.push_back(in_flight);
      return true;
    });
    for (const InFlight& in_flight : due) Commit(in_flight);
    Transitions(now);
    IssueOne(now, issues);
    if (in_flight_.empty() && first_.empty() && second_.empty() && ready_lookup_.empty() && revived_.empty() &&
        arriving_.empty()) {
      break;
    }
  }
  return issues;
}

void HarpModel::Commit(const InFlight& in_flight) {
  const uint32_t pc = in_flight.warp.at.pc;
  const trace::Block& block = program_.block(program_.block_of(pc));
  const bool last = pc + 1 == block.first + block.count;
  const v1::Terminator terminator = last ? block.terminator : v1::FALL_THROUGH;
  // Figure 8: the barrier's RPC is the branch's; a function's end stands for the place behind the call.
  bool has_rpc = false;
  Place rpc;
  if (terminator == v1::CALL_INDIRECT) {
    has_rpc = true;
    rpc = {in_flight.warp.at.depth, program_.block(block.successor).first};
  } else if (terminator == v1::BRANCH_CONDITIONAL || terminator == v1::BRANCH_WIDE) {
    if (block.post_dominator != trace::kNoBlock) {
      has_rpc = true;
      rpc = {in_flight.warp.at.depth, program_.block(block.post_dominator).first};
    } else {
      // If the callers differ, that of the thread in the lowest lane.
      const uint32_t lowest = *std::min_element(in_flight.warp.threads.begin(), in_flight.warp.threads.end(),
                                                [&](uint32_t a, uint32_t b) { return Lane(a) < Lane(b); });
      if (!calls_[lowest].empty()) {
        has_rpc = true;
        rpc = {in_flight.warp.at.depth - 1, program_.block(program_.block(calls_[lowest].back()).successor).first};
      }
    }
  }
  Threads exited;
  Threads live;
  for (const uint32_t thread : in_flight.warp.threads) {
    if (terminator == v1::CALL || terminator == v1::CALL_INDIRECT) calls_[thread].push_back(program_.block_of(pc));
    if (terminator == v1::RETURN) calls_[thread].pop_back();
    ++next_[thread];
    (next_[thread] == steps_[thread].size() ? exited : live).insert(thread);
  }
  Leave(exited);
  if (in_flight.shares.empty()) {
    GoOn(live, has_rpc, rpc);
    return;
  }
  // Members of a waiting warp go on when all of them have their data (section 4.2.1).
  Threads own = live;
  for (const auto& [name, threads] : in_flight.shares) {
    for (const uint32_t thread : threads) own.erase(thread);
    const auto entry =
        std::find_if(waiting_.begin(), waiting_.end(), [&](const Waiting& waiting) { return waiting.name == name; });
    entry->gathered.insert(threads.begin(), threads.end());
    if (--entry->pending != 0) continue;
    const Threads gathered = entry->gathered;
    waiting_.erase(entry);
    GoOn(gathered, false, {});
  }
  if (!own.empty()) GoOn(own, false, {});
}

void HarpModel::GoOn(const Threads& threads, bool has_rpc, Place rpc) {
  std::map<Place, Threads> sides;
  for (const uint32_t thread : threads) sides[At(thread)].insert(thread);
  if (sides.size() > 1 && has_rpc) Reserve(threads, rpc);
  for (const auto& [at, side] : sides) {
    const Threads left = Arrive(at, side);
    if (left.empty()) continue;
    if (sides.size() == 1) {
      Ready({at, left});
    } else {
      Merge({at, left});
    }
  }
}

void HarpModel::Reserve(const Threads& threads, Place rpc) {
  std::map<size_t, size_t> own;  // by set: the way that this warp has reserved
  for (const uint32_t thread : threads) {
    const size_t set = SetOf(thread);
    bool has = false;
    for (const auto& [way, barrier] : barriers_) {
      const auto slot = barrier.lanes.find(Lane(thread));
      has |= way.first == set && barrier.rpc == rpc && slot != barrier.lanes.end() && slot->second.thread == thread;
    }
    if (has) continue;
    if (!own.contains(set)) {
      size_t way = 0;
      while (way < options_.ways && barriers_.contains({set, way})) ++way;
      if (way == options_.ways) {
        ++misses_;
        continue;
      }
      own[set] = way;
      barriers_[{set, way}].rpc = rpc;
    }
    barriers_[{set, own[set]}].lanes[Lane(thread)] = {thread, false};
  }
}

HarpModel::Threads HarpModel::Arrive(Place at, const Threads& threads) {
  Threads left;
  std::map<uint32_t, Way> touched;  // by the lowest thread that has come to it
  std::set<Way> seen;
  for (const uint32_t thread : threads) {
    bool found = false;
    for (auto& [way, barrier] : barriers_) {
      if (way.first != SetOf(thread) || barrier.rpc != at) continue;
      const auto slot = barrier.lanes.find(Lane(thread));
      if (slot == barrier.lanes.end() || slot->second.thread != thread || slot->second.reached) continue;
      slot->second.reached = true;
      found = true;
      if (seen.insert(way).second) touched[thread] = way;
      break;
    }
    if (!found) left.insert(thread);
  }
  Revive(touched);
  return left;
}

void HarpModel::Leave(const Threads& exited) {
  std::map<uint32_t, Way> touched;
  std::set<Way> seen;
  for (const uint32_t thread : exited) {
    for (auto& [way, barrier] : barriers_) {
      const auto slot = barrier.lanes.find(Lane(thread));
      if (way.first != SetOf(thread) || slot == barrier.lanes.end() || slot->second.thread != thread) continue;
      barrier.lanes.erase(slot);
      // A thread may leave several barriers; those come in the order of the table.
      if (seen.insert(way).second) touched.emplace(thread * 1000 + static_cast<uint32_t>(way.second), way);
    }
  }
  Revive(touched);
}

void HarpModel::Revive(const std::map<uint32_t, Way>& touched) {
  for (const auto& [thread, way] : touched) {
    const Barrier& barrier = barriers_.at(way);
    if (!std::all_of(barrier.lanes.begin(), barrier.lanes.end(),
                     [](const auto& lane) { return lane.second.reached; })) {
      continue;
    }
    Warp warp{barrier.rpc, {}};
    for (const auto& [lane, slot] : barrier.lanes) warp.threads.insert(slot.thread);
    barriers_.erase(way);
    if (warp.threads.empty()) continue;
    if (options_.one_port) {
      revived_.push_back(warp);
    } else if (options_.barrier_delay != 0) {
      arriving_.emplace_back(now_ + options_.barrier_delay, warp);
    } else {
      Ready(warp);
    }
  }
}

void HarpModel::Merge(Warp warp) {
  std::deque<Warp> kept;
  std::deque<Warp> merged;
  for (Warp& entry : ready_lookup_) {
    Threads fit;
    if (entry.at == warp.at) {
      for (const uint32_t thread : warp.threads) {
        if (LaneFree(entry.threads, thread)) fit.insert(thread);
      }
    }
    for (const uint32_t thread : fit) {
      entry.threads.insert(thread);
      warp.threads.erase(thread);
    }
    ready_merges_ += !fit.empty();
    (fit.empty() || !options_.restamp ? kept : merged).push_back(entry);
  }
  ready_lookup_ = std::move(kept);
  ready_lookup_.insert(ready_lookup_.end(), merged.begin(), merged.end());
  if (warp.threads.empty()) return;
  if (ready_lookup_.size() < options_.ready_lookup) {
    ready_lookup_.push_back(warp);
  } else {
    Ready(warp);
  }
}

void HarpModel::Ready(const Warp& warp) {
  second_.push_back(warp);
  Fill();
}

void HarpModel::Fill() {
  while (!second_.empty() && (options_.first_level == 0 || first_.size() < options_.first_level)) {
    first_.push_back(second_.front());
    second_.pop_front();
  }
}

void HarpModel::Transitions(uint64_t now) {
  while (!arriving_.empty() && arriving_.front().first <= now) {
    Ready(arriving_.front().second);
    arriving_.pop_front();
  }
  const auto move = [&](const Warp& warp, uint64_t delay) {
    if (delay == 0) {
      Ready(warp);
    } else {
      arriving_.emplace_back(now + delay, warp);
    }
  };
  bool port_taken = false;
  if (!revived_.empty()) {
    move(revived_.front(), options_.barrier_delay);
    revived_.pop_front();
    port_taken = true;
  }
  const size_t ready = second_.size() + arriving_.size() +
                       (options_.first_level == 0 || options_.low_water_counts_both ? first_.size() : 0);
  if (ready_lookup_.empty() || ready >= options_.low_water || (port_taken && options_.one_port)) return;
  const Warp warp = ready_lookup_.front();
  ready_lookup_.pop_front();
  move(warp, options_.lookup_delay);
}

void HarpModel::IssueOne(uint64_t now, std::vector<Issue>& issues) {
  if (first_.empty()) return;
  InFlight in_flight;
  in_flight.warp = first_.front();
  first_.pop_front();
  Fill();
  const uint32_t pc = in_flight.warp.at.pc;
  issues.push_back({now, pc, in_flight.warp.threads});
  const bool memory = program_.instruction(pc).space() != v1::SPACE_NONE;
  in_flight.done = now + (memory ? options_.memory : options_.pipeline);
  if (options_.waiting_lookup != 0 && UsesWaitingLookup(pc)) {
    Threads left = in_flight.warp.threads;
    for (Waiting& entry : waiting_) {
      if (entry.at != in_flight.warp.at) continue;
      Threads fit;
      for (const uint32_t thread : left) {
        if (LaneFree(entry.members, thread)) fit.insert(thread);
      }
      if (fit.empty()) continue;
      ++waiting_merges_;
      for (const uint32_t thread : fit) {
        entry.members.insert(thread);
        left.erase(thread);
      }
      ++entry.pending;
      in_flight.shares[entry.name] = fit;
    }
    if (!left.empty() && waiting_.size() < options_.waiting_lookup) {
      waiting_.push_back({names_, in_flight.warp.at, left, {}, 1});
      in_flight.shares[names_++] = left;
    }
  }
  in_flight_.push_back(in_flight);
}

}  // namespace heddle::replay
