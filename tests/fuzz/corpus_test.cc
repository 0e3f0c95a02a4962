// Everything that fuzzing has found stays found: the reader goes over the whole corpus in every build.
#include <gtest/gtest.h>

#include <filesystem>

#include "tests/fuzz/trace_input.h"
#include "tests/traces/program_builder.h"

namespace heddle::trace::testing {
namespace {

TEST(Corpus, EveryFileIsReadWithoutHarm) {
  int files = 0;
  for (const auto& entry : std::filesystem::directory_iterator(HEDDLE_FUZZ_CORPUS)) {
    SCOPED_TRACE(entry.path().string());
    (void)ReadHostileInput(ReadFile(entry.path().string()));
    ++files;
  }
  EXPECT_GE(files, 4);
}

}  // namespace
}  // namespace heddle::trace::testing
