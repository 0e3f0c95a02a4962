#include "tests/fuzz/right_trace.h"

#include <utility>

#include "tests/traces/forge.h"
#include "tests/traces/program_builder.h"
#include "traces/format/limits.h"

namespace heddle::trace::testing {
namespace {

constexpr uint32_t kThreads = 32;

// head: load, load, branch to exit or (taken) head; exit.
v1::KernelProgram Loop() {
  return ProgramBuilder("loop").Block("head").Load().Load().Branch("exit", "head").Block("exit").Exit().Build();
}

}  // namespace

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

v1::KernelProgram LargestProgram() {
  ProgramBuilder builder("large");
  builder.Block("all").Alu(static_cast<int>(kMaxInstructions) - 1).Exit();
  return builder.Build();
}

}  // namespace heddle::trace::testing
