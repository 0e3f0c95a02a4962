// The kernels of CAPRI's Figures 6 to 8.
#ifndef HEDDLE_TESTS_REPLAY_POLICIES_DIVERGENCE_FIGURES_CAPRI_H_
#define HEDDLE_TESTS_REPLAY_POLICIES_DIVERGENCE_FIGURES_CAPRI_H_

#include <string>
#include <vector>

#include "tests/replay/policies/divergence/figures.h"

namespace heddle::replay {

// Three warps of four threads; A branches to B (threads 0 to 4 and 7 to 9) or C and reconverges at G. Two instructions
// each. The paper's picture does not say how long warp 1 waits for its load in A: seven cycles give the three idle
// cycles under TBC and the one under CAPRI that the text states.
inline Scenario CapriFigure6() {
  Scenario scenario;
  scenario.Block('A', 2, "BC", 'G').Block('B', 2, "G").Block('C', 2, "G").Block('G', 2, "");
  std::vector<std::string> paths;
  for (int thread = 0; thread < 12; ++thread) {
    paths.push_back(thread <= 4 || (thread >= 7 && thread <= 9) ? "ABG" : "ACG");
  }
  return scenario.ThreadBlock(paths);
}

// Cycles of an instruction of CapriFigure6 whose first instruction is a load that misses for threads 4 to 7.
inline uint32_t CapriFigure6Latency(uint32_t thread, Pc pc) { return pc == 0 && thread >= 4 && thread <= 7 ? 7 : 1; }

}  // namespace heddle::replay

#endif  // HEDDLE_TESTS_REPLAY_POLICIES_DIVERGENCE_FIGURES_CAPRI_H_
