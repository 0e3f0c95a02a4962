// `--check-order`: reads that a replay lets overtake the block whose data they had.
#include "tools/show/order_check.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "replay/engine/replay.h"
#include "replay/machine/machine.h"
#include "tests/traces/program_builder.h"
#include "traces/format/edit/add_last_writers.h"

namespace heddle::tools {
namespace {

using replay::Configuration;
using replay::Cycle;
using replay::IssueEvent;
using replay::IssueObserver;
using replay::PolicySpec;
using replay::ReplayOptions;
using ::testing::AllOf;
using ::testing::HasSubstr;
using trace::testing::ProgramBuilder;

constexpr uint32_t kThreads = 64;
constexpr uint64_t kGlobal = 0x10000000;  // in no address window

// All issues, in any order.
class Log final : public IssueObserver {
 public:
  struct Access {
    Cycle cycle = 0;
    trace::Pc pc = 0;
  };
  explicit Log(const trace::Program& program) : program_(program) {}
  void Issued(const IssueEvent& event) override {
    for (const IssueEvent::Lane& lane : event.lanes) {
      if (!trace::Program::HasAddress(program_.instruction(lane.pc))) continue;
      accesses_[{lane.block, lane.thread}].push_back({event.cycle, lane.pc});
    }
  }
  const Access& At(uint64_t block, uint32_t thread, uint64_t access) const {
    return accesses_.at({block, thread}).at(access);
  }

 private:
  const trace::Program& program_;
  std::map<std::pair<uint64_t, uint32_t>, std::vector<Access>> accesses_;
};

class OrderCheckTest : public ::testing::Test {
 protected:
  // Adds the writers to what has been written, and opens it.
  void Open(bool with_writers = true) {
    if (with_writers) {
      const auto added = trace::AddLastWriters(file_.path(), trace::kDefaultLevel, 1);
      ASSERT_TRUE(added.ok()) << added.status();
    }
    auto reader = trace::TraceReader::Open(file_.path());
    ASSERT_TRUE(reader.ok()) << reader.status();
    reader_ = *std::move(reader);
  }
  std::unique_ptr<trace::TraceWriter> Writer() {
    trace::WriterOptions options;
    options.chunk_accesses = 1000;
    return *trace::TraceWriter::Create(file_.path(), trace::testing::MakeHeader(), options);
  }

  // Block 0 works for a while and stores; the others load what it has stored at once.
  void WriteProducerAndConsumers(uint32_t blocks, bool with_writers = true) {
    trace::v1::KernelProgram kernel = ProgramBuilder("k")
                                          .Block("head")
                                          .Alu()
                                          .Branch("slow", "fast")
                                          .Block("slow")
                                          .Alu(40)
                                          .Store()
                                          .Exit()
                                          .Block("fast")
                                          .Load()
                                          .Exit()
                                          .Build();
    store_ = 42;
    load_ = 44;
    ASSERT_EQ(kernel.instruction(store_).op(), trace::v1::OP_STORE);
    ASSERT_EQ(kernel.instruction(load_).op(), trace::v1::OP_LOAD);
    auto writer = Writer();
    ASSERT_TRUE(writer->AddProgram(kernel).ok());
    ASSERT_EQ(writer->BeginLaunch(trace::testing::MakeLaunch(0, blocks, kThreads)), absl::OkStatus());
    std::vector<std::vector<uint64_t>> addresses;
    for (uint64_t t = 0; t < kThreads; ++t) addresses.push_back({kGlobal + 4 * t});
    for (uint64_t block = 0; block < blocks; ++block) {
      const std::vector<uint8_t> decision = {static_cast<uint8_t>(block == 0 ? 0 : 1)};
      std::vector<trace::ThreadRecord> records;
      for (uint32_t t = 0; t < kThreads; ++t) records.push_back({decision, addresses[t]});
      ASSERT_EQ(writer->AddBlock(block, records, trace::TraceWriter::kNoExpectation), absl::OkStatus());
    }
    ASSERT_EQ(writer->EndLaunch(), absl::OkStatus());
    ASSERT_EQ(writer->Finish(), absl::OkStatus());
    Open(with_writers);
  }

