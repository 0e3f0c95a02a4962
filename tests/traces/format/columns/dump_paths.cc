// Prints what tools/python/heddle/trace.py prints, with the C++ reader; or writes a random trace to compare on.
//   dump_paths FILE                     prints paths
//   dump_paths --addresses FILE         and addresses
//   dump_paths --write FILE SEED MODE   MODE: whole, parts, small, bits, cut_bits, moved, collective, machine or sample
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

#include "tests/traces/collective_programs.h"
#include "tests/traces/format/columns/bit_loops.h"
#include "tests/traces/machine_programs.h"
#include "tests/traces/program_builder.h"
#include "traces/format/chunk/walk.h"
#include "traces/format/program/operands.h"

using namespace heddle::trace;           // NOLINT(build/namespaces)
using namespace heddle::trace::testing;  // NOLINT(build/namespaces)

namespace {

int Fail(const absl::Status& status) {
  fprintf(stderr, "%s\n", std::string(status.message()).c_str());
  return 1;
}

absl::Status WriteParts(const std::string& path, uint64_t seed) {
  auto writer = TraceWriter::Create(path, MakeHeader());
  if (!writer.ok()) return writer.status();
  auto program = (*writer)->AddProgram(RandomProgram(seed, {.calls = true, .wide = true}));
  if (!program.ok()) return program.status();
  constexpr uint32_t kThreads = 16;
  if (absl::Status status = (*writer)->BeginLaunch(MakeLaunch(0, 4, kThreads)); !status.ok()) return status;
  for (uint64_t block = 0; block < 4; ++block) {
    std::vector<ThreadTrace> threads;
    for (uint32_t t = 0; t < kThreads; ++t) threads.push_back(RandomThread(**program, seed, block * kThreads + t));
    std::vector<size_t> done(kThreads, 0), decision(kThreads, 0), address(kThreads, 0);
    std::vector<uint64_t> consumed(kThreads);
    for (bool last = false; !last;) {
      last = true;
      std::vector<ThreadRecord> records;
      for (uint32_t t = 0; t < kThreads; ++t) {
        done[t] = std::min(threads[t].blocks.size(), done[t] + 40);
        last &= done[t] == threads[t].blocks.size();
        const size_t decisions = threads[t].decisions_after[done[t] - 1];
        const size_t addresses = threads[t].addresses_after[done[t] - 1];
        records.push_back({std::span(threads[t].decisions).subspan(decision[t], decisions - decision[t]),
                           std::span(threads[t].addresses).subspan(address[t], addresses - address[t]),
                           done[t] == threads[t].blocks.size()});
        decision[t] = decisions;
      }
      if (absl::Status status = (*writer)->AddBlockPart(block, records, last, consumed); !status.ok()) return status;
      for (uint32_t t = 0; t < kThreads; ++t) address[t] += consumed[t];
    }
  }
  if (absl::Status status = (*writer)->EndLaunch(); !status.ok()) return status;
  return (*writer)->Finish();
}

// "block part thread:", before what the thread did.
void PrintPlace(const DecodedChunk& chunk, size_t t) {
  printf("%llu %u %u:", static_cast<unsigned long long>(chunk.blocks[t / chunk.threads_per_block]), chunk.part,
         static_cast<unsigned>(t % chunk.threads_per_block));
}

int Dump(const std::string& path, bool with_addresses) {
  auto reader = TraceReader::Open(path);
  if (!reader.ok()) return Fail(reader.status());
  DecodedChunk chunk;
  for (const LaunchView& launch : (*reader)->launches()) {
    printf("launch %u %s %u %d\n", launch.launch.id(), launch.program->name().c_str(), launch.threads_per_block,
           launch.launch.recorded() ? 1 : 0);
    for (const v1::ChunkReference& reference : launch.chunks) {
      if (absl::Status status = (*reader)->ReadChunk(reference, chunk); !status.ok()) return Fail(status);
      for (size_t t = 0; t < chunk.path_of_thread.size(); ++t) {
        const PathView& path_view = chunk.paths[chunk.path_of_thread[t]];
        PrintPlace(chunk, t);
        std::vector<uint32_t> columns;
        PackedDecisions decisions(path_view);
        WalkState state{path_view.start_block, {path_view.call_stack.begin(), path_view.call_stack.end()}, false};
        uint64_t instructions = 0;
        (void)Walk(*launch.program, path_view.extent, decisions, state, ~uint64_t{0}, instructions,
                   [&](uint32_t b, const Block& block) {
                     printf(" %u", b);
                     for (uint32_t i = 0; i < block.access_count; ++i) columns.push_back(block.first_access + i);
                   });
        printf("\n");
        if (!with_addresses) continue;
        PrintPlace(chunk, t);
        uint64_t position = chunk.first_address[t];
        for (uint32_t column : columns) {
          const uint64_t address = chunk.address(position++, SlotOf(*launch.program, column));
          printf(" %u@%llx", launch.program->accesses()[column], static_cast<unsigned long long>(address));
        }
        printf("\n");
      }
    }
  }
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc == 2) return Dump(argv[1], false);
  if (argc == 3 && std::string(argv[1]) == "--addresses") return Dump(argv[2], true);
  if (argc != 5 || std::string(argv[1]) != "--write") return 2;
  const uint64_t seed = strtoull(argv[3], nullptr, 10);
  const std::string mode = argv[4];
  v1::KernelProgram program = RandomProgram(seed, {.calls = true, .wide = true});
  if (mode == "collective") program = WithCollectives(std::move(program));
  if (mode == "machine") program = WithMachineCode(std::move(program));
  if (mode == "sample") program = MachineSample();
  const bool small = mode == "small";
  if (mode == "bits" || mode == "cut_bits") {
    const uint32_t cut = mode == "bits" ? 0 : static_cast<uint32_t>(27 * (seed % 4) + seed % 2);
    const auto written = WriteBitLoops(
        argv[2], {.blocks = 1, .threads = 256, .cut_behind = cut, .address = [&](uint64_t thread, uint64_t bit) {
                    return 0x700000000 + (seed << 33) * (thread % 3) - 12 * bit;
                  }});
    return written.ok() ? 0 : Fail(written.status());
  }
  if (mode == "moved") {
    // By the seed: rows that begin anywhere; a walk of random steps from the same place; rows that follow one another.
    const auto moved = [&](uint64_t thread, uint64_t round, uint64_t load) {
      const auto random = [&](uint64_t i) { return ((thread * 64 + round) * 64 + i + 1) * 0x9e3779b97f4a7c15 >> 40; };
      if (seed % 3 == 0) return 1000 * thread + 64 * round;
      if (seed % 3 == 1) return random(0) * 64;
      uint64_t place = thread * 0x9e3779b97f4a7c15 >> 24 << 12;
      for (uint64_t i = 0; i < load; ++i) place += 4096 * (random(i) % 4 + 1);
      return place;
    };
    const uint64_t step = seed % 3 == 2 ? 0 : 4;
    const auto written =
        WriteBitLoops(argv[2], {.blocks = 1,
                                .threads = 256,
                                .rounds = 16,
                                .bits = seed % 3 == 2 ? 3u : 13u,
                                .moved = moved,
                                .address = [&](uint64_t, uint64_t bit) { return 0x700000000 + step * bit; }});
    return written.ok() ? 0 : Fail(written.status());
  }
  const absl::Status status =
      mode == "parts" ? WriteParts(argv[2], seed)
                      : WriteRandomTrace(argv[2], program, seed, small ? 3 : 6, small ? 5 : 33,
                                         {.most_instructions = small ? uint64_t{100} : uint64_t{2000}},
                                         {.chunk_thread_instructions = small ? uint64_t{600} : uint64_t{20'000}});
  return status.ok() ? 0 : Fail(status);
}
