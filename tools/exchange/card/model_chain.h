// The micro-benchmarks of latencies, on the model: chains of dependent instructions of one thread.
#ifndef HEDDLE_TOOLS_EXCHANGE_CARD_MODEL_CHAIN_H_
#define HEDDLE_TOOLS_EXCHANGE_CARD_MODEL_CHAIN_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "proto/machine.pb.h"
#include "proto/trace.pb.h"

namespace heddle::tools {

// What one thread does: the same instruction again and again, each of which needs the result of the one before.
struct Chain {
  trace::v1::OpClass op = trace::v1::OP_LOAD;
  std::string mnemonic = "ld.u64";
  trace::v1::MemorySpace space = trace::v1::SPACE_NONE;  // of loads
  uint64_t instructions = 0;                             // for operations without an address
  std::vector<uint64_t> addresses;                       // of loads: one for each
  uint64_t warm_up = 0;  // of the instructions, those that come before the ones that count
  uint32_t blocks = 1;   // of a cluster, each of one thread; more than one: addresses are those of the next block
};

// Loads that the L1 has; that the L2 has and the L1 has not; that only the DRAM has; all over a footprint, a line of
// 128 bytes apart; of shared memory; atomics on one word of global or shared memory; loads of shared memory of the
// other block of a cluster of two; and operations. What counts are some hundred instructions after a warm-up.
// InvalidArgument: the machine has no such level.
absl::StatusOr<Chain> L1Chain(const machine::v1::Machine& machine);
absl::StatusOr<Chain> L2Chain(const machine::v1::Machine& machine);
absl::StatusOr<Chain> DramChain(const machine::v1::Machine& machine);
absl::StatusOr<Chain> FootprintChain(const machine::v1::Machine& machine, uint64_t bytes);
absl::StatusOr<Chain> SharedChain(const machine::v1::Machine& machine);
absl::StatusOr<Chain> AtomicChain(const machine::v1::Machine& machine, trace::v1::MemorySpace space);
absl::StatusOr<Chain> ClusterChain(const machine::v1::Machine& machine);
Chain OperationChain(trace::v1::OpClass op, const std::string& mnemonic);

// The machine's memory beyond the core. InvalidArgument: it has fixed latencies.
absl::StatusOr<machine::v1::Hierarchy> HierarchyOf(const machine::v1::Machine& machine);

// Cycles from one instruction of the chain to the next, as the machine's replay has them: a replay of all instructions
// less one of the warm-up, by their number. Errors: those of the replay; no room for a temporary file.
absl::StatusOr<double> CyclesPerLink(const machine::v1::Machine& machine, const Chain& chain);

// Cycles of a launch of one thread that does nothing. Errors: as above.
absl::StatusOr<double> EmptyLaunchCycles(const machine::v1::Machine& machine);

}  // namespace heddle::tools

#endif  // HEDDLE_TOOLS_EXCHANGE_CARD_MODEL_CHAIN_H_
