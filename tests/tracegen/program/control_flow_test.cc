// Order, loops and post-dominators on small graphs.
#include "tracegen/program/control_flow.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace heddle::tracegen {
namespace {

using ::testing::ElementsAre;

TEST(OrderNodes, FallThroughComesFirst) {
  const Graph diamond{{{1, 2}, {3}, {3}, {}}, {false, false, false, true}};
  EXPECT_THAT(OrderNodes(diamond).nodes, ElementsAre(0, 1, 2, 3));
}

TEST(OrderNodes, BlocksOfALoopStandTogether) {
  // 0 -> 1 (header) -> {2, 3}; 2 -> {1, 5 (exit)}; 3 -> 1.
  const Graph loop{{{1}, {2, 3}, {1, 5}, {1}, {}, {}}, {false, false, false, false, true, true}};
  const GraphOrder order = OrderNodes(loop);
  EXPECT_THAT(order.nodes, ElementsAre(0, 1, 2, 3, 5));
  EXPECT_THAT(order.depth, ElementsAre(0, 1, 1, 1, 0, 0));
}

TEST(OrderNodes, CountsNestedLoops) {
  // 1 is an outer header, 2 loops on itself.
  const Graph nest{{{1}, {2}, {2, 3}, {1, 4}, {}}, {false, false, false, false, true}};
  const GraphOrder order = OrderNodes(nest);
  EXPECT_THAT(order.nodes, ElementsAre(0, 1, 2, 3, 4));
  EXPECT_THAT(order.depth, ElementsAre(0, 1, 2, 1, 0));
}

TEST(PostDominators, OfADiamond) {
  const Graph diamond{{{1, 2}, {3}, {3}, {}}, {false, false, false, true}};
  EXPECT_THAT(PostDominators(diamond), ElementsAre(3, 3, 3, kFunctionEnd));
}

TEST(PostDominators, BlocksThatCannotReturnTakeNoPart) {
  // 1 -> 4 is an assertion failure: 0 still rejoins at 3.
  const Graph graph{{{1, 2}, {3, 4}, {3}, {}, {}}, {false, false, false, true, false}};
  EXPECT_THAT(PostDominators(graph), ElementsAre(3, 3, 3, kFunctionEnd, kFunctionEnd));
}

TEST(PostDominators, EndlessLoopIsConnectedToTheEnd) {
  // 1 and 4 loop for ever, 4 being the latch.
  const Graph graph{{{1, 2}, {4}, {3}, {}, {1}}, {false, false, false, true, false}};
  EXPECT_THAT(PostDominators(graph), ElementsAre(kFunctionEnd, 4, 3, kFunctionEnd, kFunctionEnd));
}

TEST(PostDominators, LoopThatOnlyATrapEndsTakesNoPart) {
  // 1 and 4 loop until a trap, 5: 0 still rejoins at 2.
  const Graph graph{{{1, 2}, {4}, {3}, {}, {1, 5}, {}}, {false, false, false, true, false, false}};
  EXPECT_THAT(PostDominators(graph), ElementsAre(2, kFunctionEnd, 3, kFunctionEnd, kFunctionEnd, kFunctionEnd));
  // Nor does 1 if it may loop for ever instead, in 4.
  const Graph choice{{{1, 2}, {4, 5}, {3}, {}, {4}, {}}, {false, false, false, true, false, false}};
  EXPECT_THAT(PostDominators(choice), ElementsAre(2, kFunctionEnd, 3, kFunctionEnd, kFunctionEnd, kFunctionEnd));
}

TEST(PostDominators, NodesThatControlNeverLeavesTakeNoPart) {
  // 1 calls what never comes back to 3.
  const Graph graph{{{1, 2}, {3}, {3}, {}}, {false, false, false, true}, {false, true, false, false}};
  EXPECT_THAT(PostDominators(graph), ElementsAre(2, kFunctionEnd, 3, kFunctionEnd));
}

TEST(FindDeadEnds, EndlessLoopsBesideAWayToTheEnd) {
  // 1 and 2 loop for ever, 3 ends.
  const Graph beside{{{1, 3}, {2}, {1}, {}}, {false, false, false, true}};
  EXPECT_THAT(FindDeadEnds(beside), ElementsAre(false, true, true, false));
  // Without 3 they are all there is.
  const Graph alone{{{1}, {2}, {1}}, {false, false, false}};
  EXPECT_THAT(FindDeadEnds(alone), ElementsAre(false, false, false));
  // A loop that a trap, 2, can end is none.
  const Graph trap{{{1, 3}, {1, 2}, {}, {}}, {false, false, false, true}};
  EXPECT_THAT(FindDeadEnds(trap), ElementsAre(false, false, true, false));
}

TEST(ControlDependence, FollowsTheBranchThatDecides) {
  const Graph diamond{{{1, 2}, {3}, {3}, {}}, {false, false, false, true}};
  const std::vector<std::vector<int>> dependence = ControlDependence(diamond, PostDominators(diamond));
  EXPECT_THAT(dependence[1], ElementsAre(0));
  EXPECT_THAT(dependence[2], ElementsAre(0));
  EXPECT_TRUE(dependence[3].empty());
}

}  // namespace
}  // namespace heddle::tracegen
