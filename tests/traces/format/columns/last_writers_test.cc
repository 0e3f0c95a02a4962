// The optional column of last writers: what it says compared with a table of all words, through files and back, and
// refused where it is malformed.
#include "traces/format/columns/last_writers.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <memory>
#include <random>
#include <span>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "tests/traces/collective_programs.h"
#include "tests/traces/program_builder.h"
#include "traces/format/edit/add_last_writers.h"
#include "traces/format/edit/copy.h"
#include "traces/format/edit/last_writer_tracker.h"
#include "traces/format/read/check.h"

namespace heddle::trace {
namespace {

using testing::ProgramBuilder;
using testing::TemporaryFile;
using testing::ThreadTrace;

constexpr uint64_t kA = 0x10000000;  // in global memory
constexpr uint64_t kShared = 0x7000;

google::protobuf::RepeatedPtrField<v1::AddressWindow> Windows() {
  google::protobuf::RepeatedPtrField<v1::AddressWindow> windows;
  v1::AddressWindow& window = *windows.Add();
  window.set_space(v1::SPACE_SHARED);
  window.set_base(kShared);
  window.set_bytes(0x1000);
  return windows;
}

// ------------------------------------------------------------------------------------------------ worked examples

// Feeds blocks of threads that run straight through a program, with the addresses given, to a tracker.
class Tracked {
 public:
  Tracked(const ProgramBuilder& builder, uint32_t threads, size_t most_pages = LastWriterTracker::kMostPages)
      : program_(builder.Create()), tracker_(program_, threads, Windows(), most_pages) {}
  Tracked(v1::KernelProgram program, uint32_t threads)
      : program_(*Program::Create(std::move(program))), tracker_(program_, threads, Windows()) {}

  // One list of addresses per thread. "thread.access<-block.thread.access" for each read that has a writer.
  std::vector<std::string> Block(const std::vector<std::vector<uint64_t>>& addresses) {
    std::vector<ThreadRecord> records;
    for (const std::vector<uint64_t>& thread : addresses) records.push_back({{}, thread});
    std::vector<std::string> found;
    for (const LastWriterTracker::Found& one : tracker_.AddBlock(block_++, true, records)) {
      found.push_back(std::to_string(one.thread) + "." + std::to_string(one.access) + "<-" +
                      std::to_string(one.write.block) + "." + std::to_string(one.write.thread) + "." +
                      std::to_string(one.write.access));
    }
    return found;
  }
  bool overflowed() const { return tracker_.overflowed(); }

