#include "tools/study/report/study.h"

#include <google/protobuf/descriptor.h>

#include <algorithm>
#include <map>
#include <numeric>
#include <set>
#include <tuple>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "tools/console/table.h"
#include "tools/show/run_labels.h"
#include "traces/base/status_macros.h"
#include "traces/format/program/kernel_name.h"

namespace heddle::tools {
namespace {

using google::protobuf::FieldDescriptor;
using google::protobuf::Message;
using google::protobuf::Reflection;
using result::v1::LaunchResult;
using result::v1::PolicyChoice;
using result::v1::Result;

// Adds all counters: 64-bit integers, lists of them element by element, and those of messages within. Everything else
// stays as it is.
void AddCounters(const Message& from, Message& to) {
  const Reflection& reflection = *from.GetReflection();
  const google::protobuf::Descriptor& type = *from.GetDescriptor();
  for (int i = 0; i < type.field_count(); ++i) {
    const FieldDescriptor& field = *type.field(i);
    if (field.is_map()) continue;
    if (field.cpp_type() == FieldDescriptor::CPPTYPE_UINT64 && !field.is_repeated()) {
      reflection.SetUInt64(&to, &field, reflection.GetUInt64(to, &field) + reflection.GetUInt64(from, &field));
    } else if (field.cpp_type() == FieldDescriptor::CPPTYPE_UINT64) {
      for (int k = 0; k < reflection.FieldSize(from, &field); ++k) {
        const uint64_t more = reflection.GetRepeatedUInt64(from, &field, k);
        if (k == reflection.FieldSize(to, &field)) reflection.AddUInt64(&to, &field, 0);
        reflection.SetRepeatedUInt64(&to, &field, k, reflection.GetRepeatedUInt64(to, &field, k) + more);
      }
    } else if (field.cpp_type() == FieldDescriptor::CPPTYPE_MESSAGE && !field.is_repeated() &&
               reflection.HasField(from, &field)) {
      AddCounters(reflection.GetMessage(from, &field), *reflection.MutableMessage(&to, &field));
    }
  }
}

// Adds counters of a policy's own, or takes the largest of those that do not add up.
void AddMap(const google::protobuf::Map<std::string, uint64_t>& from, const PolicyChoice& policy,
            google::protobuf::Map<std::string, uint64_t>& to) {
  const auto& largest = policy.largest();
  for (const auto& [name, count] : from) {
    uint64_t& of_all = to[name];
    const bool adds_up = std::find(largest.begin(), largest.end(), name) == largest.end();
    of_all = adds_up ? of_all + count : std::max(of_all, count);
  }
}

// `run`: the result that the launch is of, or one with the same policies.
void AddLaunch(const LaunchResult& from, const Result& run, LaunchResult& to) {
  AddCounters(from, to);
  AddMap(from.divergence_counter(), run.divergence(), *to.mutable_divergence_counter());
  AddMap(from.scheduler_counter(), run.scheduler(), *to.mutable_scheduler_counter());
  AddMap(from.fetch_counter(), run.fetch(), *to.mutable_fetch_counter());
  AddMap(from.dispatch_counter(), run.dispatch(), *to.mutable_dispatch_counter());
  AddMap(from.memory_counter(), run.memory(), *to.mutable_memory_counter());
}

std::string PolicyKey(const PolicyChoice& choice) {
  const std::map<std::string, std::string> sorted(choice.parameter().begin(), choice.parameter().end());
  return absl::StrCat(choice.name(), ":", absl::StrJoin(sorted, ",", absl::PairFormatter("=")));
}

std::string MachineKey(const Result& result) {
  // The noise is part of the machine but not of its identity: the seeds of a run share it anyway.
  return absl::StrCat(result.provenance().machine().name(), "\n", absl::StrJoin(result.provenance().override(), "\n"));
}

std::string RunKey(const Result& result) {
  return absl::StrJoin({MachineKey(result), PolicyKey(result.divergence()), PolicyKey(result.scheduler()),
                        PolicyKey(result.dispatch()), PolicyKey(result.fetch()), PolicyKey(result.memory())},
                       "\n\n");
}

std::string Stem(const std::string& trace) {
  const size_t dot = trace.rfind(".htrace");
  return dot == std::string::npos || dot == 0 ? trace : trace.substr(0, dot);
}

// Names that are short and all different: the trace's, with the kernel's where a trace has several, with the trace's
// digest where several traces have one name.
void NameKernels(std::vector<Study::Kernel>& kernels) {
  std::map<std::string, std::set<std::string>> of_digest;  // kernels
  std::map<std::string, std::set<std::string>> of_name;    // digests
  for (const Study::Kernel& kernel : kernels) {
    of_digest[kernel.digest].insert(kernel.kernel);
    of_name[kernel.trace].insert(kernel.digest);
  }
  for (Study::Kernel& kernel : kernels) {
    kernel.name = Stem(kernel.trace);
    if (kernel.name.empty()) kernel.name = trace::ShortKernelName(kernel.kernel);
    if (of_name[kernel.trace].size() > 1) absl::StrAppend(&kernel.name, "@", kernel.digest.substr(0, 6));
    if (of_digest[kernel.digest].size() > 1) absl::StrAppend(&kernel.name, "/", trace::ShortKernelName(kernel.kernel));
  }
  // Instances of a template can share the short name.
  std::map<std::string, int> uses, seen;
  for (const Study::Kernel& kernel : kernels) ++uses[kernel.name];
  for (Study::Kernel& kernel : kernels) {
    if (uses[kernel.name] > 1) absl::StrAppend(&kernel.name, " #", ++seen[kernel.name]);
  }
}

// Puts results into a study one after the other.
class Sorter {
 public:
  explicit Sorter(const std::vector<Result>& results) : results_(results) {}

