// What `heddle reproduce` does.
#ifndef HEDDLE_TOOLS_STUDY_REPRODUCE_REPRODUCE_COMMAND_H_
#define HEDDLE_TOOLS_STUDY_REPRODUCE_REPRODUCE_COMMAND_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "tools/study/reproduce/trace_store.h"

namespace heddle::tools::reproduce {

struct ReproduceArguments {
  std::vector<std::string> papers;     // names, files, or `all`
  std::string folder;                  // a sweep per paper, pages, and traces if none are named
  std::string traces;                  // empty = FOLDER/traces
  std::vector<std::string> libraries;  // of policies that claims name
  std::string recipes;                 // empty = the source tree's
  std::string originals;               // of `heddle suite run`, a folder per suite; empty = kernels of ours alone
  std::string page;                    // empty = FOLDER/reproduction.md
  InputSize size = InputSize::kSmall;
  std::optional<InputSize> tests;      // inputs for noise and variations; as `size` if there are none
  std::vector<std::string> registers;  // --registers
  bool paper_residency = false;        // --paper-residency
  uint32_t jobs = 1;
  uint32_t jitter = 0;
  uint32_t headline_jitter = 10;  // at least, if there is noise
  uint32_t certify = 0;           // orders that new recordings are certified with
  uint32_t audit = 0;             // so many claims that agree are treated as if they did not
  bool sensitivity = false;
  uint32_t causes = 0;  // with `size`: suspects of claims that do not come out, if they need at most so many replays
  bool freeze = false;  // also write ledgers
  bool plan_only = false;
  bool quiet = false;
};

// Prints results and errors itself and returns the exit status. Claims that do not come out are results, no
// failure.
int ReproduceCommand(const ReproduceArguments& arguments);

}  // namespace heddle::tools::reproduce

#endif  // HEDDLE_TOOLS_STUDY_REPRODUCE_REPRODUCE_COMMAND_H_
