// Runs both engines and compares everything they say.
#ifndef HEDDLE_TESTS_CONFORMANCE_COMPARISON_H_
#define HEDDLE_TESTS_CONFORMANCE_COMPARISON_H_

#include <cstdint>
#include <string>
#include <vector>

#include "google/protobuf/message.h"
#include "proto/machine.pb.h"
#include "tests/conformance/configurations.h"
#include "tests/conformance/issue_log.h"
#include "traces/format/read/reader.h"

namespace heddle::replay {

// Field by field, ratios up to rounding. Empty if equal.
std::string Difference(const google::protobuf::Message& engine, const google::protobuf::Message& reference);
// The first place where the logs part. Empty if equal.
std::string Difference(const std::vector<IssueEntry>& engine, const std::vector<IssueEntry>& reference);

struct ComparisonOptions {
  uint64_t cache_bytes = 256u << 20;
  bool force_tick = false;
};

// Replays under all configurations at once with the engine, one by one with the reference engine, and expects equal
// launch results, totals and issues. Those whose dispatcher gives single warps are left out: the reference has none.
void ExpectEqual(const trace::TraceReader& reader, const machine::v1::Machine& machine,
                 const std::vector<AcceptedConfiguration>& all, const ComparisonOptions& options = {});

// ExpectEqual before a scripted memory of this seed, which does whatever the interface of memories allows.
void ExpectEqualBeforeScriptedMemory(const trace::TraceReader& reader, const machine::v1::Machine& machine,
                                     const AcceptedConfiguration& configuration, uint64_t seed, bool force_tick);

}  // namespace heddle::replay

#endif  // HEDDLE_TESTS_CONFORMANCE_COMPARISON_H_