  absl::StatusOr<Study> Sort() {
    MakeRuns();
    for (const Result& result : results_) {
      HEDDLE_RETURN_IF_ERROR(Add(result));
    }
    NameKernels(study_.kernels);
    for (Study::Cell& cell : study_.cells) Finish(cell);
    std::sort(study_.cells.begin(), study_.cells.end(), [](const Study::Cell& a, const Study::Cell& b) {
      return std::tie(a.kernel, a.run) < std::tie(b.kernel, b.run);
    });
    return std::move(study_);
  }

 private:
  void MakeRuns() {
    // Runs of a machine together, in the order in which they appear.
    std::map<std::string, size_t> machines;
    std::vector<std::vector<Row>> rows_of_machine;
    std::set<std::string> known;
    for (size_t i = 0; i < results_.size(); ++i) {
      const Result& result = results_[i];
      const auto [machine, new_machine] = machines.emplace(MachineKey(result), machines.size());
      if (new_machine) {
        rows_of_machine.emplace_back();
        const auto& overrides = result.provenance().override();
        study_.machines.push_back({absl::StrCat(result.provenance().machine().name(), overrides.empty() ? "" : " ",
                                                absl::StrJoin(overrides, " ")),
                                   &result.provenance().machine()});
      }
      if (known.insert(RunKey(result)).second) rows_of_machine[machine->second].push_back({i, 1});
    }
    // Labels tell the runs of one machine apart: a machine without instruction buffers has no fetch policy to name.
    for (size_t machine = 0; machine < rows_of_machine.size(); ++machine) {
      const std::vector<Row>& rows = rows_of_machine[machine];
      const Labels labels = LabelRuns(results_, rows);
      study_.machines[machine].baseline = study_.runs.size() + Baseline(results_, rows);
      for (size_t row = 0; row < rows.size(); ++row) {
        const Result& result = results_[rows[row].first];
        run_of_[RunKey(result)] = study_.runs.size();
        study_.runs.push_back({labels.divergence[row], labels.scheduler[row], labels.dispatch[row], labels.fetch[row],
                               labels.memory[row], absl::StrJoin(labels.Cells(row), " "), machine, &result});
      }
    }
  }

