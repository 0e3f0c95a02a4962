// Files whose chunks are hostile: totals, paths, columns.
#include <utility>

#include "absl/strings/str_cat.h"
#include "tests/fuzz/hostile_files.h"
#include "tests/fuzz/right_trace.h"
#include "tests/traces/forge.h"
#include "tests/traces/program_builder.h"
#include "traces/format/columns/decision_planes.h"
#include "traces/format/limits.h"

namespace heddle::trace::testing {
namespace {

// The right trace with one change to its chunk.
std::function<std::string()> Chunk(std::function<void(v1::BlockChunk&)> change) {
  return [change = std::move(change)] {
    std::vector<v1::Record> records = Right();
    change(*records[3].mutable_chunk());
    return Assemble(std::move(records));
  };
}

// One chunk whose threads all take one path without decisions through `program`.
std::string StraightThreads(v1::KernelProgram program, uint32_t blocks, uint32_t threads, uint64_t declared) {
  std::vector<v1::Record> records = Right();
  program.set_id(0);
  records[1] = Wrap(std::move(program));
  records[2] = Wrap(MakeLaunch(0, blocks, threads));
  v1::BlockChunk chunk;
  chunk.set_block_count(blocks);
  chunk.set_last_part(true);
  chunk.mutable_paths()->add_decision_count(0);
  for (uint64_t t = 0; t < uint64_t{blocks} * threads; ++t) chunk.add_path_ref(t == 0 ? 0 : 1);
  chunk.set_thread_instructions(declared);
  *records[3].mutable_chunk() = std::move(chunk);
  return Assemble(std::move(records));
}

v1::AddressColumn& AnyResiduals(v1::BlockChunk& chunk) {
  for (v1::AddressColumn& column : *chunk.mutable_column()) {
    if (column.residual_count() == 0) continue;
    column.clear_residual_bits();
    column.clear_nonnegative();
    column.clear_scaled();
    column.clear_sparse_gap();
    return column;
  }
  return *chunk.mutable_column(0);
}

// Functions that each call the next one twice: 2^40 instructions without a single decision.
v1::KernelProgram CallTree() {
  ProgramBuilder builder("tree");
  constexpr int kDepth = 40;
  builder.Block("start").Call("f0", "end").Block("end").Exit();
  for (int f = 0; f < kDepth; ++f) {
    const std::string self = absl::StrCat("f", f), next = absl::StrCat("f", f + 1);
    builder.Function(self).Block(self + "a").Call(next, self + "b").Block(self + "b").Call(next, self + "c");
    builder.Block(self + "c").Return();
  }
  builder.Function(absl::StrCat("f", kDepth)).Block("leaf").Return();
  return builder.Build();
}

// Paths that are as many and as long as they may be, of which one ends in each group of planes, so that none can be
// turned in squares. What comes behind the planes is wrong.
std::string PlanesThatEndOneByOne() {
  std::vector<v1::Record> records = Right();
  records[2] = Wrap(MakeLaunch(0, 1, 1024));
  v1::BlockChunk chunk;
  chunk.set_block_count(1);
  chunk.set_last_part(true);
  std::vector<uint32_t> counts;
  for (uint32_t t = 0; t < 1024; ++t) {
    chunk.add_path_number(t == 0 ? 0 : 1);
    counts.push_back(4 * 1024 + 8 * t);
    chunk.mutable_paths()->add_decision_count(counts.back());
  }
  chunk.mutable_paths()->set_decision_planes(std::string(PlaneBytes(counts), '\1'));
  chunk.set_thread_instructions(4);
  *records[3].mutable_chunk() = std::move(chunk);
  return Assemble(std::move(records));
}

// `loads` in the first of eight blocks that a loop goes round, and a path through it of `rounds`. `count` says what
// the loads' columns count by.
std::string Counters(uint32_t loads, uint32_t rounds, uint32_t columns,
                     const std::function<void(uint32_t number, v1::AddressColumn& column)>& count) {
  ProgramBuilder builder("counters");
  constexpr uint32_t kBlocks = 8;
  builder.Block("entry").Alu();
  for (uint32_t b = 0; b < kBlocks; ++b) {
    builder.Block(absl::StrCat("b", b));
    if (b == 0) {
      for (uint32_t i = 0; i < loads; ++i) builder.Load();
    }
    builder.Branch(b + 1 < kBlocks ? absl::StrCat("b", b + 1) : "exit",
                   b + 1 < kBlocks ? absl::StrCat("b", b + 1) : "b0");
  }
  builder.Block("exit").Exit();
  std::vector<v1::Record> records = Right();
  records[1] = Wrap(builder.Build());
  records[1].mutable_program()->set_id(0);
  records[1].mutable_program()->mutable_block(1)->set_immediate_post_dominator(0);
  records[2] = Wrap(MakeLaunch(0, 1, 1));
  v1::BlockChunk chunk;
  chunk.set_block_count(1);
  chunk.set_last_part(true);
  chunk.mutable_paths()->add_decision_count(kBlocks * rounds);
  std::string bits(rounds, '\xff');
  bits.back() = '\x7f';
  chunk.mutable_paths()->set_decision_bits(bits);
  chunk.add_path_number(0);
  chunk.set_thread_instructions(2 + uint64_t{rounds} * (loads + kBlocks));
  chunk.set_accesses(uint64_t{rounds} * loads);
  for (uint32_t c = 0; c < columns; ++c) {
    v1::AddressColumn& column = *chunk.add_column();
    column.set_instruction(1 + c);
    column.set_model(v1::AddressColumn::INDUCTION);
    column.set_stride(4);
    column.add_base_dd(0);
    count(c, column);
  }
  *records[3].mutable_chunk() = std::move(chunk);
  return Assemble(std::move(records));
}

std::string CounterForEveryColumn() {
  return Counters(50, 1, 50, [](uint32_t c, v1::AddressColumn& column) {
    column.set_counted_block(1 + c % 8);
    column.set_reset_block((2 + c % 8 + c / 8) % 9);
  });
}

// As many counters as there may be, touched as often as a chunk lets them. What is wrong shows when it has been
// decoded.
std::string CountersOnEveryBlock() {
  return Counters(8, 260'000, 8, [](uint32_t c, v1::AddressColumn& column) {
    column.set_counted_block(1 + c % 4);
    column.set_reset_block(2 + c % 4);
  });
}

// CountersOnEveryBlock with all that model COUNTED may have: sums of four terms, restarts of four pairs, and residuals,
// for every access.
std::string CountedOnEveryBlock(uint32_t rounds) {
  return Counters(8, rounds, 8, [rounds](uint32_t c, v1::AddressColumn& column) {
    column.set_model(v1::AddressColumn::COUNTED);
    column.set_counted_block(1);
    column.set_reset_block(2);
    for (uint32_t further = 1; further < 4; ++further) {
      v1::InductionTerm& term = *column.add_further_term();
      term.set_counted_block(1 + further);
      term.set_reset_block(2 + further);
      term.set_stride(4);
    }
    column.mutable_restart()->set_counted_block(5 + c % 4);
    column.mutable_restart()->set_reset_block(c % 4);
    column.set_residual_count(rounds - 1);
  });
}

}  // namespace

