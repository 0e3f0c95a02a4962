// A small SM whose memory is driven to the cycle, for tests.
#ifndef HEDDLE_TESTS_REPLAY_MEMORY_SM_MEMORY_TIMING_H_
#define HEDDLE_TESTS_REPLAY_MEMORY_SM_MEMORY_TIMING_H_

#include <gtest/gtest.h>

#include <memory>
#include <vector>

#include "replay/memory/sm/hierarchy_sm.h"
#include "tests/replay/memory/memory_driver.h"
#include "tests/replay/memory/random_memory_case.h"

namespace heddle::replay {

// A Fermi-like SM: 32 lanes, L1 with 4 sets of 2 ways of 128 bytes, hits after 20 cycles. A request leaves the
// network's buffer one cycle after it was sent, and is answered 100 cycles later.
inline machine::v1::Machine Fermi() {
  machine::v1::Machine machine;
  machine.set_sms(2);
  machine.mutable_core()->set_front_end(machine::v1::Core::IBUFFER);
  machine.mutable_core()->set_warp_size(32);
  machine.mutable_core()->set_simd_width(32);
  machine.mutable_core()->set_max_threads(64);
  machine.mutable_core()->mutable_units()->set_memory_issue_latency(1);
  machine.mutable_core()->mutable_units()->set_memory_initiation_interval(1);
  machine::v1::Hierarchy& memory = *machine.mutable_memory()->mutable_hierarchy();
  memory.set_coalescing(machine::v1::Hierarchy::COMPUTE_20);
  memory.mutable_shared()->set_banks(32);
  memory.mutable_shared()->set_parts(1);
  memory.mutable_shared()->set_broadcast(true);
  memory.mutable_shared()->set_latency(10);
  machine::v1::Cache& data = *memory.mutable_l1_data();
  data.set_sets(4);
  data.set_line_bytes(128);
  data.set_ways(2);
  data.set_mshrs(8);
  data.set_mshr_merges(4);
  data.set_miss_queue(8);
  data.set_hit_cycles(20);
  data.set_global_write(machine::v1::Cache::WRITE_EVICT);
  data.set_local_write(machine::v1::Cache::WRITE_BACK);
  *memory.mutable_l1_constant() = data;
  memory.mutable_l1_constant()->set_hit_cycles(5);
  *memory.mutable_l1_texture() = data;
  memory.mutable_l1_texture()->set_hit_cycles(30);
  *memory.mutable_l1_instruction() = data;
  return machine;
}

inline constexpr ScriptedPort::Script kNetwork = {.latency = 100};

class SmMemoryTiming : public testing::Test {
 protected:
  SmMemoryTiming() : machine_(Fermi()), header_(WindowsForTests()), windows_(header_) {}

  machine::v1::Hierarchy& memory() { return *machine_.mutable_memory()->mutable_hierarchy(); }
  // As with the single pipeline: every lane an access to a banked write-back cache, all misses of a warp or none.
  // Returns that cache.
  machine::v1::Cache& SinglePipelineMemory() {
    machine_.mutable_core()->set_front_end(machine::v1::Core::THESIS);
    memory().set_coalescing(machine::v1::Hierarchy::COALESCING_OFF);
    memory().set_all_misses_or_none(true);
    machine::v1::Cache& data = *memory().mutable_l1_data();
    data.set_allocate(machine::v1::Cache::ON_FILL);
    data.set_global_write(machine::v1::Cache::WRITE_BACK);
    data.set_hit_cycles(1);
    return data;
  }

  // An access of 4 bytes per lane at base + stride * lane, issued at `from` or when the stage is free.
  WarpAccess& Add(Cycle from, trace::v1::OpClass op, trace::v1::MemorySpace space, uint64_t base, uint64_t stride = 4) {
    DrivenAccess driven;
    driven.from = from;
    driven.access = {.slot = static_cast<SlotId>(accesses_.size()),
                     .op = op,
                     .space = space,
                     .bytes = 4,
                     .lanes = machine_.core().warp_size() == 32 ? 0xffffffff : 0xff};
    for (uint32_t lane = 0; lane < 32; ++lane) {
      driven.addresses[lane] = base + stride * lane;
      driven.threads[lane] = static_cast<ThreadId>(lane);
    }
    accesses_.push_back(driven);
    return accesses_.back().access;
  }

  void RunAccesses() {
    port_ = std::make_unique<ScriptedPort>(script_);
    driver_ = std::make_unique<MemoryDriver>(*port_);
    memory_ = std::make_unique<HierarchySm>(machine_, windows_, 1, *port_, *driver_);
    end_ = driver_->Run(*memory_, accesses_, fetches_, {});
    ASSERT_NE(end_, 0) << "hangs: " << memory_->Explain();
    counters_ = memory_->Counters(end_);
    for (size_t access = 0; access < accesses_.size(); ++access) {
      EXPECT_EQ(driver_->lanes_done[access], accesses_[access].access.lanes);
    }
    uint64_t requests = 0;
    for (const FirstLevelCounters& level : counters_.level) {
      for (const uint64_t kind : level.requests) requests += kind;
    }
    EXPECT_EQ(requests, counters_.replies);
    EXPECT_EQ(requests, port_->sent.size());
  }
  const CacheCounters& Data() const { return counters_.level[0].cache; }
  uint64_t Fails(ReservationFail cause) const { return Data().reservation_fails[static_cast<int>(cause)]; }
  std::vector<Cycle> Issued() const { return driver_->issued; }
  std::vector<Cycle> Done() const { return driver_->done; }

  machine::v1::Machine machine_;
  trace::v1::FileHeader header_;
  AddressWindows windows_;
  ScriptedPort::Script script_ = kNetwork;
  std::vector<DrivenAccess> accesses_;
  std::vector<DrivenFetch> fetches_;
  std::unique_ptr<ScriptedPort> port_;
  std::unique_ptr<MemoryDriver> driver_;
  std::unique_ptr<HierarchySm> memory_;
  SmMemoryCounters counters_;
  Cycle end_ = 0;
};

// Issue 0, first step 1 (miss), request leaves 2, leaves the buffer 3, answered 103, data in the same cycle.
inline constexpr Cycle kMiss = 103;

}  // namespace heddle::replay

#endif  // HEDDLE_TESTS_REPLAY_MEMORY_SM_MEMORY_TIMING_H_