 private:
  const Program program_;
  LastWriterTracker tracker_;
  uint64_t block_ = 0;
};

using ::testing::ElementsAre;
using ::testing::IsEmpty;

TEST(LastWriterTracker, AReadNamesTheLatestBlockThatWroteThePlace) {
  Tracked kernel(ProgramBuilder("k").Block("b").Load().Store().Exit(), 1);
  EXPECT_THAT(kernel.Block({{kA, kA}}), IsEmpty());  // nobody has written yet
  EXPECT_THAT(kernel.Block({{kA, kA}}), ElementsAre("0.0<-0.0.1"));
  EXPECT_THAT(kernel.Block({{kA, kA + 4}}), ElementsAre("0.0<-1.0.1"));
  EXPECT_THAT(kernel.Block({{kA + 8, kA}}), IsEmpty());
}

TEST(LastWriterTracker, ABarrierDividesWhatTheOwnBlockHasWrittenFromWhatAnEarlierOneHas) {
  Tracked kernel(ProgramBuilder("k").Block("b").Load().Store().Barrier().Load().Exit(), 2);
  // Threads exchange words over the barrier: behind it each reads what the other one has written, of the own block.
  const std::vector<std::vector<uint64_t>> addresses = {{kA, kA, kA + 4}, {kA + 4, kA + 4, kA}};
  EXPECT_THAT(kernel.Block(addresses), IsEmpty());
  EXPECT_THAT(kernel.Block(addresses), ElementsAre("0.0<-0.0.1", "1.0<-0.1.1"));
}

TEST(LastWriterTracker, SoDoesAWaitForATransactionBarrier) {
  v1::KernelProgram program = ProgramBuilder("k").Block("b").Load().Store().Alu().Load().Exit().Build();
  testing::MakeTransactionBarrier(*program.mutable_instruction(2), v1::Async::BARRIER_WAIT);
  Tracked kernel(program, 2);
  const std::vector<std::vector<uint64_t>> addresses = {{kA, kA, kShared, kA + 4}, {kA + 4, kA + 4, kShared, kA}};
  EXPECT_THAT(kernel.Block(addresses), IsEmpty());
  EXPECT_THAT(kernel.Block(addresses), ElementsAre("0.0<-0.0.1", "1.0<-0.1.1"));
}

// An arrival lets its thread go on: what the others do before theirs may come later.
TEST(LastWriterTracker, AnArrivalThatNobodyWaitsAtDividesNothing) {
  v1::KernelProgram program = ProgramBuilder("k").Block("b").Load().Store().Alu().Load().Exit().Build();
  testing::MakeNamedBarrier(*program.mutable_instruction(2), v1::BARRIER_ARRIVE, 64);
  Tracked kernel(program, 2);
  const std::vector<std::vector<uint64_t>> addresses = {{kA, kA, 1, kA + 4}, {kA + 4, kA + 4, 1, kA}};
  EXPECT_THAT(kernel.Block(addresses), IsEmpty());
  EXPECT_THAT(kernel.Block(addresses), ElementsAre("0.0<-0.0.1", "0.3<-0.1.1", "1.0<-0.1.1"));
}

// A copy of 16 bytes fills up with zeros what it does not read.
TEST(LastWriterTracker, ACopyReadsAsManyBytesAsItSays) {
  v1::KernelProgram program = ProgramBuilder("k").Block("b").Alu().Store().Exit().Build();
  testing::MakeCopy(*program.mutable_instruction(0));
  v1::Operand& bytes = *program.mutable_instruction(0)->add_operand();
  bytes.set_kind(v1::Operand::BYTES);
  Tracked recorded(program, 1);
  recorded.Block({{0, kShared, 0, kA + 8}});
  EXPECT_THAT(recorded.Block({{kA, kShared, 8, kA + 64}}), IsEmpty());
  EXPECT_THAT(recorded.Block({{kA, kShared, 9, kA + 64}}), ElementsAre("0.0<-0.0.3"));
  EXPECT_THAT(recorded.Block({{kA + 8, kShared, 0, kA + 64}}), IsEmpty());
  bytes.set_constant(true);
  bytes.set_value(8);
  Tracked constant(program, 1);
  constant.Block({{kA + 64, kShared, kA + 8}});
  EXPECT_THAT(constant.Block({{kA, kShared, kA + 64}}), IsEmpty());
  EXPECT_THAT(constant.Block({{kA + 4, kShared, kA + 64}}), ElementsAre("0.0<-0.0.2"));
}

TEST(LastWriterTracker, AtomicOperationsAmongThemselvesAreNotListed) {
  Tracked kernel(ProgramBuilder("k").Block("b").Atomic().Load().Exit(), 1);
  kernel.Block({{kA, kA + 4}});
  EXPECT_THAT(kernel.Block({{kA, kA + 4}}), IsEmpty());
  EXPECT_THAT(kernel.Block({{kA + 4, kA}}), ElementsAre("0.1<-1.0.0"));  // a plain load of what block 1 has left
}

TEST(LastWriterTracker, OtherMemoryThanGlobalBelongsToTheBlock) {
  Tracked kernel(ProgramBuilder("k").Block("b").Load().Store().Exit(), 1);
  kernel.Block({{kShared, kShared}});
  EXPECT_THAT(kernel.Block({{kShared, kShared}}), IsEmpty());
}

TEST(LastWriterTracker, BytesOfAWordThatWereNotWrittenHaveNoWriter) {
  Tracked kernel(ProgramBuilder("k").Block("b").Load(v1::SPACE_GLOBAL, 1).Store(v1::SPACE_GLOBAL, 1).Exit(), 1);
  kernel.Block({{kA + 3, kA}});
  EXPECT_THAT(kernel.Block({{kA + 1, kA + 8}}), IsEmpty());
  EXPECT_THAT(kernel.Block({{kA, kA + 8}}), ElementsAre("0.0<-0.0.1"));
}

TEST(LastWriterTracker, MemoryIsBoundedAndThatIsTold) {
  Tracked kernel(ProgramBuilder("k").Block("b").Load().Store().Exit(), 1, /*most_pages=*/2);
  kernel.Block({{kA, kA}});
  kernel.Block({{kA + 8, kA + 4096}});
  EXPECT_FALSE(kernel.overflowed());
  kernel.Block({{kA + 8, kA + 2 * 4096}});
  EXPECT_TRUE(kernel.overflowed());
  EXPECT_THAT(kernel.Block({{kA + 2 * 4096, kA + 8}}), IsEmpty());
  EXPECT_THAT(kernel.Block({{kA + 4096, kA + 8}}), ElementsAre("0.0<-1.0.1"));  // pages that are kept stay right
}

// ---------------------------------------------------------------------------------------------------------- files

// By block, thread, and number of the access in the thread's whole run.
using Listed = std::map<std::tuple<uint64_t, size_t, uint64_t>, WriteOf>;

Listed ReadAll(const TraceReader& reader) {
  Listed listed;
  DecodedChunk decoded;
  v1::BlockChunk encoded;
  std::vector<WrittenRead> reads;
  std::map<std::pair<uint64_t, size_t>, uint64_t> earlier;  // accesses in the parts in front
  const LaunchView& launch = reader.launches()[0];
  for (const v1::ChunkReference& reference : launch.chunks) {
    EXPECT_EQ(reader.ReadChunk(reference, decoded), absl::OkStatus());
    EXPECT_EQ(reader.ReadChunk(reference, encoded), absl::OkStatus());
    EXPECT_TRUE(HasLastWriters(encoded));
    EXPECT_EQ(DecodeLastWriters(encoded, *launch.program, launch.grid_blocks, launch.threads_per_block, reads),
              absl::OkStatus());
    auto read = reads.begin();
    for (size_t t = 0; t < decoded.path_of_thread.size(); ++t) {
      const uint64_t block = decoded.blocks[t / launch.threads_per_block];
      const size_t thread = t % launch.threads_per_block;
      uint64_t& before = earlier[{block, thread}];
      for (; read != reads.end() && read->position < decoded.first_address[t + 1]; ++read) {
        listed[{block, thread, before + read->position - decoded.first_address[t]}] = read->write;
      }
      before += decoded.first_address[t + 1] - decoded.first_address[t];
    }
    EXPECT_EQ(read, reads.end());
  }
  return listed;
}

struct Access {
  uint64_t barriers = 0;  // that the thread has passed
  uint32_t thread = 0;
  uint64_t number = 0;  // of the thread's accesses
  Pc pc = 0;
  uint64_t address = 0;
};

// The definition: the accesses of a block one after the other, in the order of barriers, threads, and the program.
class Table {
 public:
  explicit Table(const Program& program) : program_(program) {}

