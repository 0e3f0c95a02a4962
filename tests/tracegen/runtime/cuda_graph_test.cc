// CUDA graphs without a device: order of nodes, circles, clones, and the steps of an executable graph.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <vector>

#include "tracegen/runtime/cuda/graphs/executable.h"
#include "tracegen/runtime/cuda/graphs/graph.h"

namespace heddle::cuda {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

std::vector<size_t> LanesOf(const std::vector<Step>& steps) {
  std::vector<size_t> lanes;
  for (const Step& step : steps) lanes.push_back(step.lane);
  return lanes;
}

TEST(CudaGraphTest, NodesComeBehindWhatTheyDependOn) {
  Graph graph;
  Node* last = graph.Add(EmptyWork{}, {});
  Node* middle = graph.Add(EmptyWork{}, {});
  Node* first = graph.Add(EmptyWork{}, {});
  Graph::AddEdge(first, middle);
  Graph::AddEdge(middle, last);
  EXPECT_THAT(graph.Nodes(), ElementsAre(last, middle, first));
  EXPECT_THAT(graph.Order(), ElementsAre(first, middle, last));
  EXPECT_TRUE(Graph::HasEdge(first, middle));
  EXPECT_FALSE(Graph::HasEdge(middle, first));
  graph.Remove(middle);
  EXPECT_THAT(graph.Order(), ElementsAre(last, first));
  EXPECT_FALSE(IsNode(middle));
}

TEST(CudaGraphTest, NodesInACircleHaveNoOrder) {
  Graph graph;
  Node* free = graph.Add(EmptyWork{}, {});
  Node* one = graph.Add(EmptyWork{}, {free});
  Node* two = graph.Add(EmptyWork{}, {one});
  graph.Add(EmptyWork{}, {two});
  Graph::AddEdge(two, one);
  EXPECT_THAT(graph.Order(), ElementsAre(free));
  const Node* wrong = nullptr;
  EXPECT_THAT(MakeSteps(graph, &wrong), IsEmpty());
  EXPECT_NE(wrong, nullptr);
  Graph::RemoveEdge(two, one);
  EXPECT_EQ(MakeSteps(graph, &wrong).size(), 4u);
  EXPECT_EQ(wrong, nullptr);
}

TEST(CudaGraphTest, EveryOrderKeepsAllEdges) {
  std::mt19937 random(7);
  for (int round = 0; round < 50; ++round) {
    Graph graph;
    std::vector<Node*> nodes;
    for (int i = 0; i < 30; ++i) nodes.push_back(graph.Add(EmptyWork{}, {}));
    std::vector<Node*> hidden = nodes;  // an order that nobody is told
    std::shuffle(hidden.begin(), hidden.end(), random);
    for (size_t i = 0; i < hidden.size(); ++i) {
      for (size_t k = i + 1; k < hidden.size(); ++k) {
        if (random() % 6 == 0) Graph::AddEdge(hidden[i], hidden[k]);
      }
    }
    const std::vector<Node*> order = graph.Order();
    ASSERT_EQ(order.size(), nodes.size());
    for (auto at = order.begin(); at != order.end(); ++at) {
      for (Node* before : (*at)->before) EXPECT_NE(std::find(order.begin(), at, before), at);
    }
  }
}

TEST(CudaGraphTest, ClonesAreOfTheSameFormAndStandAlone) {
  Graph graph;
  Node* one = graph.Add(EmptyWork{}, {});
  Node* two = graph.Add(HostWork{}, {one});
  const std::unique_ptr<Graph> clone = graph.Clone();
  Node* twin = clone->FindClone(two);
  ASSERT_NE(twin, nullptr);
  EXPECT_EQ(TypeOf(twin->work), cudaGraphNodeTypeHost);
  EXPECT_THAT(twin->before, ElementsAre(clone->FindClone(one)));
  graph.Remove(two);
  EXPECT_EQ(clone->Nodes().size(), 2u);
  EXPECT_TRUE(IsGraph(clone.get()));
}

TEST(CudaGraphTest, ChildGraphsAreUnfoldedInTheirPlace) {
  auto child = std::make_shared<Graph>();
  Node* inner = child->Add(HostWork{}, {});
  child->Add(HostWork{}, {});
  Graph graph;
  Node* before = graph.Add(EmptyWork{}, {});
  Node* nested = graph.Add(ChildWork{child}, {before});
  Node* behind = graph.Add(EmptyWork{}, {nested});
  const Node* wrong = nullptr;
  const std::vector<Step> steps = MakeSteps(graph, &wrong);
  ASSERT_EQ(steps.size(), 5u);
  EXPECT_EQ(steps[0].node, before);
  EXPECT_EQ(steps[1].node, inner);
  EXPECT_THAT(steps[1].before, ElementsAre(0));
  EXPECT_THAT(steps[2].before, ElementsAre(0));
  EXPECT_EQ(steps[3].node, nested);
  EXPECT_THAT(steps[3].before, ElementsAre(0, 1, 2));
  EXPECT_EQ(steps[4].node, behind);
  EXPECT_TRUE(steps[4].is_last);
  EXPECT_FALSE(steps[1].is_last);
}

TEST(CudaGraphTest, BranchesHaveLanesOfTheirOwn) {
  Graph graph;
  Node* first = graph.Add(EmptyWork{}, {});
  Node* left = graph.Add(EmptyWork{}, {first});
  Node* right = graph.Add(EmptyWork{}, {first});
  graph.Add(EmptyWork{}, {left, right});
  graph.Add(EmptyWork{}, {});
  const Node* wrong = nullptr;
  Executable executable(MakeSteps(graph, &wrong), graph, 0);
  EXPECT_THAT(LanesOf(executable.steps()), ElementsAre(0, 0, 1, 0, 2));
}

TEST(CudaGraphTest, OnlyAGraphOfTheSameFormIsTakenOver) {
  Graph graph, same, other, longer;
  graph.Add(HostWork{}, {graph.Add(EmptyWork{}, {})});
  same.Add(HostWork{nullptr, &same}, {same.Add(EmptyWork{}, {})});
  other.Add(EmptyWork{}, {other.Add(EmptyWork{}, {})});
  longer.Add(HostWork{}, {});
  longer.Add(EmptyWork{}, {});
  const Node* wrong = nullptr;
  Executable executable(MakeSteps(graph, &wrong), graph, 0);
  cudaGraphExecUpdateResultInfo info;
  EXPECT_EQ(executable.Update(other, &info), cudaErrorGraphExecUpdateFailure);
  EXPECT_EQ(info.result, cudaGraphExecUpdateErrorNodeTypeChanged);
  EXPECT_EQ(executable.Update(longer, &info), cudaErrorGraphExecUpdateFailure);
  EXPECT_EQ(executable.Update(same, &info), cudaSuccess);
  EXPECT_EQ(std::get<HostWork>(executable.steps()[1].work).data, &same);
}

}  // namespace
}  // namespace heddle::cuda
