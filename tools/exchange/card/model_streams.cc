#include "tools/exchange/card/model_streams.h"

#include <algorithm>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "tools/exchange/card/model_chain.h"
#include "traces/base/status_macros.h"

namespace heddle::tools {
namespace {

namespace v1 = trace::v1;
using machine::v1::Machine;

constexpr uint64_t kVectorBytes = 16;  // of a thread's load
constexpr uint32_t kMostThreads = 1024;
// Of a thread: loads that are started before the first result is used.
constexpr uint32_t kTogether = 4;
// Some ten times what a card takes: a machine with a clock that is far too slow would replay for hours.
constexpr uint64_t kMostCycles = 1'000'000;

uint32_t ThreadsOfBlock(const Machine& machine) { return std::min(kMostThreads, machine.core().max_threads()); }

uint64_t L2Bytes(const machine::v1::Hierarchy& memory) {
  const machine::v1::Cache& cache = memory.l2().cache();
  return uint64_t{memory.l2().slices_per_controller()} * memory.dram().controllers() * cache.sets() * cache.ways() *
         cache.line_bytes();
}

absl::StatusOr<double> PerSecond(const Machine& machine, double bytes, uint64_t cycles) {
  if (machine.clocks().core_mhz() == 0) {
    return absl::InvalidArgumentError(absl::StrCat("machine ", machine.name(), " does not say its clock"));
  }
  if (cycles == 0) return absl::InvalidArgumentError("it takes no time on this machine");
  return bytes / static_cast<double>(cycles) * machine.clocks().core_mhz() * kHertzPerMegahertz;
}

// Rounds of four loads and four instructions that use them. A store of each result follows if it `copies`.
class Stream {
 public:
  Stream(uint32_t blocks, uint32_t threads, uint64_t rounds, v1::MemorySpace space, bool copies)
      : of_round_((copies ? 2 : 1) * kTogether + kTogether) {
    kernel_.blocks = blocks;
    kernel_.most_cycles = kMostCycles;
    kernel_.threads = threads;
    const uint32_t sum = kTogether + 1, pointer = kTogether + 2;
    for (uint64_t round = 0; round < rounds; ++round) {
      for (uint32_t k = 1; k <= kTogether; ++k) {
        kernel_.instructions.push_back(SyntheticAccess(v1::OP_LOAD, space, kVectorBytes, k, pointer));
      }
      for (uint32_t k = 1; k <= kTogether; ++k) {
        v1::Instruction& use = kernel_.instructions.emplace_back(
            SyntheticOperation(v1::OP_INT_ALU, "add.u32", copies ? k : sum, copies ? k : sum));
        if (!copies) use.add_src(k);
      }
      for (uint32_t k = 1; copies && k <= kTogether; ++k) {
        kernel_.instructions.push_back(SyntheticAccess(v1::OP_STORE, space, kVectorBytes, 0, k));
      }
    }
  }

  // The place of vector k of a round, by block, thread and round. Stores go `apart` bytes behind the load of the same
  // k.
  template <typename Place>
  SyntheticKernel& At(uint64_t apart, const Place& place) {
    kernel_.address = [of_round = of_round_, apart, place](uint32_t block, uint32_t thread, uint64_t instruction) {
      const uint64_t within = instruction % of_round;
      const bool stores = within >= 2 * kTogether;
      return place(block, thread, instruction / of_round, within % kTogether) + (stores ? apart : 0);
    };
    return kernel_;
  }

  uint64_t InstructionsOf(uint64_t rounds) const { return rounds * of_round_; }

