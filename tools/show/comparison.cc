#include "tools/show/comparison.h"

#include <algorithm>
#include <map>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "replay/analysis/limit_study.h"
#include "tools/show/launch_study.h"
#include "tools/show/machine_report.h"
#include "traces/base/status_macros.h"
#include "traces/format/program/code_level.h"
#include "traces/format/program/kernel_name.h"
#include "traces/format/program/machine_code.h"

namespace heddle::tools {
namespace {

using trace::LaunchView;
using trace::TraceReader;

constexpr uint32_t kWarp = 32;

struct ClassName {
  trace::v1::OpClass op;
  const char* key;
  const char* title;
};
constexpr ClassName kClasses[] = {
    {trace::v1::OP_MOVE, "move", "moves"},
    {trace::v1::OP_INT_ALU, "int_alu", "integer and logic"},
    {trace::v1::OP_INT_MUL, "int_mul", "integer multiplications"},
    {trace::v1::OP_INT_DIV, "int_div", "integer divisions"},
    {trace::v1::OP_FP32, "fp32", "32-bit floating point"},
    {trace::v1::OP_FP64, "fp64", "64-bit floating point"},
    {trace::v1::OP_FP_DIV, "fp_div", "full-precision div, sqrt, rcp"},
    {trace::v1::OP_SFU, "sfu", "special functions"},
    {trace::v1::OP_CONVERT, "convert", "conversions"},
    {trace::v1::OP_LOAD, "load", "loads"},
    {trace::v1::OP_STORE, "store", "stores"},
    {trace::v1::OP_ATOMIC, "atomic", "atomics"},
    {trace::v1::OP_TEXTURE, "texture", "textures"},
    {trace::v1::OP_BARRIER, "barrier", "barriers"},
    {trace::v1::OP_FENCE, "fence", "fences"},
    {trace::v1::OP_BRANCH, "branch", "branches"},
    {trace::v1::OP_CALL, "call", "calls"},
    {trace::v1::OP_RETURN, "return", "returns"},
    {trace::v1::OP_EXIT, "exit", "exits"},
    {trace::v1::OP_WARP, "warp", "warp operations"},
    {trace::v1::OP_TENSOR, "tensor", "matrix operations"},
    {trace::v1::OP_ASYNC, "async", "asynchronous copies and waits"},
    {trace::v1::OP_CONVERGENCE, "convergence", "convergence barriers of machine code"},
};
// A class that the table lacks would be missing in every comparison.
static_assert(std::size(kClasses) == trace::v1::OpClass_ARRAYSIZE - 1);

struct SpaceName {
  trace::v1::MemorySpace space;
  const char* key;
  const char* title;
};
constexpr SpaceName kSpaces[] = {
    {trace::v1::SPACE_GLOBAL, "global", "accesses of global memory"},
    {trace::v1::SPACE_SHARED, "shared", "accesses of shared memory"},
    {trace::v1::SPACE_LOCAL, "local", "accesses of local memory"},
    {trace::v1::SPACE_CONSTANT, "constant", "accesses of constant memory"},
    {trace::v1::SPACE_PARAM, "param", "accesses of parameters"},
    {trace::v1::SPACE_TEXTURE, "texture", "accesses of textures"},
    {trace::v1::SPACE_GENERIC, "generic", "accesses by generic addresses"},
    {trace::v1::SPACE_CLUSTER_SHARED, "cluster_shared", "accesses of a cluster's shared memory"},
};
static_assert(std::size(kSpaces) == trace::v1::MemorySpace_ARRAYSIZE - 1);

// Of one side: the launches of a kernel, and what they come to.
struct KernelStudy {
  std::vector<const LaunchView*> launches;
  InstructionMix mix;
  uint64_t blocks = 0;
  uint64_t threads = 0;
  uint64_t thread_instructions = 0;
  uint64_t issues = 0;
  uint64_t least_issues = 0;
  uint64_t dynamic_shared_bytes = 0;  // the most of a launch
  CharacterisationTiming timing;
  uint64_t blocks_per_sm = 0;  // that an SM holds at once: the least of a launch
  std::string residency_limit;
};

// By name of the kernel, in the order of first launches.
struct Side {
  const TraceReader& reader;
  std::vector<std::string> order;
  std::map<std::string, KernelStudy> kernels;
};

Side Group(const TraceReader& reader) {
  Side side{reader, {}, {}};
  for (const LaunchView& view : reader.launches()) {
    if (!view.launch.recorded()) continue;
    const auto [place, is_new] = side.kernels.try_emplace(view.program->name());
    if (is_new) side.order.push_back(view.program->name());
    place->second.launches.push_back(&view);
  }
  return side;
}

std::string Named(const Side& side) {
  constexpr size_t kMost = 5;
  std::vector<std::string> names;
  for (const std::string& kernel : side.order) {
    if (names.size() < kMost) names.push_back(trace::BriefKernelName(kernel));
  }
  if (names.empty()) return absl::StrCat(side.reader.name(), " has none that is recorded");
  const size_t more = side.order.size() - names.size();
  return absl::StrCat(side.reader.name(), " has ", absl::StrJoin(names, ", "),
                      more == 0 ? "" : absl::StrCat(" and ", more, " more"));
}

std::string Shape(const LaunchView& view) {
  const auto extent = [](const trace::v1::Dim3& size) {
    return absl::StrCat(std::max(size.x(), 1u), "x", std::max(size.y(), 1u), "x", std::max(size.z(), 1u));
  };
  return absl::StrCat("a grid of ", extent(view.launch.grid()), " blocks of ", extent(view.launch.block()), " threads");
}

absl::Status CheckAlike(const Side& a, const Side& b, const std::string& kernel) {
  const std::vector<const LaunchView*>& in_a = a.kernels.at(kernel).launches;
  const std::vector<const LaunchView*>& in_b = b.kernels.at(kernel).launches;
  const std::string name = trace::BriefKernelName(kernel);
  if (in_a.size() != in_b.size()) {
    const auto times = [](const std::vector<const LaunchView*>& launches) {
      return launches.size() == 1 ? "once" : absl::StrCat(launches.size(), " times");
    };
    return absl::InvalidArgumentError(absl::StrCat(
        "kernel '", name, "' is launched ", times(in_a), " in ", a.reader.name(), " and ", times(in_b), " in ",
        b.reader.name(), ": record the same run twice, or cut both to the same launches with 'heddle trace extract'"));
  }
  for (size_t i = 0; i < in_a.size(); ++i) {
    const auto differ = [&](const std::string& one, const std::string& other) {
      return absl::InvalidArgumentError(
          absl::StrCat("launch ", i + 1, " of kernel '", name, "' has ", one, " in ", a.reader.name(), " (launch ",
                       in_a[i]->launch.id(), "), and ", other, " in ", b.reader.name(), " (launch ",
                       in_b[i]->launch.id(), "): record both with the same input and the same selection of blocks"));
    };
    if (Shape(*in_a[i]) != Shape(*in_b[i])) return differ(Shape(*in_a[i]), Shape(*in_b[i]));
    if (in_a[i]->totals.blocks() != in_b[i]->totals.blocks()) {
      return differ(absl::StrCat(in_a[i]->totals.blocks(), " recorded blocks"),
                    absl::StrCat(in_b[i]->totals.blocks(), " recorded blocks"));
    }
  }
  return absl::OkStatus();
}

absl::Status Study(Side& side, const std::optional<machine::v1::Machine>& machine) {
  replay::LimitOptions options;
  options.warp_size = kWarp;
  options.max_cells = 0;  // no alignment: only post-dominators
  HEDDLE_ASSIGN_OR_RETURN(const std::vector<replay::LaunchLimits> limits, replay::StudyLimits(side.reader, options));
  for (const replay::LaunchLimits& launch : limits) {
    const LaunchView& view = side.reader.launches()[launch.launch];
    KernelStudy& kernel = side.kernels.at(view.program->name());
    for (const replay::BlockLimit& block : launch.blocks) kernel.mix.Add(*view.program, block);
    kernel.blocks += view.totals.blocks();
    kernel.threads += view.totals.threads();
    kernel.thread_instructions += launch.thread_instructions;
    kernel.issues += launch.pdom_issues;
    kernel.least_issues += launch.lane_activity_issues;
    kernel.dynamic_shared_bytes = std::max<uint64_t>(kernel.dynamic_shared_bytes, view.launch.dynamic_shared_bytes());
  }
  if (!machine.has_value()) return absl::OkStatus();
  HEDDLE_ASSIGN_OR_RETURN(const std::vector<result::v1::LaunchResult> launches, TimeLaunches(side.reader, *machine));
  for (const result::v1::LaunchResult& launch : launches) {
    const LaunchView& view = side.reader.launches()[launch.launch()];
    KernelStudy& kernel = side.kernels.at(view.program->name());
    kernel.timing.Add(launch, view, *machine);
    if (kernel.residency_limit.empty() || launch.blocks_per_sm() < kernel.blocks_per_sm) {
      kernel.blocks_per_sm = launch.blocks_per_sm();
      kernel.residency_limit = launch.residency_limit();
    }
  }
  return absl::OkStatus();
}

std::optional<double> Ratio(uint64_t part, uint64_t whole, double factor = 1) {
  if (whole == 0) return std::nullopt;
  return factor * static_cast<double>(part) / static_cast<double>(whole);
}

// The launches of one kernel may be of several programs (other template arguments have other names; code that is loaded
// anew has not): numbers of the program are the most of them.
uint64_t Most(const KernelStudy& kernel, uint64_t (*number)(const trace::Program&)) {
  uint64_t most = 0;
  for (const LaunchView* launch : kernel.launches) most = std::max(most, number(*launch->program));
  return most;
}

std::string CodeOf(const KernelStudy& kernel, const TraceReader& reader) {
  std::string words = trace::CodeInWords(kernel.launches.front()->program->proto());
  if (!words.empty()) return words;
  const trace::v1::FileHeader& header = reader.header();
  std::vector<std::string> parts;
  for (const std::string& part :
       {header.abstraction_level(), header.compiler(), header.optimization(), header.target()}) {
    if (!part.empty()) parts.push_back(part);
  }
  return absl::StrJoin(parts, ", ");
}

// The numbers of one kernel, both sides at once, so that they cannot come apart.
class NumberList {
 public:
  NumberList(const KernelStudy& a, const KernelStudy& b, std::vector<ComparedNumber>& out) : a_(a), b_(b), out_(out) {}

