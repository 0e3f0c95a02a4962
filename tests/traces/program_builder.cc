#include "tests/traces/program_builder.h"

#include <map>
#include <stdexcept>
#include <utility>

#include "traces/format/program/post_dominators.h"
#include "traces/format/read/check.h"

namespace heddle::trace::testing {

ProgramBuilder::ProgramBuilder(std::string name) : name_(std::move(name)) { functions_.push_back(name_); }

ProgramBuilder& ProgramBuilder::Function(const std::string& name) {
  functions_.push_back(name);
  register_ = 0;
  return *this;
}

ProgramBuilder& ProgramBuilder::Block(const std::string& name) {
  if (!blocks_.empty() && blocks_.back().terminator == v1::TERMINATOR_UNSPECIFIED) Jump(name);
  PendingBlock block;
  block.name = name;
  block.function = functions_.size() - 1;
  blocks_.push_back(std::move(block));
  return *this;
}

v1::Instruction& ProgramBuilder::Add(v1::OpClass op, const std::string& mnemonic) {
  if (blocks_.empty()) Block("entry");
  v1::Instruction& instruction = blocks_.back().instructions.emplace_back();
  instruction.set_op(op);
  instruction.set_mnemonic(mnemonic);
  return instruction;
}

ProgramBuilder& ProgramBuilder::Op(v1::OpClass op, int count) {
  for (int i = 0; i < count; ++i) {
    v1::Instruction& instruction = Add(op, v1::OpClass_Name(op));
    if (register_ > 0) instruction.add_src(register_);
    instruction.add_dst(++register_);
  }
  return *this;
}

ProgramBuilder& ProgramBuilder::Alu(int count) { return Op(v1::OP_INT_ALU, count); }

ProgramBuilder& ProgramBuilder::Load(v1::MemorySpace space, uint32_t bytes) {
  v1::Instruction& instruction = Add(v1::OP_LOAD, "ld");
  instruction.set_space(space);
  instruction.set_access_bytes(bytes);
  if (register_ > 0) instruction.add_src(register_);
  instruction.add_dst(++register_);
  return *this;
}

ProgramBuilder& ProgramBuilder::Store(v1::MemorySpace space, uint32_t bytes) {
  v1::Instruction& instruction = Add(v1::OP_STORE, "st");
  instruction.set_space(space);
  instruction.set_access_bytes(bytes);
  if (register_ > 0) instruction.add_src(register_);
  return *this;
}

ProgramBuilder& ProgramBuilder::Atomic(v1::MemorySpace space, uint32_t bytes) {
  Load(space, bytes);
  v1::Instruction& instruction = blocks_.back().instructions.back();
  instruction.set_op(v1::OP_ATOMIC);
  instruction.set_mnemonic("atom.add");
  return *this;
}

ProgramBuilder& ProgramBuilder::Barrier(uint32_t id, uint32_t threads) {
  v1::Instruction& instruction = Add(v1::OP_BARRIER, "bar.sync");
  instruction.set_barrier_id(id);
  instruction.set_barrier_threads(threads);
  return *this;
}

ProgramBuilder& ProgramBuilder::Flags(uint32_t flags) {
  blocks_.back().instructions.back().set_flags(flags);
  return *this;
}

ProgramBuilder& ProgramBuilder::End(v1::Terminator terminator, std::vector<std::string> successors,
                                    std::vector<std::string> callees) {
  blocks_.back().terminator = terminator;
  blocks_.back().successors = std::move(successors);
  blocks_.back().callees = std::move(callees);
  return *this;
}

ProgramBuilder& ProgramBuilder::Branch(const std::string& fall_through, const std::string& taken, bool uniform) {
  v1::Instruction& instruction = Add(v1::OP_BRANCH, "bra");
  if (register_ > 0) instruction.add_src(register_);
  if (uniform) instruction.set_flags(v1::FLAG_UNIFORM);
  return End(v1::BRANCH_CONDITIONAL, {fall_through, taken}, {});
}

ProgramBuilder& ProgramBuilder::Wide(const std::vector<std::string>& successors) {
  Add(v1::OP_BRANCH, "brx.idx");
  return End(v1::BRANCH_WIDE, successors, {});
}

ProgramBuilder& ProgramBuilder::Jump(const std::string& target) {
  if (blocks_.back().instructions.empty()) Add(v1::OP_BRANCH, "bra.uni");
  return End(v1::FALL_THROUGH, {target}, {});
}

ProgramBuilder& ProgramBuilder::Call(const std::string& function, const std::string& continuation) {
  Add(v1::OP_CALL, "call.uni");
  return End(v1::CALL, {continuation}, {function});
}

ProgramBuilder& ProgramBuilder::CallIndirect(const std::vector<std::string>& functions,
                                             const std::string& continuation) {
  Add(v1::OP_CALL, "call");
  return End(v1::CALL_INDIRECT, {continuation}, functions);
}

ProgramBuilder& ProgramBuilder::Return() {
  Add(v1::OP_RETURN, "ret");
  return End(v1::RETURN, {}, {});
}

ProgramBuilder& ProgramBuilder::Exit() {
  Add(v1::OP_EXIT, "exit");
  return End(v1::EXIT, {}, {});
}

v1::KernelProgram ProgramBuilder::Build() const {
  v1::KernelProgram program;
  program.set_name(name_);
  std::map<std::pair<size_t, std::string>, uint32_t> block_index;
  std::map<std::string, uint32_t> function_index;
  for (uint32_t b = 0; b < blocks_.size(); ++b) block_index[{blocks_[b].function, blocks_[b].name}] = b;
  uint32_t next_block = 0;
  for (uint32_t f = 0; f < functions_.size(); ++f) {
    function_index[functions_[f]] = f;
    v1::Function& function = *program.add_function();
    function.set_name(functions_[f]);
    function.set_first_block(next_block);
    while (next_block < blocks_.size() && blocks_[next_block].function == f) ++next_block;
    function.set_block_count(next_block - function.first_block());
    function.set_register_count(16);
  }
  program.set_register_count(16);
  for (const PendingBlock& from : blocks_) {
    v1::BasicBlock& block = *program.add_block();
    block.set_first_instruction(static_cast<uint32_t>(program.instruction_size()));
    block.set_instruction_count(static_cast<uint32_t>(from.instructions.size()));
    block.set_terminator(from.terminator);
    for (const v1::Instruction& instruction : from.instructions) *program.add_instruction() = instruction;
    for (const std::string& name : from.successors) {
      auto it = block_index.find({from.function, name});
      if (it == block_index.end()) throw std::invalid_argument("no block " + name);
      block.add_successor(it->second);
    }
    for (const std::string& name : from.callees) {
      auto it = function_index.find(name);
      if (it == function_index.end()) throw std::invalid_argument("no function " + name);
      block.add_callee(it->second);
    }
  }
  if (absl::StatusOr<Program> created = Program::Create(program); created.ok()) {
    const std::vector<uint32_t> post_dominators = ComputePostDominators(*created);
    for (int b = 0; b < program.block_size(); ++b) {
      program.mutable_block(b)->set_immediate_post_dominator(post_dominators[static_cast<size_t>(b)] + 1);
    }
  }
  return program;
}

Program ProgramBuilder::Create() const {
  absl::StatusOr<Program> program = Program::Create(Build());
  if (!program.ok()) throw std::invalid_argument(std::string(program.status().message()));
  return *std::move(program);
}

}  // namespace heddle::trace::testing
