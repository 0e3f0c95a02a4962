// The kernels of the worked examples as trace files, for `heddle replay` and the pictures of docs/policies.
// HEDDLE_UPDATE_DOCUMENTS=1 writes the files.
#include <cstdlib>
#include <fstream>
#include <sstream>
#include <string>
#include <tuple>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"
#include "tests/replay/policies/divergence/figures.h"
#include "tests/replay/policies/divergence/figures_capri.h"

namespace heddle::replay {
namespace {

// if (a || b) D: A decides a, B decides b, D runs if either holds; all meet at E.
Scenario ShortCircuit() {
  Scenario scenario;
  scenario.Block('A', 1, "DB", 'E').Block('B', 1, "DE", 'E').Block('D', 1, "E").Block('E', 1, "");
  return scenario.ThreadBlock({"ADE", "ABE", "ABDE", "ADE"});
}

// Two blocks of three warps, which run a loop (a load, an addition, the branch) for one to three turns and meet at a
// barrier.
Scenario WarpsInALoop() {
  Scenario scenario;
  scenario.Block('A', 1, "B").Block('B', 3, "BC", 'C').Block('C', 2, "D").Block('D', 1, "");
  scenario.Memory('B', 0, trace::v1::SPACE_GLOBAL).Barrier('C', 0);
  for (const std::string turns : {"321", "132"}) {
    std::vector<std::string> paths;
    for (const char count : turns) {
      for (int thread = 0; thread < 4; ++thread) {
        paths.push_back("A" + std::string(static_cast<size_t>(count - '0'), 'B') + "CD");
      }
    }
    scenario.ThreadBlock(paths);
  }
  return scenario;
}

// Figure 1 of the VTW paper, a turn of the loop for five units of the figure: three blocks of three warps, here of four
// threads each.
Scenario VtwFigure1() {
  Scenario scenario;
  scenario.Block('A', 2, "AB", 'B').Block('B', 1, "");
  const int units[3][3] = {{40, 50, 30}, {50, 30, 40}, {25, 40, 45}};
  for (const auto& block : units) {
    std::vector<std::string> paths;
    for (const int time : block) {
      for (int thread = 0; thread < 4; ++thread) paths.push_back(std::string(static_cast<size_t>(time / 5), 'A') + "B");
    }
    scenario.ThreadBlock(paths);
  }
  return scenario;
}

TEST(WorkedTraces, TheFilesAreThoseOfTheFigures) {
  // File, name of the kernel, kernel.
  const std::vector<std::tuple<std::string, std::string, Scenario>> traces = {
      {"fung_4_1", "Fung, Figure 4.1", FungFigure41()},
      {"capri_1", "CAPRI, Figure 1", CapriFigure1()},
      {"capri_6", "CAPRI, Figure 6", CapriFigure6()},
      {"harp_6", "HARP, Figure 6", HarpFigure6()},
      {"short_circuit", "if (a || b) D", ShortCircuit()},
      {"warps_in_a_loop", "a loop with a load, a barrier", WarpsInALoop()},
      {"vtw_1", "VTW, Figure 1", VtwFigure1()},
  };
  for (const auto& [name, kernel, scenario] : traces) {
    const std::string path = absl::StrCat(HEDDLE_SOURCE_DIR, "/traces/worked/", name, ".htrace");
    const std::string expected = Scenario(scenario).Kernel(kernel).TraceBytes();
    if (std::getenv("HEDDLE_UPDATE_DOCUMENTS") != nullptr) {
      std::ofstream(path, std::ios::binary) << expected;
      continue;
    }
    std::ifstream file(path, std::ios::binary);
    std::stringstream bytes;
    bytes << file.rdbuf();
    EXPECT_TRUE(bytes.str() == expected) << path << ": run this test with HEDDLE_UPDATE_DOCUMENTS=1";
  }
}

}  // namespace
}  // namespace heddle::replay
