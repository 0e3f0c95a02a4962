#include <algorithm>
#include <deque>
#include <set>
#include <stdexcept>
#include <utility>

#include "tests/traces/program_builder.h"
#include "traces/format/program/operands.h"

namespace heddle::trace::testing {
namespace {

// SplitMix64 (Steele, Lea and Flood, "Fast Splittable Pseudorandom Number Generators"): the standard library's
// distributions differ from host to host.
class Random {
 public:
  explicit Random(uint64_t seed) : state_(seed) {}
  uint64_t Next() {
    uint64_t z = (state_ += 0x9e3779b97f4a7c15);
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
    z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
    return z ^ (z >> 31);
  }
  uint64_t Below(uint64_t bound) { return Next() % bound; }
  bool Chance(double p) { return static_cast<double>(Next() >> 11) * 0x1p-53 < p; }

 private:
  uint64_t state_;
};

class Generator {
 public:
  Generator(uint64_t seed, const RandomProgramOptions& options)
      : random_(seed), options_(options), builder_("random" + std::to_string(seed)) {}

  v1::KernelProgram Run() {
    if (options_.calls) functions_ = {"f0", "f1"};
    builder_.Block("entry").Alu();
    Statements(options_.depth, true);
    builder_.Exit();
    for (size_t f = 0; f < functions_.size(); ++f) {
      function_ = f + 1;
      builder_.Function(functions_[f]).Block("entry").Alu();
      // A way out before anything else, so that recursion ends.
      const std::string body = Label(), out = Label();
      builder_.Branch(body, out).Block(body);
      Statements(1, false);
      builder_.Jump(out).Block(out).Alu().Return();
    }
    return builder_.Build();
  }

 private:
  std::string Label() { return "b" + std::to_string(labels_++); }

  void Straight() {
    builder_.Alu(static_cast<int>(1 + random_.Below(4)));
    if (!options_.memory) return;
    for (uint64_t i = random_.Below(3); i > 0; --i) {
      constexpr uint32_t kBytes[] = {4, 8, 16, 1};
      const uint32_t bytes = kBytes[random_.Below(4)];
      switch (random_.Below(4)) {
        case 0:
          builder_.Store(v1::SPACE_GLOBAL, bytes);
          break;
        case 1:
          builder_.Load(v1::SPACE_SHARED, bytes);
          break;
        case 2:
          builder_.Atomic();
          break;
        default:
          builder_.Load(v1::SPACE_GLOBAL, bytes);
          break;
      }
      builder_.Alu();
    }
  }

  void Statements(int depth, bool outermost) {
    for (uint64_t i = 1 + random_.Below(static_cast<uint64_t>(options_.statements)); i > 0; --i) {
      Statement(depth, outermost);
    }
  }

  void Statement(int depth, bool outermost) {
    const uint64_t kind = random_.Below(10);
    if (depth == 0 || kind < 2) return Straight();
    if (kind < 4) {  // if
      const std::string then = Label(), join = Label();
      builder_.Branch(then, join).Block(then);
      Statements(depth - 1, false);
      builder_.Jump(join).Block(join).Alu();
    } else if (kind < 6) {  // if-else
      const std::string then = Label(), otherwise = Label(), join = Label();
      builder_.Branch(then, otherwise).Block(then);
      Statements(depth - 1, false);
      builder_.Jump(join).Block(otherwise);
      Statements(depth - 1, false);
      builder_.Jump(join).Block(join).Alu();
    } else if (kind < 8 && options_.loops) {  // loop with its test at the end
      const std::string head = Label(), out = Label();
      builder_.Jump(head).Block(head);
      Statements(depth - 1, false);
      builder_.Branch(out, head).Block(out).Alu();
    } else if (kind == 8 && options_.wide) {
      std::vector<std::string> arms;
      for (uint64_t n = 2 + random_.Below(4); n > 0; --n) arms.push_back(Label());
      const std::string join = Label();
      builder_.Wide(arms);
      for (const std::string& arm : arms) {
        builder_.Block(arm);
        Statements(depth - 1, false);
        builder_.Jump(join);
      }
      builder_.Block(join).Alu();
    } else if (kind == 9 && options_.early_exits && function_ == 0) {
      const std::string leave = Label(), stay = Label();
      builder_.Branch(stay, leave).Block(leave).Alu().Exit().Block(stay).Alu();
    } else if (options_.calls && random_.Chance(0.7)) {
      const std::string after = Label();
      if (options_.wide && random_.Chance(0.5)) {
        builder_.CallIndirect(functions_, after);
      } else {
        builder_.Call(functions_[random_.Below(functions_.size())], after);
      }
      builder_.Block(after).Alu();
    } else if (options_.barriers && outermost) {
      builder_.Barrier();
    } else {
      Straight();
    }
  }

