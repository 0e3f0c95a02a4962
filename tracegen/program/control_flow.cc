#include "tracegen/program/control_flow.h"

#include <algorithm>
#include <functional>
#include <utility>

namespace heddle::tracegen {
namespace {

// Strongly connected components of the nodes for which `member` holds and that `entry` reaches, in topological order,
// ignoring edges to `cut`. Iterative, because the depth is the size of the function.
std::vector<std::vector<int>> Components(const Graph& graph, int entry, const std::vector<bool>& member, int cut) {
  const int count = static_cast<int>(graph.successors.size());
  std::vector<int> number(count, -1), low(count, 0);
  std::vector<bool> on_stack(count, false);
  std::vector<int> stack;
  std::vector<std::vector<int>> components;
  struct Frame {
    int node;
    int next;  // successors left to visit: the last first, so that the fall-through comes first in the order
  };
  std::vector<Frame> frames;
  int time = 0;
  auto enter = [&](int node) {
    number[node] = low[node] = time++;
    stack.push_back(node);
    on_stack[node] = true;
    frames.push_back({node, static_cast<int>(graph.successors[node].size())});
  };
  enter(entry);
  while (!frames.empty()) {
    Frame& frame = frames.back();
    if (frame.next > 0) {
      const int to = graph.successors[frame.node][--frame.next];
      if (!member[to] || to == cut) continue;
      if (number[to] < 0) {
        enter(to);
      } else if (on_stack[to]) {
        low[frame.node] = std::min(low[frame.node], number[to]);
      }
      continue;
    }
    const int node = frame.node;
    frames.pop_back();
    if (!frames.empty()) low[frames.back().node] = std::min(low[frames.back().node], low[node]);
    if (low[node] != number[node]) continue;
    std::vector<int> component;
    int popped;
    do {
      popped = stack.back();
      stack.pop_back();
      on_stack[popped] = false;
      component.push_back(popped);
    } while (popped != node);
    std::reverse(component.begin(), component.end());  // the node that was entered first comes first
    components.push_back(std::move(component));
  }
  std::reverse(components.begin(), components.end());
  return components;
}

void OrderRegion(const Graph& graph, int entry, const std::vector<bool>& member, int cut, uint32_t depth,
                 GraphOrder* order) {
  for (const std::vector<int>& component : Components(graph, entry, member, cut)) {
    const int header = component.front();
    const std::vector<int>& to = graph.successors[header];
    const bool loop = component.size() > 1 || (header != cut && std::find(to.begin(), to.end(), header) != to.end());
    if (!loop) {
      order->nodes.push_back(header);
      order->depth[header] = depth;
      continue;
    }
    std::vector<bool> inside(graph.successors.size(), false);
    for (int node : component) inside[node] = true;
    OrderRegion(graph, header, inside, header, depth + 1, order);
  }
}

}  // namespace

GraphOrder OrderNodes(const Graph& graph) {
  GraphOrder order;
  order.depth.assign(graph.successors.size(), 0);
  std::vector<bool> all(graph.successors.size(), true);
  OrderRegion(graph, 0, all, kFunctionEnd, 0, &order);
  return order;
}

bool ReachesEnd(const Graph& graph) {
  std::vector<bool> reached(graph.successors.size(), false);
  std::vector<int> work = {0};
  reached[0] = true;
  while (!work.empty()) {
    const int node = work.back();
    work.pop_back();
    if (graph.Stops(node)) continue;
    if (graph.successors[node].empty()) return true;
    for (int to : graph.successors[node]) {
      if (reached[to]) continue;
      reached[to] = true;
      work.push_back(to);
    }
  }
  return false;
}

std::vector<bool> FindDeadEnds(const Graph& graph) {
  const int count = static_cast<int>(graph.successors.size());
  std::vector<std::vector<int>> predecessors(count);
  std::vector<int> ends, stops;
  for (int node = 0; node < count; ++node) {
    if (graph.Stops(node)) {
      stops.push_back(node);
    } else if (graph.successors[node].empty()) {
      ends.push_back(node);
    } else {
      for (int to : graph.successors[node]) predecessors[to].push_back(node);
    }
  }
  const auto reach_back = [&](std::vector<int> work) {
    std::vector<bool> reached(count, false);
    for (int node : work) reached[node] = true;
    while (!work.empty()) {
      const int node = work.back();
      work.pop_back();
      for (int from : predecessors[node]) {
        if (reached[from]) continue;
        reached[from] = true;
        work.push_back(from);
      }
    }
    return reached;
  };
  std::vector<bool> dead(count, false);
  for (int node : stops) dead[node] = true;
  const std::vector<bool> ending = reach_back(ends);
  if (count == 0 || !ending[0]) return dead;
  const std::vector<bool> stopping = reach_back(stops);
  for (int node : OrderNodes(graph).nodes) dead[node] = dead[node] || (!ending[node] && !stopping[node]);
  return dead;
}

std::vector<int> PostDominators(const Graph& graph) {
  const int count = static_cast<int>(graph.successors.size());
  const int end = count;
  std::vector<std::vector<int>> predecessors(count + 1);
  for (int node = 0; node < count; ++node) {
    if (graph.Stops(node)) continue;
    for (int to : graph.successors[node]) predecessors[to].push_back(node);
    if (graph.successors[node].empty()) predecessors[end].push_back(node);
  }
  // Nodes from which `start` can be reached without passing one of `without`.
  const std::vector<bool> none(count + 1, false);
  auto reach_back = [&](std::vector<bool>& reached, int start, const std::vector<bool>& without) {
    std::vector<int> work = {start};
    reached[start] = true;
    while (!work.empty()) {
      const int node = work.back();
      work.pop_back();
      for (int from : predecessors[node]) {
        if (!reached[from] && !without[from]) {
          reached[from] = true;
          work.push_back(from);
        }
      }
    }
  };
  std::vector<bool> takes_part(count + 1, false), stops(count + 1, false);
  reach_back(takes_part, end, none);
  for (int node = 0; node < count; ++node) {
    if (graph.Stops(node) && !stops[node]) reach_back(stops, node, none);
  }
  const GraphOrder order = OrderNodes(graph);
  for (auto last = order.nodes.rbegin(); last != order.nodes.rend(); ++last) {
    if (takes_part[*last] || stops[*last]) continue;
    predecessors[end].push_back(*last);  // the latch of an endless loop
    reach_back(takes_part, *last, stops);
  }
  // Cooper, Harvey and Kennedy, "A Simple, Fast Dominance Algorithm", on the reversed graph.
  std::vector<int> post_order(count + 1, -1), sequence;
  std::vector<std::pair<int, size_t>> stack = {{end, 0}};
  std::vector<bool> seen(count + 1, false);
  seen[end] = true;
  while (!stack.empty()) {
    auto& [node, next] = stack.back();
    if (next < predecessors[node].size()) {
      const int from = predecessors[node][next++];
      if (!seen[from] && takes_part[from]) {
        seen[from] = true;
        stack.emplace_back(from, 0);
      }
      continue;
    }
    post_order[node] = static_cast<int>(sequence.size());
    sequence.push_back(node);
    stack.pop_back();
  }
  std::vector<std::vector<int>> followers(count);
  for (int from : predecessors[end]) followers[from].push_back(end);
  for (int node = 0; node < count; ++node) {
    if (graph.Stops(node)) continue;
    for (int to : graph.successors[node]) {
      if (takes_part[to]) followers[node].push_back(to);
    }
  }
  std::vector<int> dominator(count + 1, -2);
  dominator[end] = end;
  for (bool changed = true; changed;) {
    changed = false;
    for (size_t i = sequence.size() - 1; i-- > 0;) {
      const int node = sequence[i];
      int common = -2;
      for (int to : followers[node]) {
        if (dominator[to] == -2) continue;
        if (common == -2) {
          common = to;
          continue;
        }
        int other = to;
        while (common != other) {
          while (post_order[common] < post_order[other]) common = dominator[common];
          while (post_order[other] < post_order[common]) other = dominator[other];
        }
      }
      if (common != dominator[node]) {
        dominator[node] = common;
        changed = true;
      }
    }
  }
  std::vector<int> result(count, kFunctionEnd);
  for (int node = 0; node < count; ++node) {
    if (takes_part[node] && dominator[node] >= 0 && dominator[node] != end) result[node] = dominator[node];
  }
  return result;
}

std::vector<std::vector<int>> ControlDependence(const Graph& graph, const std::vector<int>& post_dominators) {
  std::vector<std::vector<int>> result(graph.successors.size());
  for (int node = 0; node < static_cast<int>(graph.successors.size()); ++node) {
    if (graph.successors[node].size() < 2) continue;
    for (int walk : graph.successors[node]) {
      for (size_t steps = 0; walk != kFunctionEnd && walk != post_dominators[node] && steps <= result.size(); ++steps) {
        if (std::find(result[walk].begin(), result[walk].end(), node) == result[walk].end()) {
          result[walk].push_back(node);
        }
        walk = post_dominators[walk];
      }
    }
  }
  return result;
}

}  // namespace heddle::tracegen
