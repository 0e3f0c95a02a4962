// What `heddle correlate` does once its command line has been read.
#ifndef HEDDLE_TOOLS_STUDY_CORRELATE_CORRELATE_COMMAND_H_
#define HEDDLE_TOOLS_STUDY_CORRELATE_CORRELATE_COMMAND_H_

#include <cstdint>
#include <string>
#include <vector>

#include "tools/inputs/trace_memory.h"

namespace heddle::tools::correlate {

struct CorrelateArguments {
  std::string hardware;             // --hardware: a visit, or a folder with visits to one card
  std::vector<std::string> traces;  // at least one
  std::string machine = "volta_v100";
  std::vector<std::string> overrides;  // --set
  std::string divergence;              // empty = what the ladder says
  std::string scheduler = "gto";       // public studies of recent cards see a greedy one
  std::string code;                    // --code: ptx, cuda or cubin; empty = as the traces are
  std::string output;                  // -o: the page; empty = none
  std::string json;                    // --json: "-" = standard output; empty = none
  bool keep_errors = false;            // --keep-errors: into the file beside the machine
  uint32_t jobs = 1;
  uint64_t trace_memory = kTraceMemory;
};

// Replays the traces that the card has run and compares. Prints results and errors itself and returns the exit
// status of the program.
int CorrelateCommand(const CorrelateArguments& arguments);

}  // namespace heddle::tools::correlate

#endif  // HEDDLE_TOOLS_STUDY_CORRELATE_CORRELATE_COMMAND_H_
