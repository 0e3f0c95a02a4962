// Launches that a kernel asks for, out of what it prints.
#include "tracegen/application/children.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace heddle::tracegen {
namespace {

std::string Line(const std::string& fields) { return "\x1b]heddle;" + fields + "\a"; }

TEST(ChildrenTest, LaunchesAreTakenOutOfTheText) {
  std::string printed = "one\n" + Line("K;2;3;4;32;1;1;16;4096;7;5;1122334455667788;ff") + "two";
  std::vector<ChildLaunch> children;
  ASSERT_TRUE(TakeChildren(printed, &children).ok());
  EXPECT_EQ(printed, "one\ntwo");
  ASSERT_EQ(children.size(), 1u);
  const ChildLaunch& child = children[0];
  EXPECT_EQ(child.kernel, "K");
  EXPECT_THAT(child.grid, testing::ElementsAre(2, 3, 4));
  EXPECT_THAT(child.block, testing::ElementsAre(32, 1, 1));
  EXPECT_EQ(child.shared_bytes, 16u);
  EXPECT_EQ(child.stream, 4096u);
  EXPECT_EQ(child.parent_block, 7u);
  EXPECT_EQ(child.parent_thread, 5u);
  EXPECT_EQ(child.parameters, std::string("\x88\x77\x66\x55\x44\x33\x22\x11\xff\0\0\0\0\0\0\0", 16));
}

TEST(ChildrenTest, BlocksComeInOrderAndTailsLast) {
  const auto line = [](const char* name, int stream, int block, int thread) {
    return Line(std::string(name) + ";1;1;1;1;1;1;0;" + std::to_string(stream) + ";" + std::to_string(block) + ";" +
                std::to_string(thread));
  };
  std::string printed = line("tail", 3, 0, 0) + line("c", 0, 2, 0) + line("a", 0, 0, 1) + line("b", 0, 0, 1);
  std::vector<ChildLaunch> children;
  ASSERT_TRUE(TakeChildren(printed, &children).ok());
  std::vector<std::string> names;
  for (const ChildLaunch& child : children) names.push_back(child.kernel);
  EXPECT_THAT(names, testing::ElementsAre("a", "b", "c", "tail"));
  EXPECT_EQ(children[0].ordinal, 0u);
  EXPECT_EQ(children[1].ordinal, 1u);
  EXPECT_TRUE(printed.empty());
}

TEST(ChildrenTest, BrokenLinesAreRefused) {
  for (const char* fields :
       {"", "K", "K;1;1;1;1;1;1;0;0;0", ";1;1;1;1;1;1;0;0;0;0", "K;1;1;x;1;1;1;0;0;0;0", "K;1;1;1;1;1;1;0;0;0;0;",
        "K;1;1;1;1;1;1;0;0;0;0;xyz", "K;1;1;1;1;1;1;0;0;0;-1", "K;1;1;1;1;1;1;0;0;0;0;11223344556677889"}) {
    std::string printed = Line(fields);
    std::vector<ChildLaunch> children;
    EXPECT_FALSE(TakeChildren(printed, &children).ok()) << fields;
  }
  std::string open = "\x1b]heddle;K;1;1;1;1;1;1;0;0;0;0";
  std::vector<ChildLaunch> children;
  EXPECT_FALSE(TakeChildren(open, &children).ok());
}

}  // namespace
}  // namespace heddle::tracegen
