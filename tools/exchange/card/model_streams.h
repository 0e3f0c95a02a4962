// Rates and bandwidths of the model: kernels that keep an SM, or all of them, as busy as they can be.
#ifndef HEDDLE_TOOLS_EXCHANGE_CARD_MODEL_STREAMS_H_
#define HEDDLE_TOOLS_EXCHANGE_CARD_MODEL_STREAMS_H_

#include <cstdint>

#include "absl/status/statusor.h"
#include "proto/machine.pb.h"
#include "proto/trace.pb.h"
#include "tools/exchange/card/synthetic_kernel.h"

namespace heddle::tools {

inline constexpr double kHertzPerMegahertz = 1e6;

// Cycles of the kernel less those of its first `warm_up` instructions alone. Errors: as ReplaySynthetic.
absl::StatusOr<uint64_t> CyclesBehind(const machine::v1::Machine& machine, const SyntheticKernel& kernel,
                                      uint64_t warm_up);

// Thread-instructions per cycle of an SM with 1,024 threads, or as many as it holds, of four independent chains each.
absl::StatusOr<double> OperationRate(const machine::v1::Machine& machine, trace::v1::OpClass op, const char* mnemonic);

// Loads of 16 bytes per thread, of one SM: from a footprint that its L1 has [bytes/cycle]; from shared memory
// [bytes/cycle]. From the L2 or from the DRAM, by one block of so many threads [bytes/second]. InvalidArgument: the
// machine has no such level, or no clock.
absl::StatusOr<double> L1Bandwidth(const machine::v1::Machine& machine);
absl::StatusOr<double> SharedBandwidth(const machine::v1::Machine& machine);
absl::StatusOr<double> BandwidthOfSm(const machine::v1::Machine& machine, uint32_t threads, bool from_l2);

// The same of all SMs together, past their L1 [bytes/second]: what the L2 has; what only the DRAM has, read, or read
// and written to another place.
absl::StatusOr<double> L2Bandwidth(const machine::v1::Machine& machine);
absl::StatusOr<double> DramBandwidth(const machine::v1::Machine& machine, bool copies);

}  // namespace heddle::tools

#endif  // HEDDLE_TOOLS_EXCHANGE_CARD_MODEL_STREAMS_H_
