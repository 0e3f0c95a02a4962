#include "tests/traces/format/columns/trace_runs.h"

#include <algorithm>
#include <vector>

#include "tests/traces/program_builder.h"

namespace heddle::trace::testing {
namespace {

constexpr uint32_t kThreads = 16;

std::vector<ThreadTrace> BlockThreads(const Program& program, uint64_t seed, uint64_t block) {
  std::vector<ThreadTrace> threads;
  for (uint32_t t = 0; t < kThreads; ++t) {
    threads.push_back(RandomThread(program, seed, block * kThreads + t, {.most_instructions = 300}));
  }
  return threads;
}

absl::Status AddWhole(TraceWriter& writer, const Program& program, uint64_t seed, uint64_t block) {
  const std::vector<ThreadTrace> threads = BlockThreads(program, seed, block);
  std::vector<ThreadRecord> records;
  uint64_t instructions = 0;
  for (const ThreadTrace& thread : threads) {
    records.push_back(thread.record());
    instructions += thread.thread_instructions;
  }
  return writer.AddBlock(block, records, instructions);
}

// Every thread runs `step` basic blocks per part.
absl::Status AddInParts(TraceWriter& writer, const Program& program, uint64_t seed, uint64_t block, uint64_t step) {
  const std::vector<ThreadTrace> threads = BlockThreads(program, seed, block);
  std::vector<size_t> done(kThreads, 0), decision(kThreads, 0), address(kThreads, 0);
  std::vector<uint64_t> consumed(kThreads);
  for (bool last = false; !last;) {
    last = true;
    std::vector<ThreadRecord> records;
    for (uint32_t t = 0; t < kThreads; ++t) {
      const ThreadTrace& thread = threads[t];
      done[t] = std::min<size_t>(thread.blocks.size(), done[t] + step);
      last &= done[t] == thread.blocks.size();
      const size_t decisions = thread.decisions_after[done[t] - 1];
      const size_t addresses = thread.addresses_after[done[t] - 1];
      records.push_back({std::span(thread.decisions).subspan(decision[t], decisions - decision[t]),
                         std::span(thread.addresses).subspan(address[t], addresses - address[t]),
                         done[t] == thread.blocks.size()});
      decision[t] = decisions;
    }
    if (absl::Status status = writer.AddBlockPart(block, records, last, consumed); !status.ok()) return status;
    for (uint32_t t = 0; t < kThreads; ++t) address[t] += consumed[t];
  }
  return absl::OkStatus();
}

}  // namespace

absl::Status WriteRun(const std::string& path, const RunOptions& options) {
  v1::FileHeader header = MakeHeader();
  header.add_source_file("one.cu");
  header.add_source_file("two.cu");
  (*header.mutable_provenance())["recipe"] = "12ab";
  absl::StatusOr<std::unique_ptr<TraceWriter>> created = TraceWriter::Create(path, header, options.writer);
  if (!created.ok()) return created.status();
  TraceWriter& writer = **created;
  v1::KernelProgram proto = RandomProgram(options.seed, {.depth = 2});
  proto.mutable_instruction(0)->set_source_file(1);
  proto.mutable_instruction(0)->set_source_line(7);
  absl::StatusOr<const Program*> plain = writer.AddProgram(proto);
  if (!plain.ok()) return plain.status();

  const auto begin = [&](uint32_t program, uint32_t blocks, const std::vector<uint32_t>& depends_on,
                         bool recorded = true) {
    v1::Launch launch = MakeLaunch(program, blocks, kThreads);
    for (uint32_t id : depends_on) launch.add_depends_on(id);
    launch.set_recorded(recorded);
    if (blocks == 24) {
      launch.mutable_selection()->set_rule(v1::BlockSelection::EVENLY_SPACED);
      launch.mutable_selection()->set_blocks(8);
    }
    return writer.BeginLaunch(std::move(launch));
  };
  const auto first_error = [](std::initializer_list<absl::Status> all) {
    for (const absl::Status& status : all) {
      if (!status.ok()) return status;
    }
    return absl::OkStatus();
  };

  if (absl::Status status = begin(0, 12, {}); !status.ok()) return status;
  for (uint64_t b = 0; b < 12; ++b) {
    if (absl::Status status = AddWhole(writer, **plain, options.seed, b); !status.ok()) return status;
  }
  v1::Transfer transfer;
  transfer.set_direction(v1::Transfer::HOST_TO_DEVICE);
  transfer.set_bytes(640);
  absl::Status status = first_error({writer.EndLaunch(), writer.AddTransfer(transfer), begin(0, 2, {0}, false)});
  if (!status.ok()) return status;

  v1::KernelProgram calls = RandomProgram(options.seed + 100, {.calls = true, .wide = true});
  calls.mutable_instruction(0)->set_source_file(2);
  absl::StatusOr<const Program*> called = writer.AddProgram(calls);
  if (!called.ok()) return called.status();
  if (status = begin(1, 3, {1}); !status.ok()) return status;
  for (uint64_t b = 0; b < 3; ++b) {
    status = AddInParts(writer, **called, options.seed, b, options.part_blocks);
    if (!status.ok()) return status;
  }
  v1::Annotation note;
  note.set_key("note");
  note.set_value("between launches");
  if (status = first_error({writer.EndLaunch(), writer.AddAnnotation(note), begin(0, 24, {0, 2})}); !status.ok()) {
    return status;
  }
  for (uint64_t b = 1; b < 24; b += 3) {
    if (status = AddWhole(writer, **plain, options.seed + 1, b); !status.ok()) return status;
  }
  v1::Certificate certificate;
  certificate.set_launch(2);
  certificate.set_runs(4);
  return first_error({writer.EndLaunch(), writer.AddCertificate(certificate), writer.Finish()});
}

}  // namespace heddle::trace::testing
