// Input adjacency_graph: a random graph as text, as breadth-first searches read it.
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "tools/study/suite/inputs/generator.h"

namespace heddle::tools::suite {
namespace {

// Nodes with first edge and number of edges, the node to start at, then edges with end and weight. Every edge is there
// in both directions, and every node hangs on an earlier one, so that all can be reached.
std::string Make(Random& random, const InputSettings& set) {
  const uint64_t nodes = set.at("nodes");
  std::vector<std::vector<std::pair<uint64_t, uint64_t>>> edges(nodes);
  const auto connect = [&](uint64_t a, uint64_t b) {
    const uint64_t weight = 1 + random.Below(10);
    edges[a].emplace_back(b, weight);
    edges[b].emplace_back(a, weight);
  };
  for (uint64_t node = 1; node < nodes; ++node) connect(node, random.Below(node));
  const uint64_t wanted = nodes * set.at("degree") / 2;
  for (uint64_t edge = nodes - 1; edge < wanted; ++edge) connect(random.Below(nodes), random.Below(nodes));
  std::string text = absl::StrCat(nodes, "\n");
  uint64_t first = 0;
  for (const auto& list : edges) {
    absl::StrAppend(&text, first, " ", list.size(), "\n");
    first += list.size();
  }
  absl::StrAppend(&text, "\n0\n\n", first, "\n");
  for (const auto& list : edges) {
    for (const auto& [end, weight] : list) absl::StrAppend(&text, end, " ", weight, "\n");
  }
  return text;
}

HEDDLE_INPUT_GENERATOR(.name = "adjacency_graph",
                       .what = "graph as text: nodes as \"first-edge edges\", start, edges as \"end weight\"",
                       .parameters = {{"nodes", "nodes", 4096, 1, 1 << 22}, {"degree", "edges per node", 6, 2, 64}},
                       .make = Make);

}  // namespace
}  // namespace heddle::tools::suite
