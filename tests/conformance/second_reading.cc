#include "tests/conformance/second_reading.h"

#include <algorithm>

namespace heddle::replay {
namespace {
namespace v1 = trace::v1;
}  // namespace

SecondReading::SecondReading(const RandomKernel& kernel, const Options& options)
    : kernel_(kernel), options_(options), done_(kernel.threads.size()), callers_(kernel.threads.size()) {
  for (int block = 0; block < kernel.program.block_size(); ++block) {
    const v1::BasicBlock& it = kernel.program.block(block);
    for (uint32_t i = 0; i < it.instruction_count(); ++i) {
      block_of_[it.first_instruction() + i] = static_cast<uint32_t>(block);
    }
  }
}

SecondReading::Place SecondReading::At(uint32_t thread) const {
  const std::vector<ScriptStep>& steps = kernel_.threads[thread].steps;
  if (done_[thread] == steps.size()) return kNowhere;
  return {steps[done_[thread]].depth, steps[done_[thread]].pc};
}

bool SecondReading::EndsBlock(uint32_t pc, bool& conditional, bool& jump, bool& uniform) const {
  const v1::BasicBlock& block = kernel_.program.block(static_cast<int>(block_of_.at(pc)));
  if (pc + 1 != block.first_instruction() + block.instruction_count()) return false;
  const v1::Instruction& last = kernel_.program.instruction(static_cast<int>(pc));
  conditional = block.terminator() == v1::BRANCH_CONDITIONAL || block.terminator() == v1::BRANCH_WIDE ||
                block.terminator() == v1::CALL_INDIRECT;
  jump = block.terminator() == v1::FALL_THROUGH && last.op() == v1::OP_BRANCH;
  uniform = (last.flags() & v1::FLAG_UNIFORM) != 0;
  return true;
}

// The immediate post-dominator of the branch that `thread` is about to execute; at a function's end what follows its
// call.
SecondReading::Place SecondReading::JoinOf(uint32_t pc, uint32_t thread) const {
  const v1::BasicBlock& block = kernel_.program.block(static_cast<int>(block_of_.at(pc)));
  const uint32_t depth = At(thread).first;
  const auto start = [&](uint32_t index) { return kernel_.program.block(static_cast<int>(index)).first_instruction(); };
  if (block.terminator() == v1::CALL_INDIRECT) return {depth, start(block.successor(0))};
  if (block.immediate_post_dominator() != 0) return {depth, start(block.immediate_post_dominator() - 1)};
  if (callers_[thread].empty()) return kNowhere;
  return {depth - 1, callers_[thread].back()};
}

// The compaction unit: warp k gets the k-th thread of each lane.
std::vector<SecondReading::Threads> SecondReading::Compact(const Threads& threads) const {
  std::map<uint32_t, uint32_t> in_lane;
  std::vector<Threads> warps;
  for (const uint32_t thread : threads) {
    const uint32_t k = in_lane[thread % static_cast<uint32_t>(options_.warp_size)]++;
    if (k == warps.size()) warps.emplace_back();
    warps[k].insert(thread);
  }
  return warps;
}

SecondReading::Warp* SecondReading::NewWarp(const Threads& threads, Level* level, bool ahead) {
  warps_.push_back({threads, level, ahead});
  return &warps_.back();
}

std::vector<std::string> SecondReading::Run() {
  Level bottom;
  bottom.next = At(0);
  for (uint32_t thread = 0; thread < kernel_.threads.size(); ++thread) bottom.active.insert(thread);
  stack_.push_back(std::move(bottom));
  Activate();
  std::vector<std::string> log;
  std::multimap<uint64_t, Warp*> flying;  // by the cycle in which they complete; in order of issue within it
  for (uint64_t cycle = 0; !ready_.empty() || !flying.empty(); ++cycle) {
    for (auto it = flying.begin(); it != flying.end() && it->first <= cycle; it = flying.erase(it)) {
      Complete(it->second);
    }
    if (ready_.empty()) continue;
    Warp* const warp = ready_.front();
    ready_.pop_front();
    const uint32_t pc = At(*warp->threads.begin()).second;
    std::map<uint32_t, uint32_t> by_lane;
    uint32_t latency = 1;
    for (const uint32_t thread : warp->threads) {
      by_lane[thread % static_cast<uint32_t>(options_.warp_size)] = thread;
      latency = std::max(latency, options_.latency(thread, pc));
    }
    std::string line = std::to_string(cycle) + " " + std::to_string(pc);
    for (const auto& [lane, thread] : by_lane) line += " " + std::to_string(thread);
    log.push_back(line);
    flying.emplace(cycle + latency, warp);
  }
  for (uint32_t thread = 0; thread < kernel_.threads.size(); ++thread) {
    if (At(thread) != kNowhere) log.push_back("thread " + std::to_string(thread) + " has not ended");
  }
  return log;
}

void SecondReading::Complete(Warp* warp) {
  const uint32_t first = *warp->threads.begin();
  BlockEnd end;
  end.warp = warp;
  end.pc = At(first).second;
  bool conditional = false;
  bool jump = false;
  bool uniform = false;
  const bool ends = EndsBlock(end.pc, conditional, jump, uniform);
  if (conditional) end.join = JoinOf(end.pc, first);
  const v1::BasicBlock& block = kernel_.program.block(static_cast<int>(block_of_.at(end.pc)));
  for (const uint32_t thread : warp->threads) {
    const uint32_t depth = At(thread).first;
    ++done_[thread];
    const Place next = At(thread);
    if (ends && block.terminator() == v1::RETURN) callers_[thread].pop_back();
    if (next != kNowhere && next.first > depth) {
      callers_[thread].push_back(kernel_.program.block(static_cast<int>(block.successor(0))).first_instruction());
    }
    if (next != kNowhere) end.ways[next].insert(thread);
  }
  if (!ends) {
    Ready(warp);
    return;
  }
  if (end.ways.empty()) {
    // They are in no mask any more.
    for (Level& level : stack_) {
      for (const uint32_t thread : warp->threads) level.active.erase(thread);
      for (Level& coming : level.coming) {
        for (const uint32_t thread : warp->threads) coming.active.erase(thread);
      }
    }
    warp->threads.clear();
  }
  if (warp->ahead) {
    // One basic block, not more; whatever comes then has to wait until the level runs.
    if (end.ways.empty()) {
      std::erase(warp->level->early, warp);
    } else {
      warp->level->late.push_back(end);
    }
    return;
  }
  Do(end);
}

void SecondReading::Do(const BlockEnd& end) {
  Level* const level = end.warp->level;
  if (end.ways.empty()) {
    Leave(level);
    return;
  }
  if (end.ways.size() == 1 && end.ways.begin()->first == level->rpc) {
    for (const uint32_t thread : end.warp->threads) level->active.erase(thread);
    Leave(level);
    return;
  }
  bool conditional = false;
  bool jump = false;
  bool uniform = false;
  EndsBlock(end.pc, conditional, jump, uniform);
  bool barrier = conditional || end.ways.size() > 1;
  if (options_.mechanism == Mechanism::kTbc && jump) barrier = true;
  if (options_.mechanism == Mechanism::kTbcPlus && uniform && end.ways.size() == 1) barrier = false;
  if (!barrier) {
    Ready(end.warp);
    return;
  }
  AtBranch(end, conditional);
}

bool SecondReading::Stalls(uint32_t branch, bool diverged) {
  if (options_.mechanism != Mechanism::kCapri) return true;
  if (!diverged || options_.never_stall) return false;
  const auto found = std::find_if(table_.begin(), table_.end(), [&](const auto& line) { return line.first == branch; });
  if (found == table_.end()) {
    if (table_.size() == options_.table_entries) table_.pop_back();
    table_.emplace_front(branch, options_.history == History::kTwoBit ? 2 : 1);
  } else {
    table_.splice(table_.begin(), table_, found);
  }
  int& history = table_.front().second;
  if (options_.history == History::kSticky) history = 1;
  return options_.history == History::kTwoBit ? history > 1 : history == 1;
}

void SecondReading::AtBranch(const BlockEnd& end, bool conditional) {
  Level* const level = end.warp->level;
  if (level->coming.empty()) {
    level->branch = end.pc;
    level->conditional = conditional;
    level->join = end.join == kNowhere ? level->rpc : end.join;
  }
  const bool stalls = Stalls(end.pc, end.ways.size() > 1);
  const v1::BasicBlock& block = kernel_.program.block(static_cast<int>(block_of_.at(end.pc)));
  const auto is_taken = [&](const Place& place) {
    return block.terminator() == v1::BRANCH_CONDITIONAL &&
           place.second == kernel_.program.block(static_cast<int>(block.successor(1))).first_instruction();
  };
  // The side of a bypassed warp that runs now: the true path, of more than two the lowest address; not the join.
  Place now = kNowhere;
  for (const auto& [place, threads] : end.ways) {
    if (place == level->join && (end.ways.size() > 1 || level->join == level->rpc)) continue;
    if (now == kNowhere || is_taken(place)) now = place;
  }
  for (const auto& [place, threads] : end.ways) {
    auto arm =
        std::find_if(level->coming.begin(), level->coming.end(), [&](const Level& l) { return l.next == place; });
    if (arm == level->coming.end()) {
      arm = level->coming.emplace(level->coming.end());
      arm->next = place;
      arm->taken = is_taken(place);
      arm->lanes.resize(static_cast<size_t>(options_.warp_size));
    }
    arm->active.insert(threads.begin(), threads.end());
    ++arm->before;
    for (const uint32_t thread : threads) ++arm->lanes[thread % static_cast<uint32_t>(options_.warp_size)];
    if (stalls) continue;
    if (place == now) {
      arm->early.push_back(NewWarp(threads, &*arm, true));
      Ready(arm->early.back());
    } else if (place != level->join) {
      arm->whole.push_back(threads);
    }
  }
  Leave(level);
}

// One warp fewer to wait for.
void SecondReading::Leave(Level* level) {
  if (--level->wcnt != 0) return;
  if (level->coming.empty()) {
    Drop(level);
    Activate();
  } else {
    Resolve(level);
  }
}

void SecondReading::Drop(Level* level) {
  stack_.remove_if([&](const Level& other) { return &other == level; });
}

void SecondReading::Resolve(Level* level) {
  std::list<Level> arms = std::move(level->coming);
  level->coming.clear();
  // In the order of their turns.
  arms.sort([](const Level& a, const Level& b) { return a.taken != b.taken ? a.taken : a.next < b.next; });
  // Learning: would the level that runs next have needed fewer warps, had all of them waited?
  const auto next = std::find_if(arms.begin(), arms.end(),
                                 [&](const Level& arm) { return arm.next != level->join && arm.next != level->rpc; });
  if (level->conditional && next != arms.end() && options_.history != History::kSticky) {
    const bool adequate = *std::max_element(next->lanes.begin(), next->lanes.end()) < next->before;
    for (auto& [branch, history] : table_) {
      if (branch != level->branch) continue;
      history = options_.history == History::kLatest ? adequate : std::clamp(history + (adequate ? 1 : -1), 0, 3);
    }
  }
  const auto own = [](Level& to) {
    for (Warp* const warp : to.early) warp->level = &to;
  };
  // `level` is the top of the stack.
  const Place rpc = level->rpc;
  const Place join = level->join;
  if (arms.size() == 1) {
    Level& only = arms.front();
    only.rpc = rpc;
    Drop(level);
    stack_.push_back(std::move(only));
    own(stack_.back());
    Activate();
    return;
  }
  const auto rest = std::find_if(arms.begin(), arms.end(), [&](const Level& arm) { return arm.next == join; });
  if (join == rpc) {
    Drop(level);
  } else {
    level->next = join;
    level->running = false;
    if (rest != arms.end()) {
      level->early = std::move(rest->early);
      level->late = std::move(rest->late);
      own(*level);
    }
  }
  if (rest != arms.end()) arms.erase(rest);
  for (auto arm = arms.rbegin(); arm != arms.rend(); ++arm) {
    arm->rpc = join;
    stack_.push_back(std::move(*arm));
    own(stack_.back());
  }
  Activate();
}

void SecondReading::Activate() {
  while (!stack_.empty() && stack_.back().active.empty()) stack_.pop_back();
  if (stack_.empty() || stack_.back().running) return;
  Level* const level = &stack_.back();
  level->running = true;
  Threads left = level->active;
  level->wcnt = 0;
  for (Warp* const warp : level->early) {
    warp->ahead = false;
    ++level->wcnt;
    for (const uint32_t thread : warp->threads) left.erase(thread);
  }
  level->early.clear();
  for (const Threads& threads : level->whole) {
    for (const uint32_t thread : threads) left.erase(thread);
    Ready(NewWarp(threads, level, false));
    ++level->wcnt;
  }
  level->whole.clear();
  for (const Threads& threads : Compact(left)) {
    Ready(NewWarp(threads, level, false));
    ++level->wcnt;
  }
  std::vector<BlockEnd> late = std::move(level->late);
  level->late.clear();
  for (const BlockEnd& end : late) Do(end);
}

}  // namespace heddle::replay
