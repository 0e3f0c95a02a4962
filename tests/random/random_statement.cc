#include "tests/random/random_statement.h"

#include <set>
#include <string>
#include <utility>

#include "tests/random/random.h"
#include "traces/format/program/program.h"

namespace heddle::replay {
namespace {

namespace v1 = trace::v1;

class Translator {
 public:
  Translator(uint64_t seed, bool memory, bool uniform_values)
      : random_(seed),
        registers_(MixAll({seed, 31})),
        traps_(MixAll({seed, 59})),
        guards_(MixAll({seed, 89})),
        uniform_(MixAll({seed, 83})),
        memory_(memory),
        uniform_values_(uniform_values) {
    program_.set_name("random_kernel");
  }

  void TranslateFunction(std::vector<Statement>& body, bool kernel) {
    const int first = program_.block_size();
    function_ = program_.function_size();
    v1::Function* function = program_.add_function();
    function->set_name(kernel ? "random_kernel" : "function" + std::to_string(program_.function_size() - 1));
    function->set_first_block(first);
    function->set_register_count(8);
    Open();
    TranslateBody(body);
    AddOp(kernel ? v1::OP_EXIT : v1::OP_RETURN);
    Close(kernel ? v1::EXIT : v1::RETURN);
    program_.mutable_function(function_)->set_block_count(program_.block_size() - first);
  }

  v1::KernelProgram Take() {
    for (const Patch& patch : callee_patches_) program_.mutable_block(patch.block)->add_callee(patch.target);
    for (const v1::Function& function : program_.function()) SetPostDominators(function);
    for (v1::Instruction& instruction : *program_.mutable_instruction()) SetOperands(instruction);
    for (v1::Instruction& instruction : *program_.mutable_instruction()) {
      if (uniform_values_ && uniform_.Chance(25)) AddUniformOperands(instruction);
    }
    program_.set_register_count(8);
    return std::move(program_);
  }

 private:
  struct Patch {
    int block;
    uint32_t target;
  };
  struct Loop {
    std::vector<int> breaks;  // blocks that jump behind the loop
  };

  uint32_t Open() {
    v1::BasicBlock* block = program_.add_block();
    block->set_first_instruction(program_.instruction_size());
    block->set_loop_depth(static_cast<uint32_t>(loops_.size()));
    open_ = true;
    return static_cast<uint32_t>(program_.block_size() - 1);
  }
  int current() const { return program_.block_size() - 1; }
  // Ends the current block, which gets a filler if it is empty, and returns it.
  int Close(v1::Terminator terminator) {
    v1::BasicBlock* block = program_.mutable_block(current());
    if (static_cast<int>(block->first_instruction()) == program_.instruction_size()) AddOp(v1::OP_MOVE);
    block->set_instruction_count(program_.instruction_size() - block->first_instruction());
    block->set_terminator(terminator);
    open_ = false;
    return current();
  }
  void Link(int from, uint32_t to) { program_.mutable_block(from)->add_successor(to); }
  v1::Instruction* AddOp(v1::OpClass op) {
    v1::Instruction* instruction = program_.add_instruction();
    instruction->set_op(op);
    return instruction;
  }
  v1::Instruction* AddBranch(bool uniform) {
    v1::Instruction* instruction = AddOp(v1::OP_BRANCH);
    if (uniform) instruction->set_flags(v1::FLAG_UNIFORM);
    return instruction;
  }

  void AddRandomInstruction() {
    if (!memory_ || random_.Chance(60)) {
      AddOp(random_.OneOf({v1::OP_INT_ALU, v1::OP_INT_MUL, v1::OP_FP32, v1::OP_MOVE, v1::OP_SFU, v1::OP_FENCE}));
    } else {
      AddAccess(random_);
    }
  }

  v1::Instruction* AddAccess(Random& random) {
    const int kind = static_cast<int>(random.Below(10));
    v1::Instruction* instruction = AddOp(kind < 5    ? v1::OP_LOAD
                                         : kind < 8  ? v1::OP_STORE
                                         : kind == 8 ? v1::OP_ATOMIC
                                                     : v1::OP_TEXTURE);
    const bool texture = kind == 9;
    const bool atomic = kind == 8;
    instruction->set_space(
        texture  ? v1::SPACE_TEXTURE
        : atomic ? random.OneOf({v1::SPACE_GLOBAL, v1::SPACE_SHARED, v1::SPACE_GENERIC})
                 : random.OneOf({v1::SPACE_GLOBAL, v1::SPACE_GLOBAL, v1::SPACE_SHARED, v1::SPACE_LOCAL,
                                 v1::SPACE_CONSTANT, v1::SPACE_PARAM, v1::SPACE_GENERIC, v1::SPACE_GENERIC}));
    instruction->set_access_bytes(4);
    if (instruction->space() == v1::SPACE_PARAM && random.Chance(50)) instruction->set_flags(v1::FLAG_NO_ADDRESS);
    return instruction;
  }

