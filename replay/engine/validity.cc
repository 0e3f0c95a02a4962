#include "replay/engine/validity.h"

#include <algorithm>
#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "absl/strings/string_view.h"
#include "absl/strings/strip.h"
#include "replay/engine/replay_result.h"
#include "replay/seams/divergence_policy.h"
#include "traces/base/status_macros.h"
#include "traces/format/program/annotations.h"
#include "traces/format/program/instruction_place.h"
#include "traces/format/program/kernel_name.h"
#include "traces/format/program/predication.h"

namespace heddle::replay {
namespace {

using trace::v1::Certificate;

constexpr uint32_t kRecordedWarpWidth = 32;  // of capture

std::string PerCent(uint64_t part, uint64_t whole) {
  // What another order ran more often than the recorded one counts as changed, too.
  if (part > whole) return "more than 100 %";
  return absl::StrFormat("%.3g %%", whole == 0 ? 0.0 : 100.0 * static_cast<double>(part) / static_cast<double>(whole));
}

// What several launches of a kernel have in common: a program may launch a kernel thousands of times.
struct SomeLaunches {
  const trace::LaunchView* first = nullptr;
  uint64_t launches = 0;
  uint64_t number = 0;  // of what is told, over these launches
  uint64_t whole = 0;   // of which `number` is a part

  void Add(const trace::LaunchView& launch, uint64_t more, uint64_t out_of) {
    if (first == nullptr) first = &launch;
    ++launches;
    number += more;
    whole += out_of;
  }
};

// A kernel over its launches.
struct KernelValidity {
  uint64_t launches = 0;
  uint64_t certified = 0;
  uint32_t least_runs = 0;
  uint64_t failed = 0;
  std::string failure;  // the first
  uint64_t changed = 0;
  uint64_t thread_instructions = 0;  // of changed launches, as all below
  uint64_t decisions = 0;
  uint64_t addresses = 0;
  size_t branches = 0;  // the most of a launch
  size_t accesses = 0;
  uint64_t hand_offs = 0;  // launches
  uint64_t lockstep = 0;   // launches
  SomeLaunches partial;    // thread blocks that were recorded
  SomeLaunches waiting;    // waits for another thread
  SomeLaunches locks;      // that threads of a warp take together
  SomeLaunches signals;    // memory that threads poll and others of their warp change
  SomeLaunches races;      // places of global memory
  uint32_t race_lines[2] = {};
  SomeLaunches memory;   // bytes that another order left otherwise
  SomeLaunches outside;  // reads outside allocations
  uint32_t guards = 0;   // predicates of the program that part threads, and are no branches
  uint32_t outside_line = 0;
  uint32_t lock_line = 0;
  uint32_t signal_line = 0;

