// The kernels of the papers' figures.
#ifndef HEDDLE_TESTS_REPLAY_POLICIES_DIVERGENCE_FIGURES_H_
#define HEDDLE_TESTS_REPLAY_POLICIES_DIVERGENCE_FIGURES_H_

#include <string>
#include <vector>

#include "tests/replay/scenario.h"

namespace heddle::replay {

// Fung, Figure 3.1: A branches to B or F and reconverges at G, B to C or D and reconverges at E. One instruction each.
inline Scenario FungBlocks() {
  Scenario scenario;
  scenario.Block('A', 1, "BF", 'G')
      .Block('B', 1, "CD", 'E')
      .Block('C', 1, "E")
      .Block('D', 1, "E")
      .Block('E', 1, "G")
      .Block('F', 1, "G")
      .Block('G', 1, "");
  return scenario;
}

// One warp of four threads: masks B/E 1110, C 1000, D 0110, F 0001.
inline Scenario FungFigure31() { return FungBlocks().ThreadBlock({"ABCEG", "ABDEG", "ABDEG", "AFG"}); }

// Fung, Figure 4.1: warps x (threads 0 to 3) and y (4 to 7) of the same kernel.
inline Scenario FungFigure41() {
  return FungBlocks().ThreadBlock({"ABCEG", "ABDEG", "ABDEG", "AFG", "AFG", "AFG", "ABCEG", "ABDEG"});
}

// CAPRI, Figure 1: A branches to B (threads 0, 6, 7) or C (1 to 5) and reconverges at D. Two instructions each.
inline Scenario CapriFigure1() {
  Scenario scenario;
  scenario.Block('A', 2, "BC", 'D').Block('B', 2, "D").Block('C', 2, "D").Block('D', 2, "");
  return scenario.ThreadBlock({"ABD", "ACD", "ACD", "ACD", "ACD", "ACD", "ABD", "ABD"});
}

// HARP, Figures 6 and 10: A branches to B or C and reconverges at D. The text gives the warps of B and C, which leave
// threads 0, 2 and 7 to C. In Figure 6 D has two instructions, in Figure 10 one is shown.
inline Scenario HarpFigure(uint32_t instructions_of_d) {
  Scenario scenario;
  scenario.Block('A', 1, "BC", 'D').Block('B', 1, "D").Block('C', 1, "D").Block('D', instructions_of_d, "");
  return scenario.ThreadBlock({"ACD", "ABD", "ACD", "ABD", "ABD", "ABD", "ABD", "ACD"});
}
inline Scenario HarpFigure6() { return HarpFigure(2); }
inline Scenario HarpFigure10() { return HarpFigure(1); }

// F calls itself; threads leave the recursion at different depths, so that the same PC is at several depths at once.
inline Scenario Recursion() {
  Scenario scenario;
  scenario.Call('A', 1, 'F', 'B').Block('B', 1, "");
  scenario.Function()
      .Block('F', 1, "RS", 'T')
      .Call('R', 1, 'F', 'C')
      .Block('C', 1, "T")
      .Block('S', 1, "T")
      .Return('T', 1);
  return scenario.ThreadBlock({"AFSTB", "AFRFSTCTB", "AFRFRFSTCTCTB", "AFSTB"});
}

// A loop of four iterations in which neighbouring threads take the two sides of a branch in turn.
inline Scenario EvenOddLoop() {
  Scenario scenario;
  scenario.Block('H', 1, "XY", 'L').Block('X', 1, "L").Block('Y', 1, "L").Block('L', 1, "HE", 'E').Block('E', 1, "");
  std::vector<std::string> paths;
  for (int thread = 0; thread < 8; ++thread) {
    std::string path;
    for (int i = 0; i < 4; ++i) path += (thread + i) % 2 == 0 ? "HXL" : "HYL";
    paths.push_back(path + "E");
  }
  return scenario.ThreadBlock(paths);
}

}  // namespace heddle::replay

#endif  // HEDDLE_TESTS_REPLAY_POLICIES_DIVERGENCE_FIGURES_H_
