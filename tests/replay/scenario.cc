#include "tests/replay/scenario.h"

#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <sstream>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "traces/format/write/writer.h"

namespace heddle::replay {
namespace {

[[noreturn]] void Stop(const std::string& what) {
  std::fprintf(stderr, "scenario: %s\n", what.c_str());
  std::abort();
}

void Check(const absl::Status& status) {
  if (!status.ok()) Stop(std::string(status.message()));
}

}  // namespace

Scenario& Scenario::Block(char name, uint32_t instructions, std::string_view next, char reconverge) {
  program_.reset();
  BlockSpec spec;
  spec.name = name;
  spec.instructions = instructions;
  spec.next = next;
  spec.reconverge = reconverge;
  spec.function = function_;
  blocks_.push_back(std::move(spec));
  return *this;
}

Scenario& Scenario::Call(char name, uint32_t instructions, char callee, char next) {
  Block(name, instructions, std::string(1, next));
  program_.reset();
  blocks_.back().callee = callee;
  return *this;
}

Scenario& Scenario::Function() {
  ++function_;
  return *this;
}

Scenario& Scenario::Return(char name, uint32_t instructions) {
  Block(name, instructions, "");
  blocks_.back().returns = true;
  return *this;
}

Scenario& Scenario::Barrier(char name, uint32_t index) {
  program_.reset();
  blocks_[IndexOf(name)].barriers.push_back(index);
  return *this;
}

Scenario& Scenario::Jump(char name) {
  program_.reset();
  blocks_[IndexOf(name)].jump = true;
  return *this;
}

Scenario& Scenario::Uniform(char name) {
  program_.reset();
  blocks_[IndexOf(name)].uniform = true;
  return *this;
}

Scenario& Scenario::Memory(char name, uint32_t index, trace::v1::MemorySpace space, trace::v1::OpClass op) {
  program_.reset();
  blocks_[IndexOf(name)].memory.push_back({index, space, op});
  return *this;
}

Scenario& Scenario::Convergence(char name, uint32_t index, trace::v1::Convergence::Role role, uint32_t barrier,
                                char meeting) {
  program_.reset();
  blocks_[IndexOf(name)].convergence.emplace_back(index, BlockSpec::Meeting{role, barrier, meeting});
  return *this;
}

Scenario& Scenario::Members(char name, uint32_t index, uint32_t members) {
  program_.reset();
  blocks_[IndexOf(name)].members.emplace_back(index, members);
  return *this;
}

Scenario& Scenario::Guarded(char name) {
  program_.reset();
  blocks_[IndexOf(name)].guarded = true;
  return *this;
}

Scenario& Scenario::ThreadBlock(std::vector<std::string> paths) {
  paths_.push_back(std::move(paths));
  return *this;
}

Scenario& Scenario::Kernel(std::string name) {
  program_.reset();
  kernel_ = std::move(name);
  return *this;
}

uint32_t Scenario::IndexOf(char name) const {
  for (uint32_t i = 0; i < blocks_.size(); ++i) {
    if (blocks_[i].name == name) return i;
  }
  Stop(absl::StrCat("there is no block ", std::string(1, name)));
}

const Scenario::BlockSpec& Scenario::Spec(char name) const { return blocks_[IndexOf(name)]; }

Pc Scenario::PcOf(char block, uint32_t index) const {
  Pc pc = 0;
  for (uint32_t i = 0; i < IndexOf(block); ++i) pc += blocks_[i].instructions;
  return pc + index;
}

std::string Scenario::Name(Pc pc) const {
  for (const BlockSpec& block : blocks_) {
    if (pc < block.instructions) {
      return block.instructions == 1 ? std::string(1, block.name) : absl::StrCat(std::string(1, block.name), pc);
    }
    pc -= block.instructions;
  }
  return "?";
}

trace::v1::KernelProgram Scenario::BuildProgram() const {
  trace::v1::KernelProgram program;
  program.set_name(kernel_);
  program.set_register_count(8);
  uint32_t first = 0;
  for (uint32_t i = 0; i < blocks_.size(); ++i) {
    const BlockSpec& spec = blocks_[i];
    if (static_cast<uint32_t>(program.function_size()) <= spec.function) {
      trace::v1::Function* function = program.add_function();
      function->set_name(absl::StrCat("function", spec.function));
      function->set_first_block(i);
      function->set_register_count(8);
    }
    trace::v1::Function* function = program.mutable_function(static_cast<int>(spec.function));
    function->set_block_count(function->block_count() + 1);

    trace::v1::OpClass last = trace::v1::OP_INT_ALU;
    trace::v1::BasicBlock* block = program.add_block();
    block->set_first_instruction(first);
    block->set_instruction_count(spec.instructions);
    first += spec.instructions;
    if (spec.returns) {
      block->set_terminator(trace::v1::RETURN);
      last = trace::v1::OP_RETURN;
    } else if (spec.callee != 0) {
      block->set_terminator(trace::v1::CALL);
      block->add_successor(IndexOf(spec.next[0]));
      block->add_callee(Spec(spec.callee).function);
      block->set_immediate_post_dominator(1 + IndexOf(spec.next[0]));
      last = trace::v1::OP_CALL;
    } else if (spec.next.empty()) {
      block->set_terminator(trace::v1::EXIT);
      last = trace::v1::OP_EXIT;
    } else if (spec.next.size() == 1) {
      block->set_terminator(trace::v1::FALL_THROUGH);
      block->add_successor(IndexOf(spec.next[0]));
      block->set_immediate_post_dominator(1 + IndexOf(spec.next[0]));
      if (spec.jump) last = trace::v1::OP_BRANCH;
    } else if (spec.next.size() > 2) {
      block->set_terminator(trace::v1::BRANCH_WIDE);
      for (const char target : spec.next) block->add_successor(IndexOf(target));
      if (spec.reconverge != 0) block->set_immediate_post_dominator(1 + IndexOf(spec.reconverge));
      last = trace::v1::OP_BRANCH;
    } else {
      block->set_terminator(trace::v1::BRANCH_CONDITIONAL);
      block->add_successor(IndexOf(spec.next[1]));
      block->add_successor(IndexOf(spec.next[0]));
      if (spec.reconverge != 0) block->set_immediate_post_dominator(1 + IndexOf(spec.reconverge));
      last = Spec(spec.next[1]).guarded ? trace::v1::OP_INT_ALU : trace::v1::OP_BRANCH;
    }
    for (uint32_t k = 0; k < spec.instructions; ++k) {
      trace::v1::Instruction* instruction = program.add_instruction();
      instruction->set_op(k + 1 == spec.instructions ? last : trace::v1::OP_INT_ALU);
      if (spec.uniform && k + 1 == spec.instructions) instruction->set_flags(trace::v1::FLAG_UNIFORM);
      if (std::find(spec.barriers.begin(), spec.barriers.end(), k) != spec.barriers.end()) {
        instruction->set_op(trace::v1::OP_BARRIER);
      }
      for (const auto& [index, space, op] : spec.memory) {
        if (index != k) continue;
        instruction->set_op(op);
        instruction->set_space(space);
        instruction->set_access_bytes(4);
        instruction->set_flags(trace::v1::FLAG_NO_ADDRESS);
      }
      MakeMachineCode(spec, k, program);
    }
  }
  return program;
}

// What machine code says of the instruction that has been added last.
void Scenario::MakeMachineCode(const BlockSpec& spec, uint32_t index, trace::v1::KernelProgram& program) const {
  trace::v1::Instruction& instruction = *program.mutable_instruction()->rbegin();
  if (spec.guarded) instruction.set_flags(instruction.flags() | trace::v1::FLAG_GUARDED);
  for (const auto& [at, what] : spec.convergence) {
    if (at != index) continue;
    program.set_level(trace::v1::LEVEL_MACHINE);
    program.set_producer("ptxas 13.0");
    program.set_target("sm_80");
    instruction.set_op(trace::v1::OP_CONVERGENCE);
    instruction.set_mnemonic(trace::v1::Convergence::Role_Name(what.role));
    instruction.mutable_convergence()->set_role(what.role);
    instruction.mutable_convergence()->set_barrier(what.barrier);
    if (what.meeting != 0) instruction.mutable_convergence()->set_block(1 + IndexOf(what.meeting));
  }
  for (const auto& [at, members] : spec.members) {
    if (at == index) instruction.set_members(members);
  }
}

const trace::Program& Scenario::program() const {
  if (program_ == nullptr) {
    absl::StatusOr<trace::Program> program = trace::Program::Create(BuildProgram());
    Check(program.status());
    program_ = std::make_shared<const trace::Program>(*std::move(program));
  }
  return *program_;
}

std::vector<Scenario::Step> Scenario::Steps(size_t block, uint32_t thread) const {
  const std::string& path = paths_.at(block).at(thread);
  std::vector<Step> steps;
  std::vector<char> callers;  // continuation of each pending call
  for (size_t i = 0; i < path.size(); ++i) {
    const BlockSpec& spec = Spec(path[i]);
    const uint32_t depth = static_cast<uint32_t>(callers.size());
    const Position return_to = callers.empty() ? Position::Exit() : Position(PcOf(callers.back()), depth - 1);
    for (uint32_t k = 0; k < spec.instructions; ++k) steps.push_back({Position(PcOf(path[i], k), depth), return_to});
    const char next = i + 1 < path.size() ? path[i + 1] : 0;
    bool allowed = false;
    if (spec.returns) {
      allowed = !callers.empty() && next == callers.back();
      if (!callers.empty()) callers.pop_back();
    } else if (spec.callee != 0) {
      allowed = next == spec.callee;
      callers.push_back(spec.next[0]);
    } else {
      allowed = next == 0 ? spec.next.empty() : spec.next.find(next) != std::string::npos;
    }
    if (!allowed) Stop(absl::StrCat("path ", path, " cannot go on after its block ", i));
  }
  return steps;
}

uint64_t Scenario::thread_instructions() const {
  uint64_t sum = 0;
  for (size_t block = 0; block < paths_.size(); ++block) {
    for (uint32_t thread = 0; thread < paths_[block].size(); ++thread) sum += Steps(block, thread).size();
  }
  return sum;
}

std::vector<uint8_t> Scenario::Decisions(const std::string& path) const {
  std::vector<uint8_t> decisions;
  for (size_t i = 0; i + 1 < path.size(); ++i) {
    const BlockSpec& spec = Spec(path[i]);
    if (spec.next.size() > 2) decisions.push_back(static_cast<uint8_t>(spec.next.find(path[i + 1])));
    if (spec.next.size() == 2 && spec.callee == 0) decisions.push_back(path[i + 1] == spec.next[0] ? 1 : 0);
  }
  return decisions;
}

std::string Scenario::TraceBytes() const {
  static int count = 0;
  const char* folder = std::getenv("TMPDIR");
  const std::string path =
      absl::StrCat(folder != nullptr ? folder : "/tmp", "/heddle_scenario_", getpid(), "_", count++, ".htrace");
  trace::v1::FileHeader header;
  header.set_producer("scenario");
  header.set_abstraction_level("ptx");
  auto writer = trace::TraceWriter::Create(path, header);
  Check(writer.status());
  auto program = (*writer)->AddProgram(BuildProgram());
  Check(program.status());
  trace::v1::Launch launch;
  launch.set_program((*program)->id());
  launch.set_recorded(true);
  launch.mutable_grid()->set_x(static_cast<uint32_t>(paths_.size()));
  launch.mutable_grid()->set_y(1);
  launch.mutable_grid()->set_z(1);
  launch.mutable_block()->set_x(threads_per_block());
  launch.mutable_block()->set_y(1);
  launch.mutable_block()->set_z(1);
  Check((*writer)->BeginLaunch(launch));
  for (size_t block = 0; block < paths_.size(); ++block) {
    std::vector<std::vector<uint8_t>> decisions;
    uint64_t expected = 0;
    for (uint32_t thread = 0; thread < paths_[block].size(); ++thread) {
      decisions.push_back(Decisions(paths_[block][thread]));
      expected += Steps(block, thread).size();
    }
    std::vector<trace::ThreadRecord> records(decisions.size());
    for (size_t thread = 0; thread < decisions.size(); ++thread) records[thread].decisions = decisions[thread];
    Check((*writer)->AddBlock(block, records, expected));
  }
  Check((*writer)->EndLaunch());
  Check((*writer)->Finish());
  std::ifstream file(path, std::ios::binary);
  std::stringstream bytes;
  bytes << file.rdbuf();
  std::remove(path.c_str());
  return bytes.str();
}

std::unique_ptr<trace::TraceReader> Scenario::Trace() const {
  auto reader = trace::TraceReader::Open(trace::FromMemory(TraceBytes()), "scenario");
  Check(reader.status());
  return *std::move(reader);
}

std::string Scenario::Format(const std::vector<LoggedIssue>& issues, uint32_t warp_size, bool by_lane) const {
  std::vector<std::string> words;
  for (const LoggedIssue& issue : issues) {
    while (words.size() < issue.cycle) words.push_back(".");
    const auto thread_text = [&](const LoggedIssue::Member& member) {
      const std::string thread = absl::StrCat(absl::Hex(member.thread));
      return paths_.size() == 1 ? thread : absl::StrCat(member.block, "*", thread, " ");
    };
    std::vector<LoggedIssue::Member> members = issue.members;
    std::string text;
    if (by_lane) {
      std::vector<std::string> lanes(warp_size, "-");
      bool placed = true;
      for (const LoggedIssue::Member& member : members) {
        if (member.lane >= warp_size || lanes[member.lane] != "-") placed = false;
        if (member.pc != members[0].pc) text = "several PCs: ";
        if (member.lane < warp_size) lanes[member.lane] = thread_text(member);
      }
      if (!placed) text += "lane taken twice: ";
      text += absl::StrCat(Name(members[0].pc), "[", absl::StrJoin(lanes, ""), "]");
    } else {
      std::sort(members.begin(), members.end(), [](const auto& a, const auto& b) {
        return std::pair(a.block, a.thread) < std::pair(b.block, b.thread);
      });
      std::string pcs;
      std::string threads;
      for (const LoggedIssue::Member& member : members) {
        pcs += Name(member.pc);
        threads += thread_text(member);
      }
      text = absl::StrCat("{", pcs, "}{", threads, "}");
    }
    if (words.size() > issue.cycle) {
      words.back() += absl::StrCat("+", text);  // another port
    } else {
      words.push_back(text);
    }
  }
  return absl::StrJoin(words, " ");
}

}  // namespace heddle::replay
