// Transaction barriers (PTX ISA 9.7.13.15, mbarrier): objects in shared memory whose phases end when all arrivals and
// all bytes that are expected have come.
#ifndef HEDDLE_TRACEGEN_EXECUTE_THREADS_TRANSACTION_BARRIERS_H_
#define HEDDLE_TRACEGEN_EXECUTE_THREADS_TRANSACTION_BARRIERS_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "tracegen/execute/threads/thread_scheduler.h"
#include "tracegen/execute/threads/warp_rendezvous.h"
#include "tracegen/instrument/thread_context.h"

namespace heddle::tracegen {

// The state lies in the 64 bits of the object, where the program can move and clear it. A test or a try waits until its
// phase is over, so that loops around it are recorded with one poll that succeeds. It fails only if no thread of the
// block could go on otherwise, and once until some phase has ended: then the program may do what it does in the
// meantime, or wait for ever.
class TransactionBarriers {
 public:
  static constexpr uint32_t kMostCount = (1u << 20) - 1;
  static constexpr uint32_t kMostBytes = (1u << 20) - 1;

  // Both must outlive the object.
  TransactionBarriers(ThreadScheduler& threads, WarpRendezvous& warps) : threads_(threads), warps_(warps) {}

  void BeginBlock();

  // The running thread does something to the barrier at `address`; `number` is what the operation has (Transaction).
  // `before` receives the state before it. Returns what the program has done wrong; empty: nothing.
  std::string Apply(Transaction operation, uint64_t address, uint32_t number, uint64_t* before);
  // Likewise a thread of another block of the cluster, which sees the barrier at `seen_at`.
  std::string ApplyFrom(uint64_t seen_at, Transaction operation, uint64_t address, uint32_t number, uint64_t* before);

  // What the running thread waits for: the phase in which an arrival gave `state`, or that of a parity.
  struct Wait {
    uint64_t address = 0;
    uint64_t parity = 0;  // of the phase
    uint32_t site = 0;    // its place in the source
  };
  static uint64_t ParityOf(uint64_t state) { return state >> kParityBit & 1; }
  // Whether there is a barrier; if not, what the program has done wrong.
  std::string WhyRefused(uint64_t address) const;
  // If the phase is over: 1 + the phases of the barrier, since it was made, that are. 0: the running thread waits, and
  // gets this number as DeviceThread::result, or 0 if the test has failed.
  uint64_t Test(const Wait& wait);
  // No thread of the block can go on: lets the test of one fail that has not failed since a phase ended last. False:
  // there is none.
  bool FailOne();

  // What a thread waits for that is in state kAtPhase.
  std::string Describe(uint32_t thread, const std::string& place) const;
  bool IsWaiting(uint32_t thread) const { return thread < waits_.size() && waits_[thread].address != 0; }
  uint32_t SiteOf(uint32_t thread) const { return waits_[thread].site; }

 private:
  static constexpr uint32_t kParityBit = kTransactionParityBit;

  // The object's bits: arrivals that a phase expects (20), arrivals that are to come (20), bytes that are to come (22,
  // signed), the parity of the phase, and a mark that there is a barrier.
  struct State {
    uint32_t expected = 0;
    uint32_t arrivals = 0;
    int32_t bytes = 0;
    uint64_t parity = 0;
    bool is_barrier = false;

    static State Load(uint64_t address);
    uint64_t Bits() const;
    void Store(uint64_t address) const;
  };

  // Where the object at an address of the block lies now.
  uint64_t Place(uint64_t address) const { return address + shift_; }
  std::string ArriveAt(uint64_t address, State& state, uint32_t arrivals);
  void EndPhase(uint64_t address, State& state);
  void Release(uint32_t thread, uint64_t result);

  ThreadScheduler& threads_;
  WarpRendezvous& warps_;
  std::vector<Wait> waits_;        // by thread; address 0: does not wait
  std::vector<uint32_t> waiting_;  // threads, in the order in which they came
  std::vector<bool> has_failed_;   // by thread, since a phase ended last
  // By address: phases that are over, since the barrier was made.
  absl::flat_hash_map<uint64_t, uint64_t> phases_;
  uint64_t shift_ = 0;  // between the block's addresses and those of the thread that is at it
};

}  // namespace heddle::tracegen

#endif  // HEDDLE_TRACEGEN_EXECUTE_THREADS_TRANSACTION_BARRIERS_H_
