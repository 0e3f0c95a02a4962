// Hand-made and random programs and threads for tests of everything that reads traces.
#ifndef HEDDLE_TESTS_TRACES_PROGRAM_BUILDER_H_
#define HEDDLE_TESTS_TRACES_PROGRAM_BUILDER_H_

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "proto/trace.pb.h"
#include "traces/format/program/program.h"
#include "traces/format/read/reader.h"
#include "traces/format/write/writer.h"

namespace heddle::trace::testing {

// Builds a program block by block; blocks and functions are named and may be used before they are defined:
//
//   v1::KernelProgram loop = ProgramBuilder("loop")
//       .Block("head").Alu(2).Branch("exit", "body")     // fall-through, taken
//       .Block("body").Load().Jump("head")
//       .Block("exit").Store().Exit()
//       .Build();
//
// A block that does not end itself falls through to the next one. Build computes post-dominators.
class ProgramBuilder {
 public:
  explicit ProgramBuilder(std::string name);

  ProgramBuilder& Function(const std::string& name);  // the kernel comes first and needs no call
  ProgramBuilder& Block(const std::string& name);

  // Instructions. Registers are dealt out so that each reads what the one before it wrote.
  ProgramBuilder& Alu(int count = 1);
  ProgramBuilder& Op(v1::OpClass op, int count = 1);
  ProgramBuilder& Load(v1::MemorySpace space = v1::SPACE_GLOBAL, uint32_t bytes = 4);
  ProgramBuilder& Store(v1::MemorySpace space = v1::SPACE_GLOBAL, uint32_t bytes = 4);
  ProgramBuilder& Atomic(v1::MemorySpace space = v1::SPACE_GLOBAL, uint32_t bytes = 4);
  ProgramBuilder& Barrier(uint32_t id = 0, uint32_t threads = 0);
  ProgramBuilder& Flags(uint32_t flags);  // of the last instruction

  // Ends of blocks; each adds the instruction that PTX would have.
  ProgramBuilder& Branch(const std::string& fall_through, const std::string& taken, bool uniform = false);
  ProgramBuilder& Wide(const std::vector<std::string>& successors);
  ProgramBuilder& Jump(const std::string& target);  // adds no instruction if the block has one already
  ProgramBuilder& Call(const std::string& function, const std::string& continuation);
  ProgramBuilder& CallIndirect(const std::vector<std::string>& functions, const std::string& continuation);
  ProgramBuilder& Return();
  ProgramBuilder& Exit();

  // Without the rules being checked, so that tests can break them; post-dominators are filled in where possible.
  v1::KernelProgram Build() const;
  // Checked.
  Program Create() const;

 private:
  struct PendingBlock {
    std::string name;
    std::vector<v1::Instruction> instructions;
    v1::Terminator terminator = v1::TERMINATOR_UNSPECIFIED;
    std::vector<std::string> successors;
    std::vector<std::string> callees;
    size_t function = 0;
  };
  v1::Instruction& Add(v1::OpClass op, const std::string& mnemonic);
  ProgramBuilder& End(v1::Terminator terminator, std::vector<std::string> successors, std::vector<std::string> callees);

  std::string name_;
  std::vector<std::string> functions_;
  std::vector<PendingBlock> blocks_;
  uint32_t register_ = 0;
};

// What random programs may contain.
struct RandomProgramOptions {
  int depth = 3;       // nesting of if/else and loops
  int statements = 4;  // most statements in a row
  bool memory = true;
  bool loops = true;
  bool early_exits = true;
  bool barriers = false;  // at the outermost level of the kernel only, where all threads that are left pass
  bool calls = false;     // device functions, also recursive ones
  bool wide = false;      // wide branches; with calls also indirect calls
};

// A random structured program; the same for the same seed everywhere.
v1::KernelProgram RandomProgram(uint64_t seed, const RandomProgramOptions& options = {});

// What a thread does, with what tests compare against.
struct ThreadTrace {
  std::vector<uint8_t> decisions;
  std::vector<uint64_t> addresses;
  std::vector<uint32_t> blocks;         // entered, in order
  std::vector<size_t> decisions_after;  // made, and addresses recorded, when each entered block has run
  std::vector<size_t> addresses_after;
  uint64_t thread_instructions = 0;
  ThreadRecord record() const { return {decisions, addresses}; }
};

struct RandomThreadOptions {
  uint64_t most_instructions = 2000;  // afterwards the thread takes the shortest way to its exit
  double taken = 0.5;                 // probability of the second successor
  // Threads of a group of this many take the same decisions; 1 = every thread its own.
  uint32_t alike = 1;
  bool linear_addresses = false;  // all columns separable
};

// The decisions and addresses of thread `thread` (counted over the grid): follows the program by its protobuf form,
// independently of the library's walks. Addresses mix the patterns of real kernels (strides, reuse, gathers).
ThreadTrace RandomThread(const Program& program, uint64_t seed, uint64_t thread,
                         const RandomThreadOptions& options = {});

// A launch of `blocks` x `threads` with id and program to be filled in by the writer's user.
v1::Launch MakeLaunch(uint32_t program, uint32_t blocks, uint32_t threads);
v1::FileHeader MakeHeader();

// A file name in the test's own temporary directory; the file is removed with the object.
class TemporaryFile {
 public:
  explicit TemporaryFile(const std::string& name);
  ~TemporaryFile();
  TemporaryFile(const TemporaryFile&) = delete;
  TemporaryFile& operator=(const TemporaryFile&) = delete;
  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

// Writes one launch of `blocks` x `threads` random threads to `path`. A program of machine code gets a header that says
// so.
absl::Status WriteRandomTrace(const std::string& path, v1::KernelProgram program, uint64_t seed, uint32_t blocks,
                              uint32_t threads, const RandomThreadOptions& thread_options = {},
                              const WriterOptions& writer_options = {});

std::string ReadFile(const std::string& path);

}  // namespace heddle::trace::testing

#endif  // HEDDLE_TESTS_TRACES_PROGRAM_BUILDER_H_
