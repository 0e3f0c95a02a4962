// What `heddle trace info` says of certificates.
#include "tools/heddle/trace_certificates.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "tests/traces/program_builder.h"
#include "traces/format/writer.h"

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

}  // namespace
}  // namespace heddle::tools
