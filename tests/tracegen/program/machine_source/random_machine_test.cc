// What the vendor's assembler makes of random PTX computes what an interpreter of our own says of the PTX: the
// assembler has to keep what a program means, so machine code that is read rightly gives the same memory. Recorded and
// not, and each trace passes every check. Without a toolkit, or without nvdisasm, it is skipped by name.
// HEDDLE_RANDOM_MACHINE=NUMBER tries so many programs of each kind instead of a few; HEDDLE_RANDOM_MACHINE_SEED is the
// first one's seed. HEDDLE_RANDOM_MACHINE_ARCHITECTURE=sm_90 takes this architecture only, else there are two.
// Programs with an instruction that has no meaning here are refused. They are counted by its opcode, and may be few. So
// may those that the assembler's optimiser changes: they are right when it optimises little. One such is seed 1532 of
// ptxas 13.0.88, which makes two steps of a loop of three.
#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "tests/tracegen/execute/capture_fixture.h"
#include "tests/tracegen/program/ptx_source/random_program.h"
#include "tracegen/machine/toolchain/toolchain.h"

namespace heddle::tracegen {
namespace {

uint64_t FromEnvironment(const char* name, uint64_t otherwise) {
  const char* text = std::getenv(name);
  return text == nullptr ? otherwise : std::strtoull(text, nullptr, 10);
}

// While it lives, the ptxas on the PATH optimises little.
class LittleOptimised {
 public:
  LittleOptimised() {
    const char* const path = std::getenv("PATH");
    path_ = path == nullptr ? "" : path;
    const std::filesystem::path folder = ::testing::TempDir() + "/little_optimised";
    std::filesystem::create_directories(folder);
    std::ofstream(folder / "ptxas") << "#!/bin/sh\nPATH='" << path_ << "' exec ptxas \"$@\" -O1\n";
    std::filesystem::permissions(folder / "ptxas", std::filesystem::perms::owner_all);
    setenv("PATH", absl::StrCat(folder.string(), ":", path_).c_str(), 1);
  }
  ~LittleOptimised() { setenv("PATH", path_.c_str(), 1); }
  LittleOptimised(const LittleOptimised&) = delete;
  LittleOptimised& operator=(const LittleOptimised&) = delete;

 private:
  std::string path_;
};

class RandomMachineTest : public CaptureTest {
 protected:
  void Try(RandomProgram::Form form, uint64_t count) {
    if (const auto toolchain = machine::Toolchain::Find(); !toolchain.ok()) {
      GTEST_SKIP() << toolchain.status().message();
    }
    options_.machine_code = true;
    const char* only = std::getenv("HEDDLE_RANDOM_MACHINE_ARCHITECTURE");
    for (const char* architecture : {"sm_80", "sm_90"}) {
      options_.machine_level.architecture = only != nullptr ? only : architecture;
      SCOPED_TRACE(options_.machine_level.architecture);
      TryPrograms(form, count);
      if (only != nullptr) break;
    }
  }

 private:
  // Seeds from `first` on, each with a kernel of its own.
  struct Together {
    std::string text;
    std::string recipe;
  };

  // Starting assembler and disassembler takes far longer than what they do for one kernel.
  static constexpr uint64_t kTogether = 25;
  static constexpr uint64_t kOneRefusedIn = 50;
  static constexpr uint64_t kOneMisassembledIn = 100;
  // Whose program ptxas 13.0.88 changes with -O1, too: it takes a predicate for true that a loop sets anew
  // (docs/lab/2026-11-28-assembler-and-loop.md).
  static constexpr uint64_t kMisassembledAlways = 2983;

  static Together Programs(RandomProgram::Form form, uint64_t first, uint64_t count) {
    constexpr std::string_view kEntry = ".visible .entry k(";
    Together all;
    for (uint64_t seed = first; seed < first + count; ++seed) {
      const RandomProgram program(seed, form);
      const size_t entry = program.text().find(kEntry);
      if (seed == first) all.text = program.text().substr(0, entry);
      absl::StrAppend(&all.text, ".visible .entry k", seed, "(", program.text().substr(entry + kEntry.size()));
      std::vector<double> expected;
      for (const uint32_t word : program.Run()) expected.push_back(word);
      absl::StrAppend(&all.recipe, "buffer { name: \"out", seed, "\" type: U32 count: ", expected.size(),
                      " fill { zeros {} } }\n", "launch { kernel: \"k", seed, "\" block { x: ", kRandomThreads,
                      " } argument { buffer: \"out", seed, "\" } }\n", "check { buffer: \"out", seed, "\" expected { ",
                      Values(expected), " } }\n");
    }
    return all;
  }

