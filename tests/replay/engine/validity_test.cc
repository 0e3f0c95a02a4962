// What a trace says about itself shows in every result; what it cannot stand for is refused.
#include "replay/engine/validity.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "absl/strings/str_join.h"
#include "replay/engine/replay.h"
#include "replay/machine/machine.h"
#include "tests/traces/program_builder.h"

namespace heddle::replay {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;
using trace::testing::ProgramBuilder;
using trace::v1::Certificate;

constexpr uint32_t kThreads = 32;

// One launch of two blocks of a kernel of five instructions: two additions, a store, a load, an exit; with certificates
// and, if blocks are left out, as a sample.
class ValidityTest : public ::testing::Test {
 protected:
  void Write(const std::vector<Certificate>& certificates, uint64_t recorded_blocks = 2, int launches = 1,
             const std::vector<trace::v1::Annotation>& annotations = {}) {
    auto writer = trace::TraceWriter::Create(file_.path(), trace::testing::MakeHeader());
    ASSERT_TRUE(writer.ok()) << writer.status();
    trace::v1::KernelProgram kernel = ProgramBuilder("k")
                                          .Block("entry")
                                          .Alu(2)
                                          .Store(trace::v1::SPACE_SHARED)
                                          .Load(trace::v1::SPACE_SHARED)
                                          .Exit()
                                          .Build();
    kernel.mutable_instruction(2)->set_source_line(41);
    kernel.mutable_instruction(3)->set_source_line(42);
    kernel.set_stand_in_for(stand_in_for_);
    ASSERT_TRUE((*writer)->AddProgram(kernel).ok());
    trace::v1::Launch launch = trace::testing::MakeLaunch(0, 2, kThreads);
    if (recorded_blocks < 2) {
      launch.mutable_selection()->set_rule(trace::v1::BlockSelection::FIRST);
      launch.mutable_selection()->set_blocks(recorded_blocks);
    }
    const std::vector<uint64_t> addresses = {0x1000000, 0x1000000};
    for (int i = 0; i < launches; ++i) {
      ASSERT_TRUE((*writer)->BeginLaunch(launch).ok());
      for (uint64_t block = 0; block < recorded_blocks; ++block) {
        const std::vector<trace::ThreadRecord> records(kThreads, {{}, addresses, false});
        ASSERT_EQ((*writer)->AddBlock(block, records, 5 * kThreads), absl::OkStatus());
      }
      ASSERT_EQ((*writer)->EndLaunch(), absl::OkStatus());
    }
    for (const Certificate& certificate : certificates) {
      ASSERT_EQ((*writer)->AddCertificate(certificate), absl::OkStatus());
    }
    for (const trace::v1::Annotation& annotation : annotations) {
      ASSERT_EQ((*writer)->AddAnnotation(annotation), absl::OkStatus());
    }
    ASSERT_EQ((*writer)->Finish(), absl::OkStatus());
    auto reader = trace::TraceReader::Open(file_.path());
    ASSERT_TRUE(reader.ok()) << reader.status();
    reader_ = *std::move(reader);
  }

  absl::StatusOr<result::v1::Result> Run(const std::string& divergence, bool force = false,
                                         const std::string& scheduler = "lrr") const {
    ReplayOptions options;
    options.machine = *LoadMachine("fermi_fixed");
    options.force_regrouping = force;
    Configuration configuration;
    configuration.divergence = PolicySpec::FromText(divergence);
    configuration.scheduler = PolicySpec::FromText(scheduler);
    const auto results = Replay(*reader_, {configuration}, options);
    if (!results.ok()) return results.status();
    return results->at(0);
  }
  std::vector<std::string> Notes() const {
    const auto result = Run("pdom");
    EXPECT_TRUE(result.ok()) << result.status();
    if (!result.ok()) return {};
    return {result->note().begin(), result->note().end()};
  }

