#include "tests/fuzz/hostile_files.h"

#include <zstd.h>

#include <utility>

#include "absl/strings/str_cat.h"
#include "tests/traces/forge.h"
#include "tests/traces/program_builder.h"
#include "traces/format/limits.h"
#include "traces/format/program.h"
#include "traces/format/seek_table.h"

namespace heddle::trace::testing {
namespace {

constexpr uint32_t kThreads = 32;

// head: load, load, branch to exit or (taken) head; exit.
v1::KernelProgram Loop() {
  return ProgramBuilder("loop").Block("head").Load().Load().Branch("exit", "head").Block("exit").Exit().Build();
}

v1::Record Wrap(v1::KernelProgram program) {
  v1::Record record;
  *record.mutable_program() = std::move(program);
  return record;
}
v1::Record Wrap(v1::Launch launch) {
  v1::Record record;
  *record.mutable_launch() = std::move(launch);
  return record;
}

// Records of a right trace: header, program, launch, chunk, end. One block of 32 threads; thread t takes the loop t
// times.
std::vector<v1::Record> Right() {
  static const std::string bytes = [] {
    TemporaryFile file("hostile");
    auto writer = TraceWriter::Create(file.path(), MakeHeader());
    (void)(*writer)->AddProgram(Loop());
    (void)(*writer)->BeginLaunch(MakeLaunch(0, 4, kThreads));
    for (uint64_t block = 0; block < 2; ++block) {
      std::vector<std::vector<uint8_t>> decisions(kThreads);
      std::vector<std::vector<uint64_t>> addresses(kThreads);
      std::vector<ThreadRecord> records;
      for (uint32_t t = 0; t < kThreads; ++t) {
        decisions[t].assign(t + 1, 1);
        decisions[t].back() = 0;
        for (uint32_t k = 0; k <= t; ++k) {
          addresses[t].push_back(0x10000 + ((k * 2654435761u ^ t * 2246822519u) >> 9) * 4);
          addresses[t].push_back(addresses[t].back() * 2 + k % 3);
        }
        records.push_back({decisions[t], addresses[t]});
      }
      (void)(*writer)->AddBlock(block, records, TraceWriter::kNoExpectation);
    }
    (void)(*writer)->EndLaunch();
    (void)(*writer)->Finish();
    return ReadFile(file.path());
  }();
  return RecordsOf(bytes);
}

std::string Assemble(std::vector<v1::Record> records) { return AssembleFile(WithIndex(std::move(records))); }

// The right trace with one change to its chunk.
std::function<std::string()> Chunk(std::function<void(v1::BlockChunk&)> change) {
  return [change = std::move(change)] {
    std::vector<v1::Record> records = Right();
    change(*records[3].mutable_chunk());
    return Assemble(std::move(records));
  };
}

// The right trace with another program, and no blocks.
std::function<std::string()> ProgramOnly(std::function<v1::KernelProgram()> make) {
  return [make = std::move(make)] {
    std::vector<v1::Record> records = Right();
    records[1] = Wrap(make());
    records.erase(records.begin() + 3);
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

void AppendVarint(std::string& out, uint64_t value) {
  for (; value >= 0x80; value >>= 7) out.push_back(static_cast<char>(value | 0x80));
  out.push_back(static_cast<char>(value));
}

// A frame with a record of one field of these bytes.
std::string RawRecord(uint64_t ordinal, int field, const std::string& body) {
  std::string record("\x08", 1);
  AppendVarint(record, ordinal);
  record.push_back(static_cast<char>(field << 3 | 2));
  AppendVarint(record, body.size());
  record += body;
  std::string raw("\x0a", 1);
  AppendVarint(raw, record.size());
  return raw + record;
}

// The right trace with the frame of one record replaced.
std::string WithFrame(size_t frame, const std::string& raw) {
  std::vector<std::string> frames = WithIndex(Right());
  frames[frame] = raw;
  return AssembleFile(frames);
}

// `count` copies of a message of two bytes in one record.
std::string EmptyMessages(int record_field, char tag, size_t count) {
  std::string body;
  for (size_t i = 0; i < count; ++i) {
    body.push_back(tag);
    body.push_back(0);
  }
  return WithFrame(1, RawRecord(1, record_field, body));
}

v1::KernelProgram LargestProgram() {
  ProgramBuilder builder("large");
  builder.Block("all").Alu(static_cast<int>(kMaxInstructions) - 1).Exit();
  return builder.Build();
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

// Frames of the right trace as they are, with `extra` tiny records in front of the end, none of them in the index.
std::string ManyFrames(uint64_t count, bool in_index) {
  std::vector<std::string> frames = WithIndex(Right());
  v1::Record index = ParseRecord(frames.back());
  frames.pop_back();
  std::string file;
  std::vector<FrameEntry> entries;
  const auto add = [&](const std::string& frame, size_t raw) {
    file += frame;
    entries.push_back({static_cast<uint32_t>(frame.size()), static_cast<uint32_t>(raw)});
  };
  for (const std::string& raw : frames) add(CompressFrame(raw), raw.size());
  v1::Record empty;
  empty.mutable_annotation();
  for (uint64_t i = 0; i < count; ++i) {
    const uint64_t ordinal = entries.size();
    // Every frame of its own would take seconds to make; only honest ones need their own number.
    static const std::string raw = SerializeRecord(empty);
    static const std::string frame = CompressFrame(raw);
    add(frame, raw.size());
    if (in_index) index.mutable_index()->add_other_frame(ordinal);
  }
  index.set_ordinal(entries.size());
  index.mutable_index()->set_records(entries.size());
  const std::string raw = SerializeRecord(index);
  add(CompressFrame(raw), raw.size());
  return file + EncodeSeekTable(entries);
}

std::string UnknownContentSize() {
  const std::vector<std::string> frames = WithIndex(Right());
  std::string file;
  std::vector<FrameEntry> entries;
  for (const std::string& raw : frames) {
    std::string out(ZSTD_compressBound(raw.size()), '\0');
    ZSTD_CCtx* context = ZSTD_createCCtx();
    ZSTD_CCtx_setParameter(context, ZSTD_c_checksumFlag, 1);
    ZSTD_CCtx_setParameter(context, ZSTD_c_contentSizeFlag, 0);
    out.resize(ZSTD_compress2(context, out.data(), out.size(), raw.data(), raw.size()));
    ZSTD_freeCCtx(context);
    file += out;
    entries.push_back({static_cast<uint32_t>(out.size()), static_cast<uint32_t>(raw.size())});
  }
  return file + EncodeSeekTable(entries);
}

std::string SeekTableBeyondTheFile() {
  std::string file = AssembleFile(WithIndex(Right()));
  // The number of frames, 9 bytes before the end.
  for (size_t i = 0; i < 3; ++i) file[file.size() - 9 + i] = '\xff';
  return file;
}

std::vector<HostileFile> Containers() {
  std::vector<HostileFile> files;
  files.push_back({"frame_bomb", [] { return WithFrame(1, std::string((kMaxRecordBytes) + 1, '\0')); }, "limit"});
  files.push_back({"zeros_within_the_limit", [] { return WithFrame(1, std::string(kMaxRecordBytes, '\0')); },
                   "exactly one record"});
  files.push_back({"empty_instructions", [] { return EmptyMessages(3, 0x1a, kMaxRecordBytes / 2 - 64); }, "in memory"});
  files.push_back({"empty_columns", [] { return EmptyMessages(5, 0x4a, kMaxRecordBytes / 2 - 64); }, "in memory"});
  files.push_back({"long_name",
                   [] {
                     std::string body("\x12", 1);
                     AppendVarint(body, kMaxRecordBytes - 64);
                     body += std::string(kMaxRecordBytes - 64, 'a');
                     return WithFrame(1, RawRecord(1, 3, body));
                   },
                   "has no instructions"});
  files.push_back({"many_features",
                   [] {
                     std::string body;
                     for (int i = 0; i < 1 << 20; ++i) body += std::string("\x1a\x00", 2);
                     return WithFrame(0, RawRecord(0, 2, body));
                   },
                   "in memory"});
  files.push_back({"programs_that_add_up",
                   [] {
                     std::vector<v1::Record> records = Right();
                     const v1::KernelProgram large = LargestProgram();
                     records.erase(records.begin() + 1, records.end());
                     for (uint32_t i = 0; i < 8; ++i) {
                       records.push_back(Wrap(large));
                       records.back().mutable_program()->set_id(i);
                     }
                     return Assemble(std::move(records));
                   },
                   "in memory"});
  files.push_back({"millions_of_empty_records", [] { return ManyFrames(kMaxFrames + 1, false); }, "frames"});
  files.push_back(
      {"a_million_records_beside_the_index", [] { return ManyFrames(kMaxFrames - 100, false); }, "missing"});
  files.push_back({"annotations_without_end", [] { return ManyFrames(kMaxOtherRecords + 1, true); }, "limit"});
  files.push_back({"unknown_content_size", UnknownContentSize, "content size"});
  files.push_back({"seek_table_beyond_the_file", SeekTableBeyondTheFile, "seek table"});
  files.push_back({"wrong_digest",
                   [] {
                     std::vector<std::string> frames = WithIndex(Right());
                     v1::Record index = ParseRecord(frames.back());
                     (*index.mutable_index()->mutable_content_sha256())[7] ^= 1;
                     frames.back() = SerializeRecord(index);
                     return AssembleFile(frames);
                   },
                   "digest"});
  files.push_back({"window_of_two_gigabytes",
                   [] {
                     // Magic, descriptor (content size in 4 bytes, checksum, no single segment), window 2^31.
                     std::string frame("\x28\xb5\x2f\xfd\x84\xa8\x10\x00\x00\x00", 10);
                     frame.append("\x81\x00\x00", 3);
                     frame.append(16 + 4, '\0');  // contents and checksum
                     std::vector<std::string> frames = WithIndex(Right());
                     std::string file = frame;
                     std::vector<FrameEntry> entries{{static_cast<uint32_t>(frame.size()), 16}};
                     for (size_t i = 1; i < frames.size(); ++i) {
                       const std::string next = CompressFrame(frames[i]);
                       entries.push_back({static_cast<uint32_t>(next.size()), static_cast<uint32_t>(frames[i].size())});
                       file += next;
                     }
                     return file + EncodeSeekTable(entries);
                   },
                   "window"});
  return files;
}

std::vector<HostileFile> Programs() {
  std::vector<HostileFile> files;
  files.push_back({"endless_block", ProgramOnly([] { return ProgramBuilder("x").Block("a").Alu().Jump("a").Build(); }),
                   "never leave"});
  files.push_back({"endless_circle", ProgramOnly([] {
                     ProgramBuilder builder("x");
                     for (int b = 0; b < 2'000; ++b) {
                       builder.Block(absl::StrCat(b)).Alu().Jump(absl::StrCat((b + 1) % 2'000));
                     }
                     return builder.Build();
                   }),
                   "never leave"});
  files.push_back({"endless_recursion", ProgramOnly([] {
                     return ProgramBuilder("x")
                         .Block("a")
                         .Call("f", "b")
                         .Block("b")
                         .Exit()
                         .Function("f")
                         .Block("c")
                         .Call("g", "d")
                         .Block("d")
                         .Return()
                         .Function("g")
                         .Block("e")
                         .Call("f", "h")
                         .Block("h")
                         .Return()
                         .Build();
                   }),
                   "recursion without a decision"});
  files.push_back({"circle_through_a_call", ProgramOnly([] {
                     return ProgramBuilder("x").Block("a").Call("f", "a").Function("f").Block("c").Return().Build();
                   }),
                   "never leave"});
  files.push_back({"too_many_targets", ProgramOnly([] {
                     v1::KernelProgram program =
                         ProgramBuilder("x").Block("a").Wide({"b", "b"}).Block("b").Exit().Build();
                     for (int i = 0; i < 1 << 20; ++i) program.mutable_block(0)->add_successor(1);
                     return program;
                   }),
                   "successors"});
  files.push_back({"too_many_blocks", ProgramOnly([] {
                     v1::KernelProgram program = LargestProgram();
                     for (uint32_t i = 0; i < 4; ++i) *program.add_instruction() = program.instruction(0);
                     program.mutable_block(0)->set_instruction_count(kMaxInstructions + 4);
                     return program;
                   }),
                   "the limit is"});
  return files;
}

std::vector<HostileFile> Chunks() {
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
      "not a lower instruction");
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
      "not a lower instruction");
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

}  // namespace

std::vector<HostileFile> HostileFiles() {
  std::vector<HostileFile> files = Containers();
  for (std::vector<HostileFile> more : {Programs(), Chunks()}) {
    for (HostileFile& file : more) files.push_back(std::move(file));
  }
  return files;
}

}  // namespace heddle::trace::testing