  enum class Outcome { kAgrees, kDiffers, kRefused };

  // Whether they give what they should. A difference is noted in `difference_`, a refusal in `refusal_`.
  Outcome OutcomeOf(const Together& programs) {
    const absl::StatusOr<CaptureSummary> summary = Capture(programs.text, programs.recipe, "ptx");
    if (absl::IsUnimplemented(summary.status())) {
      refusal_ = std::string(summary.status().message());
      return Outcome::kRefused;
    }
    if (absl::IsFailedPrecondition(summary.status())) {
      difference_ = std::string(summary.status().message());
      return Outcome::kDiffers;
    }
    ExpectSound(summary);
    return Outcome::kAgrees;
  }
  // For a program that differs: whether the assembler's optimiser has changed what it does. Then our code for the same
  // instructions, in the order of the program, is right.
  bool IsMisassembled(const Together& alone) {
    const LittleOptimised assembler;
    return OutcomeOf(alone) == Outcome::kAgrees;
  }

  // The opcode in a message that refuses an instruction: it is quoted, or the instruction stands at the end.
  static std::string RefusedOpcode(const std::string& message) {
    for (const std::string_view before : {"opcode '", "modifiers of '", "' of "}) {
      if (const size_t at = message.find(before); at != std::string::npos) {
        const size_t first = at + before.size();
        return message.substr(first, message.find_first_of("' ", first) - first);
      }
    }
    const size_t colon = message.rfind(": ");
    if (colon == std::string::npos) return message;
    const std::vector<std::string> words = absl::StrSplit(message.substr(colon + 2), ' ');
    return words.size() > 1 && words[0].starts_with('@') ? words[1] : words[0];
  }

  void TryPrograms(RandomProgram::Form form, uint64_t count) {
    const uint64_t first = FromEnvironment("HEDDLE_RANDOM_MACHINE_SEED", 1);
    uint64_t failed = 0, refused = 0, misassembled = 0;
    std::map<std::string, uint64_t> refused_by_opcode;
    for (uint64_t done = 0; done < count; done += kTogether) {
      const uint64_t together = std::min(kTogether, count - done);
      const Outcome of_all = OutcomeOf(Programs(form, first + done, together));
      if (of_all == Outcome::kAgrees) continue;
      bool differs = of_all == Outcome::kRefused;
      for (uint64_t seed = first + done; seed < first + done + together; ++seed) {
        const Together alone = Programs(form, seed, 1);
        const Outcome outcome = OutcomeOf(alone);
        if (outcome == Outcome::kRefused) {
          ++refused;
          const std::string opcode = RefusedOpcode(refusal_);
          if (++refused_by_opcode[opcode] == 1) std::cout << "seed " << seed << " is refused: " << refusal_ << "\n";
        }
        if (outcome != Outcome::kDiffers) continue;
        differs = true;
        std::cout << "seed " << seed << " differs: " << difference_ << "\n";
        if (seed == kMisassembledAlways || IsMisassembled(alone)) {
          std::cout << "seed " << seed << ": the optimiser of ptxas changes what the program does\n";
          ++misassembled;
          continue;
        }
        if (++failed == 3) FAIL() << "seed " << seed << ":\n" << alone.text;
      }
      EXPECT_TRUE(differs) << "programs from seed " << first + done << " on differ only together: " << difference_;
    }
    for (const auto& [opcode, programs] : refused_by_opcode) {
      std::cout << programs << " of " << count << " programs are refused for " << opcode << "\n";
    }
    EXPECT_EQ(failed, 0u) << "of " << count << " programs";
    EXPECT_LE(refused, count / kOneRefusedIn);
    EXPECT_LE(misassembled, count / kOneMisassembledIn);
    EXPECT_GT(Count(trace::v1::OP_INT_ALU), 0);
  }

  std::string refusal_;     // of the last capture that was refused
  std::string difference_;  // of the last that went wrong
};

TEST_F(RandomMachineTest, IntegersEqualTheInterpreter) {
  Try(RandomProgram::Form::kIntegers, FromEnvironment("HEDDLE_RANDOM_MACHINE", 5));
}

TEST_F(RandomMachineTest, AllNumbersEqualTheInterpreter) {
  Try(RandomProgram::Form::kModule, FromEnvironment("HEDDLE_RANDOM_MACHINE", 5));
}

TEST_F(RandomMachineTest, WarpsThatPartAndMeetEqualTheInterpreter) {
  Try(RandomProgram::Form::kWarps, FromEnvironment("HEDDLE_RANDOM_MACHINE", 5));
}

}  // namespace
}  // namespace heddle::tracegen
