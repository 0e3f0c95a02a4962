// The micro-benchmarks of tools/hardware/benchmarks, on the model: what a machine does, whatever its fields say.
#ifndef HEDDLE_TOOLS_EXCHANGE_CARD_MODEL_BENCHMARKS_H_
#define HEDDLE_TOOLS_EXCHANGE_CARD_MODEL_BENCHMARKS_H_

#include <map>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "proto/machine.pb.h"

namespace heddle::tools {

// What the model says to one micro-benchmark with one setting of its parameters.
struct ModelBenchmark {
  std::string name;  // as in tools/hardware/benchmarks.json, with its unit
  std::string unit;
  std::map<std::string, std::string> parameter;
  double value = 0;  // above 0, if `why` is empty
  std::string why;   // why there is no value
};

// All benchmarks that the model can answer: latencies and rates of operations, latencies and bandwidths by level, bank
// conflicts, sectors, barriers, atomics, launches. Each is a synthetic kernel, replayed. Its beginning, until caches
// and queues are as they stay, is replayed alone and taken off. Whole cards are replayed with all their SMs, so this
// takes some seconds to a minute. `wanted`: names; only these are run; empty: all. InvalidArgument: a name that is
// none.
absl::StatusOr<std::vector<ModelBenchmark>> RunModelBenchmarks(const machine::v1::Machine& machine,
                                                               const std::vector<std::string>& wanted = {});

}  // namespace heddle::tools

#endif  // HEDDLE_TOOLS_EXCHANGE_CARD_MODEL_BENCHMARKS_H_
