#include "tools/heddle/trace_options.h"

#include <CLI/CLI.hpp>
#include <string>
#include <vector>

#include "tools/console/option_checks.h"
#include "tools/heddle/trace_commands.h"

namespace heddle::tools {
namespace {

constexpr char kRanges[] = "Numbers and ranges count from 0: 3, 0-7, 8-, or a list of these with commas.";

constexpr char kDumpFooter[] =
    "\nOne line per instruction: its number in the thread, its PC, its place in the source, PTX opcode and registers,\n"
    "then the address of an access or the PC that a branch, call or return goes on at. With --json one object per\n"
    "thread (per part of it if its block was cut in time), one line each. ";

constexpr char kDiffFooter[] =
    "\nCompares launches, programs, and the decisions and addresses of every thread, however they are stored; prints "
    "the\n"
    "first difference by launch, block, thread and instruction. Exit status 0 if there is none, else 1.";

constexpr char kRepackFooter[] =
    "\nWithout --chunk and --encode the records stay byte for byte, and with them the digest. With them the threads "
    "stay\n"
    "(`heddle trace diff` shows it), but chunks are other records, so the trace has another digest. --recover takes a\n"
    "file that was cut off or damaged, keeps exactly the records that are complete, and tells what is missing.";

constexpr char kExtractFooter[] =
    "\nLaunches are numbered anew. Transfers and annotations stay; an annotation says what was taken from which "
    "trace. ";

constexpr char kMergeFooter[] =
    "\nThe launches of the traces follow one another and are numbered anew; equal programs are shared. Traces must "
    "have\n"
    "been compiled for the same target in the same way.";

}  // namespace

struct TraceOptions::Arguments {
  CLI::App* info = nullptr;
  CLI::App* check = nullptr;
  CLI::App* limits = nullptr;
  CLI::App* dump = nullptr;
  CLI::App* diff = nullptr;
  CLI::App* repack = nullptr;
  CLI::App* extract = nullptr;
  CLI::App* merge = nullptr;
  std::string trace;
  std::vector<std::string> checked;
  std::string other;
  bool json = false;
  bool per_launch = false;
  replay::LimitOptions limit_options;
  bool free_lanes = false;
  std::string scope = "block";
  DumpArguments dump_arguments;
  RepackArguments repack_arguments;
  ExtractArguments extract_arguments;
  MergeArguments merge_arguments;
};

namespace {

void AddOutput(CLI::App& command, TraceOutput& output) {
  command.add_option("-o,--output", output.path, "The new trace")->required()->check(NotEmpty());
  CLI::Option* level = command.add_option("--level", output.level, "Zstandard level, 1 to 22 (3)");
  level->check(WholeNumberFromTo(1, 22));
  CLI::Option* fast = command.add_flag_callback("--fast", [&output] { output.level = 1; }, "Quick to write: level 1");
  CLI::Option* small = command.add_flag_callback(
      "--small", [&output] { output.level = 19; }, "To keep and to share: level 19, slow to write");
  level->excludes(fast)->excludes(small);
  fast->excludes(small);
}

void AddLaunches(CLI::App& command, TraceSelection& selection) {
  command.add_option("--launches", selection.launches, "Only these launches")->check(NotEmpty());
  CLI::Option* kernels =
      command.add_option("--kernels", selection.kernels,
                         "Only kernels whose name has a match of this regular expression (POSIX extended)");
  kernels->check(NotEmpty());
  command.add_option("--blocks", selection.blocks, "Only these thread blocks, by linear index in the grid")
      ->check(NotEmpty());
}

}  // namespace

TraceOptions::TraceOptions(CLI::App& app) : arguments_(std::make_unique<Arguments>()) {
  Arguments& a = *arguments_;
  CLI::App& trace = *app.add_subcommand("trace", "Look into traces, and make new ones of them");
  trace.require_subcommand(1);
  a.info = trace.add_subcommand("info", "Launches, sizes, and how the kernel diverges");
  a.info->add_flag("--per-launch", a.per_launch, "Every launch, also of many; else their sums by kernel");
  a.check = trace.add_subcommand("check", "Verify everything that can be verified without replaying");
  a.limits = trace.add_subcommand(
      "limits", "How few issues warps could need, whatever the policy: lane activity, optimal reconvergence");
  replay::LimitOptions& limits = a.limit_options;
  a.limits->add_option("--warp-size", limits.warp_size, "Threads of a warp")
      ->check(WholeNumberFromTo(1, 64))
      ->capture_default_str();
  a.limits->add_option("--scope", a.scope, "Whose threads may share a warp in the lane-activity bound")
      ->check(CLI::IsMember({"block", "kernel"}))
      ->capture_default_str();
  a.limits->add_flag("--free-lanes", a.free_lanes, "Threads may sit in any lane");
  a.limits->add_flag("--swizzle", limits.swizzle, "Odd warps swap the home lanes of neighbours");
  a.limits
      ->add_option("--first-threads", limits.first_threads,
                   "Reconvergence study of the first so many threads of a launch only (Fung: 128)")
      ->check(PositiveWholeNumber());
  a.check->add_option("TRACE", a.checked, "Trace files")->required();
  for (CLI::App* command : {a.info, a.limits}) command->add_option("TRACE", a.trace, "Trace file")->required();
  a.check->add_flag("--json", a.json, "Print JSON, one line per trace");
  for (CLI::App* command : {a.info, a.limits}) command->add_flag("--json", a.json, "Print JSON");

  a.dump = trace.add_subcommand("dump", "Print what threads did, instruction by instruction");
  DumpArguments& dump = a.dump_arguments;
  a.dump->add_option("TRACE", dump.trace, "Trace file")->required();
  AddLaunches(*a.dump, dump.selection);
  a.dump->add_option("--threads", dump.selection.threads, "Only these threads of each block")->check(NotEmpty());
  a.dump
      ->add_option("--instructions", dump.selection.instructions,
                   "Only these instructions of each thread, counted as it ran them")
      ->check(NotEmpty());
  a.dump->add_flag("--program", dump.program, "The static programs instead: blocks, branches, instructions");
  a.dump->add_flag("--json", dump.json, "Print JSON, one line per thread or program");
  a.dump->add_option("-o,--output", dump.output, "File to write to")->check(NotEmpty());
  a.dump->footer(std::string(kDumpFooter) + kRanges);

  a.diff = trace.add_subcommand("diff", "Compare two traces");
  a.diff->add_option("A", a.trace, "Trace file")->required();
  a.diff->add_option("B", a.other, "Trace file")->required();
  a.diff->add_flag("--json", a.json, "Print JSON");
  a.diff->footer(kDiffFooter);

  a.repack = trace.add_subcommand("repack", "Write a trace again: other compression, other chunks; recover");
  RepackArguments& repack = a.repack_arguments;
  a.repack->add_option("TRACE", repack.trace, "Trace file")->required();
  AddOutput(*a.repack, repack.output);
  CLI::Option* chunk =
      a.repack->add_option("--chunk", repack.chunk, "Close chunks at this many thread-instructions (1048576)");
  chunk->check(WholeNumberFromTo(1, uint64_t{4} << 20));
  CLI::Option* encode = a.repack->add_flag("--encode", repack.encode, "Encode all chunks anew, as capture does today");
  a.repack->add_flag("--recover", repack.recover, "Keep what is complete of a damaged file")
      ->excludes(chunk)
      ->excludes(encode);
  a.repack->footer(kRepackFooter);

  a.extract = trace.add_subcommand("extract", "Make a trace of some launches, kernels or blocks");
  ExtractArguments& extract = a.extract_arguments;
  a.extract->add_option("TRACE", extract.trace, "Trace file")->required();
  AddOutput(*a.extract, extract.output);
  AddLaunches(*a.extract, extract.selection);
  a.extract->footer(std::string(kExtractFooter) + kRanges);

  a.merge = trace.add_subcommand("merge", "Make one trace of several");
  a.merge->add_option("TRACE", a.merge_arguments.traces, "Trace files, in order")->required();
  AddOutput(*a.merge, a.merge_arguments.output);
  a.merge->footer(kMergeFooter);
}

TraceOptions::~TraceOptions() = default;

bool TraceOptions::Run(int& status) const {
  const Arguments& a = *arguments_;
  if (a.info->parsed()) {
    status = TraceInfoCommand(a.trace, a.per_launch, a.json);
  } else if (a.check->parsed()) {
    status = TraceCheckCommand(a.checked, a.json);
  } else if (a.limits->parsed()) {
    replay::LimitOptions limits = a.limit_options;
    limits.lane_fixed = !a.free_lanes;
    limits.scope_is_block = a.scope == "block";
    status = TraceLimitsCommand(a.trace, limits, a.json);
  } else if (a.dump->parsed()) {
    status = TraceDumpCommand(a.dump_arguments);
  } else if (a.diff->parsed()) {
    status = TraceDiffCommand(a.trace, a.other, a.json);
  } else if (a.repack->parsed()) {
    status = TraceRepackCommand(a.repack_arguments);
  } else if (a.extract->parsed()) {
    status = TraceExtractCommand(a.extract_arguments);
  } else if (a.merge->parsed()) {
    status = TraceMergeCommand(a.merge_arguments);
  } else {
    return false;
  }
  return true;
}

}  // namespace heddle::tools
