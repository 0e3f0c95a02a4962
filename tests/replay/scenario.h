// Small kernels drawn as the papers draw them: lettered blocks, and the blocks that each thread goes through.
#ifndef HEDDLE_TESTS_REPLAY_SCENARIO_H_
#define HEDDLE_TESTS_REPLAY_SCENARIO_H_

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "proto/trace.pb.h"
#include "replay/seams/types.h"
#include "traces/format/program/program.h"
#include "traces/format/read/reader.h"

namespace heddle::replay {

// One issue as a test reads it.
struct LoggedIssue {
  Cycle cycle = 0;
  struct Member {
    uint32_t lane = 0;
    Pc pc = 0;
    uint64_t block = 0;
    uint32_t thread = 0;  // linear index in the block
  };
  std::vector<Member> members;
};

// A kernel and the paths of its threads. Blocks are named by single characters and have PCs in the order in which they
// are added. Every step is checked: a path that the blocks do not allow stops the test program.
class Scenario {
 public:
  // A block of `instructions` that goes on to `next`: nothing = the thread ends, one = fall-through or jump, two = a
  // conditional branch whose first-named side is the taken one, more = a branch with as many targets. `reconverge`:
  // immediate post-dominator of a branch, 0 = the function's end.
  Scenario& Block(char name, uint32_t instructions, std::string_view next, char reconverge = 0);
  // A block that ends in a call of the function that begins with block `callee`, and then goes on to `next`.
  Scenario& Call(char name, uint32_t instructions, char callee, char next);
  // The blocks added from now on are those of another function.
  Scenario& Function();
  // A block that returns to the caller.
  Scenario& Return(char name, uint32_t instructions);
  // Makes the instruction of the block a thread-block barrier.
  Scenario& Barrier(char name, uint32_t index);
  // Makes the block, which has one successor, end in an unconditional branch.
  Scenario& Jump(char name);
  // Marks the block's conditional branch as uniform, as the static analysis would.
  Scenario& Uniform(char name);
  // Makes the instruction of the block a load of this space, without an address.
  Scenario& Memory(char name, uint32_t index, trace::v1::MemorySpace space, trace::v1::OpClass op = trace::v1::OP_LOAD);
  // Makes the instruction of the block one of a convergence barrier, and the kernel machine code. SET: `meeting` is the
  // block where its threads meet.
  Scenario& Convergence(char name, uint32_t index, trace::v1::Convergence::Role role, uint32_t barrier = 0,
                        char meeting = 0);
  // WARP_SYNC: the lanes of its mask; else all.
  Scenario& Members(char name, uint32_t index, uint32_t members);
  // The instructions of the block have a predicate before them. The block before it decides which threads run it, and
  // is to name first where the others go on.
  Scenario& Guarded(char name);
  // A thread block whose thread t goes through the blocks paths[t].
  Scenario& ThreadBlock(std::vector<std::string> paths);

  // The kernel's name; else it is "scenario".
  Scenario& Kernel(std::string name);

  // --- what a replay needs
  struct Step {
    Position at;
    Position return_to;  // continuation of the caller, Exit() in the kernel
  };
  const trace::Program& program() const;
  size_t thread_blocks() const { return paths_.size(); }
  uint32_t threads_per_block() const { return static_cast<uint32_t>(paths_.at(0).size()); }
  std::vector<Step> Steps(size_t block, uint32_t thread) const;
  uint64_t thread_instructions() const;
  // The trace of one launch of all thread blocks; the bytes of its file, which are always the same.
  std::unique_ptr<trace::TraceReader> Trace() const;
  std::string TraceBytes() const;

  // PC of an instruction.
  Pc PcOf(char block, uint32_t index = 0) const;
  // "B", or "B1" for the second instruction of a block that has several.
  std::string Name(Pc pc) const;
  // A log, one word per cycle: `B[012-]` is an issue of block B with threads 0, 1, 2 in their lanes (hexadecimal; `*`
  // stands between thread blocks if there are several: `B[1*0-..]`), `.` a cycle without an issue; from cycle 0 to the
  // last issue. With `by_lane` false, for MIMD, an issue reads `{BBF}{014}`, ascending by thread.
  std::string Format(const std::vector<LoggedIssue>& issues, uint32_t warp_size, bool by_lane = true) const;

 private:
  struct BlockSpec {
    char name = 0;
    uint32_t instructions = 1;
    std::string next;
    char reconverge = 0;
    char callee = 0;
    bool returns = false;
    uint32_t function = 0;
    std::vector<uint32_t> barriers;
    bool jump = false;
    bool uniform = false;
    struct Access {
      uint32_t index;
      trace::v1::MemorySpace space;
      trace::v1::OpClass op;
    };
    std::vector<Access> memory;
    struct Meeting {
      trace::v1::Convergence::Role role;
      uint32_t barrier;
      char meeting;
    };
    std::vector<std::pair<uint32_t, Meeting>> convergence;
    std::vector<std::pair<uint32_t, uint32_t>> members;
    bool guarded = false;
  };
  const BlockSpec& Spec(char name) const;
  uint32_t IndexOf(char name) const;
  trace::v1::KernelProgram BuildProgram() const;
  void MakeMachineCode(const BlockSpec& spec, uint32_t index, trace::v1::KernelProgram& program) const;
  std::vector<uint8_t> Decisions(const std::string& path) const;

  std::vector<BlockSpec> blocks_;
  std::vector<std::vector<std::string>> paths_;
  std::string kernel_ = "scenario";
  uint32_t function_ = 0;
  mutable std::shared_ptr<const trace::Program> program_;  // made when first asked for
};

}  // namespace heddle::replay

#endif  // HEDDLE_TESTS_REPLAY_SCENARIO_H_
