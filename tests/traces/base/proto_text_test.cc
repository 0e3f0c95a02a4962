// Messages that people wrote as text.
#include "traces/base/proto_text.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "proto/trace.pb.h"

namespace heddle {
namespace {

using ::testing::HasSubstr;

std::string Refusal(const std::string& text) {
  trace::v1::BasicBlock block;
  return std::string(ParseProtoText(text, block).message());
}

TEST(ProtoText, IsReadIntoTheMessage) {
  trace::v1::BasicBlock block;
  ASSERT_TRUE(ParseProtoText("first_instruction: 3\ninstruction_count: 2", block).ok());
  EXPECT_EQ(block.first_instruction(), 3u);
}

TEST(ProtoText, ErrorsSayWhereTheyAre) { EXPECT_THAT(Refusal("\n  terminator: RUNS"), HasSubstr("line 2, column ")); }

TEST(ProtoText, AFieldThatThereIsNotIsToldWithThoseThereAre) {
  EXPECT_THAT(Refusal("instruction_counts: 2"),
              HasSubstr("unknown field of BasicBlock \"instruction_counts\": did you mean \"instruction_count\"?"));
}

TEST(ProtoText, OnlyTheFirstErrorIsTold) {
  EXPECT_THAT(Refusal("a: 1 b: 2"), HasSubstr("line 1, column 2"));
  EXPECT_EQ(Refusal("a: 1 b: 2").find("\"b\""), std::string::npos);
}

}  // namespace
}  // namespace heddle
