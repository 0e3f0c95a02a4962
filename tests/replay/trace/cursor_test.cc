// Recordings that come in many chunks and parts, under a cache that holds next to nothing: the replay must not notice.
#include <gmock/gmock.h>
#include <google/protobuf/util/message_differencer.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include "tests/replay/core/engine_harness.h"
#include "traces/format/write/writer.h"

namespace heddle::replay {
namespace {

using trace::testing::RandomThread;
using trace::testing::ThreadTrace;

trace::testing::RandomProgramOptions Everything() {
  trace::testing::RandomProgramOptions options;
  options.calls = true;
  options.wide = true;
  options.barriers = true;
  return options;
}

// The launch of `threads`, every block cut in time behind each `step` decisions of a thread.
std::unique_ptr<trace::TraceReader> CutTrace(const trace::v1::KernelProgram& program, uint32_t blocks,
                                             const std::vector<ThreadTrace>& threads, size_t step) {
  const trace::testing::TemporaryFile file("cut_" + std::to_string(step) + ".htrace");
  auto writer = trace::TraceWriter::Create(file.path(), trace::testing::MakeHeader()).value();
  EXPECT_TRUE(writer->AddProgram(program).ok());
  const size_t per_block = threads.size() / blocks;
  EXPECT_TRUE(writer->BeginLaunch(trace::testing::MakeLaunch(0, blocks, static_cast<uint32_t>(per_block))).ok());
  for (uint32_t block = 0; block < blocks; ++block) {
    const ThreadTrace* first = &threads[block * per_block];
    std::vector<size_t> decisions(per_block, 0);
    std::vector<size_t> addresses(per_block, 0);
    for (bool last = false; !last;) {
      last = true;
      std::vector<trace::ThreadRecord> records;
      for (size_t i = 0; i < per_block; ++i) {
        const size_t left = first[i].decisions.size() - decisions[i];
        const size_t taken = std::min(left, step);
        // Whoever has decisions left is cut behind the last one it takes now; the addresses up to there are known only
        // to the writer, so all that are left are offered.
        const bool done = taken == left && step > left;
        last &= done;
        records.push_back({std::span(first[i].decisions).subspan(decisions[i], taken),
                           std::span(first[i].addresses).subspan(addresses[i])});
        decisions[i] += taken;
        if (!done) {  // up to the block that makes the last decision
          const auto& made = first[i].decisions_after;
          const auto block_end = std::lower_bound(made.begin(), made.end(), decisions[i]) - made.begin();
          records.back().addresses =
              records.back().addresses.first(first[i].addresses_after[static_cast<size_t>(block_end)] - addresses[i]);
        }
      }
      std::vector<uint64_t> consumed(per_block, 0);
      const absl::Status status = writer->AddBlockPart(block, records, last, consumed);
      EXPECT_TRUE(status.ok()) << status;
      if (!status.ok()) return nullptr;
      for (size_t i = 0; i < per_block; ++i) addresses[i] += consumed[i];
    }
  }
  EXPECT_TRUE(writer->EndLaunch().ok());
  EXPECT_TRUE(writer->Finish().ok());
  return trace::TraceReader::Open(trace::FromMemory(trace::testing::ReadFile(file.path())), "cut").value();
}

std::vector<ThreadTrace> RandomThreads(const trace::v1::KernelProgram& proto, uint64_t seed, uint32_t count) {
  const trace::Program program = trace::Program::Create(proto).value();
  std::vector<ThreadTrace> threads;
  for (uint32_t thread = 0; thread < count; ++thread) {
    threads.push_back(RandomThread(program, seed, thread, {.most_instructions = 300}));
  }
  return threads;
}

void ExpectSame(const Outcome& expected, const Outcome& actual) {
  ASSERT_TRUE(expected.status.ok()) << expected.status;
  ASSERT_TRUE(actual.status.ok()) << actual.status;
  EXPECT_TRUE(google::protobuf::util::MessageDifferencer::Equals(expected.launch(), actual.launch()))
      << expected.launch().ShortDebugString() << "\n"
      << actual.launch().ShortDebugString();
  EXPECT_EQ(expected.log.Sorted(), actual.log.Sorted());
}

class RandomTraces : public testing::TestWithParam<int> {};

TEST_P(RandomTraces, ReplayTheSameWhateverTheCacheHolds) {
  const uint64_t seed = static_cast<uint64_t>(GetParam());
  const trace::v1::KernelProgram program = trace::testing::RandomProgram(seed, Everything());
  const trace::testing::TemporaryFile file("chunks_" + std::to_string(seed) + ".htrace");
  trace::WriterOptions small;
  small.chunk_thread_instructions = 500;
  ASSERT_TRUE(
      trace::testing::WriteRandomTrace(file.path(), program, seed, 12, 10, {.most_instructions = 300}, small).ok());
  const auto trace = trace::TraceReader::Open(file.path()).value();
  ASSERT_GT(trace->launches()[0].chunks.size(), 1);
  RunOptions options;
  options.divergence = seed % 2 == 0 ? "pdom" : "nrec";
  const Outcome whole = RunTrace(*trace, options);
  options.cache_bytes = 1;
  ExpectSame(whole, RunTrace(*trace, options));
}

TEST_P(RandomTraces, ReplayTheSameHoweverTheirBlocksAreCutInTime) {
  const uint64_t seed = static_cast<uint64_t>(GetParam());
  const trace::v1::KernelProgram program = trace::testing::RandomProgram(seed, Everything());
  const std::vector<ThreadTrace> threads = RandomThreads(program, seed, 3 * 10);
  RunOptions options;
  options.divergence = seed % 2 == 0 ? "pdom" : "nrec";
  const Outcome whole = RunTrace(*MakeTrace(program, 3, threads), options);
  for (const size_t step : {1, 2, 7}) {
    const auto cut = CutTrace(program, 3, threads, step);
    ASSERT_NE(cut, nullptr);
    for (const uint64_t bytes : {1ull, 1ull << 20}) {
      options.cache_bytes = bytes;
      ExpectSame(whole, RunTrace(*cut, options));
    }
  }
}

TEST_P(RandomTraces, ReplayTheSameWhenEverythingTicks) {
  const uint64_t seed = static_cast<uint64_t>(GetParam());
  const trace::v1::KernelProgram program = trace::testing::RandomProgram(seed, Everything());
  const auto trace = MakeTrace(program, 7, RandomThreads(program, seed, 7 * 8));
  for (const char* policy : {"pdom", "nrec", "dwf", "mimd"}) {
    RunOptions options;
    options.divergence = policy;
    options.machine.set_sms(1 + GetParam() % 3);
    options.machine.mutable_core()->set_schedulers(1 + GetParam() % 2);
    options.machine.mutable_core()->set_simd_width(2);
    options.machine.mutable_core()->set_pipeline_depth(5);
    machine::v1::FixedLatency& fixed = *options.machine.mutable_memory()->mutable_fixed();
    fixed.set_global_cycles(1500);  // beyond calendar and wheel
    fixed.set_shared_cycles(7);
    fixed.set_local_cycles(30);
    fixed.set_constant_cycles(3);
    fixed.set_param_cycles(3);
    fixed.set_texture_cycles(90);
    fixed.set_atomic_cycles(5000);
    const Outcome sleeping = RunTrace(*trace, options);
    options.force_tick = true;
    ExpectSame(sleeping, RunTrace(*trace, options));
  }
}

INSTANTIATE_TEST_SUITE_P(Seeds, RandomTraces, testing::Range(1, 25));

}  // namespace
}  // namespace heddle::replay
