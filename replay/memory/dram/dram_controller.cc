#include "replay/memory/dram/dram_controller.h"

#include <bit>

#include "absl/strings/str_format.h"

namespace heddle::replay {
namespace {

constexpr size_t Index(DramCommand command) { return static_cast<size_t>(command); }

}  // namespace

void DramCounters::Add(const DramCounters& other) {
  read_requests += other.read_requests;
  write_requests += other.write_requests;
  row_hits += other.row_hits;
  activates += other.activates;
  precharges += other.precharges;
  reads += other.reads;
  writes += other.writes;
  bus_busy += other.bus_busy;
  queue_length += other.queue_length;
  active_cycles += other.active_cycles;
  active_banks += other.active_banks;
  starvation_caps += other.starvation_caps;
  for (int i = 0; i < kDramConstraints; ++i) blocked[i] += other.blocked[i];
  read_latency.Add(other.read_latency);
}

DramController::DramController(const DramParameters& parameters)
    : last_bank_(parameters.banks - 1),
      queue_limit_(parameters.queue),
      fifo_(parameters.fifo),
      queue_(parameters.fifo ? 1 : parameters.banks, parameters.queue),
      banks_(parameters.banks),
      search_(parameters),
      parameters_(parameters) {}

void DramController::BeginLaunch() {
  search_.Reset();
  settled_ = 0;
}

DramCounters DramController::counters() const {
  DramCounters counters = counters_;
  // Spans of what goes on end with the cycles that have been counted.
  counters.queue_length += queue_.size() * settled_;
  counters.active_cycles += busy_ != 0 ? settled_ : 0;
  counters.active_banks += static_cast<uint64_t>(std::popcount(busy_)) * settled_;
  counters.reads = issued_[Index(DramCommand::kRead)];
  counters.writes = issued_[Index(DramCommand::kWrite)];
  counters.precharges = issued_[Index(DramCommand::kPrecharge)];
  counters.activates = issued_[Index(DramCommand::kActivate)];
  counters.bus_busy = (counters.reads + counters.writes) * parameters_.timing.burst_cycles;
  return counters;
}

void DramController::ResetCounters() {
  counters_ = {};
  issued_ = {};
}

void DramController::Push(const DramRequest& request, uint64_t cycle) {
  queue_.Push(fifo_ ? 0 : request.bank, request, cycle);
  const uint64_t from = std::max(cycle, settled_);
  counters_.queue_length -= from;
  if (CanDispatch()) dispatch_at_ = from;
}

void DramController::Tick(uint64_t cycle) {
  if (cycle < settled_) return;
  Settle(cycle);
  search_.Advance(cycle);
  if (cycle >= dispatch_at_) Dispatch(cycle);
  settled_ = cycle + 1;
  if (busy_ == 0) return;
  if (search_.cycle() <= cycle) {
    Issue(cycle);
  } else {
    ++counters_.blocked[static_cast<size_t>(search_.because())];
  }
}

bool DramController::CanDispatch() const {
  if (!fifo_) return (queue_.waiting() & ~busy_) != 0;
  return queue_.size() > 0 && (busy_ >> queue_.Oldest(0).request.bank & 1) == 0;
}

// Free banks take requests from the queue.
void DramController::Dispatch(uint64_t cycle) {
  dispatch_at_ = kNeverCycle;
  if (fifo_) {
    while (CanDispatch()) {
      const DramQueueEntry entry = queue_.TakeOldest(0);
      Begin(entry.request.bank, entry, cycle);
    }
    return;
  }
  for (uint64_t rest = queue_.waiting() & ~busy_; rest != 0; rest &= rest - 1) {
    const uint32_t index = std::countr_zero(rest);
    const Bank& bank = banks_[index];
    bool capped = false;
    const DramQueueEntry entry = bank.open ? queue_.TakeFirstReady(index, bank.row, parameters_.starvation_cap, capped)
                                           : queue_.TakeOldest(index);
    counters_.starvation_caps += capped;
    Begin(index, entry, cycle);
  }
}

void DramController::Begin(uint32_t index, const DramQueueEntry& entry, uint64_t cycle) {
  Bank& bank = banks_[index];
  bank.request = entry;
  bank.fresh = 1;
  bank.accesses_left = parameters_.AccessesFor(entry.request.bytes);
  ++(entry.request.write ? counters_.write_requests : counters_.read_requests);
  counters_.queue_length += cycle;
  counters_.active_banks -= cycle;
  counters_.active_cycles -= busy_ == 0 ? cycle : 0;
  busy_ |= uint64_t{1} << index;
  // Fung's thesis, Figure 5.4b.
  const DramCommand access = entry.request.write ? DramCommand::kWrite : DramCommand::kRead;
  bank.after = {access, access, DramCommand::kActivate, access};
  bank.wants = access;
  if (!bank.open) {
    bank.wants = DramCommand::kActivate;
  } else if (bank.row != entry.request.row) {
    bank.wants = DramCommand::kPrecharge;
  }
  search_.Want(index, bank.wants);
  search_.FindWith(index, cycle);
}

// The first bank that can, in turn after the one that issued last. Which command that is cannot be guessed: only the
// end of a request makes a branch.
void DramController::Issue(uint64_t cycle) {
  static_assert(DramParameters::kMaxBanks == 64);
  const uint32_t after = last_bank_ + 1;
  const int steps = std::countr_zero(std::rotr(search_.ready(), static_cast<int>(after)));
  const uint32_t index = (after + static_cast<uint32_t>(steps)) % DramParameters::kMaxBanks;
  last_bank_ = index;
  Bank& bank = banks_[index];
  const size_t command = Index(bank.wants);
  if (observer_ != nullptr) {
    observer_->OnCommand(cycle, bank.wants, index, bank.open ? bank.row : bank.request.request.row);
  }
  ++issued_[command];
  search_.Issued(index, cycle);

  static constexpr std::array<uint8_t, kDramCommands> kAccesses = {1, 1, 0, 0};
  static constexpr std::array<uint8_t, kDramCommands> kLeavesOpen = {1, 1, 0, 1};
  counters_.row_hits += bank.fresh & kAccesses[command];
  bank.fresh &= 1 - kLeavesOpen[command];
  bank.open = kLeavesOpen[command];
  bank.row = bank.request.request.row;  // or will be, after the activate that comes next
  bank.wants = bank.after[command];
  bank.accesses_left -= kAccesses[command];
  if (bank.accesses_left == 0) {
    End(index, cycle);
  } else {
    search_.Want(index, bank.wants);
  }
  search_.Find(cycle + 1);
}

// The last column access of the bank's request is issued.
void DramController::End(uint32_t index, uint64_t cycle) {
  const DramQueueEntry& entry = banks_[index].request;
  const uint64_t due =
      cycle + parameters_.timing.to_data[entry.request.write ? 1 : 0] + parameters_.timing.burst_cycles;
  if (!entry.request.write) counters_.read_latency.Record(due - entry.arrival);
  replies_.Insert({.request = entry.request.request, .write = entry.request.write, .due = due});
  search_.Forget(index);
  busy_ &= ~(uint64_t{1} << index);
  counters_.active_banks += cycle + 1;
  counters_.active_cycles += busy_ == 0 ? cycle + 1 : 0;
  if (CanDispatch()) dispatch_at_ = cycle + 1;
}

std::string DramController::Explain(const std::string& name) const {
  if (drained()) return {};
  std::string text = absl::StrFormat("%s: %d requests wait for a bank\n", name, queue_.size());
  constexpr std::array<const char*, kDramCommands> kWants = {"a read", "a write", "a precharge", "an activate"};
  for (uint64_t rest = busy_; rest != 0; rest &= rest - 1) {
    const uint32_t index = std::countr_zero(rest);
    const Bank& bank = banks_[index];
    const Bound bound = search_.AllowedFrom(index);
    absl::StrAppendFormat(&text, "%s: bank %d, row %d: wants %s, allowed from cycle %d (%s), %d column accesses left\n",
                          name, index, bank.request.request.row, kWants[Index(bank.wants)], bound.cycle(),
                          NameOf(bound.because()), bank.accesses_left);
  }
  if (!replies_.empty())
    absl::StrAppendFormat(&text, "%s: replies, the first due in cycle %d\n", name, replies_.first_due());
  return text;
}

}  // namespace heddle::replay
