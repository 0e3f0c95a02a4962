// Random PTX computes what an interpreter of its own says: types, widths, rounding, guards, control flow, calls, shared
// memory, shuffles; as modules, and as asm statements of CUDA. HEDDLE_RANDOM_PTX=NUMBER tries so many modules instead
// of the usual ones, and a quarter as many statements; HEDDLE_RANDOM_PTX_SEED is the first one's seed.
#include <cstdlib>

#include "tests/tracegen/execute/capture_fixture.h"
#include "tests/tracegen/program/ptx_source/random_program.h"

namespace heddle::tracegen {
namespace {

uint64_t FromEnvironment(const char* name, uint64_t otherwise) {
  const char* text = std::getenv(name);
  return text == nullptr ? otherwise : std::strtoull(text, nullptr, 10);
}

class RandomPtxTest : public CaptureTest {
 protected:
  // `count` programs.
  void Try(RandomProgram::Form form, uint64_t count, const std::string& extension) {
    const uint64_t first = FromEnvironment("HEDDLE_RANDOM_PTX_SEED", 1);
    uint64_t branches = 0;
    for (uint64_t seed = first; seed < first + count; ++seed) {
      const RandomProgram program(seed, form);
      std::vector<double> expected;
      for (const uint32_t word : program.Run()) expected.push_back(word);
      const std::string recipe =
          absl::StrCat("buffer { name: \"out\" type: U32 count: ", expected.size(), " fill { zeros {} } }\n",
                       "launch { kernel: \"k\" block { x: ", kRandomThreads, " } argument { buffer: \"out\" } }\n",
                       "check { buffer: \"out\" expected { ", Values(expected), " } }\n");
      Succeeds(program.text(), recipe, extension);
      if (HasFailure()) FAIL() << "seed " << seed << ":\n" << program.text();
      branches += static_cast<uint64_t>(Count(trace::v1::OP_BRANCH));
    }
    EXPECT_GT(branches, count) << "programs that never branch";
  }
};

TEST_F(RandomPtxTest, EqualsTheInterpreter) {
  Try(RandomProgram::Form::kModule, FromEnvironment("HEDDLE_RANDOM_PTX", 150), "ptx");
}

TEST_F(RandomPtxTest, WarpsThatPartAndMeetEqualTheInterpreter) {
  Try(RandomProgram::Form::kWarps, FromEnvironment("HEDDLE_RANDOM_PTX", 100) / 4, "ptx");
}

// They take longer, as clang compiles what is around them.
TEST_F(RandomPtxTest, StatementsEqualTheInterpreter) {
  Try(RandomProgram::Form::kStatement, FromEnvironment("HEDDLE_RANDOM_PTX", 120) / 4, "cu");
}

}  // namespace
}  // namespace heddle::tracegen
