// What goes into the memory comes out of it: a part that loses, makes up or forgets something ends the launch with an
// error that names the part and the cycle.
#include <deque>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "replay/memory/hierarchy_system.h"
#include "replay/memory/partitioned_back_end.h"
#include "tests/replay/memory/back_end_driver.h"

namespace heddle::replay {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

constexpr Cycle kEnd = 500;

// Takes every request at once, and answers it ten cycles later; for one SM. `fault` may change what a request counts
// as; if it returns false the request is lost.
class FaultyBackEnd final : public MemoryBackEnd, private NetworkPort {
 public:
  using Fault = std::function<bool(PortCounters& counters, std::deque<MemoryRequest>& answers, const MemoryRequest&)>;
  explicit FaultyBackEnd(Fault fault) : fault_(std::move(fault)) {}

  void BeginLaunch(uint64_t /*number*/) override {}
  NetworkPort& port(uint32_t /*sm*/) override { return *this; }
  Cycle NextEvent() const override { return now_ + 1; }
  void Advance(Cycle now, SmWaker& /*waker*/) override { now_ = now; }
  bool drained() const override { return answers_.empty(); }
  const PortCounters& port_counters() const override { return counters_; }
  absl::Status EndLaunch(Cycle /*end*/, result::v1::LaunchResult& /*result*/) override { return absl::OkStatus(); }
  std::string Explain() const override { return {}; }
  void Invalidate(std::vector<AddressRange> ranges) override { invalidated.push_back(std::move(ranges)); }

  std::vector<std::vector<AddressRange>> invalidated;

 private:
  bool HasRoom(const MemoryRequest& /*request*/) override { return true; }
  void Send(const MemoryRequest& request) override {
    if (!fault_(counters_, answers_, request)) return;
    counters_.CountRequest(request);
    answers_.push_back(request);
  }
  const MemoryRequest* Reply() const override {
    return answers_.empty() || now_ % 10 != 0 ? nullptr : &answers_.front();
  }
  void TakeReply() override {
    ++counters_.replies;
    answers_.pop_front();
  }