  void TranslateBody(std::vector<Statement>& body) {
    for (Statement& statement : body) {
      if (!open_) return;  // behind an exit or a break nothing is reachable
      TranslateStatement(statement);
    }
  }

  void TranslateStatement(Statement& statement) {
    switch (statement.kind) {
      case Statement::Kind::kStraight:
        for (uint32_t i = 0; i < statement.count; ++i) AddRandomInstruction();
        break;
      case Statement::Kind::kBarrier: {
        v1::Instruction* barrier = AddOp(v1::OP_BARRIER);
        barrier->set_barrier_id(statement.barrier_id);
        barrier->set_barrier_threads(statement.barrier_threads);
        break;
      }
      case Statement::Kind::kGuarded:
        TranslateGuarded(statement);
        break;
      case Statement::Kind::kIf:
      case Statement::Kind::kRecursion:
        TranslateIf(statement);
        break;
      case Statement::Kind::kDoWhile:
      case Statement::Kind::kWhile:
        TranslateLoop(statement);
        break;
      case Statement::Kind::kSwitch:
        TranslateSwitch(statement);
        break;
      case Statement::Kind::kCall:
        TranslateCall(statement);
        break;
      case Statement::Kind::kBreak:
        AddBranch(true);
        loops_.back().breaks.push_back(Close(v1::FALL_THROUGH));
        break;
      case Statement::Kind::kExit:
        // Some are traps, which threads run as well; reconvergence takes no account of them.
        if (v1::Instruction* exit = AddOp(v1::OP_EXIT); traps_.Chance(40)) exit->set_flags(v1::FLAG_CANNOT_RETURN);
        Close(v1::EXIT);
        break;
    }
  }

  static bool Uniform(const Statement& statement) { return statement.decider.kind == Decider::Kind::kUniform; }

  // The block before it decides with whatever stands there; where nothing does, with a join.
  void TranslateGuarded(Statement& statement) {
    if (static_cast<int>(program_.block(current()).first_instruction()) == program_.instruction_size()) {
      AddOp(v1::OP_MOVE)->set_mnemonic("nop.join");
    }
    const int guard = Close(v1::BRANCH_CONDITIONAL);
    statement.body_block = {Open()};
    for (uint32_t i = 0; i < statement.count; ++i) {
      v1::Instruction* const access = AddAccess(guards_);
      access->set_flags(access->flags() | v1::FLAG_GUARDED);
    }
    if (statement.exits) AddOp(v1::OP_EXIT)->set_flags(v1::FLAG_GUARDED);
    const int end = Close(statement.exits ? v1::EXIT : v1::FALL_THROUGH);
    statement.next_block = Open();
    Link(guard, statement.body_block[0]);
    Link(guard, statement.next_block);
    if (!statement.exits) Link(end, statement.next_block);
  }

  // Fall-through = body 0; taken = body 1, or what follows.
  void TranslateIf(Statement& statement) {
    AddBranch(Uniform(statement));
    const int branch = Close(v1::BRANCH_CONDITIONAL);
    statement.body_block = {Open()};
    if (statement.kind == Statement::Kind::kRecursion) {
      AddOp(v1::OP_CALL);
      const int call = Close(v1::CALL);
      callee_patches_.push_back({call, static_cast<uint32_t>(function_)});
      statement.test_block = Open();  // the continuation
      Link(call, statement.test_block);
    } else {
      TranslateBody(statement.bodies[0]);
    }
    std::vector<int> ends;
    if (open_) {
      if (statement.bodies.size() > 1) AddBranch(true);
      ends.push_back(Close(v1::FALL_THROUGH));
    }
    Link(branch, statement.body_block[0]);
    if (statement.bodies.size() > 1) {
      statement.body_block.push_back(Open());
      TranslateBody(statement.bodies[1]);
      if (open_) ends.push_back(Close(v1::FALL_THROUGH));
      Link(branch, statement.body_block[1]);
    }
    statement.next_block = Open();
    if (statement.bodies.size() < 2) Link(branch, statement.next_block);
    for (int end : ends) Link(end, statement.next_block);
  }