  static ReplayOptions Options(uint32_t sms, uint32_t resident) {
    ReplayOptions options;
    options.machine = *replay::LoadMachine("fermi_fixed");
    options.machine.set_sms(sms);
    options.machine.mutable_core()->set_max_blocks(resident);
    options.force_tick = true;
    return options;
  }
  // Replays with a check that also tells `next`, if there is one.
  std::unique_ptr<OrderCheck> Run(ReplayOptions options, const std::string& divergence = "pdom",
                                  IssueObserver* next = nullptr) const {
    // Tells two observers.
    struct Both final : public IssueObserver {
      void Issued(const IssueEvent& event) override {
        first->Issued(event);
        if (second != nullptr) second->Issued(event);
      }
      IssueObserver* first = nullptr;
      IssueObserver* second = nullptr;
    } both;
    auto check = std::make_unique<OrderCheck>(*reader_);
    both.first = check.get();
    both.second = next;
    options.observer = &both;
    Configuration configuration;
    configuration.divergence = PolicySpec::FromText(divergence);
    const auto results = replay::Replay(*reader_, {configuration}, options);
    EXPECT_TRUE(results.ok()) << results.status();
    return check;
  }

  trace::testing::TemporaryFile file_{"order.htrace"};
  std::unique_ptr<trace::TraceReader> reader_;
  int store_ = 0;
  int load_ = 0;
};

TEST_F(OrderCheckTest, BlocksThatRunTogetherOvertakeTheirProducer) {
  WriteProducerAndConsumers(3);
  ASSERT_EQ(CheckHasLastWriters(*reader_), absl::OkStatus());
  for (const auto& [sms, resident] : {std::pair(1u, 8u), std::pair(3u, 1u)}) {
    const auto check = Run(Options(sms, resident));
    ASSERT_EQ(check->status(), absl::OkStatus());
    const ReadOrder* order = check->Find(0, 0);
    ASSERT_NE(order, nullptr);
    EXPECT_EQ(order->Total().reads, 2 * kThreads);
    EXPECT_EQ(order->Total().overtook, 2 * kThreads);
    EXPECT_EQ(order->Total().writer_absent, 0u);
    EXPECT_EQ(order->instructions[load_].overtook, 2 * kThreads);
    ASSERT_EQ(order->instructions[load_].examples.size(), 3u);
    const ReadOrder::Example& first = order->instructions[load_].examples[0];
    EXPECT_EQ(first.block, 1u);
    EXPECT_EQ(first.thread, 0u);
    EXPECT_EQ(first.write, (trace::WriteOf{0, 0, 0, static_cast<trace::Pc>(store_)}));
    EXPECT_THAT(check->Note(0, 0),
                AllOf(HasSubstr("128 of 128 reads"), HasSubstr("overtook"), HasSubstr("block 1, thread 0")));
    nlohmann::ordered_json json;
    json["launch"].push_back({{"launch", 0}});
    check->AddTo(0, json);
    const auto& found = json["launch"][0]["read_order"];
    EXPECT_EQ(found["reads"], 128);
    EXPECT_EQ(found["overtook"], 128);
    EXPECT_EQ(found["instruction"][0]["pc"], 8 * load_);
    EXPECT_EQ(found["instruction"][0]["example"][0]["written_by"]["pc"], 8 * store_);
  }
}

TEST_F(OrderCheckTest, BlocksOneAfterTheOtherNeverDo) {
  WriteProducerAndConsumers(3);
  for (const char* divergence : {"pdom", "nrec", "tbc", "dwf"}) {
    const auto check = Run(Options(1, 1), divergence);
    ASSERT_EQ(check->status(), absl::OkStatus());
    EXPECT_EQ(check->Find(0, 0)->Total().reads, 2 * kThreads) << divergence;
    EXPECT_EQ(check->Find(0, 0)->Total().overtook, 0u) << divergence;
    EXPECT_EQ(check->Note(0, 0), "");
  }
}

TEST_F(OrderCheckTest, ATraceWithoutWritersIsRefused) {
  WriteProducerAndConsumers(2, false);
  const absl::Status status = CheckHasLastWriters(*reader_);
  EXPECT_EQ(status.code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_THAT(std::string(status.message()), HasSubstr("--record-writers"));
  EXPECT_EQ(Run(Options(1, 8))->status().code(), absl::StatusCode::kFailedPrecondition);
}

// Random blocks over few words, under several policies, against a list of all issues.
TEST_F(OrderCheckTest, FindsWhatAListOfAllIssuesShows) {
  uint64_t overtook = 0;
  uint64_t in_order = 0;
  for (uint64_t seed = 1; seed <= 5; ++seed) {
    std::mt19937_64 random(seed);
    constexpr uint32_t kBlocks = 20;
    auto writer = Writer();
    const trace::Program& program = **writer->AddProgram(trace::testing::RandomProgram(seed, {.barriers = true}));
    ASSERT_EQ(writer->BeginLaunch(trace::testing::MakeLaunch(0, kBlocks, kThreads)), absl::OkStatus());
    for (uint64_t block = 0; block < kBlocks; ++block) {
      std::vector<trace::testing::ThreadTrace> threads;
      std::vector<trace::ThreadRecord> records;
      for (uint32_t t = 0; t < kThreads; ++t) {
        threads.push_back(
            trace::testing::RandomThread(program, seed, block * kThreads + t, {.most_instructions = 200, .alike = 16}));
        for (uint64_t& address : threads.back().addresses) address = kGlobal + 4 * (random() % 5000);
      }
      for (const auto& thread : threads) records.push_back(thread.record());
      ASSERT_EQ(writer->AddBlock(block, records, trace::TraceWriter::kNoExpectation), absl::OkStatus());
    }
    ASSERT_EQ(writer->EndLaunch(), absl::OkStatus());
    ASSERT_EQ(writer->Finish(), absl::OkStatus());
    Open();
    struct Pair {
      uint64_t block;
      uint32_t thread;
      uint64_t access;
      trace::WriteOf write;
    };
    std::vector<Pair> pairs;
    const trace::LaunchView& launch = reader_->launches()[0];
    trace::v1::BlockChunk encoded;
    trace::DecodedChunk decoded;
    std::vector<trace::WrittenRead> reads;
    for (const auto& reference : launch.chunks) {
      ASSERT_EQ(reader_->ReadChunk(reference, encoded), absl::OkStatus());
      ASSERT_EQ(reader_->ReadChunk(reference, decoded), absl::OkStatus());
      ASSERT_EQ(DecodeLastWriters(encoded, *launch.program, kBlocks, kThreads, reads), absl::OkStatus());
      for (const trace::WrittenRead& read : reads) {
        size_t t = 0;
        while (decoded.first_address[t + 1] <= read.position) ++t;
        pairs.push_back({decoded.blocks[t / kThreads], static_cast<uint32_t>(t % kThreads),
                         read.position - decoded.first_address[t], read.write});
      }
    }
    for (const char* divergence : {"pdom", "dwf", "mimd", "nrec"}) {
      SCOPED_TRACE(::testing::Message() << "seed " << seed << ", " << divergence);
      Log log(*launch.program);
      const auto check = Run(Options(2, 3), divergence, &log);
      ASSERT_EQ(check->status(), absl::OkStatus());
      std::map<trace::Pc, uint64_t> expected;
      for (const Pair& pair : pairs) {
        const Log::Access& read = log.At(pair.block, pair.thread, pair.access);
        const bool late = log.At(pair.write.block, pair.write.thread, pair.write.access).cycle >= read.cycle;
        expected[read.pc] += late;
        ++(late ? overtook : in_order);
      }
      std::map<trace::Pc, uint64_t> found;
      const ReadOrder* order = check->Find(0, 0);
      for (trace::Pc pc = 0; pc < order->instructions.size(); ++pc) {
        if (order->instructions[pc].reads != 0) found[pc] = order->instructions[pc].overtook;
      }
      EXPECT_EQ(found, expected);
      EXPECT_EQ(order->Total().reads, pairs.size());
    }
  }
  EXPECT_GT(overtook, 100u);
  EXPECT_GT(in_order, 100u);
}

}  // namespace
}  // namespace heddle::tools