  absl::Status Add(const Result& result) {
    for (const std::string& note : result.note()) {
      if (std::find(study_.notes.begin(), study_.notes.end(), note) == study_.notes.end()) study_.notes.push_back(note);
    }
    if (result.launch().empty()) {
      return absl::InvalidArgumentError(
          absl::StrCat("a result of trace ", result.provenance().trace_name(), " has no launch: nothing can be shown"));
    }
    const size_t run = run_of_.at(RunKey(result));
    const uint64_t seed = result.provenance().seed();
    // A result has launches of one or several kernels of the trace; each kernel takes its own.
    std::vector<std::pair<std::string, std::vector<const LaunchResult*>>> kernels;
    for (const LaunchResult& launch : result.launch()) {
      const auto own =
          std::find_if(kernels.begin(), kernels.end(), [&](const auto& one) { return one.first == launch.kernel(); });
      if (own == kernels.end()) {
        kernels.push_back({launch.kernel(), {&launch}});
      } else {
        own->second.push_back(&launch);
      }
    }
    bool known = false;
    for (const auto& [name, launches] : kernels) {
      uint64_t cycles = 0;
      for (const LaunchResult* launch : launches) cycles += launch->cycles();
      const size_t kernel = KernelOf(result, name);
      const auto [before, is_new] = cycles_of_.emplace(std::tuple(kernel, run, seed), cycles);
      if (is_new) {
        Study::Cell& cell = CellOf(kernel, run);
        cell.seeds.push_back(seed);
        cell.cycles.push_back(cycles);
        if (cell.seeds.size() == 1) cell.launches = launches;
      } else if (before->second == cycles) {
        known = true;
      } else {
        return absl::InvalidArgumentError(
            absl::StrCat("two results of ", trace::ShortKernelName(name), " in trace ",
                         result.provenance().trace_name(), ", ", study_.runs[run].name, " on ",
                         study_.machines[study_.runs[run].machine].name, " differ: ", before->second, " and ", cycles,
                         " cycles; they are of different versions of heddle, or of different choices of launches: "
                         "give only one of them"));
      }
    }
    study_.duplicates += known;
    return absl::OkStatus();
  }

  size_t KernelOf(const Result& result, const std::string& kernel) {
    const auto [entry, is_new] =
        kernel_of_.emplace(std::pair(result.provenance().trace_digest(), kernel), study_.kernels.size());
    if (is_new) {
      study_.kernels.push_back({"", kernel, result.provenance().trace_name(), result.provenance().trace_digest()});
    }
    return entry->second;
  }

  Study::Cell& CellOf(size_t kernel, size_t run) {
    const auto [entry, is_new] = cell_of_.emplace(std::pair(kernel, run), study_.cells.size());
    if (is_new) {
      study_.cells.emplace_back();
      study_.cells.back().kernel = kernel;
      study_.cells.back().run = run;
    }
    return study_.cells[entry->second];
  }

  void Finish(Study::Cell& cell) const {
    // Launches weigh by the scheduler cycles in which they had a block resident, which is what the share refers to.
    double sum = 0;
    double weight = 0;
    for (const LaunchResult* launch : cell.launches) {
      AddLaunch(*launch, *study_.runs[cell.run].first, cell.sum);
      if (!launch->has_depth_utilisation()) continue;
      const double cycles = static_cast<double>(launch->scheduler_cycles().total());
      sum += launch->depth_utilisation() * cycles;
      weight += cycles;
    }
    if (weight > 0) cell.depth_utilisation = sum / weight;
  }

  const std::vector<Result>& results_;
  Study study_;
  std::map<std::string, size_t> run_of_;
  std::map<std::tuple<size_t, size_t, uint64_t>, uint64_t> cycles_of_;  // by kernel, run, seed
  std::map<std::pair<std::string, std::string>, size_t> kernel_of_;
  std::map<std::pair<size_t, size_t>, size_t> cell_of_;
};

}  // namespace

uint64_t Study::Cell::mean_cycles() const {
  if (cycles.empty()) return 0;
  const uint64_t sum = std::accumulate(cycles.begin(), cycles.end(), uint64_t{0});
  return (sum + cycles.size() / 2) / cycles.size();
}

absl::StatusOr<Study> MakeStudy(const std::vector<Result>& results) { return Sorter(results).Sort(); }

}  // namespace heddle::tools