  void TranslateLoop(Statement& statement) {
    const int before = Close(v1::FALL_THROUGH);
    loops_.emplace_back();
    if (statement.kind == Statement::Kind::kDoWhile) {
      statement.body_block = {Open()};
      Link(before, statement.body_block[0]);
      TranslateBody(statement.bodies[0]);
      // The test is a block of its own, so that every way through the body comes to it.
      if (open_) {
        const int end = Close(v1::FALL_THROUGH);
        statement.test_block = Open();
        Link(end, statement.test_block);
        AddBranch(Uniform(statement));
        const int test = Close(v1::BRANCH_CONDITIONAL);
        const Loop loop = PopLoop();
        statement.next_block = Open();
        Link(test, statement.next_block);
        Link(test, statement.body_block[0]);
        for (int block : loop.breaks) Link(block, statement.next_block);
      }
      return;
    }
    statement.test_block = Open();
    Link(before, statement.test_block);
    AddRandomInstruction();
    AddBranch(Uniform(statement));
    const int test = Close(v1::BRANCH_CONDITIONAL);
    statement.body_block = {Open()};
    TranslateBody(statement.bodies[0]);
    if (open_) {
      AddBranch(true);
      Link(Close(v1::FALL_THROUGH), statement.test_block);
    }
    const Loop loop = PopLoop();
    statement.next_block = Open();
    Link(test, statement.body_block[0]);
    Link(test, statement.next_block);
    for (int block : loop.breaks) Link(block, statement.next_block);
  }
  Loop PopLoop() {
    Loop loop = std::move(loops_.back());
    loops_.pop_back();
    return loop;
  }

  void TranslateSwitch(Statement& statement) {
    AddBranch(Uniform(statement));
    const int branch = Close(v1::BRANCH_WIDE);
    std::vector<int> ends;
    for (std::vector<Statement>& body : statement.bodies) {
      statement.body_block.push_back(Open());
      TranslateBody(body);
      if (!open_) continue;
      AddBranch(true);
      ends.push_back(Close(v1::FALL_THROUGH));
    }
    for (uint32_t block : statement.body_block) Link(branch, block);
    statement.next_block = Open();
    for (int end : ends) Link(end, statement.next_block);
  }

  void TranslateCall(Statement& statement) {
    AddOp(v1::OP_CALL);
    const int call = Close(statement.callees.size() == 1 ? v1::CALL : v1::CALL_INDIRECT);
    for (uint32_t callee : statement.callees) callee_patches_.push_back({call, callee});
    statement.next_block = Open();
    Link(call, statement.next_block);
  }

  // Registers, and for arithmetic other classes of operation: what matters to a scoreboard and to execution units.
  void AddUniformOperands(v1::Instruction& instruction) {
    const v1::OpClass op = instruction.op();
    if (op == v1::OP_BARRIER) return;
    if (instruction.space() != v1::SPACE_NONE) {
      if (!trace::Program::HasAddress(instruction)) return;
      v1::Operand& address = *instruction.add_operand();
      address.set_kind(v1::Operand::ADDRESS);
      address.set_space(instruction.space());
      address.set_bytes(instruction.access_bytes());
    }
    for (uint64_t count = uniform_.In(1, 3); count > 0; --count) {
      instruction.add_operand()->set_kind(v1::Operand::UNIFORM);
    }
  }

