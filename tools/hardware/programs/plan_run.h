// Runs a plan's launches on the card: for its output, for times, and under a profiler.
#ifndef HEDDLE_TOOLS_HARDWARE_PROGRAMS_PLAN_RUN_H_
#define HEDDLE_TOOLS_HARDWARE_PROGRAMS_PLAN_RUN_H_

#include <set>
#include <string>
#include <vector>

#include "tools/hardware/programs/driver.h"
#include "tools/hardware/programs/plan.h"

namespace heddle::hardware {

// Device code and memory of one plan. Every error ends the program (driver.h).
class PlanRun {
 public:
  // `image`: a file with a cubin or with PTX. `contents`: the folder that `plan_host make` has written.
  PlanRun(const Plan& plan, const std::string& image, const std::string& contents);
  ~PlanRun();
  PlanRun(const PlanRun&) = delete;
  PlanRun& operator=(const PlanRun&) = delete;

  // Prints registers and memory of every kernel, one JSON object each.
  void PrintFunctions() const;
  // Runs all launches once, from the contents before the first one.
  void RunOnce();
  // Writes what the last run has left into files.
  void WriteResults(const std::string& folder) const;
  // Repeats the run for at most so many repetitions and seconds, at least once, and prints the time of every launch in
  // every repetition between two events. `warm_ups` runs in front are not timed.
  void Time(int warm_ups, int repetitions, double seconds);
  // Runs once, and lets a profiler see the launches with these numbers; prints which ones those were.
  void Profile(const std::set<unsigned>& launches);

  unsigned launches() const { return launches_; }

 private:
  struct DeviceBuffer {
    CUdeviceptr work = 0;
    CUdeviceptr kept = 0;  // contents before the first launch; 0 if no kernel changes them
    size_t bytes = 0;
  };

  CUdeviceptr AddressOf(const std::string& buffer) const;
  void Restore();
  void SetSymbols(const PlanLaunch& launch);
  void Launch(const PlanLaunch& launch);
  // Calls `before` and `after` around each launch, with its number.
  template <typename Before, typename After>
  void ForEachLaunch(Before before, After after);

  const Plan& plan_;
  CUmodule module_ = nullptr;
  std::vector<CUfunction> functions_;                // by launch of the plan
  std::vector<DeviceBuffer> buffers_;                // by buffer of the plan
  std::vector<std::string> symbols_;                 // bytes, by symbol of the plan
  std::vector<std::vector<std::string>> arguments_;  // bytes, by launch and argument
  unsigned launches_ = 0;                            // with repetitions
};

}  // namespace heddle::hardware

#endif  // HEDDLE_TOOLS_HARDWARE_PROGRAMS_PLAN_RUN_H_
