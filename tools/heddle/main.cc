// The one command. What it can do is in the files beside this one, each of which registers a command.
#include "tools/console/command.h"

namespace {

constexpr char kExamples[] = R"(
Examples:
  heddle capture -o bfs.htrace traces/kernels/bfs/bfs.textproto
  heddle capture -o program.htrace -- ./program arguments
  heddle trace info bfs.htrace
  heddle replay bfs.htrace --divergence nrec,pdom,dwf,mimd --scheduler lrr,gto
  heddle replay bfs.htrace --divergence pdom --set core.schedulers=1 -o result.json
  heddle report result.json -o report.html
  heddle policies dwf
  heddle machines import gpgpusim.config -o mine.textproto

Exit status: 0 success, 1 the run failed, 2 wrong usage.)";

}  // namespace

int main(int argc, char** argv) {
  return heddle::tools::RunProgram(
      {.name = "heddle",
       .version = HEDDLE_VERSION,
       .description =
           "Heddle records what every thread of a GPU kernel does, without a GPU, and replays the recording through\n"
           "interchangeable ways of forming and scheduling warps.",
       .footer = kExamples},
      argc, argv);
}
