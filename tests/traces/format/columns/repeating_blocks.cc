#include "tests/traces/format/columns/repeating_blocks.h"

#include <random>
#include <vector>

#include "tests/traces/program_builder.h"
#include "traces/format/write/writer.h"

namespace heddle::trace::testing {
namespace {

absl::Status AddBlock(TraceWriter& writer, uint64_t block, const RepeatingBlocks& options) {
  std::mt19937_64 random(block % options.different);
  std::vector<uint8_t> decisions(options.loads, 1);
  decisions.push_back(0);
  std::vector<std::vector<uint64_t>> addresses(options.threads);
  std::vector<ThreadRecord> records;
  for (std::vector<uint64_t>& thread : addresses) {
    uint64_t address = 0x10000;
    for (uint64_t i = 0; i < options.loads; ++i) thread.push_back(address += 4 * (random() % 64));
    records.push_back({decisions, thread});
  }
  return writer.AddBlock(block, records, TraceWriter::kNoExpectation);
}

}  // namespace

absl::Status WriteRepeatingBlocks(const std::string& path, const RepeatingBlocks& options) {
  auto writer = TraceWriter::Create(
      path, MakeHeader(),
      {.threads = options.writer_threads, .chunk_thread_instructions = options.chunk_thread_instructions});
  if (!writer.ok()) return writer.status();
  const auto program = (*writer)->AddProgram(ProgramBuilder("loads")
                                                 .Block("head")
                                                 .Alu()
                                                 .Branch("exit", "body")
                                                 .Block("body")
                                                 .Load()
                                                 .Jump("head")
                                                 .Block("exit")
                                                 .Exit()
                                                 .Build());
  if (!program.ok()) return program.status();
  for (int launch = 0; launch < 3; ++launch) {
    const bool abandoned = launch == 1;
    if (abandoned && !options.abandons) continue;
    absl::Status status = (*writer)->BeginLaunch(MakeLaunch(0, static_cast<uint32_t>(options.blocks), options.threads));
    for (uint64_t block = 0; status.ok() && block < options.blocks; ++block) {
      status = AddBlock(**writer, block, options);
    }
    if (status.ok()) status = abandoned ? (*writer)->AbandonLaunch() : (*writer)->EndLaunch();
    if (!status.ok()) return status;
  }
  return (*writer)->Finish();
}

}  // namespace heddle::trace::testing