  void SetOperands(v1::Instruction& instruction) {
    constexpr uint64_t kRegisters = 8;
    const auto add = [&](google::protobuf::RepeatedField<uint32_t>& operands, uint64_t most) {
      for (uint64_t count = registers_.Below(most + 1); count > 0; --count) {
        operands.Add(static_cast<uint32_t>(registers_.In(1, kRegisters)));
      }
    };
    switch (instruction.op()) {
      case v1::OP_LOAD:
      case v1::OP_TEXTURE:
      case v1::OP_ATOMIC:
        add(*instruction.mutable_dst(), 2);
        add(*instruction.mutable_src(), 2);
        break;
      case v1::OP_STORE:
      case v1::OP_BRANCH:
        add(*instruction.mutable_src(), 2);
        break;
      case v1::OP_SFU:
        instruction.set_micro_ops(static_cast<uint32_t>(registers_.Below(4)));
        [[fallthrough]];
      case v1::OP_INT_ALU:
      case v1::OP_INT_MUL:
      case v1::OP_FP32:
      case v1::OP_MOVE:
        if (!instruction.mnemonic().empty()) break;  // a join
        if (registers_.Chance(40)) {
          instruction.set_op(registers_.OneOf(
              {v1::OP_INT_DIV, v1::OP_FP64, v1::OP_FP_DIV, v1::OP_SFU, v1::OP_CONVERT, v1::OP_TENSOR, v1::OP_INT_ALU}));
        }
        if (instruction.op() == v1::OP_FP_DIV)
          instruction.set_mnemonic(registers_.Chance(50) ? "div.rn.f64" : "div.f32");
        add(*instruction.mutable_dst(), 1);
        add(*instruction.mutable_src(), 3);
        break;
      default:
        break;
    }
  }

  bool Traps(const v1::BasicBlock& block) const {
    const v1::Instruction& end = program_.instruction(block.first_instruction() + block.instruction_count() - 1);
    return (end.flags() & v1::FLAG_CANNOT_RETURN) != 0;
  }

  // Blocks, by index in the function, from which control can come to the end by another way than a trap.
  std::vector<bool> FindEnding(const v1::Function& function) const {
    std::vector<bool> ending(function.block_count(), false);
    for (bool changed = true; changed;) {
      changed = false;
      for (uint32_t b = function.block_count(); b-- > 0;) {
        const v1::BasicBlock& block = program_.block(function.first_block() + b);
        bool now = block.successor_size() == 0 && !Traps(block);
        for (uint32_t s : block.successor()) now = now || ending[s - function.first_block()];
        if (now && !ending[b]) ending[b] = changed = true;
      }
    }
    return ending;
  }

  // Iterates the sets "post-dominators of a block" down from "all" until nothing changes. Blocks that only traps follow
  // take no part.
  void SetPostDominators(const v1::Function& function) {
    const uint32_t first = function.first_block();
    const uint32_t last = first + function.block_count();
    const std::vector<bool> ending = FindEnding(function);
    std::set<uint32_t> all;
    for (uint32_t b = first; b < last; ++b) all.insert(b);
    std::vector<std::set<uint32_t>> sets(function.block_count(), all);
    for (bool changed = true; changed;) {
      changed = false;
      for (uint32_t b = last; b-- > first;) {
        if (!ending[b - first]) continue;
        const v1::BasicBlock& block = program_.block(b);
        std::set<uint32_t> next;
        bool is_first = true;
        for (int s = 0; s < block.successor_size(); ++s) {
          if (!ending[block.successor(s) - first]) continue;
          const std::set<uint32_t>& other = sets[block.successor(s) - first];
          if (std::exchange(is_first, false)) {
            next = other;
          } else {
            std::erase_if(next, [&](uint32_t member) { return !other.contains(member); });
          }
        }
        next.insert(b);
        if (next != sets[b - first]) {
          sets[b - first] = std::move(next);
          changed = true;
        }
      }
    }
    // The immediate one is post-dominated by all the others, so its own set is one smaller.
    for (uint32_t b = first; b < last; ++b) {
      if (!ending[b - first]) continue;
      const size_t size = sets[b - first].size();
      for (uint32_t candidate : sets[b - first]) {
        if (candidate == b || sets[candidate - first].size() + 1 != size) continue;
        program_.mutable_block(b)->set_immediate_post_dominator(candidate + 1);
      }
    }
  }

  Random random_;
  Random registers_;  // its own, so that the control flow of a seed does not depend on the operands
  Random traps_;      // likewise
  Random guards_;     // likewise
  Random uniform_;    // likewise
  bool memory_;
  bool uniform_values_;
  bool open_ = false;
  int function_ = 0;
  v1::KernelProgram program_;
  std::vector<Loop> loops_;
  std::vector<Patch> callee_patches_;
};

}  // namespace

trace::v1::KernelProgram Translate(KernelSource& source, uint64_t seed, bool memory, bool uniform_values) {
  Translator translator(seed, memory, uniform_values);
  bool kernel = true;
  for (std::vector<Statement>& function : source.functions) {
    translator.TranslateFunction(function, kernel);
    kernel = false;
  }
  return translator.Take();
}

}  // namespace heddle::replay