  void Block(uint64_t block, const std::vector<ThreadTrace>& threads, Listed& expected) {
    std::vector<Access> accesses;
    for (uint32_t t = 0; t < threads.size(); ++t) {
      Access next{.thread = t};
      for (uint32_t b : threads[t].blocks) {
        const trace::Block& range = program_.block(b);
        for (next.pc = range.first; next.pc < range.first + range.count; ++next.pc) {
          next.barriers += program_.instruction(next.pc).op() == v1::OP_BARRIER;
          if (!Program::HasAddress(program_.instruction(next.pc))) continue;
          next.address = threads[t].addresses[next.number];
          if (next.address >= kA) accesses.push_back(next);  // what is below is shared memory
          ++next.number;
        }
      }
    }
    std::stable_sort(accesses.begin(), accesses.end(),
                     [](const Access& a, const Access& b) { return a.barriers < b.barriers; });
    for (const Access& access : accesses) {
      const v1::Instruction& instruction = program_.instruction(access.pc);
      const bool stores = instruction.op() != v1::OP_LOAD;
      const bool loads = instruction.op() != v1::OP_STORE;
      for (uint64_t at = access.address; at < access.address + instruction.access_bytes(); at += 4) {
        const auto word = words_.find(at);
        if (!loads || word == words_.end()) continue;
        const auto& [write, atomic] = word->second;
        if (write.block == block || (atomic && stores)) continue;
        const auto [found, is_new] = expected.emplace(std::tuple(block, access.thread, access.number), write);
        if (!is_new && write.block > found->second.block) found->second = write;
      }
      for (uint64_t at = access.address; stores && at < access.address + instruction.access_bytes(); at += 4) {
        words_[at] = {{block, access.thread, access.number, access.pc}, loads};
      }
    }
  }