std::vector<HostileFile> HostileChunks() {
  std::vector<HostileFile> files;
  const auto add = [&](const char* name, std::function<void(v1::BlockChunk&)> change, const char* rule) {
    files.push_back({name, Chunk(std::move(change)), rule});
  };
  files.push_back({"call_tree_of_2_to_the_40", [] { return StraightThreads(CallTree(), 1, 32, 1 << 20); },
                   "more thread-instructions"});
  files.push_back({"instructions_by_threads",
                   [] { return StraightThreads(LargestProgram(), 1024, 1024, kMaxChunkThreadInstructions); },
                   "more thread-instructions"});
  files.push_back({"accesses_by_threads",
                   [] {
                     ProgramBuilder builder("loads");
                     builder.Block("all");
                     for (int i = 0; i < 1000; ++i) builder.Load();
                     return StraightThreads(builder.Exit().Build(), 8, 1024, 1001 * 8 * 1024);
                   },
                   "accesses"});
  files.push_back({"accesses_of_one_path",
                   [] {
                     // 1,000 loads in a loop that runs 8,000 times.
                     ProgramBuilder builder("loads");
                     builder.Block("head");
                     for (int i = 0; i < 1000; ++i) builder.Load();
                     builder.Branch("exit", "head").Block("exit").Exit();
                     std::vector<v1::Record> records = Right();
                     records[1] = Wrap(builder.Build());
                     records[1].mutable_program()->set_id(0);
                     records[2] = Wrap(MakeLaunch(0, 1, 1));
                     v1::BlockChunk chunk;
                     chunk.set_block_count(1);
                     chunk.set_last_part(true);
                     chunk.mutable_paths()->add_decision_count(8000);
                     std::string bits(1000, '\xff');
                     bits.back() = '\x7f';  // the last decision leaves the loop
                     chunk.mutable_paths()->set_decision_bits(bits);
                     chunk.add_path_ref(0);
                     chunk.set_thread_instructions(8000 * 1001 + 1);
                     *records[3].mutable_chunk() = std::move(chunk);
                     return Assemble(std::move(records));
                   },
                   "accesses"});
  add("declared_beyond_the_limit", [](auto& c) { c.set_thread_instructions(~uint64_t{0}); }, "may hold");
  add("accesses_beyond_the_limit", [](auto& c) { c.set_accesses(uint64_t{1} << 63); }, "may hold");
  add("more_blocks_than_threads", [](auto& c) { c.set_block_count(4); }, "has 64 elements");
  add("blocks_without_end", [](auto& c) { c.set_block_count(uint64_t{1} << 63); }, "grid");
  add("gaps_that_wrap_around", [](auto& c) { c.add_block_gap(~uint64_t{0}); }, "");
  add(
      "decisions_that_are_not_there",
      [](auto& c) {
        for (int i = 0; i < c.paths().decision_count_size(); ++i) c.mutable_paths()->set_decision_count(i, ~0u);
      },
      "decision_bits");
  add(
      "wide_decisions_that_are_not_there",
      [](auto& c) {
        for (int i = 0; i < c.paths().decision_count_size(); ++i) c.mutable_paths()->add_wide_count(~0u);
      },
      "wide_decision");
  add("calls_in_a_whole_block", [](auto& c) { c.mutable_paths()->add_call_depth(~0u); }, "call_depth");
  add("a_path_that_nobody_takes", [](auto& c) { c.mutable_paths()->add_decision_count(0); }, "no thread takes");
  add("a_path_that_does_not_exist", [](auto& c) { c.set_path_number(0, 7); }, "does not exist");
  add(
      "no_exit",
      [](auto& c) {
        for (char& bits : *c.mutable_paths()->mutable_decision_bits()) bits = '\xff';
      },
      "asks for a decision");
  add(
      "an_exit_too_early",
      [](auto& c) {
        for (char& bits : *c.mutable_paths()->mutable_decision_bits()) bits = 0;
      },
      "exits before");
  add("totals_that_are_one_off", [](auto& c) { c.set_accesses(c.accesses() + 1); }, "declares");
  add(
      "residuals_without_end", [](auto& c) { AnyResiduals(c).set_residual_count(uint64_t{1} << 60); },
      "residual_count");
  add(
      "bases_without_threads",
      [](auto& c) {
        for (int i = 0; i < 1 << 20; ++i) c.mutable_column(0)->add_base_dd(0);
      },
      "base_dd");
  add(
      "steps_without_accesses",
      [](auto& c) {
        for (int i = 0; i < 1 << 20; ++i) c.mutable_column(0)->add_step_dd(0);
      },
      "step_dd");
  add("planes_and_bits", [](auto& c) { c.mutable_paths()->set_decision_planes("x"); }, "not both");
  add(
      "planes_without_end",
      [](auto& c) {
        c.mutable_paths()->clear_decision_bits();
        c.mutable_paths()->set_decision_planes(std::string(kMaxRecordBytes - (1u << 20), '\0'));
      },
      "decision_planes");
  files.push_back({"planes_that_end_one_by_one", PlanesThatEndOneByOne, "paths are left"});
  files.push_back({"a_counter_for_every_column", CounterForEveryColumn, "pairs of counted_block"});
  files.push_back({"counters_on_every_block", CountersOnEveryBlock, "the control flow says"});
  files.push_back({"counted_on_every_block", [] { return CountedOnEveryBlock(131'000); }, "the control flow says"});
  files.push_back(
      {"counted_beyond_the_limit", [] { return CountedOnEveryBlock(131'100); }, "model COUNTED in a chunk"});
  add("no_column", [](auto& c) { c.mutable_column()->RemoveLast(); }, "has no column");
  add("a_column_twice", [](auto& c) { *c.add_column() = c.column(0); }, "no thread runs");
  add(
      "relative_to_itself",
      [](auto& c) {
        v1::AddressColumn& column = *c.mutable_column(1);
        column.set_model(v1::AddressColumn::RELATIVE);
        column.clear_base_dd();
        column.clear_step_dd();
        column.clear_chain();
        column.clear_chain_bias();
        column.set_ref_instruction(column.instruction());
      },
      "no column of this chunk before it");
  add(
      "relative_in_a_circle",
      [](auto& c) {
        v1::AddressColumn& column = *c.mutable_column(0);
        column.set_model(v1::AddressColumn::RELATIVE);
        column.clear_base_dd();
        column.clear_step_dd();
        column.clear_chain();
        column.clear_chain_bias();
        column.set_ref_instruction(c.column(1).instruction());
      },
      "no column of this chunk before it");
  add("a_chain_that_does_not_exist", [](auto& c) { c.mutable_column(0)->set_chain(99); }, "chain does not exist");
  add(
      "chains_without_columns",
      [](auto& c) {
        for (int i = 0; i < 1 << 18; ++i) c.add_chain()->set_carry(true);
      },
      "more chains than columns");
  add(
      "bit_lengths_beyond_the_word",
      [](auto& c) {
        v1::AddressColumn& column = AnyResiduals(c);
        column.set_layout(v1::AddressColumn::BITS);
        column.set_residual(std::string(column.residual_count(), '\x41'));
      },
      "bit length");
  add("shift_beyond_the_word", [](auto& c) { AnyResiduals(c).set_shift(64); }, "shift");
  add(
      "planes_without_width",
      [](auto& c) {
        AnyResiduals(c).set_layout(v1::AddressColumn::PLANES);
        AnyResiduals(c).set_width(0);
      },
      "width");
  add(
      "a_sparse_position_behind_the_end",
      [](auto& c) {
        v1::AddressColumn& column = AnyResiduals(c);
        column.set_layout(v1::AddressColumn::VARINT);
        column.set_residual("\x01");
        column.set_sparse_gap("\xff\xff\xff\xff\xff\xff\xff\xff\x7f");
      },
      "sparse position");
  add(
      "residual_bytes_without_end",
      [](auto& c) { AnyResiduals(c).set_residual(std::string(kMaxRecordBytes - (1u << 20), '\0')); }, "residual");
  files.push_back({"paths_without_end",
                   [] {
                     std::vector<v1::Record> records = Right();
                     constexpr uint32_t kBlocks = 1024;
                     records[2] = Wrap(MakeLaunch(0, kBlocks, 1024));
                     v1::BlockChunk chunk;
                     chunk.set_block_count(kBlocks);
                     chunk.set_last_part(true);
                     for (uint32_t t = 0; t < kBlocks * 1024; ++t) {
                       chunk.mutable_paths()->add_decision_count(1);
                       chunk.add_path_ref(0);
                     }
                     chunk.mutable_paths()->set_decision_bits(std::string(size_t{kBlocks} * 1024, '\0'));
                     chunk.set_thread_instructions(4);
                     *records[3].mutable_chunk() = std::move(chunk);
                     return Assemble(std::move(records));
                   },
                   "paths"});
  return files;
}

}  // namespace heddle::trace::testing
