// Blocks that end in any order make the trace that ascending ones make.
#include "tracegen/execute/parallel/in_order_writer.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "tests/traces/program_builder.h"

namespace heddle::tracegen {
namespace {

using trace::testing::RandomThread;
using trace::testing::ThreadTrace;

constexpr uint32_t kBlocks = 6;
constexpr uint32_t kThreads = 40;

class InOrder : public ::testing::Test {
 protected:
  InOrder() {
    proto_ = trace::testing::RandomProgram(7);
    proto_.set_id(0);
    program_ = std::make_unique<trace::Program>(*trace::Program::Create(proto_));
    for (uint64_t t = 0; t < kBlocks * kThreads; ++t) traces_.push_back(RandomThread(*program_, 7, t));
  }
  // The file that `fill` makes of a launch.
  template <typename Fill>
  std::string Write(Fill&& fill) {
    const trace::testing::TemporaryFile file("in_order.htrace");
    auto writer = trace::TraceWriter::Create(file.path(), trace::testing::MakeHeader(), {});
    EXPECT_TRUE(writer.ok()) << writer.status();
    const auto program = (*writer)->AddProgram(proto_);
    EXPECT_TRUE(program.ok()) << program.status();
    EXPECT_EQ((*writer)->BeginLaunch(trace::testing::MakeLaunch((*program)->id(), kBlocks, kThreads)),
              absl::OkStatus());
    fill(**writer);
    EXPECT_EQ((*writer)->EndLaunch(), absl::OkStatus());
    EXPECT_EQ((*writer)->Finish(), absl::OkStatus());
    return trace::testing::ReadFile(file.path());
  }
  std::vector<trace::ThreadRecord> Records(uint64_t block) const {
    std::vector<trace::ThreadRecord> records;
    for (uint64_t t = 0; t < kThreads; ++t) records.push_back(traces_[block * kThreads + t].record());
    return records;
  }
  uint64_t Instructions(uint64_t block) const {
    uint64_t sum = 0;
    for (uint64_t t = 0; t < kThreads; ++t) sum += traces_[block * kThreads + t].thread_instructions;
    return sum;
  }

  trace::v1::KernelProgram proto_;
  std::unique_ptr<trace::Program> program_;
  std::vector<ThreadTrace> traces_;
};

TEST_F(InOrder, WholeBlocks) {
  const std::string expected = Write([this](trace::TraceWriter& writer) {
    for (uint64_t b = 0; b < kBlocks; ++b) {
      EXPECT_EQ(writer.AddBlock(b, Records(b), Instructions(b)), absl::OkStatus());
    }
  });
  const std::string written = Write([this](trace::TraceWriter& writer) {
    InOrderWriter in_order;
    in_order.BeginLaunch(&proto_, &writer);
    const auto end = [&](uint64_t b) {
      EXPECT_EQ(in_order.AddBlock(b, Records(b), Instructions(b)), absl::OkStatus());
      EXPECT_EQ(in_order.Flush(), absl::OkStatus());
    };
    // Three places: blocks begin in ascending order, as soon as one is free.
    for (const uint64_t b : {0, 1, 2}) in_order.BeginBlock(b);
    end(2);
    in_order.BeginBlock(3);
    EXPECT_EQ(writer.totals().blocks, 0u);
    end(0);
    EXPECT_EQ(writer.totals().blocks, 1u);
    in_order.BeginBlock(4);
    end(1);  // the ones behind it that have ended follow
    EXPECT_EQ(writer.totals().blocks, 3u);
    in_order.BeginBlock(5);
    for (const uint64_t b : {4, 5, 3}) end(b);
    in_order.EndLaunch();
  });
  EXPECT_TRUE(written == expected);
}

TEST_F(InOrder, PartsWaitForEarlierBlocks) {
  const std::string written = Write([this](trace::TraceWriter& writer) {
    InOrderWriter in_order;
    in_order.BeginLaunch(&proto_, &writer);
    for (uint64_t b = 0; b < kBlocks; ++b) in_order.BeginBlock(b);
    for (uint64_t b = kBlocks; b-- > 0;) {
      std::optional<trace::PartEncoder> encoder;
      std::vector<uint64_t> consumed(kThreads);
      EXPECT_EQ(in_order.AddPart(b, Records(b), /*last=*/true, consumed, encoder), absl::OkStatus());
      EXPECT_FALSE(encoder.has_value());
      EXPECT_EQ(writer.totals().blocks, b == 0 ? kBlocks : 0);
    }
  });
  EXPECT_FALSE(written.empty());
}

}  // namespace
}  // namespace heddle::tracegen