  std::string stand_in_for_;  // of the kernel
  trace::testing::TemporaryFile file_{"validity.htrace"};
  std::unique_ptr<trace::TraceReader> reader_;
};

Certificate Certified(uint32_t runs) {
  Certificate certificate;
  certificate.set_runs(runs);
  certificate.set_seed(1);
  return certificate;
}

TEST_F(ValidityTest, ATraceWithoutCertificateSaysSo) {
  Write({});
  EXPECT_THAT(Notes(), ElementsAre(HasSubstr("not certified")));
}

TEST_F(ValidityTest, StandInsAreTold) {
  stand_in_for_ = "cublasSgemm";
  Write({});
  EXPECT_THAT(Notes(), ElementsAre(HasSubstr("1 launch runs a stand-in for cublasSgemm:"), HasSubstr("certified")));
  const auto result = Run("pdom");
  ASSERT_TRUE(result.ok()) << result.status();
  EXPECT_EQ(result->launch(0).code(), "stand-in for cublasSgemm");
  Write({}, /*recorded_blocks=*/2, /*launches=*/3);
  EXPECT_THAT(Notes(), ElementsAre(HasSubstr("3 launches run stand-ins for cublasSgemm:"), HasSubstr("certified")));
}

TEST_F(ValidityTest, LaunchesInPartAreToldOncePerKernel) {
  Write({}, /*recorded_blocks=*/1);
  EXPECT_THAT(Notes(),
              ElementsAre(HasSubstr("launch 0 (k): 1 of 2 thread blocks were recorded"), HasSubstr("certified")));
  Write({}, /*recorded_blocks=*/1, /*launches=*/3);
  EXPECT_THAT(Notes(), ElementsAre(HasSubstr("3 launches of k, launch 0 the first: 3 of 6 thread blocks were recorded"),
                                   HasSubstr("certified")));
}

TEST_F(ValidityTest, UnchangedIsSaidWithTheNumberOfOrders) {
  Write({Certified(5)});
  EXPECT_THAT(Notes(), ElementsAre(AllOf(HasSubstr("unchanged"), HasSubstr("5 other orders"))));
}

// 64 threads run 320 thread-instructions; 16 of them access elsewhere: 5 %.
TEST_F(ValidityTest, ChangesAreSaidWithTheirShare) {
  Certificate certificate = Certified(4);
  trace::v1::InstructionVariance& load = *certificate.add_instruction();
  load.set_instruction(3);
  load.set_addresses_changed(16);
  load.set_executions(64);
  load.set_threads(16);
  Write({certificate});
  EXPECT_THAT(Notes(), ElementsAre(AllOf(HasSubstr("k: addresses change under 4 other orders"), HasSubstr("5 %"),
                                         HasSubstr("paths do not"))));
  load.set_decisions_changed(32);
  Write({certificate});
  EXPECT_THAT(Notes(), ElementsAre(AllOf(HasSubstr("k: paths change under 4 other orders"), HasSubstr("(10 %"))));
}

TEST_F(ValidityTest, WhyTheTraceIsIncompleteIsSaid) {
  const auto annotation = [](const std::string& key, const std::string& value) {
    trace::v1::Annotation made;
    made.set_key(key);
    made.set_value(value);
    return made;
  };
  Write({Certified(5)}, 2, 1,
        {annotation("heddle.capture.end", "the run ended here: launch 1: kernel 'k': trap at k.cu:3"),
         annotation("heddle.recover", "bytes 90 to 99 hold no complete record\nrecord 4 is missing"),
         annotation("heddle.extract", "launches 0")});
  EXPECT_THAT(Notes(), ElementsAre("the recording ended early: launch 1: kernel 'k': trap at k.cu:3",
                                   "recovered from a damaged trace: bytes 90 to 99 hold no complete record; and 1 "
                                   "more (`heddle trace info`)",
                                   HasSubstr("unchanged")));
}

TEST_F(ValidityTest, AnOrderThatFailedIsSaid) {
  Certificate certificate = Certified(1);
  certificate.set_failure("in the order of seed 1: trap at k.cu:3");
  Write({certificate});
  EXPECT_THAT(absl::StrJoin(Notes(), "\n"), HasSubstr("trap at k.cu:3"));
}

TEST_F(ValidityTest, PoliciesThatRegroupThreadsAreRefusedForKernelsThatRelyOnLockstep) {
  Certificate certificate;
  trace::v1::WarpHandOff& hand_off = *certificate.add_hand_off();
  hand_off.set_writer(2);
  hand_off.set_reader(3);
  hand_off.set_count(9);
  Write({certificate});
  for (const char* policy : {"dwf", "tbc", "lwm", "harp", "capri", "tbc_plus", "mimd"}) {
    const auto refused = Run(policy);
    ASSERT_FALSE(refused.ok()) << policy;
    EXPECT_THAT(std::string(refused.status().message()),
                AllOf(HasSubstr("lockstep"), HasSubstr(policy), HasSubstr("line 41 (PC "), HasSubstr("line 42 (PC "),
                      HasSubstr("--force-regrouping")));
    EXPECT_TRUE(Run(policy, true).ok()) << policy;
  }
  for (const char* policy : {"pdom", "nrec", "dws", "its"}) EXPECT_TRUE(Run(policy).ok()) << policy;
  EXPECT_THAT(absl::StrJoin(Notes(), "\n"), HasSubstr("not recorded in lockstep"));

  certificate.set_lockstep(true);
  Write({certificate});
  EXPECT_THAT(absl::StrJoin(Notes(), "\n"),
              AllOf(HasSubstr("in which it was recorded"), Not(HasSubstr("not recorded in lockstep"))));
  EXPECT_FALSE(Run("dwf").ok());
}

TEST_F(ValidityTest, FindingsInCertificatesAreNotes) {
  Certificate certificate;
  trace::v1::Race& race = *certificate.add_race();
  race.set_writer(2);
  race.set_other(3);
  race.set_places(7);
  certificate.add_memory()->set_bytes(12);
  trace::v1::WarpWait& lock = *certificate.add_warp_wait();
  lock.set_instruction(2);
  lock.set_lock(true);
  lock.set_count(5);
  trace::v1::WarpWait& signal = *certificate.add_warp_wait();
  signal.set_instruction(3);
  signal.set_count(1);
  trace::v1::OutsideRead& read = *certificate.add_outside_read();
  read.set_instruction(3);
  read.set_count(1234);
  Write({certificate});
  EXPECT_THAT(
      absl::StrJoin(Notes(), "\n"),
      AllOf(HasSubstr("races in global memory, such as line 41 with line 42"),
            HasSubstr("leaves 12 bytes of memory otherwise"), HasSubstr("one lock together at line 41 (5 times)"),
            HasSubstr("polls at line 42 what another thread of the warp changes later (1 time)"),
            HasSubstr("1234 reads outside all allocations, the first at line 42")));
}

TEST_F(ValidityTest, KernelsWithoutHandOffsMayBeRegrouped) {
  Write({Certified(1)});
  EXPECT_TRUE(Run("dwf").ok());
}

// Which phase of a launch a block of a sample belongs to is not known.
TEST_F(ValidityTest, WhatASampleCannotCarryIsLeftOut) {
  Write({}, 1);
  EXPECT_THAT(absl::StrJoin(Notes(), "\n"), AllOf(HasSubstr("1 of 2 thread blocks"), HasSubstr("left out")));
  const auto sample = Run("pdom", false, "progress");
  ASSERT_TRUE(sample.ok()) << sample.status();
  EXPECT_FALSE(sample->launch(0).warp_progress().has_dwr());
  EXPECT_FALSE(sample->launch(0).warp_progress().has_dws());
  EXPECT_EQ(sample->launch(0).scheduler_counter_size(), 0);
  Write({});
  const auto whole = Run("pdom", false, "progress");
  ASSERT_TRUE(whole.ok()) << whole.status();
  EXPECT_GT(whole->launch(0).scheduler_counter_size(), 0);
}

}  // namespace
}  // namespace heddle::replay
