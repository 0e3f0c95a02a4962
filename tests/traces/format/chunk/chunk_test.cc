// Columns: every model gives the addresses back, and every broken rule of a chunk is refused.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>

#include "tests/traces/forge.h"
#include "tests/traces/program_builder.h"
#include "traces/format/chunk/decoded_chunk.h"
#include "traces/format/columns/decode_chunk.h"
#include "traces/format/limits.h"

namespace heddle::trace {
namespace {

using ::testing::HasSubstr;
using testing::ProgramBuilder;

// Two loads and a store in a loop, then a store: instructions 1, 2, 3 and 5 have columns.
Program LoopProgram() {
  return ProgramBuilder("loop")
      .Block("head")
      .Alu()
      .Load()
      .Load()
      .Store()
      .Branch("out", "head")
      .Block("out")
      .Store()
      .Exit()
      .Create();
}

// Addresses by thread and occurrence of the store in the loop; the loads are regular.
using Pattern = std::function<uint64_t(uint64_t thread, uint64_t k)>;

struct Written {
  v1::BlockChunk chunk;
  std::vector<uint64_t> addresses;
};

Written WriteLoop(const Pattern& first, const Pattern& second, const Pattern& store, uint64_t threads,
                  const std::function<uint64_t(uint64_t thread)>& rounds_of) {
  Written out;
  testing::TemporaryFile file("chunk");
  auto writer = TraceWriter::Create(file.path(), testing::MakeHeader());
  EXPECT_TRUE(writer.ok());
  EXPECT_TRUE((*writer)->AddProgram(LoopProgram().proto()).ok());
  EXPECT_EQ((*writer)->BeginLaunch(testing::MakeLaunch(0, 1, static_cast<uint32_t>(threads))), absl::OkStatus());
  std::vector<std::vector<uint8_t>> decisions(threads);
  std::vector<std::vector<uint64_t>> addresses(threads);
  std::vector<ThreadRecord> records;
  uint64_t instructions = 0;
  for (uint64_t t = 0; t < threads; ++t) {
    const uint64_t rounds = rounds_of(t);
    instructions += rounds * 5 + 2;
    for (uint64_t k = 0; k < rounds; ++k) {
      decisions[t].push_back(k + 1 < rounds);
      for (const Pattern* pattern : {&first, &second, &store}) addresses[t].push_back((*pattern)(t, k));
    }
    addresses[t].push_back(0x5000 + 4 * t);
    records.push_back({decisions[t], addresses[t]});
    out.addresses.insert(out.addresses.end(), addresses[t].begin(), addresses[t].end());
  }
  EXPECT_EQ((*writer)->AddBlock(0, records, instructions), absl::OkStatus());
  EXPECT_EQ((*writer)->EndLaunch(), absl::OkStatus());
  EXPECT_EQ((*writer)->Finish(), absl::OkStatus());
  auto reader = TraceReader::Open(file.path());
  EXPECT_TRUE(reader.ok()) << reader.status();
  EXPECT_EQ((*reader)->ReadChunk((*reader)->launches()[0].chunks[0], out.chunk), absl::OkStatus());
  return out;
}

Written WriteLoop(const Pattern& first, const Pattern& second, const Pattern& store, uint64_t threads = 64,
                  uint64_t rounds = 50) {
  return WriteLoop(first, second, store, threads, [rounds](uint64_t) { return rounds; });
}

std::vector<uint64_t> Decode(const v1::BlockChunk& chunk) {
  const Program program = LoopProgram();
  DecodedChunk decoded;
  const absl::Status status = DecodeChunk(chunk, program, static_cast<uint32_t>(chunk.path_number_size()), decoded);
  EXPECT_EQ(status, absl::OkStatus());
  std::vector<uint64_t> addresses;
  if (!status.ok()) return addresses;
  const std::vector<Pc> loop = {1, 2, 3};
  for (size_t t = 0; t < decoded.path_of_thread.size(); ++t) {
    const uint64_t count = decoded.first_address[t + 1] - decoded.first_address[t];
    for (uint64_t i = 0; i < count; ++i) {
      addresses.push_back(decoded.address(decoded.first_address[t] + i, i + 1 == count ? 5 : loop[i % 3]));
    }
  }
  return addresses;
}

uint64_t Hash(uint64_t a, uint64_t b) { return (a * 0x9e3779b97f4a7c15 ^ (b + 77) * 0xd6e8feb86659fd93) >> 20; }

uint64_t Linear(uint64_t t, uint64_t k) { return 0x700000000000 + 4 * t + 4096 * k; }

TEST(Models, RegularColumnsAreSeparableWithoutResiduals) {
  const Written written = WriteLoop(Linear, Linear, Linear);
  ASSERT_EQ(written.chunk.column_size(), 4);
  for (const v1::AddressColumn& column : written.chunk.column()) {
    EXPECT_EQ(column.model(), v1::AddressColumn::SEPARABLE);
    EXPECT_EQ(column.residual_count(), 0);
  }
  EXPECT_EQ(Decode(written.chunk), written.addresses);
}

TEST(Models, StridesThatDifferByThreadUseTime) {
  const Written written =
      WriteLoop(Linear, Linear, [](uint64_t t, uint64_t k) { return 0x900000000000 + 1024 * t + (1 + t % 5) * 4 * k; });
  EXPECT_EQ(written.chunk.column(2).model(), v1::AddressColumn::TIME);
  EXPECT_EQ(Decode(written.chunk), written.addresses);
}

TEST(Models, AStoreToTheWordThatWasLoadedIsRelative) {
  const Pattern gather = [](uint64_t t, uint64_t k) { return 0x800000000000 + 4 * (Hash(t, k) & 0xfffff); };
  const Written written = WriteLoop(Linear, gather, gather);
  const v1::AddressColumn& column = written.chunk.column(2);
  EXPECT_EQ(column.model(), v1::AddressColumn::RELATIVE);
  EXPECT_EQ(column.ref_instruction(), 2);
  EXPECT_EQ(column.layout(), v1::AddressColumn::ZERO);
  EXPECT_EQ(Decode(written.chunk), written.addresses);
}

TEST(Models, ArraysOfOtherElementSizesAreRelativeWithAShift) {
  const Pattern four = [](uint64_t t, uint64_t k) { return 0x100000000 + 4 * (Hash(t, k) & 0xffff); };
  const Pattern eight = [](uint64_t t, uint64_t k) { return 0x100000 + 8 * (Hash(t, k) & 0xffff); };
  const Written written = WriteLoop(Linear, four, eight);
  EXPECT_EQ(written.chunk.column(2).model(), v1::AddressColumn::RELATIVE);
  EXPECT_EQ(written.chunk.column(2).ref_shift(), 1);
  EXPECT_EQ(Decode(written.chunk), written.addresses);
}

// Of an address, an arithmetic shift by 63 leaves 0 below 2^63 and -1 from there on.
TEST(Models, AShiftBy63TellsTheUpperHalfOfTheAddressesFromTheLower) {
  for (const uint64_t reference :
       {uint64_t{0x10}, uint64_t{0x700000000000}, (uint64_t{1} << 63) - 64, uint64_t{3} << 62}) {
    SCOPED_TRACE(reference);
    Written written =
        WriteLoop([&](uint64_t t, uint64_t k) { return reference + 4 * (t % 2) + 16 * k; }, Linear, Linear);
    v1::AddressColumn& column = *written.chunk.mutable_column(2);
    column.set_model(v1::AddressColumn::RELATIVE);
    column.set_ref_instruction(1);
    column.set_ref_shift(-63);
    column.set_bias(0x400);
    column.clear_base_dd();
    column.clear_step_dd();
    column.set_residual_count(64 * 50);
    for (size_t i = 0; i < written.addresses.size(); ++i) {
      const size_t in_thread = i % (3 * 50 + 1);
      if (in_thread % 3 != 2) continue;
      written.addresses[i] = 0x400 - (written.addresses[i - 2] >> 63);
    }
    EXPECT_EQ(Decode(written.chunk), written.addresses);
  }
}

// A loop that reads an ascending list of random gaps by two instructions, as a compiler unrolls it: each counts from
// the other, and the first of a thread from the array's begin.
TEST(Models, UnrolledReadsOfOneArrayAreAChain) {
  const auto place = [](uint64_t t, uint64_t n) {
    uint64_t sum = 0;
    for (uint64_t i = 0; i <= n; ++i) sum += 1 + Hash(t, i) % 1000;
    return 0x900000000000 + 4 * sum;
  };
  const Written written = WriteLoop([&](uint64_t t, uint64_t k) { return place(t, 2 * k); },
                                    [&](uint64_t t, uint64_t k) { return place(t, 2 * k + 1); }, Linear);
  ASSERT_EQ(written.chunk.chain_size(), 1);
  EXPECT_FALSE(written.chunk.chain(0).carry());
  // The second counts from the first in any case; the first needs the chain to count from the second.
  EXPECT_EQ(written.chunk.column(0).model(), v1::AddressColumn::CHAIN);
  EXPECT_EQ(written.chunk.column(0).chain_bias_size(), 3);
  EXPECT_EQ(written.chunk.column(1).model(), v1::AddressColumn::RELATIVE);
  for (int c : {0, 1}) EXPECT_EQ(written.chunk.column(c).chain(), 1);
  for (int c : {2, 3}) EXPECT_EQ(written.chunk.column(c).chain(), 0);
  EXPECT_EQ(Decode(written.chunk), written.addresses);
}

// Every thread goes on where the thread in front of it stopped: nothing is left to store.
TEST(Models, ThreadsThatGoOnFromOneAnotherCarryTheChain) {
  std::vector<uint64_t> first_of_thread = {0};
  const auto rounds = [](uint64_t t) { return 3 + Hash(t, 1) % 40; };
  for (uint64_t t = 0; t < 64; ++t) first_of_thread.push_back(first_of_thread.back() + rounds(t));
  const Written written =
      WriteLoop([&](uint64_t t, uint64_t k) { return 0x900000000000 + 4 * (first_of_thread[t] + k); }, Linear, Linear,
                64, rounds);
  ASSERT_EQ(written.chunk.chain_size(), 1);
  EXPECT_TRUE(written.chunk.chain(0).carry());
  EXPECT_EQ(written.chunk.chain(0).start(), 0x900000000000 - 4);
  EXPECT_EQ(written.chunk.column(0).model(), v1::AddressColumn::CHAIN);
  EXPECT_EQ(written.chunk.column(0).layout(), v1::AddressColumn::ZERO);
  EXPECT_EQ(Decode(written.chunk), written.addresses);
}

// Paths that many threads take are decoded by what the path alone tells, others access by access; either goes on where
// the other stopped, in chains, residuals and bases alike.
TEST(Models, ThreadsOfCommonAndOfRarePathsFollowOneAnother) {
  const auto rounds = [](uint64_t t) { return t % 4 == 3 ? 20 + t : 5 + t / 8 % 2; };
  std::vector<uint64_t> first_of_thread = {0};
  for (uint64_t t = 0; t < 96; ++t) first_of_thread.push_back(first_of_thread.back() + rounds(t));
  const Pattern carried = [&](uint64_t t, uint64_t k) { return 0x900000000000 + 4 * (first_of_thread[t] + k); };
  const Pattern gaps = [&](uint64_t t, uint64_t k) { return carried(t, k) + Hash(t, k) % 4; };
  const Pattern gather = [](uint64_t t, uint64_t k) { return 0x100000000 + 4 * (Hash(t, k) & 0xffff); };
  const Pattern half = [&](uint64_t t, uint64_t k) { return gather(t, k) / 2; };
  const Pattern strides = [](uint64_t t, uint64_t k) { return 0x900000000000 + 1024 * t + (1 + t % 5) * 4 * k; };
  const Pattern far = [](uint64_t t, uint64_t k) { return (t + k) << 31; };
  const Pattern patterns[][3] = {{carried, Linear, Linear}, {carried, gaps, carried}, {Linear, gather, half},
                                 {gaps, gather, gather},    {strides, Linear, gaps},  {far, carried, strides}};
  bool carry = false;
  for (const auto& [first, second, store] : patterns) {
    const Written written = WriteLoop(first, second, store, 96, rounds);
    for (const v1::Chain& chain : written.chunk.chain()) carry |= chain.carry();
    EXPECT_EQ(Decode(written.chunk), written.addresses);
  }
  EXPECT_TRUE(carry);
}

TEST(Models, SparseDeviationsAreStoredSparsely) {
  const Written written = WriteLoop(
      Linear, Linear, [](uint64_t t, uint64_t k) { return Linear(t, k) + (Hash(t, k) % 97 == 0 ? 64 : 0); }, 256, 100);
  EXPECT_FALSE(written.chunk.column(2).sparse_gap().empty());
  EXPECT_EQ(Decode(written.chunk), written.addresses);
}

TEST(Models, ExtremeAddressesSurvive) {
  const Pattern extreme = [](uint64_t t, uint64_t k) {
    constexpr uint64_t kValues[] = {0, ~uint64_t{0}, uint64_t{1} << 63, 1, (uint64_t{1} << 63) - 1, 0xdeadbeef};
    return kValues[Hash(t, k) % 6];
  };
  const Written written = WriteLoop(Linear, extreme, extreme);
  EXPECT_EQ(Decode(written.chunk), written.addresses);
}

struct BrokenChunk {
  const char* name;
  std::function<void(v1::BlockChunk&)> change;
  const char* rule;
};

class Broken : public ::testing::TestWithParam<BrokenChunk> {};

// Column 0: SEPARABLE; 1: TIME with dense planes; 2: RELATIVE; 3: SEPARABLE, one access per thread.
TEST_P(Broken, IsRefusedByItsRule) {
  const Pattern gather = [](uint64_t t, uint64_t k) { return 0x800000000000 + 1024 * t + (1 + t % 5) * 4 * k; };
  // Four distances without an order: bytes, which Zstandard codes by how often each occurs, are cheapest.
  const Pattern near = [&](uint64_t t, uint64_t k) { return gather(t, k) + 256 * (1 + 17 * (Hash(t, k) & 3)); };
  static const Written written = WriteLoop(Linear, gather, near);
  v1::BlockChunk chunk = written.chunk;
  ASSERT_EQ(chunk.column(1).model(), v1::AddressColumn::TIME);
  ASSERT_EQ(chunk.column(2).model(), v1::AddressColumn::RELATIVE);
  ASSERT_EQ(chunk.column(2).layout(), v1::AddressColumn::PLANES);
  GetParam().change(chunk);
  DecodedChunk decoded;
  const absl::Status status = DecodeChunk(chunk, LoopProgram(), 64, decoded);
  ASSERT_TRUE(absl::IsDataLoss(status)) << status;
  EXPECT_THAT(std::string(status.message()), HasSubstr(GetParam().rule));
}

INSTANTIATE_TEST_SUITE_P(
    All, Broken,
    ::testing::Values(
        BrokenChunk{"threads", [](auto& c) { c.add_path_number(1); }, "path_number has 65 elements"},
        BrokenChunk{"paths_twice", [](auto& c) { c.add_path_ref(1); }, "not both"},
        BrokenChunk{"block_count", [](auto& c) { c.set_block_count(2); }, "path_number"},
        BrokenChunk{"gaps", [](auto& c) { c.add_block_gap(1); }, "block_gap"},
        BrokenChunk{"path_forward", [](auto& c) { c.set_path_number(1, 9); }, "path_number of thread 1"},
        BrokenChunk{"path_missing", [](auto& c) { c.set_path_number(1, 0); }, "path_number of thread 1"},
        BrokenChunk{"path_unused",
                    [](auto& c) {
                      c.mutable_paths()->add_decision_count(0);
                    },
                    "paths are left"},
        BrokenChunk{"bits_short", [](auto& c) { c.mutable_paths()->mutable_decision_bits()->pop_back(); }, "decision_bits"},
        BrokenChunk{"decisions_short",
                    [](auto& c) { c.mutable_paths()->set_decision_count(0, c.paths().decision_count(0) - 1); },
                    "path 0"},
        BrokenChunk{"decisions_long",
                    [](auto& c) { c.mutable_paths()->set_decision_count(0, c.paths().decision_count(0) + 1); },
                    "before its last decision"},
        BrokenChunk{"wide_count", [](auto& c) { c.mutable_paths()->add_wide_count(1); }, "wide_decision"},
        BrokenChunk{"wide_left",
                    [](auto& c) {
                      c.mutable_paths()->add_wide_count(1);
                      c.mutable_paths()->add_wide_decision(0);
                    },
                    "before its last decision"},
        BrokenChunk{"extent_without_part", [](auto& c) { c.mutable_paths()->add_extent(v1::PathTable::CUT); }, "extent"},
        BrokenChunk{"part_without_extent", [](auto& c) { c.set_part(1); }, "extent"},
        BrokenChunk{"totals", [](auto& c) { c.set_thread_instructions(5); }, "declares 5 thread-instructions"},
        BrokenChunk{"accesses", [](auto& c) { c.set_accesses(5); }, "5 accesses"},
        BrokenChunk{"column_missing", [](auto& c) { c.mutable_column()->RemoveLast(); }, "instruction 5 ran but has no"},
        BrokenChunk{"column_order", [](auto& c) { c.mutable_column()->SwapElements(0, 1); }, "must come next"},
        BrokenChunk{"column_twice", [](auto& c) { *c.add_column() = c.column(3); }, "no thread runs"},
        BrokenChunk{"column_of_no_access", [](auto& c) { c.mutable_column(0)->set_instruction(0); }, "must come next"},
        BrokenChunk{"model", [](auto& c) { c.mutable_column(0)->set_model(v1::AddressColumn::LORENZO); }, "unknown model"},
        BrokenChunk{"bases_short", [](auto& c) { c.mutable_column(0)->mutable_base_dd()->RemoveLast(); }, "base_dd"},
        BrokenChunk{"bases_of_relative", [](auto& c) { c.mutable_column(2)->add_base_dd(1); }, "base_dd"},
        BrokenChunk{"steps_long", [](auto& c) { c.mutable_column(0)->add_step_dd(1); }, "step_dd"},
        BrokenChunk{"steps_of_time", [](auto& c) { c.mutable_column(1)->add_step_dd(1); }, "step_dd"},
        BrokenChunk{"residual_count", [](auto& c) { c.mutable_column(1)->set_residual_count(7); }, "residual_count is 7"},
        BrokenChunk{"separable_residuals",
                    [](auto& c) {
                      c.mutable_column(0)->set_residual("x");
                    },
                    "ZERO"},
        BrokenChunk{"reference_forward", [](auto& c) { c.mutable_column(2)->set_ref_instruction(5); }, "ref_instruction"},
        BrokenChunk{"reference_self", [](auto& c) { c.mutable_column(2)->set_ref_instruction(3); }, "ref_instruction"},
        BrokenChunk{"reference_no_column", [](auto& c) { c.mutable_column(2)->set_ref_instruction(0); }, "ref_instruction"},
        BrokenChunk{"reference_shift", [](auto& c) { c.mutable_column(2)->set_ref_shift(64); }, "ref_shift"},
        BrokenChunk{"reference_shift_least", [](auto& c) { c.mutable_column(2)->set_ref_shift(INT32_MIN); }, "ref_shift"},
        BrokenChunk{"width_0", [](auto& c) { c.mutable_column(2)->set_width(0); }, "width"},
        BrokenChunk{"width_9", [](auto& c) { c.mutable_column(2)->set_width(9); }, "width"},
        BrokenChunk{"shift_64", [](auto& c) { c.mutable_column(2)->set_shift(64); }, "shift"},
        BrokenChunk{"planes_short", [](auto& c) { c.mutable_column(2)->mutable_residual()->pop_back(); }, "residual"},
        BrokenChunk{"layout", [](auto& c) { c.mutable_column(2)->set_layout(static_cast<v1::AddressColumn::Layout>(7)); },
                    "layout"},
        BrokenChunk{"order", [](auto& c) { c.mutable_column(2)->set_order(v1::AddressColumn::OCCURRENCE_MAJOR); }, "order"},
        BrokenChunk{"varint_short",
                    [](auto& c) {
                      c.mutable_column(2)->set_layout(v1::AddressColumn::VARINT);
                      c.mutable_column(2)->set_residual(std::string(10, '\xff') + std::string(3200, '\1'));
                    },
                    "varints"},
        BrokenChunk{"varint_long",
                    [](auto& c) {
                      c.mutable_column(2)->set_layout(v1::AddressColumn::VARINT);
                      c.mutable_column(2)->set_residual(std::string(3200, '\1') + '\x81');
                    },
                    "left over"},
        BrokenChunk{"varint_many",
                    [](auto& c) {
                      c.mutable_column(2)->set_layout(v1::AddressColumn::VARINT);
                      c.mutable_column(2)->set_residual(std::string(3201, '\1'));
                    },
                    "3201 residuals instead of 3200"},
        BrokenChunk{"bits_elsewhere", [](auto& c) { c.mutable_column(2)->set_residual_bits("x"); }, "layout BITS"},
        BrokenChunk{"bits_length_65",
                    [](auto& c) {
                      c.mutable_column(2)->set_layout(v1::AddressColumn::BITS);
                      c.mutable_column(2)->set_residual(std::string(3200, '\x41'));
                    },
                    "bit length"},
        BrokenChunk{"bits_missing",
                    [](auto& c) {
                      c.mutable_column(2)->set_layout(v1::AddressColumn::BITS);
                      c.mutable_column(2)->set_residual(std::string(3200, '\x11'));
                      c.mutable_column(2)->set_residual_bits(std::string(6399, 'x'));
                    },
                    "residual_bits"},
        BrokenChunk{"bits_left",
                    [](auto& c) {
                      c.mutable_column(2)->set_layout(v1::AddressColumn::BITS);
                      c.mutable_column(2)->set_residual(std::string(3200, '\x11'));
                      c.mutable_column(2)->set_residual_bits(std::string(6401, 'x'));
                    },
                    "residual_bits"},
        BrokenChunk{"bits_scaled_below_1",
                    [](auto& c) {
                      c.mutable_column(2)->set_layout(v1::AddressColumn::BITS);
                      c.mutable_column(2)->set_residual(std::string(3200, '\x02'));
                      c.mutable_column(2)->set_scaled(true);
                    },
                    "bit length"},
        BrokenChunk{"chain_missing", [](auto& c) { c.mutable_column(1)->set_chain(1); }, "its chain does not exist"},
        BrokenChunk{"chain_none", [](auto& c) { c.mutable_column(2)->set_model(v1::AddressColumn::CHAIN); }, "needs a chain"},
        BrokenChunk{"chain_biases",
                    [](auto& c) {
                      c.add_chain();
                      c.mutable_column(2)->set_model(v1::AddressColumn::CHAIN);
                      c.mutable_column(2)->set_chain(1);
                      c.mutable_column(2)->add_chain_bias(0);
                    },
                    "chain_bias has one element"},
        BrokenChunk{"chain_bias_elsewhere", [](auto& c) { c.mutable_column(2)->add_chain_bias(0); }, "belongs to model CHAIN"},
        BrokenChunk{"chains_many",
                    [](auto& c) {
                      for (int i = 0; i < 5; ++i) c.add_chain();
                    },
                    "more chains than columns"},
        BrokenChunk{"sparse_beyond",
                    [](auto& c) {
                      c.mutable_column(2)->set_width(1);
                      c.mutable_column(2)->set_residual("a");
                      c.mutable_column(2)->set_sparse_gap("\x80\x19");  // 3200
                    },
                    "behind the last access"},
        BrokenChunk{"sparse_many",
                    [](auto& c) {
                      c.mutable_column(2)->set_width(1);
                      c.mutable_column(2)->set_residual("a");
                      c.mutable_column(2)->set_sparse_gap("\x01\x01");
                    },
                    "more sparse positions"},
        BrokenChunk{"sparse_few",
                    [](auto& c) {
                      c.mutable_column(2)->set_width(1);
                      c.mutable_column(2)->set_residual("ab");
                      c.mutable_column(2)->set_sparse_gap("\x01");
                    },
                    "more residuals"}),
    [](const auto& info) { return info.param.name; });

// Decision-free calls that double at every level: 2^60 instructions from a program of a few hundred bytes.
TEST(Limits, WorkIsBoundedByTheDerivedTotals) {
  ProgramBuilder builder("bomb");
  builder.Block("a").Call("f0", "b").Block("b").Exit();
  for (int f = 0; f < 60; ++f) {
    const std::string next = "f" + std::to_string(f + 1);
    builder.Function("f" + std::to_string(f)).Block("x").Call(next, "y").Block("y").Call(next, "z").Block("z").Return();
  }
  builder.Function("f60").Block("x").Return();
  const Program program = builder.Create();
  v1::BlockChunk chunk;
  chunk.set_block_count(1);
  chunk.set_last_part(true);
  chunk.add_path_ref(0);
  chunk.mutable_paths()->add_decision_count(0);
  DecodedChunk decoded;
  EXPECT_THAT(std::string(DecodeChunk(chunk, program, 1, decoded).message()), HasSubstr("more thread-instructions"));
}

// One path of almost the limit, taken by a thousand threads: refused before any of it is expanded.
TEST(Limits, CountEveryThreadThatTakesAPath) {
  const Program program = LoopProgram();
  v1::BlockChunk chunk;
  chunk.set_block_count(1);
  chunk.set_last_part(true);
  constexpr uint32_t kRounds = 1 << 20;
  chunk.mutable_paths()->add_decision_count(kRounds);
  std::string bits(kRounds / 8, '\xff');
  bits.back() = 0x7f;
  chunk.mutable_paths()->set_decision_bits(bits);
  for (int t = 0; t < 1000; ++t) chunk.add_path_ref(t == 0 ? 0 : 1);
  DecodedChunk decoded;
  EXPECT_THAT(std::string(DecodeChunk(chunk, program, 1000, decoded).message()), HasSubstr("more thread-instructions"));
}

}  // namespace
}  // namespace heddle::trace
