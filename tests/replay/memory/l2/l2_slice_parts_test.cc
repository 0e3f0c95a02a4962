// The parts of an L2 slice by themselves.
#include <gtest/gtest.h>

#include <vector>

#include "replay/memory/l2/atomic_unit.h"
#include "replay/memory/l2/dram_job_queue.h"
#include "replay/memory/l2/fill_unit.h"
#include "replay/memory/l2/l2_slice_links.h"
#include "replay/memory/l2/reply_queue.h"

namespace heddle::replay {
namespace {

// A network that takes what it is told to take.
class Network final : public L2SliceLinks {
 public:
  const MemoryRequest* Arrived(uint32_t /*slice*/) const override { return nullptr; }
  void TakeArrived(uint32_t /*slice*/) override {}
  bool SendReply(uint32_t slice, const MemoryRequest& reply) override {
    EXPECT_EQ(slice, 7u);
    ++asked;
    if (has_room) sent.push_back(reply.address);
    return has_room;
  }
  void DramJobQueued(uint32_t /*slice*/, Edge /*ready*/) override {}
  uint64_t LineWithinSlice(uint64_t address) const override { return address; }
  Edge AfterRop() override { return 0; }
  Edge AfterDramPipe() override { return 0; }

  bool has_room = false;
  int asked = 0;
  std::vector<uint64_t> sent;
};

TEST(ReplyQueue, AsksTheNetworkAgainOnlyWhenThatSaysItHasRoom) {
  Network network;
  ReplyQueue queue(2);
  EXPECT_EQ(queue.ready(), kNoEdge);
  queue.Push({.address = 1}, 5);
  queue.Push({.address = 2}, 6);
  EXPECT_TRUE(queue.full());
  EXPECT_EQ(queue.ready(), 5u);
  EXPECT_FALSE(queue.Send(7, network));
  EXPECT_TRUE(queue.blocked());
  network.has_room = true;
  EXPECT_FALSE(queue.Send(7, network));
  EXPECT_EQ(network.asked, 1);
  queue.NetworkHasRoom();
  EXPECT_TRUE(queue.Send(7, network));
  EXPECT_FALSE(queue.blocked());
  EXPECT_EQ(queue.ready(), 6u);
  EXPECT_TRUE(queue.Send(7, network));
  EXPECT_EQ(network.sent, (std::vector<uint64_t>{1, 2}));
  EXPECT_TRUE(queue.empty());
}

TEST(AtomicUnit, HoldsUpOtherAtomicsAndItsLine) {
  AtomicUnit unit(5);
  const MemoryRequest atomic = {.address = 0x100, .kind = RequestKind::kAtomic, .passes = 3};
  const MemoryRequest elsewhere = {.address = 0x200, .kind = RequestKind::kAtomic};
  const MemoryRequest same_line = {.address = 0x11f};
  const MemoryRequest next_line = {.address = 0x120};
  EXPECT_FALSE(unit.HoldsUp(atomic));
  unit.Begin(atomic, 10);
  EXPECT_TRUE(unit.busy());
  EXPECT_EQ(unit.done(), 13u);
  EXPECT_TRUE(unit.HoldsUp(elsewhere));
  EXPECT_TRUE(unit.HoldsUp(same_line));
  EXPECT_FALSE(unit.HoldsUp(next_line));
  unit.End();
  EXPECT_FALSE(unit.HoldsUp(elsewhere));
  EXPECT_FALSE(unit.HoldsUp(same_line));
}

TEST(DramJobQueue, CountsJobsUntilTheyAreAnswered) {
  DramJobQueue queue(2);
  queue.Push({.address = 1, .ready = 4});
  queue.Push({.address = 2, .ready = 4});
  EXPECT_TRUE(queue.full());
  EXPECT_FALSE(queue.room_wanted());
  queue.WantRoom();
  EXPECT_TRUE(queue.room_wanted());
  queue.BeginEdge();
  EXPECT_FALSE(queue.room_wanted());
  EXPECT_EQ(queue.front().address, 1u);
  queue.Pop();
  EXPECT_EQ(queue.room(), 1u);
  EXPECT_EQ(queue.unanswered(), 2u);
  queue.Answered();
  EXPECT_EQ(queue.unanswered(), 1u);
  queue.Pop();
  EXPECT_EQ(queue.ready(), kNoEdge);
}

TEST(FillUnit, ServesTheWaitersOfOneLineAfterTheOther) {
  FillUnit fills(4, 8);
  EXPECT_FALSE(fills.busy());
  fills.Wait(2, {.address = 20});
  fills.Wait(3, {.address = 30});
  fills.Return(1);
  fills.Return(0);
  EXPECT_TRUE(fills.busy());
  EXPECT_EQ(fills.serving(), FillUnit::kNone);
  EXPECT_EQ(fills.next(), 1u);
  fills.BeginNext();
  EXPECT_EQ(fills.serving(), 1u);
  EXPECT_EQ(fills.returned(), 1u);
  for (const uint32_t waiter : {2u, 3u}) {
    EXPECT_EQ(fills.in_hand(), nullptr);
    fills.TakeInHand(waiter);
    ASSERT_NE(fills.in_hand(), nullptr);
    EXPECT_EQ(fills.in_hand()->address, 10u * waiter);
    fills.Answered();
  }
  fills.Block();
  EXPECT_TRUE(fills.blocked());
  fills.BeginEdge();
  EXPECT_FALSE(fills.blocked());
  fills.End();
  EXPECT_EQ(fills.next(), 0u);
  EXPECT_TRUE(fills.busy());
}

TEST(FillUnit, NumbersTheRequestsWhereThereIsNoCache) {
  FillUnit fills(4, 0);
  const uint32_t first = fills.Wait({.address = 1});
  const uint32_t second = fills.Wait({.address = 2});
  EXPECT_NE(first, second);
  fills.Return(second);
  fills.BeginNext();
  fills.TakeInHand(fills.serving());
  EXPECT_EQ(fills.in_hand()->address, 2u);
  fills.Answered();
  fills.EndAndFree();
  EXPECT_FALSE(fills.busy());
  EXPECT_EQ(fills.Wait({.address = 3}), second);
}

}  // namespace
}  // namespace heddle::replay
