// `heddle sweep`: the commands are in this folder.
#include "tools/console/command.h"

namespace heddle::tools::sweep {
namespace {

constexpr char kFooter[] = R"(
A sweep is planned once, and run by as many processes on as many machines as there are, until nothing is missing:

  heddle sweep plan study.textproto -o study
  heddle sweep run study --jobs 8                 # here; or on an engine:
  heddle sweep emit study --slurm && sbatch study/sweep.sbatch
  heddle sweep status study
  heddle sweep collect study -o study.csv

Interrupted runs leave whole results and nothing else; to go on, run or emit again. docs/tutorial/study.md shows a whole study,
proto/sweep.proto is the specification's form.)";

HEDDLE_COMMAND_GROUP(.name = "sweep", .place = 6,
                     .summary = "Plan many replays, run them anywhere, collect their results", .footer = kFooter);

}  // namespace
}  // namespace heddle::tools::sweep
