// A machine whose latencies and rates are those that micro-benchmarks measured on a card.
#ifndef HEDDLE_TOOLS_EXCHANGE_CARD_FIT_H_
#define HEDDLE_TOOLS_EXCHANGE_CARD_FIT_H_

#include <map>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "proto/hardware.pb.h"
#include "proto/machine.pb.h"
#include "tools/inputs/hardware_files.h"

namespace heddle::tools {

struct FittedMachine {
  machine::v1::Machine machine;                // has passed CheckMachine
  std::map<std::string, std::string> sources;  // by the path of a field that was set
  std::vector<std::string> notes;              // what was not fitted, and how well the rest was
  hardware::v1::Fit fit;
};

// `base` with what the visit says of the card and its micro-benchmarks (tools/hardware/benchmarks.json). Sizes and
// clocks are taken as they are. For a latency the model runs the same chain of instructions, and the field that stands
// for it is changed by the difference; levels from the core outwards. For a rate the field is computed. No kernel is
// used. InvalidArgument: no micro-benchmark that could be fitted; a machine that the model refuses, with the field.
absl::StatusOr<FittedMachine> FitMachine(const machine::v1::Machine& base, const std::string& name,
                                         const HardwareVisit& visit);

// The machine file: where it comes from, the notes, then the machine with the source of every value that was set.
std::string FitText(const FittedMachine& fitted);

}  // namespace heddle::tools

#endif  // HEDDLE_TOOLS_EXCHANGE_CARD_FIT_H_
