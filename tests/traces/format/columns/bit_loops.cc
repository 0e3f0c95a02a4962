#include "tests/traces/format/columns/bit_loops.h"

#include <span>

#include "tests/traces/program_builder.h"
#include "traces/format/write/writer.h"

namespace heddle::trace::testing {
namespace {

struct BitThread {
  std::vector<uint8_t> decisions;
  std::vector<uint64_t> addresses;
  std::vector<size_t> addresses_before;  // each decision
};

BitThread ThreadOf(uint64_t thread, const BitLoopOptions& options) {
  BitThread out;
  const auto decide = [&](bool taken) {
    out.decisions.push_back(taken);
    out.addresses_before.push_back(out.addresses.size());
  };
  for (uint32_t round = 0; round < options.rounds; ++round) {
    const uint64_t element = thread + uint64_t{options.blocks} * options.threads * round;
    uint64_t load = 0;
    for (uint32_t bit = 0; bit < options.bits; ++bit) {
      const bool set = (element >> bit & 1) != 0;
      decide(set);
      if (set) out.addresses.push_back(options.address(thread, bit) + options.moved(thread, round, load++));
      decide(bit + 1 < options.bits);
    }
    out.addresses.push_back(0x900000000 + 4 * element);
    decide(round + 1 < options.rounds);
  }
  return out;
}

absl::Status AddBlock(TraceWriter& writer, uint64_t block, const std::vector<BitThread>& threads, uint32_t cut_behind) {
  std::vector<ThreadRecord> whole, first, second;
  for (const BitThread& thread : threads) {
    whole.push_back({thread.decisions, thread.addresses});
    if (cut_behind == 0) continue;
    const std::span<const uint8_t> decisions(thread.decisions);
    const std::span<const uint64_t> addresses(thread.addresses);
    const size_t before = thread.addresses_before[cut_behind - 1];
    first.push_back({decisions.first(cut_behind), addresses.first(before), false});
    second.push_back({decisions.subspan(cut_behind), addresses.subspan(before), true});
  }
  if (cut_behind == 0) return writer.AddBlock(block, whole, TraceWriter::kNoExpectation);
  std::vector<uint64_t> consumed(threads.size());
  if (absl::Status status = writer.AddBlockPart(block, first, false, consumed); !status.ok()) return status;
  return writer.AddBlockPart(block, second, true, consumed);
}

}  // namespace

v1::KernelProgram BitLoops() {
  return ProgramBuilder("bits")
      .Block("entry")
      .Alu()
      .Block("outer")
      .Alu()
      .Block("head")
      .Branch("next", "body")
      .Block("body")
      .Load()
      .Block("next")
      .Branch("after", "head")
      .Block("after")
      .Store()
      .Branch("exit", "outer")
      .Block("exit")
      .Exit()
      .Build();
}

absl::StatusOr<std::vector<uint64_t>> WriteBitLoops(const std::string& path, const BitLoopOptions& options) {
  auto writer = TraceWriter::Create(path, MakeHeader());
  if (!writer.ok()) return writer.status();
  if (auto program = (*writer)->AddProgram(BitLoops()); !program.ok()) return program.status();
  if (absl::Status status = (*writer)->BeginLaunch(MakeLaunch(0, options.blocks, options.threads)); !status.ok()) {
    return status;
  }
  std::vector<uint64_t> addresses;
  for (uint64_t block = 0; block < options.blocks; ++block) {
    std::vector<BitThread> threads;
    for (uint32_t t = 0; t < options.threads; ++t) {
      threads.push_back(ThreadOf(block * options.threads + t, options));
      addresses.insert(addresses.end(), threads.back().addresses.begin(), threads.back().addresses.end());
    }
    if (absl::Status status = AddBlock(**writer, block, threads, options.cut_behind); !status.ok()) return status;
  }
  if (absl::Status status = (*writer)->EndLaunch(); !status.ok()) return status;
  if (absl::Status status = (*writer)->Finish(); !status.ok()) return status;
  return addresses;
}

}  // namespace heddle::trace::testing
