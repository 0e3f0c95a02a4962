// Recipes that contradict themselves are refused, with the line.
#include "tracegen/recipe/recipe_file.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <string>

namespace heddle::tracegen {
namespace {

using ::testing::EndsWith;

std::string Refusal(const std::string& text) {
  const std::string path = ::testing::TempDir() + "recipe_file_test.textproto";
  std::ofstream(path) << text;
  return std::string(ReadRecipeFile(path).status().message());
}

TEST(RecipeFile, BuffersNeedATypeThatThereIs) {
  const std::string rest = "source: \"a.cu\" launch { kernel: \"k\" }\n";
  EXPECT_THAT(Refusal(rest + "buffer { name: \"a\" count: 5 }"),
              EndsWith(":2: buffer 'a' has no type (I32, F32, ...)"));
  // A file may hold any number: it divided by the size of such an element, which was 0.
  EXPECT_THAT(Refusal(rest + "buffer { name: \"a\" type: 99 count: 5 }"),
              EndsWith(":2: buffer 'a' has type 99, which is none (I32, F32, ...)"));
}

}  // namespace
}  // namespace heddle::tracegen
