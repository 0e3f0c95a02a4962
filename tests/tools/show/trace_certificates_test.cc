// What `heddle trace info` says of certificates.
#include "tools/show/trace_certificates.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "tests/traces/program_builder.h"
#include "tools/show/trace_findings.h"
#include "traces/format/write/writer.h"

namespace heddle::tools {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

// Launches of one kernel; the first instruction ran 206 times in each, and decided otherwise so often.
std::string Text(const std::vector<uint64_t>& decisions_changed, bool per_launch) {
  trace::testing::TemporaryFile file("certificates");
  auto writer = trace::TraceWriter::Create(file.path(), trace::testing::MakeHeader());
  EXPECT_TRUE((*writer)->AddProgram(trace::testing::ProgramBuilder("k").Block("a").Alu().Exit().Build()).ok());
  uint32_t number = 0;
  for (const uint64_t changed : decisions_changed) {
    EXPECT_EQ((*writer)->BeginLaunch(trace::testing::MakeLaunch(0, 1, 1)), absl::OkStatus());
    const std::vector<trace::ThreadRecord> threads(1);
    EXPECT_EQ((*writer)->AddBlock(0, threads, trace::TraceWriter::kNoExpectation), absl::OkStatus());
    EXPECT_EQ((*writer)->EndLaunch(), absl::OkStatus());
    trace::v1::Certificate certificate;
    certificate.set_launch(number++);
    certificate.set_runs(2);
    trace::v1::InstructionVariance& variance = *certificate.add_instruction();
    variance.set_executions(206);
    variance.set_decisions_changed(changed);
    EXPECT_EQ((*writer)->AddCertificate(certificate), absl::OkStatus());
  }
  EXPECT_EQ((*writer)->Finish(), absl::OkStatus());
  const auto reader = trace::TraceReader::Open(file.path());
  EXPECT_TRUE(reader.ok()) << reader.status();
  const auto info = trace::DescribeTrace(**reader);
  EXPECT_TRUE(info.ok()) << info.status();
  return CertificateText(**reader, *info, per_launch);
}

TEST(CertificateText, NoShareIsAboveAHundredPerCent) {
  EXPECT_THAT(Text({103}, true), AllOf(HasSubstr("103 (50.00 %)"), Not(HasSubstr("more than ran"))));
  EXPECT_THAT(Text({206}, true), AllOf(HasSubstr("206 (100.00 %)"), Not(HasSubstr("more than ran"))));
  EXPECT_THAT(Text({325}, true), AllOf(HasSubstr("325 (more than ran)"), Not(HasSubstr("157")),
                                       HasSubstr("more than ran: another order ran the instruction more often")));
}

TEST(CertificateText, LaunchesAreListedOrSummedUp) {
  const std::string listed = Text({1, 2, 3}, true);
  EXPECT_THAT(listed, AllOf(HasSubstr("\n  launch  instruction"), HasSubstr("2 (0.97 %)"), HasSubstr("3 (1.46 %)")));
  const std::string summed = Text({1, 2, 3}, false);
  EXPECT_THAT(summed, AllOf(HasSubstr("\n  launches  instruction"), HasSubstr("618"), HasSubstr("6 (0.97 %)"),
                            Not(HasSubstr("1.46"))));
  EXPECT_THAT(summed, HasSubstr("\n         3  k       2 orders, seeds 0 to 1  1 branch and 0 accesses changed  no\n"));
}

TEST(FindingsText, LaunchesAreListedOrSummedUp) {
  trace::testing::TemporaryFile file("findings");
  auto writer = trace::TraceWriter::Create(file.path(), trace::testing::MakeHeader());
  ASSERT_TRUE((*writer)->AddProgram(trace::testing::ProgramBuilder("k").Block("a").Store().Exit().Build()).ok());
  for (uint32_t launch = 0; launch < 3; ++launch) {
    ASSERT_TRUE((*writer)->BeginLaunch(trace::testing::MakeLaunch(0, 1, 1)).ok());
    const std::vector<uint64_t> addresses(1, 64);
    ASSERT_TRUE((*writer)
                    ->AddBlock(0, std::vector<trace::ThreadRecord>{{{}, addresses}}, trace::TraceWriter::kNoExpectation)
                    .ok());
    ASSERT_TRUE((*writer)->EndLaunch().ok());
    trace::v1::Certificate certificate;
    certificate.set_launch(launch);
    certificate.add_race()->set_places(100 + launch);
    certificate.add_warp_wait()->set_lock(true);
    certificate.mutable_warp_wait(0)->set_count(7);
    ASSERT_TRUE((*writer)->AddCertificate(certificate).ok());
  }
  ASSERT_TRUE((*writer)->Finish().ok());
  const auto reader = trace::TraceReader::Open(file.path());
  ASSERT_TRUE(reader.ok()) << reader.status();
  EXPECT_THAT(FindingsText(**reader, true),
              AllOf(HasSubstr("\n  launch  stored by"), HasSubstr("overwritten     100"),
                    HasSubstr("overwritten     102"), HasSubstr("a lock      7"), Not(HasSubstr("Reads outside"))));
  EXPECT_THAT(FindingsText(**reader, false),
              AllOf(HasSubstr("\n  launches  stored by"), HasSubstr("overwritten     303"), HasSubstr("a lock     21"),
                    Not(HasSubstr("102"))));
}

}  // namespace
}  // namespace heddle::tools
