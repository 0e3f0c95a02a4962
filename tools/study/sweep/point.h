// One point of a sweep: one replay.
#ifndef HEDDLE_TOOLS_STUDY_SWEEP_POINT_H_
#define HEDDLE_TOOLS_STUDY_SWEEP_POINT_H_

#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "proto/machine.pb.h"
#include "replay/engine/replay.h"

namespace heddle::tools::sweep {

// A line of points.jsonl. Policies are texts as on the command line.
struct Point {
  std::string key;      // SHA-256 in hexadecimal, see KeyOf
  std::string trace;    // name of one of the plan's traces
  std::string kernels;  // regular expression; empty = all
  std::string machine;  // a name, or NAME.textproto in the sweep's folder machines/
  std::string divergence;
  std::string scheduler;
  std::string dispatch;
  std::string fetch;
  std::string memory;
  std::vector<std::string> set;  // assignments to fields of the machine, in order
  uint64_t seed = 0;
  std::vector<std::pair<std::string, std::string>> parameters;  // name of the parameter, its value or level
};

// What a result repeats of its point: all but the key.
nlohmann::ordered_json PointJson(const Point& point);
// The line without its end.
std::string PointLine(const Point& point);
// DataLoss if the line is none.
absl::StatusOr<Point> ParsePoint(std::string_view line);

replay::Configuration ConfigurationOf(const Point& point);

// What all points of a plan share and results depend on.
struct RunSettings {
  uint64_t max_cycles = 0;
  replay::LaunchRule launch_rule = replay::LaunchRule::kInOrder;
  replay::MetricOptions metrics;
  std::vector<std::string> registers;  // as `heddle replay --registers` takes them
};

// The policies of a configuration with the value of every parameter they have, defaults included, and the digest of
// their code if that is not the tree's, one line each: texts that mean the same give the same lines. A machine without
// instruction buffers has no line of a fetch policy, and one without a data cache none of a memory policy.
std::string CanonicalPolicies(const replay::CheckedConfiguration& configuration, const machine::v1::Machine& machine);

// SHA-256 of the machine in Protocol Buffers' deterministic encoding.
std::string MachineDigest(const machine::v1::Machine& machine);

// The key of a point: SHA-256 of lines with the model's version, the trace's digest, the kernels, the machine's digest,
// the canonical policies, the seed, and the settings.
std::string KeyOf(absl::string_view trace_digest, absl::string_view kernels, absl::string_view machine_digest,
                  absl::string_view canonical_policies, uint64_t seed, const RunSettings& settings);

}  // namespace heddle::tools::sweep

#endif  // HEDDLE_TOOLS_STUDY_SWEEP_POINT_H_
