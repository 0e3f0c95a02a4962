// The micro-benchmarks of a visit to a card.
#ifndef HEDDLE_TOOLS_EXCHANGE_CARD_MEASURED_H_
#define HEDDLE_TOOLS_EXCHANGE_CARD_MEASURED_H_

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "proto/hardware.pb.h"

namespace heddle::tools {

// A micro-benchmark that has values, with one setting of its parameters.
struct Measured {
  std::string name;
  std::map<std::string, std::string> parameter;
  double median = 0;
  std::string text;  // "latency_l2 262.5 cycles (5 times, 261 to 264)"
};

// All settings of a benchmark that have values with a median above 0, in the order of the visit.
std::vector<Measured> AllMeasured(const hardware::v1::Visit& visit, const std::string& benchmark);

// The first of them whose parameters have the values that are asked for.
std::optional<Measured> FindMeasured(const hardware::v1::Visit& visit, const std::string& benchmark,
                                     const std::map<std::string, std::string>& parameters = {});

}  // namespace heddle::tools

#endif  // HEDDLE_TOOLS_EXCHANGE_CARD_MEASURED_H_
