// Checks of a recipe's outputs by programs: what they are given, and how often they run.
#include "tracegen/recipe/output_check.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

namespace heddle::tracegen {
namespace {

using ::testing::HasSubstr;

// A recipe whose two checks name one program, which says how often it was called.
class CheckProgram : public ::testing::Test {
 protected:
  CheckProgram() {
    recipe_.directory = ::testing::TempDir() + "/output_check";
    std::filesystem::create_directories(recipe_.directory);
    std::filesystem::remove(Calls());
    for (const char* buffer : {"a", "b"}) {
      recipe::v1::Check* check = recipe_.recipe.add_check();
      check->set_buffer(buffer);
      check->set_program("check.cc");
    }
  }

  std::string Calls() const { return recipe_.directory + "/calls"; }

  // Runs the checks with a program that ends with `verdict`.
  absl::Status Run(const std::string& verdict) {
    std::ofstream(recipe_.directory + "/check.cc")
        << "#include <cstdio>\n"
           "#include <stdexcept>\n"
           "extern \"C\" int heddle_check(const void*, int count, char* message, int size) {\n"
           "  if (FILE* calls = std::fopen(\""
        << Calls()
        << "\", \"a\")) std::fputs(\"x\", calls), std::fclose(calls);\n"
           "  std::snprintf(message, size, \"%d buffers\", count);\n"
        << verdict << "}\n";
    std::vector<BufferContents> buffers(3);
    return OutputChecks(recipe_).Run(buffers);
  }

  RecipeFile recipe_;
};

TEST_F(CheckProgram, RunsOnceHoweverManyBuffersNameIt) {
  EXPECT_TRUE(Run("return 0;").ok());
  std::string calls;
  std::ifstream(Calls()) >> calls;
  EXPECT_EQ(calls, "x");
}

TEST_F(CheckProgram, SaysWhatIsWrong) {
  EXPECT_THAT(std::string(Run("return 1;").message()), HasSubstr("the output is wrong (check.cc): 3 buffers"));
}

TEST_F(CheckProgram, MayThrowWhatIsWrong) {
  EXPECT_THAT(std::string(Run("throw std::out_of_range(\"element 9\");").message()),
              HasSubstr("the output is wrong (check.cc): element 9"));
  EXPECT_THAT(std::string(Run("throw 7;").message()), HasSubstr("of a type that has no text"));
}

TEST_F(CheckProgram, ThatDoesNotCompileIsNamed) {
  EXPECT_THAT(std::string(Run("return nothing;").message()), HasSubstr("check.cc cannot be compiled"));
}

}  // namespace
}  // namespace heddle::tracegen
