// A DRAM controller and the banks behind it.
#ifndef HEDDLE_REPLAY_MEMORY_DRAM_DRAM_CONTROLLER_H_
#define HEDDLE_REPLAY_MEMORY_DRAM_DRAM_CONTROLLER_H_

#include <algorithm>
#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "replay/memory/dram/dram_command_search.h"
#include "replay/memory/dram/dram_reply_queue.h"
#include "replay/memory/dram/dram_request_queue.h"
#include "replay/memory/dram/dram_timing.h"
#include "replay/memory/ports/latency_histogram.h"
#include "replay/memory/ports/memory_request.h"

namespace heddle::replay {

// What a controller counts, in requests, commands and DRAM cycles.
struct DramCounters {
  uint64_t read_requests = 0;  // that a bank has begun
  uint64_t write_requests = 0;
  uint64_t row_hits = 0;  // requests whose first column access needed no activate of their own
  uint64_t activates = 0;
  uint64_t precharges = 0;
  uint64_t reads = 0;  // column accesses
  uint64_t writes = 0;
  uint64_t bus_busy = 0;         // cycles with data on the bus
  uint64_t queue_length = 0;     // requests that wait for a bank, summed over cycles
  uint64_t active_cycles = 0;    // cycles in which at least one bank serves a request
  uint64_t active_banks = 0;     // banks that serve a request, summed over cycles; / active_cycles = bank parallelism
  uint64_t starvation_caps = 0;  // times that the cap made an old request go before a row hit
  // Active cycles without a command, by what the command that could be issued first waits for.
  std::array<uint64_t, kDramConstraints> blocked{};
  LatencyHistogram read_latency;  // cycles from the arrival of a read to the end of its data

  void Add(const DramCounters& other);
  bool operator==(const DramCounters&) const = default;
};

// Sees every command, for tests and logs.
class DramObserver {
 public:
  virtual ~DramObserver() = default;
  virtual void OnCommand(uint64_t cycle, DramCommand command, uint32_t bank, uint32_t row) = 0;
};

// Queue, scheduler (FIFO or FR-FCFS), banks with open rows, one command per cycle, data bus (Fung's thesis,
// section 5.1.3; docs/reference/timing.md, "DRAM"). Time is the controller's cycle. Within a cycle: requests arrive
// (Push), then Tick, then replies are taken. Cycles before NextEvent may be left out, running them is harmless: results
// are the same.
class alignas(64) DramController {
 public:
  explicit DramController(const DramParameters& parameters);

  // Whether the queue takes a request now.
  bool HasRoom() const { return queue_limit_ == 0 || queue_.size() < queue_limit_; }
  // A request arrives before the Tick of cycle `cycle`, which may begin it.
  void Push(const DramRequest& request, uint64_t cycle);

  // The first cycle whose Tick does something or in which a reply is due, as far as is known now; kNeverCycle if none.
  uint64_t NextEvent() const { return std::min(NextCommand(), NextReply()); }
  // NextEvent without replies.
  uint64_t NextCommand() const { return std::min(dispatch_at_, search_.cycle()); }
  // When the oldest reply is due; kNeverCycle if none.
  uint64_t NextReply() const { return replies_.first_due(); }
  // Runs one cycle; cycles ascend, one that has been run is not run again.
  void Tick(uint64_t cycle);

  // The oldest reply whose data (read: have come, write: have been sent) are complete before cycle `cycle`; null if
  // none.
  const DramReply* Reply(uint64_t cycle) const { return replies_.first_due() <= cycle ? &replies_.front() : nullptr; }
  void PopReply() { replies_.Pop(); }

  // Nothing waits, is served, or has a reply that was not taken.
  bool drained() const { return queue_.size() == 0 && busy_ == 0 && replies_.empty(); }
  // Brings the counters up to date with all cycles before `cycle`.
  void Settle(uint64_t cycle) {
    if (cycle <= settled_) return;
    // Nothing has been issued since the last Tick.
    if (busy_ != 0) counters_.blocked[static_cast<size_t>(search_.because())] += cycle - settled_;
    settled_ = cycle;
  }
  DramCounters counters() const;
  void ResetCounters();
  // Time starts again at cycle 0: the controller must be drained. Rows stay open, nothing that was issued before holds
  // up a command.
  void BeginLaunch();
  void set_observer(DramObserver* observer) { observer_ = observer; }
  const DramParameters& parameters() const { return parameters_; }
  // What waits and what the banks do, for the report of a deadlock; empty if drained.
  std::string Explain(const std::string& name) const;

 private:
  struct Bank {
    uint32_t row = 0;  // of the last request
    DramCommand wants = DramCommand::kActivate;
    uint8_t open = 0;   // 1: the row is open
    uint8_t fresh = 0;  // 1: no activate and no column access yet for the present request
    // For the present request, by the command that was issued: the next one that it needs.
    std::array<DramCommand, kDramCommands> after = {};
    uint32_t accesses_left = 0;   // of the present request
    DramQueueEntry request = {};  // the present request
  };

  // Whether a waiting request finds its bank free (FIFO: the oldest).
  bool CanDispatch() const;
  void Dispatch(uint64_t cycle);
  void Begin(uint32_t index, const DramQueueEntry& entry, uint64_t cycle);
  void Issue(uint64_t cycle);
  void End(uint32_t index, uint64_t cycle);

  // What every event looks at comes first, in few lines of the host's cache.
  uint64_t dispatch_at_ = kNeverCycle;  // a waiting request may find its bank free
  uint64_t settled_ = 0;                // the counters hold for all cycles before this one
  uint64_t busy_ = 0;                   // banks that serve a request
  uint32_t last_bank_;                  // that issued last
  const uint32_t queue_limit_;
  const bool fifo_;
  DramReplyQueue replies_;
  DramRequestQueue queue_;
  std::vector<Bank> banks_;
  // Of what began but has not ended, what is summed over cycles lacks the end: counters().
  DramCounters counters_;
  std::array<uint64_t, kDramCommands> issued_{};
  DramObserver* observer_ = nullptr;
  DramCommandSearch search_;  // for the banks that serve a request
  const DramParameters parameters_;
};

}  // namespace heddle::replay

#endif  // HEDDLE_REPLAY_MEMORY_DRAM_DRAM_CONTROLLER_H_