 private:
  uint64_t of_round_;
  SyntheticKernel kernel_;
};

}  // namespace

absl::StatusOr<uint64_t> CyclesBehind(const Machine& machine, const SyntheticKernel& kernel, uint64_t warm_up) {
  SyntheticKernel beginning = kernel;
  beginning.instructions.resize(std::min<size_t>(warm_up, beginning.instructions.size()));
  HEDDLE_ASSIGN_OR_RETURN(const result::v1::Result all, ReplaySynthetic(machine, kernel));
  HEDDLE_ASSIGN_OR_RETURN(const result::v1::Result first, ReplaySynthetic(machine, beginning));
  return all.total().cycles() - std::min(all.total().cycles(), first.total().cycles());
}

absl::StatusOr<double> OperationRate(const Machine& machine, v1::OpClass op, const char* mnemonic) {
  constexpr uint64_t kWarmUp = 64, kCount = 256;
  constexpr uint32_t kChains = 4;
  SyntheticKernel kernel;
  kernel.threads = ThreadsOfBlock(machine);
  for (uint32_t i = 0; i < kWarmUp + kCount; ++i) {
    const uint32_t chain = 1 + i % kChains;
    kernel.instructions.push_back(SyntheticOperation(op, mnemonic, chain, chain));
  }
  HEDDLE_ASSIGN_OR_RETURN(const uint64_t cycles, CyclesBehind(machine, kernel, kWarmUp));
  if (cycles == 0) return absl::InvalidArgumentError("it takes no time on this machine");
  return static_cast<double>(kCount * kernel.threads) / static_cast<double>(cycles);
}

absl::StatusOr<double> L1Bandwidth(const Machine& machine) {
  HEDDLE_ASSIGN_OR_RETURN(const machine::v1::Hierarchy memory, HierarchyOf(machine));
  const machine::v1::Cache& l1 = memory.l1_data();
  if (l1.sets() == 0)
    return absl::InvalidArgumentError(absl::StrCat("machine ", machine.name(), " has no L1 data cache"));
  const uint64_t l1_bytes = uint64_t{l1.sets()} * l1.ways() * l1.line_bytes();
  const uint64_t footprint = std::min<uint64_t>(64 << 10, l1_bytes / 2);
  const uint32_t threads = ThreadsOfBlock(machine);
  constexpr uint64_t kWarmUp = 4, kRounds = 32;
  Stream stream(1, threads, kWarmUp + kRounds, v1::SPACE_GLOBAL, false);
  const SyntheticKernel& kernel = stream.At(0, [=](uint32_t, uint32_t thread, uint64_t, uint64_t k) {
    return kSyntheticGlobalBase + (k * threads + thread) * kVectorBytes % footprint;
  });
  HEDDLE_ASSIGN_OR_RETURN(const uint64_t cycles, CyclesBehind(machine, kernel, stream.InstructionsOf(kWarmUp)));
  if (cycles == 0) return absl::InvalidArgumentError("it takes no time on this machine");
  return static_cast<double>(kRounds * kTogether * threads * kVectorBytes) / static_cast<double>(cycles);
}

absl::StatusOr<double> SharedBandwidth(const Machine& machine) {
  HEDDLE_RETURN_IF_ERROR(HierarchyOf(machine).status());
  const uint32_t threads = ThreadsOfBlock(machine);
  constexpr uint64_t kWarmUp = 4, kRounds = 32;
  Stream stream(1, threads, kWarmUp + kRounds, v1::SPACE_SHARED, false);
  const SyntheticKernel& kernel = stream.At(
      0, [](uint32_t, uint32_t thread, uint64_t, uint64_t) { return kSyntheticSharedBase + thread * kVectorBytes; });
  HEDDLE_ASSIGN_OR_RETURN(const uint64_t cycles, CyclesBehind(machine, kernel, stream.InstructionsOf(kWarmUp)));
  if (cycles == 0) return absl::InvalidArgumentError("it takes no time on this machine");
  return static_cast<double>(kRounds * kTogether * threads * kVectorBytes) / static_cast<double>(cycles);
}

absl::StatusOr<double> BandwidthOfSm(const Machine& machine, uint32_t threads, bool from_l2) {
  HEDDLE_ASSIGN_OR_RETURN(const machine::v1::Hierarchy memory, HierarchyOf(machine));
  threads = std::min(threads, ThreadsOfBlock(machine));
  const machine::v1::Cache& l1 = memory.l1_data();
  const uint64_t l1_bytes = uint64_t{l1.sets()} * l1.ways() * l1.line_bytes();
  const uint64_t of_round = uint64_t{threads} * kTogether * kVectorBytes;
  // What the L2 has is read twice: the second time through the same, which the L1 has lost by then.
  const uint64_t least = from_l2 ? 2 * l1_bytes : uint64_t{1} << 18;
  const uint64_t rounds = std::max<uint64_t>(16, (least + of_round - 1) / of_round);
  if (from_l2 && rounds * of_round > L2Bytes(memory)) {
    return absl::InvalidArgumentError(
        absl::StrCat("machine ", machine.name(), " has no L2 that is larger than the L1"));
  }
  Stream stream(1, threads, 2 * rounds, v1::SPACE_GLOBAL, false);
  if (stream.InstructionsOf(2 * rounds) > kMostSyntheticInstructions) {
    return absl::InvalidArgumentError(absl::StrCat("machine ", machine.name(), ": its L1 is too large for one warp"));
  }
  const uint64_t times = from_l2 ? rounds : 2 * rounds;
  const SyntheticKernel& kernel = stream.At(0, [=](uint32_t, uint32_t thread, uint64_t round, uint64_t k) {
    return kSyntheticGlobalBase + ((round % times * kTogether + k) * threads + thread) * kVectorBytes;
  });
  HEDDLE_ASSIGN_OR_RETURN(const uint64_t cycles, CyclesBehind(machine, kernel, stream.InstructionsOf(rounds)));
  return PerSecond(machine, static_cast<double>(rounds * of_round), cycles);
}

absl::StatusOr<double> L2Bandwidth(const Machine& machine) {
  HEDDLE_ASSIGN_OR_RETURN(const machine::v1::Hierarchy memory, HierarchyOf(machine));
  if (memory.l2().slices_per_controller() == 0) {
    return absl::InvalidArgumentError(absl::StrCat("machine ", machine.name(), " has no L2"));
  }
  const uint32_t threads = std::min(kMostThreads, machine.core().max_threads() / 2);
  const uint32_t blocks = 2 * machine.sms();
  const uint64_t footprint = std::min<uint64_t>(16 << 20, L2Bytes(memory) / 2) / kVectorBytes * kVectorBytes;
  const uint64_t of_round = uint64_t{blocks} * threads * kTogether * kVectorBytes;
  // Once from the DRAM, and once from the L2: SMs are as far apart then as they stay.
  const uint64_t through = (footprint + of_round - 1) / of_round;
  const uint64_t warm_up = 2 * through + 1, rounds = 2 * through + 2;
  Stream stream(blocks, threads, warm_up + rounds, v1::SPACE_GLOBAL, false);
  // Each round a block reads what a block of another SM has read before, so that its own L1 does not have it.
  const SyntheticKernel& kernel = stream.At(0, [=](uint32_t block, uint32_t thread, uint64_t round, uint64_t k) {
    const uint64_t place = (block + 7 * round) % blocks;
    const uint64_t vector = ((round * kTogether + k) * blocks + place) * threads + thread;
    return kSyntheticGlobalBase + vector * kVectorBytes % footprint;
  });
  HEDDLE_ASSIGN_OR_RETURN(const uint64_t cycles, CyclesBehind(machine, kernel, stream.InstructionsOf(warm_up)));
  return PerSecond(machine, static_cast<double>(rounds * of_round), cycles);
}

absl::StatusOr<double> DramBandwidth(const Machine& machine, bool copies) {
  HEDDLE_ASSIGN_OR_RETURN(const machine::v1::Hierarchy memory, HierarchyOf(machine));
  if (memory.ideal_beyond_l1_cycles() != 0) {
    return absl::InvalidArgumentError(absl::StrCat("machine ", machine.name(), " has no DRAM"));
  }
  const uint32_t threads = std::min(kMostThreads, machine.core().max_threads() / 2);
  const uint32_t blocks = 2 * machine.sms();
  const uint64_t of_round = uint64_t{blocks} * threads * kTogether * kVectorBytes;
  // Everything is touched once. Lines that were written stay in the L2 until it is full: copies warm up for so long.
  const uint64_t warm_up = copies ? 1 + L2Bytes(memory) / 2 / of_round : 1;
  const uint64_t rounds = std::max<uint64_t>(2, (copies ? 24 << 20 : 48 << 20) / of_round);
  Stream stream(blocks, threads, warm_up + rounds, v1::SPACE_GLOBAL, copies);
  const uint64_t apart = (warm_up + rounds) * of_round;
  const SyntheticKernel& kernel = stream.At(apart, [=](uint32_t block, uint32_t thread, uint64_t round, uint64_t k) {
    const uint64_t vector = ((round * kTogether + k) * blocks + block) * threads + thread;
    return kSyntheticGlobalBase + vector * kVectorBytes;
  });
  HEDDLE_ASSIGN_OR_RETURN(const uint64_t cycles, CyclesBehind(machine, kernel, stream.InstructionsOf(warm_up)));
  return PerSecond(machine, static_cast<double>((copies ? 2 : 1) * rounds * of_round), cycles);
}

}  // namespace heddle::tools
