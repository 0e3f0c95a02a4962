// Replays a trace and checks every launch by every rule.
#ifndef HEDDLE_TESTS_CONFORMANCE_CHECKED_REPLAY_H_
#define HEDDLE_TESTS_CONFORMANCE_CHECKED_REPLAY_H_

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "proto/machine.pb.h"
#include "tests/conformance/configurations.h"
#include "traces/format/read/reader.h"

namespace heddle::replay {

// Replays `reader` under all configurations at once and expects that every launch of each keeps every rule. Adds the
// counters of the policies to `counters`, as "policy.counter".
void ExpectRulesKept(const trace::TraceReader& reader, const machine::v1::Machine& machine,
                     const std::vector<AcceptedConfiguration>& configurations,
                     std::map<std::string, uint64_t>* counters = nullptr);

}  // namespace heddle::replay

#endif  // HEDDLE_TESTS_CONFORMANCE_CHECKED_REPLAY_H_
