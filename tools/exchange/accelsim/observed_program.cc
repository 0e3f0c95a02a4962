#include "tools/exchange/accelsim/observed_program.h"

#include <algorithm>
#include <limits>
#include <numeric>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "traces/base/status_macros.h"
#include "traces/format/program/post_dominators.h"
#include "traces/format/program/program.h"
#include "traces/format/read/check.h"

namespace heddle::tools::accelsim {
namespace {

using trace::v1::KernelProgram;

constexpr size_t kMostHops = size_t{1} << 22;
constexpr size_t kMostSuccessors = 256;  // a decision is one byte
constexpr uint32_t kUnused = ~uint32_t{0};
// Code that no thread ran keeps its room as long as the program has at most so many instructions per one that was seen,
// and so many more: a PC far away in a hostile file costs little.
constexpr uint64_t kMostSpread = 8;
constexpr uint64_t kMostGap = 256;

// Our numbers count from 1; the zero register has none. Export writes our registers from 256 on behind R255.
void AddRegisters(const std::vector<uint32_t>& from, google::protobuf::RepeatedField<uint32_t>& to) {
  for (const uint32_t number : from) {
    if (number != kZeroRegister) to.Add(number < kZeroRegister ? number + 1 : number);
  }
}

// What stands where no thread came by: it takes room, and nothing leads to it.
trace::v1::Instruction NotRun(bool last_of_gap) {
  trace::v1::Instruction out;
  out.set_op(last_of_gap ? trace::v1::OP_EXIT : trace::v1::OP_MOVE);
  out.set_mnemonic(last_of_gap ? "EXIT.UNSEEN" : "NOP.UNSEEN");
  if (last_of_gap) out.set_flags(trace::v1::FLAG_CANNOT_RETURN);
  return out;
}

}  // namespace

std::string ObservedProgram::Name(uint32_t number) const {
  if (number == kStart) return "the kernel's entry";
  if (number == kEnd) return "its end";
  return absl::StrCat(absl::Hex(instructions_[number].pc, absl::kZeroPad4), " (", instructions_[number].opcode, ")");
}

absl::StatusOr<uint32_t> ObservedProgram::Observe(const WarpInstruction& instruction) {
  const auto [it, is_new] = by_pc_.try_emplace(instruction.pc, static_cast<uint32_t>(instructions_.size()));
  if (!is_new) {
    Observed& known = instructions_[it->second];
    if (known.opcode == instruction.opcode && known.has_address == (instruction.access_bytes != 0) &&
        known.dst == instruction.dst && known.src == instruction.src) {
      return it->second;
    }
    return absl::InvalidArgumentError(absl::StrCat("PC ", absl::Hex(instruction.pc, absl::kZeroPad4), " was ",
                                                   known.opcode, " before and is ", instruction.opcode,
                                                   " here, or has other operands: functions share their PCs"));
  }
  if (instructions_.size() >= trace::kMaxInstructions) {
    return absl::ResourceExhaustedError(absl::StrCat("more than ", trace::kMaxInstructions, " different PCs"));
  }
  HEDDLE_ASSIGN_OR_RETURN(const SassClass what, ClassifySass(instruction.opcode));
  Observed observed;
  observed.pc = instruction.pc;
  observed.opcode = std::string(instruction.opcode);
  observed.what = what;
  observed.dst = instruction.dst;
  observed.src = instruction.src;
  observed.source_line = instruction.source_line;
  observed.immediate = instruction.immediate;
  observed.has_address = instruction.access_bytes != 0;
  if (observed.has_address) {
    if (what.space == trace::v1::SPACE_NONE) {
      return absl::InvalidArgumentError(absl::StrCat(instruction.opcode, " has addresses, but is no memory access"));
    }
  }
  if (what.space != trace::v1::SPACE_NONE) {
    const uint32_t named = AccessBytes(instruction.opcode);
    observed.access_bytes = named != 0 ? named : instruction.access_bytes;
  }
  uses_warp_operations_ |= what.op == trace::v1::OP_WARP;
  instructions_.push_back(std::move(observed));
  return it->second;
}

absl::StatusOr<std::vector<uint32_t>> ObservedProgram::Steps(uint32_t from, uint32_t to) const {
  std::vector<uint32_t> steps;
  if (to == kEnd) {
    if (from != kStart && instructions_[from].what.ends) return steps;
    return absl::DataLossError(
        absl::StrCat("a thread stops behind ", Name(from), " without an exit: its trace is cut"));
  }
  if (from != kStart && instructions_[from].what.ends) {
    return absl::DataLossError(absl::StrCat("a thread goes on at ", Name(to), " behind ", Name(from)));
  }
  if (from == kStart || !instructions_[from].what.jumps || instructions_[from].target != kEnd) {
    const uint32_t first = from == kStart                    ? 0
                           : !instructions_[from].what.jumps ? rank_[from] + 1
                                                             : rank_[instructions_[from].target];
    if (rank_[to] < first) {
      return absl::DataLossError(absl::StrCat("a thread goes back from ", Name(from), " to ", Name(to),
                                              " without a jump: some of its instructions are missing"));
    }
    for (uint32_t rank = first; rank < rank_[to]; ++rank) {
      if (!GoneAround(instructions_[order_[rank]])) steps.push_back(order_[rank]);
    }
  }
  steps.push_back(to);
  return steps;
}

trace::v1::Instruction ObservedProgram::InstructionOf(const Observed& observed) const {
  trace::v1::Instruction out;
  const SassClass& what = observed.what;
  out.set_op(what.op);
  out.set_mnemonic(observed.opcode);
  AddRegisters(observed.dst, *out.mutable_dst());
  AddRegisters(observed.src, *out.mutable_src());
  out.set_micro_ops(what.micro_ops);
  if (observed.source_line != 0) out.set_source_line(observed.source_line);
  if (what.space == trace::v1::SPACE_NONE) return out;
  out.set_space(what.space);
  out.set_access_bytes(observed.access_bytes);
  if (!observed.has_address) out.set_flags(trace::v1::FLAG_NO_ADDRESS);
  return out;
}

void ObservedProgram::Sort() {
  order_.resize(instructions_.size());
  std::iota(order_.begin(), order_.end(), 0);
  std::ranges::sort(order_, {}, [this](uint32_t number) {
    return std::pair(instructions_[number].pc, !instructions_[number].is_join);
  });
  rank_.resize(order_.size());
  for (uint32_t rank = 0; rank < order_.size(); ++rank) rank_[order_[rank]] = rank;
}

void ObservedProgram::AddJoins() {
  std::vector<bool> skipped(order_.size(), false);  // by rank
  for (const uint64_t hop : hops_) {
    const auto from = static_cast<uint32_t>(hop >> 32);
    const auto to = static_cast<uint32_t>(hop);
    if (from == kStart || to == kEnd || instructions_[from].what.jumps) continue;
    for (uint32_t rank = rank_[from] + 1; rank < rank_[to]; ++rank) skipped[rank] = true;
  }
  std::vector<bool> is_target(instructions_.size(), false);
  for (const Observed& observed : instructions_) {
    if (observed.target != kEnd) is_target[observed.target] = true;
  }
  const auto gone_around = [&](uint32_t at) {
    const Observed& observed = instructions_[order_[at]];
    return (skipped[at] || observed.is_guarded) && GoneAround(observed);
  };
  std::vector<uint32_t> joined;
  for (uint32_t rank = 1; rank < order_.size(); ++rank) {
    const Observed& observed = instructions_[order_[rank]];
    if (observed.goes_on || !gone_around(rank)) continue;
    // Where a run that the file tells begins a block, what leads there leads to the decision on it.
    const bool begins_block = is_target[order_[rank]] || instructions_[order_[rank - 1]].what.jumps;
    if (gone_around(rank - 1) || (observed.is_guarded && begins_block)) joined.push_back(order_[rank]);
  }
  std::vector<uint32_t> join_of(instructions_.size(), kEnd);
  for (const uint32_t number : joined) {
    Observed join;
    join.pc = instructions_[number].pc;
    join.opcode = "NOP.JOIN";
    join.what.op = trace::v1::OP_MOVE;
    join.is_join = true;
    join_of[number] = static_cast<uint32_t>(instructions_.size());
    instructions_.push_back(std::move(join));
  }
  for (Observed& observed : instructions_) {
    if (observed.target != kEnd && join_of[observed.target] != kEnd) observed.target = join_of[observed.target];
  }
  if (!joined.empty()) Sort();
}

void ObservedProgram::FindTargets() {
  for (Observed& observed : instructions_) {
    if (observed.what.op != trace::v1::OP_BRANCH && observed.what.op != trace::v1::OP_CALL) continue;
    // BRX goes where a register says; so do calls without a place.
    if (!absl::StartsWith(observed.opcode, "BRA") && observed.immediate <= 0) continue;
    if (observed.immediate < 0 || observed.immediate > std::numeric_limits<uint32_t>::max()) continue;
    observed.target_pc = static_cast<uint32_t>(observed.immediate);
    observed.target = NumberOf(observed.target_pc);
  }
}

void ObservedProgram::AddWaysNotTaken(const std::vector<bool>& run,
                                      std::vector<std::vector<uint32_t>>& successors) const {
  for (uint32_t number = 0; number < instructions_.size(); ++number) {
    const Observed& branch = instructions_[number];
    const bool is_branch = branch.what.op == trace::v1::OP_BRANCH || branch.falls_through;
    if (!run[number] || !is_branch || branch.target == kEnd) continue;
    if (run[branch.target]) successors[number].push_back(branch.target);
    // A branch with a guard can fall through.
    if ((branch.src.empty() && !branch.falls_through) || rank_[number] + 1 == order_.size()) continue;
    const uint32_t next = order_[rank_[number] + 1];
    if (run[next] && instructions_[next].pc == branch.pc + kOurPcBytes) successors[number].push_back(next);
  }
}

void ObservedProgram::FindGuarded(const std::vector<KernelHeader::Run>& runs) {
  for (const KernelHeader::Run& run : runs) {
    const uint32_t branch = NumberOf(run.first * kOurPcBytes);
    if (run.count == 0 && branch != kEnd) instructions_[branch].falls_through = true;
    for (uint32_t i = 0; i < run.count; ++i) {
      const uint32_t number = NumberOf((run.first + i) * kOurPcBytes);
      if (number == kEnd) break;
      instructions_[number].is_guarded = true;
      instructions_[number].guarded_behind = run.count - 1 - i;
      instructions_[number].goes_on = i > 0;
    }
  }
}

void ObservedProgram::AddWaysAround(std::vector<bool>& run, std::vector<std::vector<uint32_t>>& successors) const {
  const auto size = static_cast<uint32_t>(order_.size());
  const auto at = [&](uint32_t rank) -> const Observed& { return instructions_[order_[rank]]; };
  const auto follows = [&](uint32_t rank) {
    return at(rank).is_join || at(rank - 1).is_join || at(rank - 1).pc + kOurPcBytes == at(rank).pc;
  };
  // By rank: a run begins here that can be passed, for behind its last one there is a place to go on at.
  std::vector<bool> is_passed(size, false);
  for (uint32_t rank = size; rank-- > 1;) {
    const Observed& first = at(rank);
    const uint32_t behind = rank + first.guarded_behind + 1;
    bool passed = first.is_guarded && !first.goes_on && GoneAround(first) && behind < size;
    for (uint32_t next = rank; passed && next <= behind; ++next) passed = follows(next);
    is_passed[rank] = passed && (run[order_[behind]] || is_passed[behind]);
  }
  for (uint32_t rank = 1; rank < size; ++rank) {
    const uint32_t before = order_[rank - 1];
    if (!is_passed[rank] || !run[before] || at(rank - 1).what.jumps) continue;
    const uint32_t last = rank + at(rank).guarded_behind;
    successors[before].push_back(order_[rank]);
    successors[before].push_back(order_[last + 1]);
    for (uint32_t next = rank; next <= last; ++next) {
      run[order_[next]] = true;
      if (!at(next).what.ends) successors[order_[next]].push_back(order_[next + 1]);
    }
  }
}

void ObservedProgram::PutBack(const std::vector<KernelHeader::Moved>& moved) {
  const auto place_of = [&](uint32_t pc) {
    const uint32_t at = pc / kOurPcBytes;
    const auto behind = std::ranges::upper_bound(moved, at, {}, &KernelHeader::Moved::first);
    const auto run = behind == moved.begin() ? moved.end() : behind - 1;
    const bool is_moved = run != moved.end() && at - run->first < run->count;
    return is_moved ? (run->place + (at - run->first)) * kOurPcBytes : pc;
  };
  for (Observed& observed : instructions_) {
    observed.place_pc = place_of(observed.pc);
    if (observed.target_pc != kUnused) last_pc_ = std::max(last_pc_, place_of(observed.target_pc));
  }
}

std::vector<uint32_t> ObservedProgram::Places(const std::vector<bool>& run) const {
  std::vector<uint32_t> ordered = order_;
  std::ranges::stable_sort(ordered, {}, [this](uint32_t number) { return instructions_[number].place_pc; });
  uint32_t step = 0;  // bytes from a PC to the next one
  uint32_t first = kUnused, last = 0, count = 0;
  for (const uint32_t number : ordered) {
    if (!run[number]) continue;
    const uint32_t pc = instructions_[number].place_pc;
    if (first == kUnused) first = last = pc;
    step = std::gcd(step, pc - last);
    last = pc;
    ++count;
  }
  // A branch tells that there is more.
  const uint32_t end = last_pc_ > last && step != 0 && (last_pc_ - last) % step == 0 ? last_pc_ : last;
  const uint64_t all = step == 0 ? 1 : (end - first) / step + 1;
  const bool fill = step != 0 && all <= trace::kMaxInstructions / 2 && all <= kMostSpread * uint64_t{count} + kMostGap;
  std::vector<uint32_t> numbers;
  for (const uint32_t number : ordered) {
    if (!run[number]) continue;
    const uint32_t pc = instructions_[number].place_pc;
    if (fill && !numbers.empty() && pc > last + step) numbers.insert(numbers.end(), (pc - last) / step - 1, kUnused);
    numbers.push_back(number);
    last = pc;
  }
  if (fill) numbers.insert(numbers.end(), (end - last) / step, kUnused);
  return numbers;
}

absl::StatusOr<KernelProgram> ObservedProgram::Build(const KernelHeader& header) {
  if (instructions_.empty()) return absl::DataLossError("the kernel has no instructions");
  if (hops_.size() > kMostHops) return absl::ResourceExhaustedError("the kernel's flow has too many different ways");
  if (header.IsOurs()) {
    FindTargets();
    FindGuarded(header.guarded);
  }
  Sort();
  AddJoins();
  PutBack(header.IsOurs() ? header.moved : std::vector<KernelHeader::Moved>());
  const auto count = static_cast<uint32_t>(instructions_.size());

  // In a fixed order, so that the same trace gives the same refusal.
  std::vector<uint64_t> hops(hops_.begin(), hops_.end());
  std::ranges::sort(hops);
  std::vector<std::vector<uint32_t>> steps(hops.size());
  std::vector<std::vector<uint32_t>> successors(count);  // of instructions, by number
  std::vector<bool> run(count, false);
  uint32_t entry = kUnused;
  for (size_t h = 0; h < hops.size(); ++h) {
    const auto from = static_cast<uint32_t>(hops[h] >> 32);
    HEDDLE_ASSIGN_OR_RETURN(std::vector<uint32_t> path, Steps(from, static_cast<uint32_t>(hops[h])));
    uint32_t at = from;
    for (const uint32_t next : path) {
      run[next] = true;
      if (at != kStart) {
        successors[at].push_back(next);
      } else if (entry != kUnused && entry != next) {
        return absl::DataLossError(absl::StrCat("threads begin with ", Name(entry), " and with ", Name(next)));
      } else {
        entry = next;
      }
      at = next;
    }
    steps[h] = std::move(path);
  }

  if (header.IsOurs()) {
    AddWaysNotTaken(run, successors);
    AddWaysAround(run, successors);
  }

  const std::vector<uint32_t> numbers = Places(run);  // by place; kUnused where nothing is known
  std::vector<uint32_t> place(count, kUnused);
  for (uint32_t at = 0; at < numbers.size(); ++at) {
    if (numbers[at] != kUnused) place[numbers[at]] = at;
  }
  if (place[entry] != 0) {
    return absl::DataLossError(absl::StrCat("threads begin with ", Name(entry), ", behind ", Name(numbers[0])));
  }
  const auto size = static_cast<uint32_t>(numbers.size());
  std::vector<bool> leads(size + 1, false);
  leads[0] = leads[size] = true;
  for (uint32_t at = 0; at < size; ++at) {
    if (numbers[at] == kUnused) {
      leads[at] = leads[at] || numbers[at - 1] != kUnused;
      leads[at + 1] = leads[at + 1] || numbers[at + 1] != kUnused;
      continue;
    }
    std::vector<uint32_t>& next = successors[numbers[at]];
    for (uint32_t& number : next) number = place[number];
    std::ranges::sort(next);
    next.erase(std::unique(next.begin(), next.end()), next.end());
    // What follows in the text comes first: decision 0 is the fall-through.
    if (const auto behind = std::ranges::find(next, at + 1); behind != next.end()) {
      std::rotate(next.begin(), behind, behind + 1);
    }
    if (next.size() > kMostSuccessors) {
      return absl::UnimplementedError(absl::StrCat(Name(numbers[at]), " leads to more than 256 places"));
    }
    if (next.size() == 1 && next[0] == at + 1) continue;
    leads[at + 1] = true;
    for (const uint32_t to : next) leads[to] = true;
  }

  KernelProgram program;
  program.set_name(header.name);
  std::vector<uint32_t> block_of(size);
  uint32_t most_register = 0;
  for (uint32_t at = 0; at < size; ++at) {
    if (leads[at]) program.add_block()->set_first_instruction(at);
    block_of[at] = static_cast<uint32_t>(program.block_size() - 1);
    trace::v1::BasicBlock& block = *program.mutable_block(program.block_size() - 1);
    block.set_instruction_count(at - block.first_instruction() + 1);
    if (numbers[at] == kUnused) {
      *program.add_instruction() = NotRun(leads[at + 1]);
      continue;
    }
    *program.add_instruction() = InstructionOf(instructions_[numbers[at]]);
    for (const uint32_t number : program.instruction(static_cast<int>(at)).dst()) {
      most_register = std::max(most_register, number);
    }
  }
  for (trace::v1::BasicBlock& block : *program.mutable_block()) {
    const uint32_t last = block.first_instruction() + block.instruction_count() - 1;
    if (numbers[last] == kUnused) {
      block.set_terminator(trace::v1::EXIT);
      continue;
    }
    const std::vector<uint32_t>& next = successors[numbers[last]];
    for (const uint32_t to : next) block.add_successor(block_of[to]);
    block.set_terminator(next.empty()       ? trace::v1::EXIT
                         : next.size() == 1 ? trace::v1::FALL_THROUGH
                         : next.size() == 2 ? trace::v1::BRANCH_CONDITIONAL
                                            : trace::v1::BRANCH_WIDE);
  }
  const uint32_t registers = header.registers >= 1 && header.registers <= kMostRegisters
                                 ? static_cast<uint32_t>(header.registers)
                                 : std::max(most_register, 1u);
  trace::v1::Function& function = *program.add_function();
  function.set_name(header.name);
  function.set_block_count(static_cast<uint32_t>(program.block_size()));
  function.set_register_count(registers);
  program.set_register_count(registers);
  program.set_uses_warp_operations(uses_warp_operations_);
  HEDDLE_ASSIGN_OR_RETURN(const trace::Program checked, trace::Program::Create(program));
  const std::vector<uint32_t> dominators = trace::ComputePostDominators(checked);
  for (size_t b = 0; b < dominators.size(); ++b) {
    program.mutable_block(static_cast<int>(b))
        ->set_immediate_post_dominator(dominators[b] == trace::kNoBlock ? 0 : dominators[b] + 1);
  }

  for (size_t h = 0; h < hops.size(); ++h) {
    Hop hop;
    uint32_t at = static_cast<uint32_t>(hops[h] >> 32);
    for (const uint32_t next : steps[h]) {
      if (at != kStart && successors[at].size() > 1) {
        const std::vector<uint32_t>& to = successors[at];
        hop.decisions.push_back(static_cast<uint8_t>(std::ranges::find(to, place[next]) - to.begin()));
      }
      at = next;
    }
    hop.passed = static_cast<uint32_t>(steps[h].empty() ? 0 : steps[h].size() - 1);
    built_.emplace(hops[h], std::move(hop));
  }
  return program;
}

}  // namespace heddle::tools::accelsim
