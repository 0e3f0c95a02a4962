// The order in which commands stand in the help, whatever the order in which their files register them.
#include "tools/console/command.h"

#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace heddle::tools {
namespace {

TEST(CommandRegistry, GroupsComeBeforeTheirCommandsWhichAreInTheOrderOfTheirPlaces) {
  CommandRegistry registry;
  registry.Add({.name = "trace check", .place = 2}, nullptr);
  registry.Add({.name = "machines import", .place = 1}, nullptr);
  registry.Add({.name = "replay", .place = 3}, nullptr);
  registry.Add({.name = "trace info", .place = 1}, nullptr);
  registry.Add({.name = "trace", .place = 2}, nullptr);
  registry.Add({.name = "machines", .place = 4}, nullptr);
  std::vector<std::string> names;
  for (const CommandRegistry::Entry& entry : registry.InOrder()) names.push_back(entry.info.name);
  EXPECT_THAT(names,
              testing::ElementsAre("trace", "replay", "machines", "machines import", "trace info", "trace check"));
}

}  // namespace
}  // namespace heddle::tools
