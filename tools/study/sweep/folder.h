// A sweep on disk:
//
//   plan.json              what points share: traces with their digests, parameters, design, model version (Plan)
//   points.jsonl           one point per line; a point's number is that of its line, from 0
//   machines/              the user's machine files, as they were when the sweep was planned
//   results/ab/KEY.json    results, ab = the key's first two digits; one line: key, point, and the replay's result
//   failed/KEY.json        points that cannot be run, with the reason
//   lock                   byte ranges that processes hold while they run a point; its contents do not matter
#ifndef HEDDLE_TOOLS_STUDY_SWEEP_FOLDER_H_
#define HEDDLE_TOOLS_STUDY_SWEEP_FOLDER_H_

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_set.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "tools/inputs/policy_library.h"
#include "tools/study/sweep/point.h"
#include "traces/base/number_ranges.h"

namespace heddle::tools::sweep {

inline constexpr uint32_t kPlanSchema = 1;

struct PlannedTrace {
  std::string name;  // file name without ending
  std::string path;  // as found from the sweep's folder: relative to it, unless it is on another root
  std::string digest;
  uint64_t thread_instructions = 0;  // of all recorded launches
};

struct PlannedParameter {
  std::string name;
  std::vector<std::string> levels;
};

// A shared library with policies that points are run with; its path is as found from the sweep's folder, like a
// trace's.
using PlannedLibrary = NamedLibrary;

struct Plan {
  std::string name;
  std::string description;
  std::string model_version;
  std::string design;  // name of the Design
  uint64_t points = 0;
  std::string points_digest;  // SHA-256 of points.jsonl
  std::vector<PlannedTrace> traces;
  std::vector<PlannedLibrary> libraries;
  std::vector<PlannedParameter> parameters;
  RunSettings settings;
  std::vector<std::pair<std::string, uint64_t>> left_out;  // reasons, and how many points each concerns
  std::vector<std::string> notes;                          // for who plans it; not in plan.json

  // The trace of that name; null if there is none.
  const PlannedTrace* FindTrace(std::string_view trace) const;
};

nlohmann::ordered_json PlanJson(const Plan& plan);

// A point with its place in points.jsonl.
struct NumberedPoint {
  uint64_t number = 0;
  Point point;
};

class SweepFolder {
 public:
  // Reads the plan. Refuses a folder without one, and plans of another schema.
  static absl::StatusOr<SweepFolder> Open(const std::string& path);
  // The folder of a sweep that is being planned; nothing is read.
  explicit SweepFolder(std::string path) : path_(std::move(path)) {}

  const std::string& path() const { return path_; }
  const Plan& plan() const { return plan_; }

  std::string PlanFile() const { return path_ + "/plan.json"; }
  std::string PointsFile() const { return path_ + "/points.jsonl"; }
  std::string MachinesFolder() const { return path_ + "/machines"; }
  std::string LockFile() const { return path_ + "/lock"; }
  std::string ResultFile(absl::string_view key) const;
  std::string FailureFile(absl::string_view key) const;
  std::string TracePath(const PlannedTrace& trace) const;
  // The libraries of policies, with their paths from the present folder.
  std::vector<NamedLibrary> Libraries() const;
  // What LoadMachine takes for the machine of a point.
  std::string MachineName(const Point& point) const;

  // The points with these numbers, in order. Refuses a file that is not the plan's, damaged lines, and numbers beyond
  // the last point (unless the range is open).
  absl::StatusOr<std::vector<NumberedPoint>> Points(const NumberRanges& numbers) const;

  // Keys that have a file in results/ (in failed/).
  absl::StatusOr<absl::flat_hash_set<std::string>> Results() const;
  absl::StatusOr<absl::flat_hash_set<std::string>> Failures() const;

  // That what a run writes stays in the folder, which may come from elsewhere: FailedPrecondition if results/, failed/
  // or a folder in them is a link that leads out of it.
  absl::Status CheckNoLinksOut() const;

  // The reason in failed/KEY.json.
  absl::StatusOr<std::string> FailureReason(absl::string_view key) const;

 private:
  std::string path_;
  Plan plan_;
};

// What a sweep may be called: letters, digits, '_', '-', '.', at least one. It goes into the scripts of jobs.
bool IsSweepName(std::string_view name);

// The path as found from the folder: relative to it, unless it is on another root.
std::string PathFrom(const std::string& folder, const std::string& path);

// All libraries of policies that are loaded, for a plan in the folder.
std::vector<PlannedLibrary> LoadedLibraries(const std::string& folder);

// The whole file. NotFound with the system's reason.
absl::StatusOr<std::string> ReadWholeFile(const std::string& path);

// Writes `text` to `temporary`, flushes it to the disk, renames it to `path` (in the same folder) and flushes the
// folder: the name appears with all of its contents or not at all, whenever the program or the machine stops. Creates
// the folder. Errors name the file and the system's reason; the temporary file is removed.
absl::Status WriteDurably(const std::string& path, const std::string& temporary, std::string_view text);

}  // namespace heddle::tools::sweep

#endif  // HEDDLE_TOOLS_STUDY_SWEEP_FOLDER_H_
