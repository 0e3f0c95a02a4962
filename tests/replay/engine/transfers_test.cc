// What a copy between two launches of a trace does to the L2 that the second one finds.
#include <gtest/gtest.h>

#include <memory>
#include <optional>
#include <vector>

#include "replay/engine/replay.h"
#include "replay/machine/machine.h"
#include "tests/traces/program_builder.h"
#include "traces/format/read/reader.h"
#include "traces/format/write/writer.h"

namespace heddle::replay {
namespace {

using trace::v1::Transfer;

constexpr uint64_t kData = uint64_t{1} << 33;  // a line that both launches read
constexpr uint32_t kThreads = 32;

// Misses of the L2 in the second of two equal launches, with a transfer of 4 bytes between them.
uint64_t MissesOfTheSecond(std::optional<Transfer::Direction> direction, uint64_t address = kData) {
  const trace::testing::TemporaryFile file("transfers.htrace");
  auto writer = trace::TraceWriter::Create(file.path(), trace::testing::MakeHeader());
  EXPECT_TRUE(writer.ok()) << writer.status();
  const auto kernel = trace::testing::ProgramBuilder("k").Load(trace::v1::SPACE_GLOBAL).Exit().Build();
  EXPECT_TRUE((*writer)->AddProgram(kernel).ok());
  const std::vector<uint64_t> addresses = {kData};
  for (int launch = 0; launch < 2; ++launch) {
    if (launch == 1 && direction.has_value()) {
      Transfer transfer;
      transfer.set_direction(*direction);
      transfer.set_address(address);
      transfer.set_bytes(4);
      EXPECT_TRUE((*writer)->AddTransfer(transfer).ok());
    }
    EXPECT_TRUE((*writer)->BeginLaunch(trace::testing::MakeLaunch(0, 1, kThreads)).ok());
    const std::vector<trace::ThreadRecord> records(kThreads, {{}, addresses, false});
    EXPECT_TRUE((*writer)->AddBlock(0, records, 2 * kThreads).ok());
    EXPECT_TRUE((*writer)->EndLaunch().ok());
  }
  EXPECT_TRUE((*writer)->Finish().ok());
  const auto reader = trace::TraceReader::Open(file.path());
  EXPECT_TRUE(reader.ok()) << reader.status();
  ReplayOptions options;
  options.machine = *LoadMachine("baws_gtx480");
  const auto results = Replay(**reader, {Configuration()}, options);
  EXPECT_TRUE(results.ok()) << results.status();
  if (!results.ok()) return ~uint64_t{0};
  EXPECT_GE(results->at(0).launch(0).l2().cache().misses(), 1);
  return results->at(0).launch(1).l2().cache().misses();
}

TEST(Transfers, WhatTheyWriteIsFetchedAgain) {
  EXPECT_EQ(MissesOfTheSecond(std::nullopt), 0) << "the L2 is kept";
  for (const auto direction : {Transfer::HOST_TO_DEVICE, Transfer::DEVICE_TO_DEVICE, Transfer::FILL}) {
    EXPECT_EQ(MissesOfTheSecond(direction), 1) << Transfer::Direction_Name(direction);
  }
  EXPECT_EQ(MissesOfTheSecond(Transfer::DEVICE_TO_HOST), 0) << "nothing on the device has changed";
  EXPECT_EQ(MissesOfTheSecond(Transfer::HOST_TO_DEVICE, kData + 4096), 0) << "another line";
}

}  // namespace
}  // namespace heddle::replay