  template <typename Get>
  void Count(std::string key, std::string title, const Get& get) {
    out_.push_back(
        {std::move(key), std::move(title), 0, false, static_cast<double>(get(a_)), static_cast<double>(get(b_))});
  }
  // A count that is left out where both sides have none.
  template <typename Get>
  void CountIfAny(std::string key, std::string title, const Get& get) {
    if (get(a_) != 0 || get(b_) != 0) Count(std::move(key), std::move(title), get);
  }
  template <typename Get>
  void Number(std::string key, std::string title, int decimals, bool is_share, const Get& get) {
    out_.push_back({std::move(key), std::move(title), decimals, is_share, get(a_), get(b_)});
  }

 private:
  const KernelStudy& a_;
  const KernelStudy& b_;
  std::vector<ComparedNumber>& out_;
};

void AddStatic(NumberList& list) {
  list.Count("static_instructions", "static instructions", [](const KernelStudy& one) {
    return Most(one, [](const trace::Program& program) -> uint64_t { return program.instruction_count(); });
  });
  list.Count("registers", "registers per thread", [](const KernelStudy& one) {
    return Most(one, [](const trace::Program& program) -> uint64_t { return program.proto().register_count(); });
  });
  for (uint32_t file = 0; file < trace::kRegisterFiles; ++file) {
    const auto most = [file](const KernelStudy& one) {
      uint64_t registers = 0;
      for (const LaunchView* launch : one.launches) {
        registers = std::max<uint64_t>(registers, trace::RegistersByFile(launch->program->proto())[file]);
      }
      return registers;
    };
    list.CountIfAny(absl::StrCat("registers.", RegisterFileKey(file)),
                    absl::StrCat("  of the file ", RegisterFileTitle(file)), most);
  }
  list.Count("static_shared_bytes", "static shared memory [bytes]", [](const KernelStudy& one) {
    return Most(one, [](const trace::Program& program) -> uint64_t { return program.proto().static_shared_bytes(); });
  });
  list.Count("dynamic_shared_bytes", "dynamic shared memory [bytes]",
             [](const KernelStudy& one) { return one.dynamic_shared_bytes; });
  list.Count("local_bytes", "local memory per thread [bytes]", [](const KernelStudy& one) {
    return Most(one, [](const trace::Program& program) -> uint64_t { return program.proto().local_bytes(); });
  });
}

void AddInstructions(NumberList& list) {
  list.Count("thread_instructions", "thread-instructions",
             [](const KernelStudy& one) { return one.thread_instructions; });
  for (const ClassName& name : kClasses) {
    list.CountIfAny(absl::StrCat("instructions.", name.key), absl::StrCat("  ", name.title),
                    [&](const KernelStudy& one) { return one.mix[name.op]; });
  }
  for (const SpaceName& name : kSpaces) {
    list.CountIfAny(absl::StrCat("accesses.", name.key), name.title,
                    [&](const KernelStudy& one) { return one.mix.by_space[name.space]; });
  }
  for (int role = trace::v1::Convergence::SET; role < trace::v1::Convergence::Role_ARRAYSIZE; ++role) {
    const char* const key = ConvergenceKey(static_cast<trace::v1::Convergence::Role>(role));
    list.CountIfAny(absl::StrCat("convergence.", key), absl::StrCat("convergence barriers: ", key),
                    [&](const KernelStudy& one) { return one.mix.machine.by_role[static_cast<size_t>(role)]; });
  }
  list.CountIfAny("uniform", "instructions that write uniform registers",
                  [](const KernelStudy& one) { return one.mix.machine.uniform; });
  list.CountIfAny("stall_cycles", "stall cycles by control bits",
                  [](const KernelStudy& one) { return one.mix.machine.stall_cycles; });
  list.CountIfAny("control_waits", "instructions that wait by control bits",
                  [](const KernelStudy& one) { return one.mix.machine.waits; });
  list.CountIfAny("guards", "guards that decide", [](const KernelStudy& one) { return one.mix.guards; });
  list.Count("issues", "issues of warps of 32, ideal memory", [](const KernelStudy& one) { return one.issues; });
  list.Number("simd_efficiency", "SIMD efficiency [%]", 1, true,
              [](const KernelStudy& one) { return Ratio(one.thread_instructions, one.issues * kWarp, 100); });
  list.Number("bound", "bound of any regrouping [%]", 1, true,
              [](const KernelStudy& one) { return Ratio(one.thread_instructions, one.least_issues * kWarp, 100); });
}

void AddTiming(NumberList& list, const machine::v1::Machine& machine) {
  list.Count("blocks_per_sm", "thread blocks that an SM holds",
             [](const KernelStudy& one) { return one.blocks_per_sm; });
  list.Number("occupancy", "occupancy [%]", 1, true, [&](const KernelStudy& one) {
    return Ratio(one.blocks_per_sm * one.launches.front()->threads_per_block, machine.core().max_threads(), 100);
  });
  list.Count("warp_branches", "branches of warps", [](const KernelStudy& one) { return one.timing.branches; });
  list.Count("warp_splits", "branches that split", [](const KernelStudy& one) { return one.timing.splits; });
  list.Number("split_share", "branches that split [%]", 1, true,
              [](const KernelStudy& one) { return Ratio(one.timing.splits, one.timing.branches, 100); });
  list.CountIfAny("warp_guards", "guards of warps", [](const KernelStudy& one) { return one.timing.guards; });
  list.CountIfAny("guard_splits", "guards that split", [](const KernelStudy& one) { return one.timing.guard_splits; });
  list.Count("data_accesses", "memory accesses of warps",
             [](const KernelStudy& one) { return one.timing.data_accesses; });
  list.Count("transactions", "memory transactions", [](const KernelStudy& one) { return one.timing.transactions; });
  list.Number("transactions_per_access", "transactions per access", 2, false,
              [](const KernelStudy& one) { return Ratio(one.timing.transactions, one.timing.data_accesses); });
  list.Count("cycles", "cycles", [](const KernelStudy& one) { return one.timing.cycles; });
}

}  // namespace

std::optional<double> ComparedNumber::Difference() const {
  if (!a.has_value() || !b.has_value()) return std::nullopt;
  return *b - *a;
}

std::optional<double> ComparedNumber::PerCent() const {
  const std::optional<double> difference = Difference();
  if (is_share || !difference.has_value() || *a == 0) return std::nullopt;
  return 100 * *difference / *a;
}

const ComparedNumber* ComparedKernel::Find(const std::string& key) const {
  const auto found = std::ranges::find(numbers, key, &ComparedNumber::key);
  return found == numbers.end() ? nullptr : &*found;
}

absl::StatusOr<Comparison> CompareRecordings(const TraceReader& a, const TraceReader& b,
                                             const std::optional<machine::v1::Machine>& machine) {
  Side sides[2] = {Group(a), Group(b)};
  Comparison comparison;
  std::vector<std::string> common;
  for (const std::string& kernel : sides[0].order) {
    if (sides[1].kernels.contains(kernel)) {
      common.push_back(kernel);
    } else {
      comparison.missing.push_back({"", kernel, true});
    }
  }
  for (const std::string& kernel : sides[1].order) {
    if (!sides[0].kernels.contains(kernel)) comparison.missing.push_back({"", kernel, false});
  }
  if (common.empty()) {
    return absl::InvalidArgumentError(absl::StrCat("the traces have no kernel in common: ", Named(sides[0]), "; ",
                                                   Named(sides[1]), "; compare two recordings of one program"));
  }
  for (const std::string& kernel : common) HEDDLE_RETURN_IF_ERROR(CheckAlike(sides[0], sides[1], kernel));
  for (Side& side : sides) HEDDLE_RETURN_IF_ERROR(Study(side, machine));
  for (const std::string& kernel : common) {
    const KernelStudy& one = sides[0].kernels.at(kernel);
    const KernelStudy& other = sides[1].kernels.at(kernel);
    ComparedKernel& to = comparison.kernels.emplace_back();
    to.kernel = kernel;
    to.launches = one.launches.size();
    to.blocks = one.blocks;
    to.threads = one.threads;
    to.code_a = CodeOf(one, a);
    to.code_b = CodeOf(other, b);
    to.residency_limit_a = one.residency_limit;
    to.residency_limit_b = other.residency_limit;
    NumberList list(one, other, to.numbers);
    AddStatic(list);
    AddInstructions(list);
    if (machine.has_value()) AddTiming(list, *machine);
  }
  return comparison;
}

}  // namespace heddle::tools