  Fault fault_;
  Cycle now_ = 0;
  std::deque<MemoryRequest> answers_;
  PortCounters counters_;
};

struct Deaf final : MemoryClient {
  void LanesDone(AccessId, LaneMask, Cycle, bool) override {}
  void StoreAcknowledged(AccessId, Cycle) override {}
  void WaitsOffCore(AccessId) override {}
  void FetchArrived(uint32_t) override {}
  void CacheEvent(const CacheNotice&) override {}
};
struct Asleep final : SmWaker {
  void WakeSm(uint32_t) override {}
};

// Two SMs of 32 lanes with an L1, on the back end's machine.
machine::v1::Machine MachineWithSms() {
  machine::v1::Machine machine = BackEndMachine();
  machine.mutable_core()->set_warp_size(32);
  machine.mutable_core()->set_simd_width(32);
  machine.mutable_core()->set_max_threads(64);
  machine::v1::Hierarchy& memory = *machine.mutable_memory()->mutable_hierarchy();
  memory.set_coalescing(machine::v1::Hierarchy::COMPUTE_20);
  memory.mutable_shared()->set_banks(32);
  memory.mutable_shared()->set_parts(1);
  machine::v1::Cache& data = *memory.mutable_l1_data();
  data.set_sets(32);
  data.set_line_bytes(128);
  data.set_ways(4);
  data.set_mshrs(32);
  data.set_mshr_merges(8);
  data.set_miss_queue(8);
  data.set_hit_cycles(1);
  data.set_global_write(machine::v1::Cache::WRITE_EVICT);
  return machine;
}

// A load and a store of one lane each through the L1 of a GTX 480, on a back end with the fault.
absl::Status EndOfLaunch(FaultyBackEnd::Fault fault) {
  auto owned = std::make_unique<FaultyBackEnd>(std::move(fault));
  FaultyBackEnd& back_end = *owned;
  const auto system = HierarchySystem::WithBackEnd(MachineWithSms(), AddressWindows(), std::move(owned));
  system->BeginLaunch(MachineWithSms().memory().hierarchy().l1_data().ways());
  Deaf client;
  Asleep waker;
  const auto sm = system->MakeSm(0, client);
  for (Cycle now = 0; now < kEnd; ++now) {
    back_end.Advance(now, waker);
    sm->RunCycle(now);
    if (now != 0 && now != 100) continue;
    LaneAddresses addresses{};
    addresses[0] = 0x1000;
    WarpAccess access;
    access.op = now == 0 ? trace::v1::OP_LOAD : trace::v1::OP_STORE;
    access.space = trace::v1::SPACE_GLOBAL;
    access.bytes = 4;
    access.lanes = 1;
    access.addresses = &addresses;
    sm->Submit(access, now);
  }
  result::v1::LaunchResult result;
  return system->EndLaunch(kEnd, result);
}

// Which bytes the back end forgets, copies of the trace up to a launch at a time.
TEST(HierarchySystemTest, TransfersThatWriteTheDeviceInvalidateWhatTheyWrite) {
  auto owned = std::make_unique<FaultyBackEnd>([](auto&, auto&, const auto&) { return true; });
  const std::vector<std::vector<AddressRange>>& invalidated = owned->invalidated;
  const auto system = HierarchySystem::WithBackEnd(MachineWithSms(), AddressWindows(), std::move(owned));
  using trace::v1::Transfer;
  std::vector<Transfer> transfers;
  const auto add = [&](Transfer::Direction direction, uint64_t address, uint64_t bytes) {
    Transfer& transfer = transfers.emplace_back();
    transfer.set_direction(direction);
    transfer.set_address(address);
    transfer.set_bytes(bytes);
  };
  system->Transferred(transfers);
  add(Transfer::DEVICE_TO_HOST, 0x1000, 64);
  add(Transfer::FILL, 0x1000, 0);
  system->Transferred(transfers);
  EXPECT_TRUE(invalidated.empty()) << "nothing was written";
  add(Transfer::HOST_TO_DEVICE, 0x1000, 64);
  add(Transfer::DEVICE_TO_DEVICE, 0x2000, 1);
  system->Transferred(transfers);
  add(Transfer::FILL, 0x3000, ~uint64_t{0});  // beyond the end of all addresses
  system->Transferred(transfers);
  system->Transferred(transfers);
  ASSERT_EQ(invalidated.size(), 2) << "every transfer once";
  ASSERT_EQ(invalidated[0].size(), 2);
  EXPECT_EQ(invalidated[0][0].first, 0x1000);
  EXPECT_EQ(invalidated[0][0].last, 0x103f);
  EXPECT_EQ(invalidated[0][1].first, 0x2000);
  EXPECT_EQ(invalidated[0][1].last, 0x2000);
  ASSERT_EQ(invalidated[1].size(), 1);
  EXPECT_EQ(invalidated[1][0].first, 0x3000);
  EXPECT_EQ(invalidated[1][0].last, ~uint64_t{0});
}

void ExpectError(const absl::Status& status, const std::string& part, const std::string& numbers) {
  EXPECT_EQ(status.code(), absl::StatusCode::kInternal);
  EXPECT_THAT(std::string(status.message()), AllOf(HasSubstr(part), HasSubstr(numbers), HasSubstr("cycle 500")));
}

TEST(ConservationTest, ABackEndWithoutAFaultIsAccepted) {
  const absl::Status status = EndOfLaunch([](auto&, auto&, const auto&) { return true; });
  EXPECT_TRUE(status.ok()) << status;
}

TEST(ConservationTest, AStoreThatIsAcknowledgedButNotSentIsFound) {
  const absl::Status status = EndOfLaunch([](PortCounters&, auto& answers, const MemoryRequest& request) {
    if (request.kind != RequestKind::kWrite) return true;
    answers.push_back(request);
    return false;
  });
  ExpectError(status, "writes that the first-level caches queued and that were sent", "1 and 0");
}

TEST(ConservationTest, ALoadThatIsNeverAnsweredIsFound) {
  const absl::Status status =
      EndOfLaunch([](auto&, auto&, const MemoryRequest& request) { return request.kind == RequestKind::kWrite; });
  ExpectError(status, "memory of SM 0", "1 requests without a reply");
}

TEST(ConservationTest, BytesThatAreLostOnTheWayAreFound) {
  const absl::Status status = EndOfLaunch([](PortCounters& counters, auto&, const MemoryRequest& request) {
    if (request.kind == RequestKind::kRead) counters.read_bytes -= 32;
    return true;
  });
  ExpectError(status, "bytes that the first-level caches asked for or wrote", "160 and 128");
}

TEST(ConservationTest, ARequestThatIsCountedTwiceIsFound) {
  const absl::Status status = EndOfLaunch([](PortCounters& counters, auto&, const MemoryRequest& request) {
    if (request.kind == RequestKind::kRead) ++counters.reads;
    return true;
  });
  ExpectError(status, "reads that the first-level caches queued and that were sent", "1 and 2");
}

// What is still on its way when a launch is said to have ended is told by the part that holds it.
TEST(ConservationTest, WhatIsStillUnderWayIsNamedByItsPlace) {
  const struct {
    Cycle cycles;
    const char* place;
  } cases[] = {{0, "network to the memory: 1 messages are still under way"},
               {3, "L2 slice 0 is not drained: L2 slice 0: 1 requests in"},
               {150, "L2 slice 0 is not drained"},
               {400, "network to the SMs: 1 messages are still under way"}};
  machine::v1::Machine machine = BackEndMachine();
  machine.mutable_memory()->mutable_hierarchy()->mutable_l2()->set_rop_cycles(120);
  for (const auto& [cycles, place] : cases) {
    const auto memory = PartitionedBackEnd::Make(machine, 1, /*force_tick=*/false);
    ASSERT_TRUE(memory.ok()) << memory.status();
    (*memory)->BeginLaunch(0);
    (*memory)->port(0).Send(Read(0));
    Asleep waker;
    for (Cycle now = 1; now <= cycles; ++now) (*memory)->Advance(now, waker);
    result::v1::LaunchResult result;
    const absl::Status status = (*memory)->EndLaunch(cycles, result);
    EXPECT_EQ(status.code(), absl::StatusCode::kInternal) << cycles;
    EXPECT_THAT(std::string(status.message()), HasSubstr(place)) << cycles;
  }
}

}  // namespace
}  // namespace heddle::replay
