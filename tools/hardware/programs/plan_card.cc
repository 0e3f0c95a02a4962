// Runs plans on the card, one after the other in one process.
//
//   plan_card card          prints what card this is
//   plan_card run JOBS      does what each line of the file JOBS says:
//       NAME PLAN IMAGE CONTENTS RESULTS|- WARM_UPS REPETITIONS SECONDS LAUNCHES|-
//   RESULTS: a folder for the buffers after one run; REPETITIONS: timed runs, for at most SECONDS; LAUNCHES: numbers
//   with commas between them, of launches that a profiler is to see in a further run
//
// Prints JSON objects, one per line: {"begin": NAME}, then what was found, then {"end": NAME}. Exit status 2: wrong
// usage; 3: an error of the driver or of a kernel, which the last line tells.
#include <cstdio>
#include <fstream>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include "tools/hardware/programs/card.h"
#include "tools/hardware/programs/driver.h"
#include "tools/hardware/programs/json_line.h"
#include "tools/hardware/programs/plan.h"
#include "tools/hardware/programs/plan_run.h"

namespace heddle::hardware {
namespace {

struct Job {
  std::string name, plan, image, contents, results;
  int warm_ups = 0;
  int repetitions = 0;
  double seconds = 0;
  std::set<unsigned> profiled;
};

bool ReadJob(const std::string& line, Job* job) {
  std::istringstream in(line);
  std::string launches;
  if (!(in >> job->name >> job->plan >> job->image >> job->contents >> job->results >> job->warm_ups >>
        job->repetitions >> job->seconds >> launches)) {
    return false;
  }
  if (launches == "-") return true;
  std::istringstream numbers(launches);
  for (std::string word; std::getline(numbers, word, ',');) {
    job->profiled.insert(static_cast<unsigned>(std::stoul(word)));
  }
  return true;
}

// Returns what is wrong with the plan, or nothing.
std::string RunJob(const Job& job) {
  Plan plan;
  if (std::string error = ReadPlan(job.plan, &plan); !error.empty()) return error;
  PlanRun run(plan, job.image, job.contents);
  run.PrintFunctions();
  if (job.results != "-") {
    run.RunOnce();
    run.WriteResults(job.results);
    JsonLine().Text("results", job.results).Print();
  }
  if (job.repetitions > 0) run.Time(job.warm_ups, job.repetitions, job.seconds);
  if (!job.profiled.empty()) run.Profile(job.profiled);
  return "";
}

int Main(const std::vector<std::string>& words) {
  if (words.size() == 1 && words[0] == "card") {
    PrintCard();
    return 0;
  }
  if (words.size() != 2 || words[0] != "run") {
    std::fprintf(stderr, "usage: plan_card card | plan_card run JOBS\n");
    return 2;
  }
  std::ifstream in(words[1]);
  if (!in) {
    std::fprintf(stderr, "plan_card: %s: cannot be read\n", words[1].c_str());
    return 2;
  }
  UseFirstDevice();
  for (std::string line; std::getline(in, line);) {
    Job job;
    if (!ReadJob(line, &job)) {
      std::fprintf(stderr, "plan_card: is no job: %s\n", line.c_str());
      return 2;
    }
    JsonLine().Text("begin", job.name).Print();
    if (const std::string error = RunJob(job); !error.empty()) JsonLine().Text("error", error).Print();
    JsonLine().Text("end", job.name).Print();
  }
  return 0;
}

}  // namespace
}  // namespace heddle::hardware

int main(int argc, char** argv) { return heddle::hardware::Main(std::vector<std::string>(argv + 1, argv + argc)); }