  Random random_;
  const RandomProgramOptions& options_;
  ProgramBuilder builder_;
  std::vector<std::string> functions_;
  size_t function_ = 0;
  int labels_ = 0;
};

// Number of the successor or callee on a shortest way out of each block's function.
std::vector<uint32_t> WaysOut(const v1::KernelProgram& program) {
  const uint32_t blocks = static_cast<uint32_t>(program.block_size());
  std::vector<uint32_t> distance(blocks, ~uint32_t{0}), choice(blocks, 0);
  for (bool changed = true; changed;) {
    changed = false;
    for (uint32_t b = 0; b < blocks; ++b) {
      const v1::BasicBlock& block = program.block(static_cast<int>(b));
      uint32_t best = ~uint32_t{0}, number = 0;
      if (block.terminator() == v1::EXIT || block.terminator() == v1::RETURN) best = 0;
      for (int s = 0; s < block.successor_size(); ++s) {
        uint32_t cost = distance[block.successor(s)];
        if (cost == ~uint32_t{0}) continue;
        if (block.callee_size() > 0) {
          uint32_t inside = ~uint32_t{0};
          for (uint32_t callee : block.callee()) {
            inside = std::min(inside, distance[program.function(static_cast<int>(callee)).first_block()]);
          }
          if (inside == ~uint32_t{0}) continue;
          cost += inside;
        }
        if (cost + 1 < best) {
          best = cost + 1;
          number = static_cast<uint32_t>(s);
        }
      }
      if (best < distance[b]) {
        distance[b] = best;
        choice[b] = number;
        changed = true;
      }
    }
  }
  return choice;
}

uint64_t Address(const v1::Instruction& instruction, uint32_t pc, uint64_t thread, uint64_t occurrence,
                 uint64_t previous, bool linear, Random& random) {
  const uint64_t size = instruction.access_bytes();
  const uint64_t array = instruction.space() == v1::SPACE_SHARED ? 0x1000000 : 0x700000000000 + (uint64_t{pc} << 24);
  switch (linear ? 0 : pc % 6) {
    case 0:
      return array + size * (thread + 32 * occurrence);
    case 1:
      return array + size * random.Below(1 << 16);
    case 2:
      return previous;  // the same word again
    case 3:
      return array + size * ((previous >> 2) & 0xffff);  // an index loaded just before
    case 4:
      return array + size * (thread * 64 + occurrence * (1 + thread % 3));
    default:
      return array + size * (occurrence % 7 == 6 ? random.Below(1 << 20) : thread);
  }
}

// What an operand of a collective instruction holds: a copy's destination follows its source, counts are few.
uint64_t OperandValue(const Column& column, uint64_t thread, uint64_t occurrence, uint64_t previous, Random& random) {
  if (column.kind != v1::Operand::ADDRESS) return column.kind == v1::Operand::BARRIER ? occurrence % 16 : 32;
  if (column.space == v1::SPACE_GLOBAL) {
    return 0x700000000000 + (uint64_t{column.instruction} << 24) + column.bytes * (thread + 64 * occurrence);
  }
  const uint64_t offset = random.Below(4) == 0 ? random.Below(1 << 10) * column.bytes : previous % 0x10000;
  return 0x1000000 + offset;
}

}  // namespace

v1::KernelProgram RandomProgram(uint64_t seed, const RandomProgramOptions& options) {
  return Generator(seed, options).Run();
}

ThreadTrace RandomThread(const Program& checked, uint64_t seed, uint64_t thread, const RandomThreadOptions& options) {
  const v1::KernelProgram& program = checked.proto();
  const std::vector<uint32_t> way_out = WaysOut(program);
  const std::vector<Column> columns = ColumnsOf(checked);
  Random decisions(seed * 0x2545f4914f6cdd1d + thread / options.alike);
  Random data(seed ^ (thread << 20));
  ThreadTrace trace;
  std::vector<uint64_t> occurrences(static_cast<size_t>(program.instruction_size()), 0);
  std::vector<uint32_t> stack;
  uint64_t previous = 0x700000000000;
  for (uint32_t b = 0;;) {
    const v1::BasicBlock& block = program.block(static_cast<int>(b));
    trace.blocks.push_back(b);
    trace.thread_instructions += block.instruction_count();
    for (uint32_t pc = block.first_instruction(); pc < block.first_instruction() + block.instruction_count(); ++pc) {
      const v1::Instruction& instruction = program.instruction(static_cast<int>(pc));
      if (instruction.operand_size() != 0) {
        for (uint32_t c = FindColumn(checked, pc, 0); c < columns.size() && columns[c].instruction == pc; ++c) {
          previous = OperandValue(columns[c], thread, occurrences[pc], previous, data);
          trace.addresses.push_back(previous);
        }
        ++occurrences[pc];
      } else if (Program::HasAddress(instruction)) {
        previous = Address(instruction, pc, thread, occurrences[pc]++, previous, options.linear_addresses, data);
        trace.addresses.push_back(previous);
      }
    }
    const bool leave = trace.thread_instructions >= options.most_instructions || stack.size() > 64;
    uint32_t decision = 0;
    switch (block.terminator()) {
      case v1::BRANCH_CONDITIONAL:
        decision = decisions.Chance(options.taken) ? 1 : 0;
        if (leave) decision = way_out[b];
        trace.decisions.push_back(static_cast<uint8_t>(decision));
        b = block.successor(static_cast<int>(decision));
        break;
      case v1::BRANCH_WIDE:
        decision = static_cast<uint32_t>(decisions.Below(static_cast<uint64_t>(block.successor_size())));
        if (leave) decision = way_out[b];
        trace.decisions.push_back(static_cast<uint8_t>(decision));
        b = block.successor(static_cast<int>(decision));
        break;
      case v1::CALL_INDIRECT:
        decision = static_cast<uint32_t>(decisions.Below(static_cast<uint64_t>(block.callee_size())));
        trace.decisions.push_back(static_cast<uint8_t>(decision));
        [[fallthrough]];
      case v1::CALL:
        stack.push_back(block.successor(0));
        b = program.function(static_cast<int>(block.callee(static_cast<int>(decision)))).first_block();
        break;
      case v1::RETURN:
        b = stack.back();
        stack.pop_back();
        break;
      case v1::EXIT:
        break;
      default:
        b = block.successor(0);
        break;
    }
    trace.decisions_after.push_back(trace.decisions.size());
    trace.addresses_after.push_back(trace.addresses.size());
    if (block.terminator() == v1::EXIT) return trace;
  }
}

}  // namespace heddle::trace::testing
