// How the threads of a launch run, for captures of recipes and of programs.
#ifndef HEDDLE_TOOLS_CAPTURE_EXECUTION_OPTIONS_H_
#define HEDDLE_TOOLS_CAPTURE_EXECUTION_OPTIONS_H_

#include <CLI/CLI.hpp>

#include "tools/console/option_checks.h"
#include "tracegen/execute/launch/launch_limits.h"

namespace heddle::tracegen {

// Adds --certify, --lockstep, --allow-bounds, --own-stacks and --resident-blocks; --record-writers is there before.
// `Options` is CaptureOptions or CaptureSettings.
template <typename Options>
void AddExecutionOptions(CLI::App& app, Options& options) {
  CLI::Option* certify =
      app.add_option(
             "--certify", options.certify,
             "run every launch so many times again, with threads and blocks in other orders, and store what changes")
          ->check(tools::WholeNumberFromTo(1, 1000));
  CLI::Option* lockstep = app.add_flag(
      "--lockstep", options.lockstep,
      "run the threads of a warp together from memory access to memory access, for code that relies on it");
  app.add_flag(
      "--allow-bounds", options.allow_bounds,
      "let kernels read global memory outside all allocations, as devices often do: they get what lies there, or "
      "zero, and the trace says which instructions did");
  app.add_flag("--own-stacks", options.own_stacks,
               "let threads wait at barriers on stacks of their own: the same trace, made more slowly");
  app.add_option("--resident-blocks", options.resident_blocks,
                 "blocks of a launch that are live at once and take turns: for blocks that wait for one another")
      ->check(tools::WholeNumberFromTo(1, kMaxResidentBlocks))
      ->excludes(certify)
      ->excludes(lockstep)
      ->excludes("--record-writers");
}

}  // namespace heddle::tracegen

#endif  // HEDDLE_TOOLS_CAPTURE_EXECUTION_OPTIONS_H_