  void Add(const trace::LaunchView& launch, const Certificate* certificate) {
    ++launches;
    guards = std::max(guards, trace::CountPartingGuards(*launch.program));
    const trace::v1::LaunchEnd& totals = launch.totals;
    if (totals.blocks() != launch.grid_blocks) partial.Add(launch, totals.blocks(), launch.grid_blocks);
    const uint64_t waits = static_cast<uint64_t>(totals.wait_size()) + totals.waits_not_listed();
    if (waits != 0) waiting.Add(launch, waits, waits);
    if (certificate == nullptr) return;
    for (const trace::v1::WarpWait& wait : certificate->warp_wait()) {
      SomeLaunches& some = wait.lock() ? locks : signals;
      uint32_t& line = wait.lock() ? lock_line : signal_line;
      if (some.first == nullptr) line = launch.program->instruction(wait.instruction()).source_line();
      some.Add(launch, wait.count(), wait.count());
    }
    uint64_t outside_reads = 0;
    for (const trace::v1::OutsideRead& read : certificate->outside_read()) outside_reads += read.count();
    if (outside_reads != 0) {
      if (outside.first == nullptr) {
        outside_line = launch.program->instruction(certificate->outside_read(0).instruction()).source_line();
      }
      outside.Add(launch, outside_reads, outside_reads);
    }
    if (certificate->race_size() != 0) {
      uint64_t places = 0;
      for (const trace::v1::Race& race : certificate->race()) {
        places += race.places();
        const uint32_t lines[2] = {launch.program->instruction(race.writer()).source_line(),
                                   launch.program->instruction(race.other()).source_line()};
        if (race_lines[0] == 0 && lines[0] != 0 && lines[1] != 0) std::copy_n(lines, 2, race_lines);
      }
      races.Add(launch, places, places);
    }
    uint64_t different = 0;
    for (const trace::v1::MemoryDifference& difference : certificate->memory()) different += difference.bytes();
    if (different != 0) memory.Add(launch, different, different);
    hand_offs += certificate->hand_off_size() != 0;
    lockstep += certificate->lockstep();
    if (certificate->runs() == 0) return;
    least_runs = certified == 0 ? certificate->runs() : std::min(least_runs, certificate->runs());
    ++certified;
    if (!certificate->failure().empty() && failed++ == 0) failure = certificate->failure();
    if (certificate->instruction_size() == 0) return;
    ++changed;
    thread_instructions += launch.totals.thread_instructions();
    size_t launch_branches = 0;
    size_t launch_accesses = 0;
    for (const trace::v1::InstructionVariance& variance : certificate->instruction()) {
      decisions += variance.decisions_changed();
      addresses += variance.addresses_changed();
      launch_branches += variance.decisions_changed() != 0;
      launch_accesses += variance.addresses_changed() != 0;
    }
    branches = std::max(branches, launch_branches);
    accesses = std::max(accesses, launch_accesses);
  }
};

std::string Of(uint64_t part, uint64_t whole) {
  return whole == 1 ? "" : absl::StrCat(" in ", part, " of ", whole, " launches");
}

std::string Orders(const KernelValidity& kernel) {
  return absl::StrCat(kernel.least_runs, " other ", kernel.least_runs == 1 ? "order" : "orders",
                      " of threads and blocks");
}

void AddCertificates(const std::map<std::string, KernelValidity>& kernels, std::vector<std::string>& notes) {
  uint64_t uncertified = 0;
  uint64_t launches = 0;
  uint32_t runs = ~uint32_t{0};
  uint64_t unchanged = 0;
  for (const auto& [name, kernel] : kernels) {
    launches += kernel.launches;
    uncertified += kernel.launches - kernel.certified;
    if (kernel.certified != 0) runs = std::min(runs, kernel.least_runs);
    unchanged += kernel.certified - kernel.changed;
    if (kernel.changed != 0 && kernel.decisions != 0) {
      notes.push_back(absl::StrCat(name, ": paths change under ", Orders(kernel), Of(kernel.changed, kernel.launches),
                                   ": ", kernel.branches, kernel.branches == 1 ? " branch decides" : " branches decide",
                                   " otherwise (", PerCent(kernel.decisions, kernel.thread_instructions),
                                   " of the thread-instructions), ", kernel.accesses,
                                   kernel.accesses == 1 ? " instruction accesses" : " instructions access",
                                   " other addresses (", PerCent(kernel.addresses, kernel.thread_instructions), ")"));
    } else if (kernel.changed != 0) {
      notes.push_back(absl::StrCat(
          name, ": addresses change under ", Orders(kernel), Of(kernel.changed, kernel.launches), ": those of ",
          kernel.accesses, kernel.accesses == 1 ? " instruction (" : " instructions (",
          PerCent(kernel.addresses, kernel.thread_instructions), " of the thread-instructions); paths do not"));
    }
    if (kernel.failed != 0) {
      notes.push_back(absl::StrCat(name, ": fails under another order of threads and blocks",
                                   Of(kernel.failed, kernel.launches), ": ", kernel.failure));
    }
  }
  if (uncertified == launches) {
    notes.push_back(
        "not certified: recorded in one order of threads and blocks (`heddle capture --certify N` tells "
        "what others change)");
    return;
  }
  if (unchanged != 0) {
    notes.push_back(absl::StrCat("certified unchanged under ", runs, runs == 1 ? " other order" : " other orders",
                                 " of threads and blocks", Of(unchanged, launches)));
  }
  if (uncertified != 0) notes.push_back(absl::StrCat("not certified", Of(uncertified, launches)));
}

// "launch 3 (bfs): " or "3,000 launches of bfs, launch 3 the first: ".
std::string Which(const SomeLaunches& some) {
  const std::string name = trace::BriefKernelName(some.first->program->name());
  const uint32_t id = some.first->launch.id();
  if (some.launches == 1) return absl::StrCat("launch ", id, " (", name, "): ");
  return absl::StrCat(some.launches, " launches of ", name, ", launch ", id, " the first: ");
}

void AddRaces(const std::map<std::string, KernelValidity>& kernels, std::vector<std::string>& notes) {
  for (const auto& [name, kernel] : kernels) {
    if (kernel.races.launches != 0) {
      const std::string example = kernel.race_lines[0] == 0 ? ""
                                                            : absl::StrCat(", such as line ", kernel.race_lines[0],
                                                                           " with line ", kernel.race_lines[1]);
      notes.push_back(absl::StrCat(Which(kernel.races), "races in global memory", example,
                                   ": values, and what they decide, are those of the recorded order"));
    }
    if (kernel.memory.launches != 0) {
      notes.push_back(absl::StrCat(Which(kernel.memory), "another order of threads and blocks leaves ",
                                   kernel.memory.number, kernel.memory.number == 1 ? " byte" : " bytes",
                                   " of memory otherwise"));
    }
  }
}

void AddLockstep(const std::map<std::string, KernelValidity>& kernels, std::vector<std::string>& notes) {
  for (const auto& [name, kernel] : kernels) {
    if (kernel.hand_offs == 0) continue;
    const bool together = kernel.lockstep == kernel.launches;
    notes.push_back(absl::StrCat(name, ": threads of a warp share data without synchronization",
                                 together
                                     ? ", as they may where warps run in lockstep, in which it was recorded"
                                     : "; it was not recorded in lockstep, so that its data and paths may be wrong "
                                       "(`heddle capture --lockstep`)"));
  }
}

void AddPartialLaunches(const std::map<std::string, KernelValidity>& kernels, std::vector<std::string>& notes) {
  for (const auto& [name, kernel] : kernels) {
    const SomeLaunches& some = kernel.partial;
    if (some.launches == 0) continue;
    notes.push_back(
        absl::StrCat(Which(some), some.number, " of ", some.whole, " thread blocks were recorded: cycles are those of ",
                     some.launches == 1 ? "a smaller launch" : "smaller launches", ", and the tail of ",
                     some.launches == 1 ? "its" : "their",
                     " blocks (DWR, DWS) and what a scheduler counts by phases of the launch are left out"));
  }
}

void AddWaits(const std::map<std::string, KernelValidity>& kernels, std::vector<std::string>& notes) {
  for (const auto& [name, kernel] : kernels) {
    const SomeLaunches& some = kernel.waiting;
    if (some.launches == 0) continue;
    notes.push_back(absl::StrCat(Which(some), "threads waited ", some.number, some.number == 1 ? " time" : " times",
                                 " in a loop for another thread's write while recording; how often they polled then is "
                                 "replayed, not decided anew by the order of this run"));
  }
}

// Nothing where the trace has no lines.
std::string AtLine(uint32_t line) { return line == 0 ? "" : absl::StrCat(" at line ", line); }

// What waits would be there if threads of a warp ran together.
void AddWarpWaits(const std::map<std::string, KernelValidity>& kernels, std::vector<std::string>& notes) {
  for (const auto& [name, kernel] : kernels) {
    if (kernel.locks.launches != 0) {
      notes.push_back(absl::StrCat(Which(kernel.locks), "threads of a warp take one lock together",
                                   AtLine(kernel.lock_line), " (", kernel.locks.number,
                                   kernel.locks.number == 1 ? " time" : " times",
                                   "); waits that did not happen while recording are not replayed"));
    }
    if (kernel.signals.launches != 0) {
      notes.push_back(absl::StrCat(
          Which(kernel.signals), "a loop polls", AtLine(kernel.signal_line),
          " what another thread of the warp changes later (", kernel.signals.number,
          kernel.signals.number == 1 ? " time" : " times",
          "): a device whose warps wait at post-dominators may hang there, which is replayed as if it did not"));
    }
  }
}

void AddOutsideReads(const std::map<std::string, KernelValidity>& kernels, std::vector<std::string>& notes) {
  for (const auto& [name, kernel] : kernels) {
    const SomeLaunches& some = kernel.outside;
    if (some.launches == 0) continue;
    notes.push_back(absl::StrCat(Which(some), some.number, some.number == 1 ? " read" : " reads",
                                 " outside all allocations", kernel.outside_line == 0 ? "" : ", the first",
                                 AtLine(kernel.outside_line),
                                 ", which the recording let pass (--allow-bounds): on a device they may fail, or get "
                                 "other values"));
  }
}

void AddGuards(const std::map<std::string, KernelValidity>& kernels, std::vector<std::string>& notes) {
  for (const auto& [name, kernel] : kernels) {
    if (kernel.guards == 0) continue;
    notes.push_back(absl::StrCat(name, ": ", kernel.guards, " predicate", kernel.guards == 1 ? "" : "s",
                                 " of barriers or calls (@p) are replayed as short branches: a policy may part threads "
                                 "there, which a device keeps together"));
  }
}

// Kernels of closed libraries are other code on a device.
void AddStandIns(const std::vector<const trace::LaunchView*>& launches, std::vector<std::string>& notes) {
  constexpr size_t kMostNamed = 5;
  std::set<std::string> functions;
  uint64_t number = 0;
  for (const trace::LaunchView* launch : launches) {
    const std::string& function = launch->program->proto().stand_in_for();
    if (function.empty()) continue;
    functions.insert(function);
    ++number;
  }
  if (number == 0) return;
  std::vector<std::string> named(functions.begin(), functions.end());
  const size_t more = named.size() - std::min(named.size(), kMostNamed);
  named.resize(named.size() - more);
  notes.push_back(absl::StrCat(number, number == 1 ? " launch runs a stand-in" : " launches run stand-ins", " for ",
                               absl::StrJoin(named, ", "), more == 0 ? "" : absl::StrCat(" and ", more, " more"),
                               ": the library's own kernels are closed, and do the work in other ways"));
}

// What the trace says about its own end. An annotation has a line for everything that is missing; the first one tells
// why, `heddle trace info` prints them all.
void AddEarlyEnd(const trace::TraceReader& reader, std::vector<std::string>& notes) {
  for (const trace::v1::Annotation& annotation : reader.annotations()) {
    const std::vector<absl::string_view> lines = absl::StrSplit(annotation.value(), '\n');
    const absl::string_view reason = absl::StripPrefix(lines.front(), trace::kRunEnded);
    const std::string more =
        lines.size() == 1 ? "" : absl::StrCat("; and ", lines.size() - 1, " more (`heddle trace info`)");
    if (annotation.key() == trace::kCaptureEndKey) {
      notes.push_back(absl::StrCat("the recording ended early: ", reason, more));
    } else if (annotation.key() == trace::kRecoverKey) {
      notes.push_back(absl::StrCat("recovered from a damaged trace: ", reason, more));
    }
  }
}

}  // namespace

std::vector<std::string> UniformValueNotes(const std::vector<result::v1::LaunchResult>& launches) {
  std::map<std::string, result::v1::UniformValues> kernels;
  for (const result::v1::LaunchResult& launch : launches) {
    result::v1::UniformValues& sum = kernels[launch.kernel()];
    sum.set_issues(sum.issues() + launch.uniform_values().issues());
    sum.set_mixed_issues(sum.mixed_issues() + launch.uniform_values().mixed_issues());
    sum.set_extra_issues(sum.extra_issues() + launch.uniform_values().extra_issues());
  }
  std::vector<std::string> notes;
  for (const auto& [name, sum] : kernels) {
    if (sum.mixed_issues() == 0) continue;
    notes.push_back(absl::StrCat(trace::BriefKernelName(name), ": ", PerCent(sum.mixed_issues(), sum.issues()),
                                 " of the issues that read uniform registers are of threads with different values, "
                                 "which no warp of a device can hold; they are charged with ",
                                 sum.extra_issues(), " more (uniform_values)"));
  }
  return notes;
}

std::vector<std::string> ValidityNotes(const trace::TraceReader& reader,
                                       const std::vector<const trace::LaunchView*>& launches) {
  std::vector<std::string> notes;
  std::map<std::string, KernelValidity> kernels;
  for (const trace::LaunchView* launch : launches) {
    const auto certificates = reader.CertificatesOf(launch->launch.id());  // the last one counts
    kernels[launch->program->name()].Add(*launch, certificates.empty() ? nullptr : &certificates.back());
  }
  AddPartialLaunches(kernels, notes);
  AddWaits(kernels, notes);
  AddWarpWaits(kernels, notes);
  AddOutsideReads(kernels, notes);
  AddGuards(kernels, notes);
  AddStandIns(launches, notes);
  uint64_t unrecorded = 0;
  for (const trace::LaunchView& launch : reader.launches()) unrecorded += !launch.launch.recorded();
  if (unrecorded != 0) {
    notes.push_back(absl::StrCat(unrecorded, unrecorded == 1 ? " launch" : " launches", " of the run ",
                                 unrecorded == 1 ? "was" : "were", " not recorded"));
  }
  AddEarlyEnd(reader, notes);
  AddCertificates(kernels, notes);
  AddRaces(kernels, notes);
  AddLockstep(kernels, notes);
  return notes;
}

uint32_t RegistersGiven(const ReplayOptions& options, const trace::Program& program) {
  const auto found = options.registers.find(&program);
  return found == options.registers.end() ? 0 : found->second.per_thread;
}

std::string WithoutScoreboardNote(const std::string& divergence) {
  return absl::StrCat("under ", divergence,
                      " warps are formed anew after every instruction; on a machine with instruction buffers the model "
                      "gives them no fetch, no buffer and no scoreboard, so part of a speed-up over other policies "
                      "may be theirs for nothing (docs/reference/timing.md, section 3)");
}

std::vector<std::string> RegisterNotes(const ReplayOptions& options,
                                       const std::vector<const trace::LaunchView*>& launches) {
  std::map<std::string, std::map<std::string, uint32_t>> counts;  // of kernels, by source
  for (const trace::LaunchView* launch : launches) {
    const auto found = options.registers.find(launch->program);
    if (found == options.registers.end()) continue;
    counts[found->second.source][trace::BriefKernelName(launch->program->name())] = found->second.per_thread;
  }
  std::vector<std::string> notes;
  for (const auto& [source, kernels] : counts) {
    std::string& note = notes.emplace_back(absl::StrCat("registers per thread by ", source, ":"));
    const char* before = " ";
    for (const auto& [kernel, registers] : kernels) {
      absl::StrAppend(&note, before, kernel, " ", registers);
      before = ", ";
    }
  }
  return notes;
}

absl::Status CheckLockstep(const trace::TraceReader& reader, const trace::LaunchView& launch,
                           const CheckedConfiguration& configuration, const ReplayOptions& options) {
  const bool keeps_warps = configuration.divergence.traits.regrouping == Regrouping::kNever;
  const bool narrow = options.machine.core().warp_size() < kRecordedWarpWidth;
  if (options.force_regrouping || (keeps_warps && !narrow)) return absl::OkStatus();
  for (const Certificate& certificate : reader.CertificatesOf(launch.launch.id())) {
    if (certificate.hand_off_size() == 0) continue;
    const auto place = [&](uint32_t pc) { return trace::InstructionPlace(reader.header(), *launch.program, pc); };
    const trace::v1::WarpHandOff& first = certificate.hand_off(0);
    const bool overwrites = launch.program->instruction(first.reader()).op() == trace::v1::OP_STORE;
    return absl::FailedPreconditionError(
        absl::StrCat("kernel '", trace::BriefKernelName(launch.program->name()),
                     "' relies on the threads of a warp running in lockstep: what ",
                     place(overwrites ? first.reader() : first.writer()), " stores in shared memory, ",
                     place(overwrites ? first.writer() : first.reader()), overwrites ? " overwrites" : " loads",
                     " in other threads without synchronization; ",
                     narrow ? absl::StrCat("the machine's warps have ", options.machine.core().warp_size(), " threads")
                            : absl::StrCat("divergence policy '", configuration.divergence.name(),
                                           "' puts threads of different warps together"),
                     ", so no device could run it so. --force-regrouping replays it all the same"));
  }
  return absl::OkStatus();
}

absl::Status CheckLockstep(const trace::TraceReader& reader, const CheckedConfiguration& configuration,
                           const ReplayOptions& options) {
  HEDDLE_ASSIGN_OR_RETURN(const auto launches, SelectLaunches(reader, options.kernels));
  for (const trace::LaunchView* launch : launches) {
    HEDDLE_RETURN_IF_ERROR(CheckLockstep(reader, *launch, configuration, options));
  }
  return absl::OkStatus();
}

}  // namespace heddle::replay