 private:
  const Program& program_;
  std::map<uint64_t, std::pair<WriteOf, bool>> words_;  // writer, and whether it was an atomic operation
};

// Random threads that access few words. Every third block comes in two parts if `cut`; programs then have no barriers,
// so that all threads of a part may go before those of the next.
Listed WriteTrace(const std::string& path, uint64_t seed, bool cut) {
  constexpr uint32_t kBlocks = 9;
  constexpr uint32_t kThreads = 40;
  std::mt19937_64 random(seed);
  v1::FileHeader header = testing::MakeHeader();
  *header.mutable_window() = Windows();
  WriterOptions options;
  options.chunk_accesses = 3000;  // several blocks to a chunk, several chunks
  auto writer = *TraceWriter::Create(path, header, options);
  v1::KernelProgram proto = testing::RandomProgram(seed, {.depth = 2, .barriers = !cut});
  for (v1::Instruction& instruction : *proto.mutable_instruction()) {
    if (Program::HasAddress(instruction)) instruction.set_access_bytes(4u << random() % 3);
  }
  const Program& program = **writer->AddProgram(proto);
  EXPECT_EQ(writer->BeginLaunch(testing::MakeLaunch(0, kBlocks, kThreads)), absl::OkStatus());
  Listed expected;
  Table table(program);
  for (uint64_t block = 0; block < kBlocks; ++block) {
    std::vector<ThreadTrace> threads;
    for (uint32_t t = 0; t < kThreads; ++t) {
      threads.push_back(testing::RandomThread(program, seed, block * kThreads + t, {.most_instructions = 300}));
      // Of a block in parts, each thread has its own words: those of one part go before those of the next.
      const uint64_t own = cut ? t * 256 : 0;
      for (uint64_t& address : threads.back().addresses) {
        address = random() % 8 == 0 ? kShared : kA + own + 16 * (random() % (cut ? 8 : 64));
      }
    }
    table.Block(block, threads, expected);
    std::vector<uint64_t> consumed(kThreads, 0);
    std::vector<ThreadRecord> records;
    if (!cut || block % 3 != 0) {
      for (const ThreadTrace& thread : threads) records.push_back(thread.record());
      EXPECT_EQ(writer->AddBlock(block, records, TraceWriter::kNoExpectation), absl::OkStatus());
      continue;
    }
    for (const ThreadTrace& thread : threads) {
      const size_t half = thread.blocks.size() / 2;
      records.push_back({std::span(thread.decisions).first(half == 0 ? 0 : thread.decisions_after[half - 1]),
                         std::span(thread.addresses).first(half == 0 ? 0 : thread.addresses_after[half - 1])});
    }
    EXPECT_EQ(writer->AddBlockPart(block, records, false, consumed), absl::OkStatus());
    for (uint32_t t = 0; t < kThreads; ++t) {
      records[t] = {std::span(threads[t].decisions).subspan(records[t].decisions.size()),
                    std::span(threads[t].addresses).subspan(consumed[t]), true};
    }
    EXPECT_EQ(writer->AddBlockPart(block, records, true, consumed), absl::OkStatus());
  }
  EXPECT_EQ(writer->EndLaunch(), absl::OkStatus());
  EXPECT_EQ(writer->Finish(), absl::OkStatus());
  return expected;
}

std::unique_ptr<TraceReader> OpenTrace(const std::string& path) {
  auto reader = TraceReader::Open(path);
  EXPECT_TRUE(reader.ok()) << reader.status();
  return reader.ok() ? *std::move(reader) : nullptr;
}

TEST(LastWriters, AreWhatATableOfAllWordsHas) {
  size_t listed = 0;
  for (uint64_t seed = 1; seed <= 20; ++seed) {
    for (const bool cut : {false, true}) {
      SCOPED_TRACE(::testing::Message() << "seed " << seed << (cut ? ", in parts" : ""));
      const TemporaryFile file("writers.htrace");
      const Listed expected = WriteTrace(file.path(), seed, cut);
      const auto added = AddLastWriters(file.path(), kDefaultLevel, 1 + static_cast<unsigned>(seed % 2));
      ASSERT_TRUE(added.ok()) << added.status();
      EXPECT_EQ(added->reads, expected.size());
      EXPECT_EQ(added->overflowed_launches, 0u);
      const auto reader = OpenTrace(file.path());
      ASSERT_NE(reader, nullptr);
      EXPECT_EQ(ReadAll(*reader), expected);
      const auto report = CheckTrace(*reader);
      ASSERT_TRUE(report.ok());
      for (const Finding& finding : report->findings) {
        EXPECT_EQ(finding.severity, Finding::Severity::kWarning) << finding.rule << " " << finding.message;
      }
      listed += expected.size();
    }
  }
  EXPECT_GT(listed, 10'000u);
}

TEST(LastWriters, AddedTwiceAreTheSameAndNothingElseChanges) {
  const TemporaryFile file("twice.htrace");
  WriteTrace(file.path(), 3, true);
  const std::string plain = testing::ReadFile(file.path());
  ASSERT_TRUE(AddLastWriters(file.path(), kDefaultLevel, 1).ok());
  const std::string once = testing::ReadFile(file.path());
  EXPECT_NE(once, plain);
  ASSERT_TRUE(AddLastWriters(file.path(), kDefaultLevel, 2).ok());
  EXPECT_EQ(testing::ReadFile(file.path()), once);
  // All records but the index are as they were, without the columns.
  const auto with = OpenTrace(file.path());
  const TemporaryFile again("plain.htrace");
  WriteTrace(again.path(), 3, true);
  const auto without = OpenTrace(again.path());
  ASSERT_EQ(with->record_count(), without->record_count());
  for (uint64_t frame = 0; frame + 1 < with->record_count(); ++frame) {
    v1::Record a;
    v1::Record b;
    ASSERT_EQ(with->ReadRecord(frame, a), absl::OkStatus());
    ASSERT_EQ(without->ReadRecord(frame, b), absl::OkStatus());
    if (a.has_chunk()) {
      EXPECT_GT(a.chunk().extra_size(), 0);
      EXPECT_EQ(b.chunk().extra_size(), 0);
      a.mutable_chunk()->clear_extra();
    }
    EXPECT_EQ(a.SerializeAsString(), b.SerializeAsString()) << "frame " << frame;
  }
}

TEST(LastWriters, ChunksThatAreCopiedKeepThem) {
  const TemporaryFile file("from.htrace");
  const Listed expected = WriteTrace(file.path(), 5, true);
  ASSERT_TRUE(AddLastWriters(file.path(), kDefaultLevel, 1).ok());
  ASSERT_FALSE(expected.empty());
  const auto reader = OpenTrace(file.path());
  const TemporaryFile copy("to.htrace");
  auto writer = *TraceWriter::Create(copy.path(), reader->header());
  const std::vector<uint32_t> same = {0, 1, 2, 3, 4, 5, 6, 7};
  ASSERT_EQ(TraceCopier(*writer, false).Add(*reader, {}, same), absl::OkStatus());
  ASSERT_EQ(writer->Finish(), absl::OkStatus());
  EXPECT_EQ(ReadAll(*OpenTrace(copy.path())), expected);
}

TEST(LastWriters, LaunchesOfSeveralLiveBlocksAreRefused) {
  const TemporaryFile file("resident.htrace");
  auto writer = *TraceWriter::Create(file.path(), testing::MakeHeader());
  ASSERT_TRUE(writer->AddProgram(ProgramBuilder("k").Block("b").Exit().Build()).ok());
  v1::Launch launch = testing::MakeLaunch(0, 2, 1);
  launch.set_resident_blocks(2);
  ASSERT_EQ(writer->BeginLaunch(launch), absl::OkStatus());
  ASSERT_EQ(writer->EndLaunch(), absl::OkStatus());
  ASSERT_EQ(writer->Finish(), absl::OkStatus());
  const std::string before = testing::ReadFile(file.path());
  const auto added = AddLastWriters(file.path(), kDefaultLevel, 1);
  EXPECT_EQ(added.status().code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_THAT(std::string(added.status().message()), ::testing::HasSubstr("2 blocks live at once"));
  EXPECT_EQ(testing::ReadFile(file.path()), before);
}

// -------------------------------------------------------------------------------------------------- malformed columns

// A chunk of one block of two threads, each of which loads, then stores.
class Malformed : public ::testing::Test {
 protected:
  Malformed() : program_(ProgramBuilder("k").Block("b").Load().Store().Exit().Create()) {
    chunk_.set_first_block(7);
    chunk_.set_accesses(4);
  }
  absl::Status Decode() { return DecodeLastWriters(chunk_, program_, 10, 2, reads_); }
  void Column(const std::string& data, uint32_t instruction = 0) {
    chunk_.clear_extra();
    v1::ExtraColumn& column = *chunk_.add_extra();
    column.set_kind(kLastWriterKind);
    column.set_instruction(instruction);
    column.set_data(data);
  }
  Program program_;
  v1::BlockChunk chunk_;
  std::vector<WrittenRead> reads_;
};

TEST_F(Malformed, TheWireFormIsThatOfTheDocumentation) {
  // Accesses 0 and 2 of the chunk; block 7 - 2 = 5 for both, threads 0 and 1, accesses 1 and 1, instruction 1.
  Column({2, 0, 1, 3, 0, 0, 2, 2, 0, 2, 0});
  ASSERT_EQ(Decode(), absl::OkStatus());
  EXPECT_THAT(reads_, ::testing::ElementsAre(WrittenRead{0, 0, {5, 0, 1, 1}}, WrittenRead{2, 0, {5, 1, 1, 1}}));
  v1::BlockChunk again;
  again.set_first_block(7);
  EncodeLastWriters(reads_, again);
  ASSERT_EQ(again.extra_size(), 1);
  EXPECT_EQ(again.extra(0).SerializeAsString(), chunk_.extra(0).SerializeAsString());
}

TEST_F(Malformed, AChunkWithoutSuchReadsHasAnEmptyColumn) {
  EXPECT_FALSE(HasLastWriters(chunk_));
  EncodeLastWriters({}, chunk_);
  EXPECT_TRUE(HasLastWriters(chunk_));
  EXPECT_EQ(Decode(), absl::OkStatus());
  EXPECT_TRUE(reads_.empty());
}

TEST_F(Malformed, OtherKindsAreSkipped) {
  Column("\xff\xff");
  chunk_.mutable_extra(0)->set_kind("votes");
  EXPECT_EQ(Decode(), absl::OkStatus());
  EXPECT_TRUE(reads_.empty());
}

TEST_F(Malformed, ColumnsThatNameWhatIsNotThereAreRefused) {
  const std::string good = {1, 0, 3, 0, 2, 2};
  Column(good);
  ASSERT_EQ(Decode(), absl::OkStatus());
  const std::vector<std::pair<std::string, uint32_t>> wrong = {
      {good, 2},                                                // the exit accesses nothing
      {good, 3},                                                // no such instruction
      {"", 0},                                                  // no count
      {{100, 0}, 0},                                            // more than there are bytes
      {{1, 4, 3, 0, 2, 2}, 0},                                  // access 4 of 4
      {{1, 0, 6, 0, 2, 2}, 0},                                  // block 7 + 3
      {{1, 0, 15, 0, 2, 2}, 0},                                 // block 7 - 8
      {{1, 0, 3, 4, 2, 2}, 0},                                  // thread 2 of 2
      {{1, 0, 3, 0, 2, 6}, 0},                                  // instruction 3 of 3
      {good.substr(0, 5), 0},                                   // cut short
      {good + std::string(1, '\0'), 0},                         // too long
      {std::string(1, 1) + std::string(11, '\x80') + good, 0},  // a number of more than 64 bits
  };
  for (const auto& [data, instruction] : wrong) {
    Column(data, instruction);
    EXPECT_EQ(Decode().code(), absl::StatusCode::kInvalidArgument) << ::testing::PrintToString(data);
  }
}

}  // namespace
}  // namespace heddle::trace
