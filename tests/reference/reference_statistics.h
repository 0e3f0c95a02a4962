// What the reference engine counts, and how it becomes a result.
#ifndef HEDDLE_TESTS_REFERENCE_REFERENCE_STATISTICS_H_
#define HEDDLE_TESTS_REFERENCE_REFERENCE_STATISTICS_H_

#include <array>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "proto/result.pb.h"

namespace heddle::replay {

// Where cycles go, closest to issue last (docs/reference/timing.md, section 5).
enum ReferenceClass {
  kReferenceEmpty,
  kReferenceExit,
  kReferenceBarrier,
  kReferencePolicy,
  kReferenceFetch,
  kReferenceControl,
  kReferenceData,
  kReferenceStructural,
  kReferenceIssue,
  kReferenceClasses
};
struct ReferenceCycleClasses {
  uint64_t total = 0;
  std::array<uint64_t, kReferenceClasses> cycles{};
  uint64_t data_memory = 0;
  uint64_t data_arithmetic = 0;
  uint64_t data_waw = 0;
  uint64_t paused = 0;  // of those of the policy
};

// Sums over the SMs of a launch; the names are those of result.proto.
struct ReferenceStatistics {
  uint64_t cycles = 0;
  uint64_t warp_instructions = 0;
  uint64_t thread_instructions = 0;
  uint64_t predicated_off = 0;
  uint64_t inserted_instructions = 0;
  uint64_t uniform_issues = 0;
  uint64_t mixed_issues = 0;
  uint64_t mixed_thread_instructions = 0;
  uint64_t extra_issues = 0;
  uint64_t barriers = 0;
  uint64_t scheduler_total = 0;
  uint64_t scheduler_issued = 0;
  uint64_t scheduler_stall = 0;
  uint64_t scheduler_memory = 0;
  uint64_t scheduler_idle = 0;
  uint64_t idle_cycles = 0;
  uint64_t idle_dependency = 0;
  uint64_t idle_barrier = 0;
  uint64_t idle_inactive = 0;
  uint64_t idle_reconverging = 0;
  uint64_t idle_finished = 0;
  uint64_t idle_ready = 0;
  uint64_t idle_paused = 0;           // of those that are ready
  uint64_t port_cycles = 0;           // cycles x ports of SMs with a resident block
  uint64_t busy_port_cycles = 0;      // of those, the ones in which an issue enters the pipeline
  ReferenceCycleClasses stalls;       // of ports; front end with instruction buffers
  ReferenceCycleClasses warp_cycles;  // of warps
  uint64_t fetches = 0;               // that hit
  uint64_t fetched_instructions = 0;  // that entered a buffer
  uint64_t dropped_instructions = 0;  // of those, dropped before they issued
  std::map<uint64_t, uint64_t> issues_by_size;
  std::map<std::string, uint64_t> divergence_counters;
  std::map<std::string, uint64_t> scheduler_counters;
  std::map<std::string, uint64_t> fetch_counters;
  std::map<std::string, uint64_t> memory_counters;
  bool without_scoreboard = false;  // warps are formed anew after every instruction
};

// Adds the counts of one SM; cycles and the policies' counters are left alone.
void Add(const ReferenceStatistics& own, ReferenceStatistics& sum);

// Fills every field of `result` that follows from counting; the rest (kernel, blocks, residency) is the caller's.
void FillResult(const ReferenceStatistics& statistics, int warp_size, result::v1::LaunchResult& result);

// FillResult for what is there only if threads recorded values of uniform registers.
void FillUniformValues(const ReferenceStatistics& statistics, result::v1::LaunchResult& result);

// FillResult for what only the front end with instruction buffers counts.
void FillBufferResult(const ReferenceStatistics& statistics, result::v1::LaunchResult& result);

// Adds launches one after another.
result::v1::Totals TotalOf(const std::vector<result::v1::LaunchResult>& launches, int warp_size);

}  // namespace heddle::replay

#endif  // HEDDLE_TESTS_REFERENCE_REFERENCE_STATISTICS_H_
