#include "replay/memory/dram_controller.h"

#include <bit>

#include "absl/strings/str_format.h"

namespace heddle::replay {
namespace {

constexpr size_t Index(DramCommand command) { return static_cast<size_t>(command); }

void Raise(Bound& bound, const Bound& to) { bound = std::max(bound, to); }

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
  read_latency += other.read_latency;
  starvation_caps += other.starvation_caps;
  for (int i = 0; i < kDramConstraints; ++i) blocked[i] += other.blocked[i];
}

DramController::DramController(const DramParameters& parameters)
    : last_bank_(parameters.banks - 1),
      queue_limit_(parameters.queue),
      fifo_(parameters.fifo),
      queue_(parameters.fifo ? 1 : parameters.banks, parameters.queue),
      banks_(parameters.banks),
      search_(parameters.banks, parameters.bank_groups),
      parameters_(parameters) {}

void DramController::BeginLaunch() {
  for (Bank& bank : banks_) bank.allowed = {};
  search_.Reset();
  settled_ = 0;
}

void DramController::Push(const DramRequest& request, uint64_t cycle) {
  Settle(cycle);
  queue_.Push(fifo_ ? 0 : request.bank, request, cycle);
  if (CanDispatch()) dispatch_at_ = settled_;
}

void DramController::Tick(uint64_t cycle) {
  if (cycle < settled_) return;
  Settle(cycle);
  if (cycle >= dispatch_at_) Dispatch(cycle);
  Account(1);
  settled_ = cycle + 1;
  if (busy_ == 0) return;
  if (search_.next().cycle() <= cycle) {
    Issue(cycle);
  } else {
    ++counters_.blocked[static_cast<int>(search_.next().because())];
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
  bank.activated = false;
  bank.accessed = false;
  bank.accesses_left = parameters_.AccessesFor(entry.request.bytes);
  ++(entry.request.write ? counters_.write_requests : counters_.read_requests);
  busy_ |= uint64_t{1} << index;
  ++busy_banks_;
  Want(index);
  search_.FindWith(index, cycle);
}

// Fung's thesis, Figure 5.4b.
void DramController::Want(uint32_t index) {
  Bank& bank = banks_[index];
  if (!bank.open) {
    bank.wants = DramCommand::kActivate;
  } else if (bank.row != bank.request.request.row) {
    bank.wants = DramCommand::kPrecharge;
  } else {
    bank.wants = bank.request.request.write ? DramCommand::kWrite : DramCommand::kRead;
  }
  search_.Want(index, bank.wants, bank.allowed[Index(bank.wants)]);
}

// The first bank that can, in turn after the one that issued last.
void DramController::Issue(uint64_t cycle) {
  const uint64_t ready = search_.ready();
  const uint64_t after = last_bank_ + 1 == DramParameters::kMaxBanks ? 0 : ready >> (last_bank_ + 1);
  const uint32_t index = after != 0 ? last_bank_ + 1 + std::countr_zero(after) : std::countr_zero(ready);
  last_bank_ = index;
  Bank& bank = banks_[index];
  if (observer_ != nullptr) {
    const bool closes = bank.wants == DramCommand::kPrecharge;
    observer_->OnCommand(cycle, bank.wants, index, closes ? bank.row : bank.request.request.row);
  }
  search_.Forget(index);
  bool done = false;
  switch (bank.wants) {
    case DramCommand::kActivate:
      Activate(bank, cycle);
      break;
    case DramCommand::kPrecharge:
      Precharge(bank, cycle);
      break;
    case DramCommand::kRead:
    case DramCommand::kWrite:
      done = AccessColumn(index, cycle);
      break;
  }
  if (done) {
    busy_ &= ~(uint64_t{1} << index);
    --busy_banks_;
    if (CanDispatch()) dispatch_at_ = cycle + 1;
  } else {
    Want(index);
  }
  search_.Find(cycle + 1);
}

void DramController::Activate(Bank& bank, uint64_t cycle) {
  const DramTiming& timing = parameters_.timing;
  ++counters_.activates;
  bank.open = true;
  bank.activated = true;
  bank.row = bank.request.request.row;
  for (int command = 0; command < kDramCommands; ++command) {
    Raise(bank.allowed[command], timing.activate_to[command].After(cycle));
  }
  search_.Hold(DramCommand::kActivate, timing.activate_to_activate_any_bank.After(cycle));
}

void DramController::Precharge(Bank& bank, uint64_t cycle) {
  ++counters_.precharges;
  bank.open = false;
  Raise(bank.allowed[Index(DramCommand::kActivate)], parameters_.timing.precharge_to_activate.After(cycle));
}

bool DramController::AccessColumn(uint32_t index, uint64_t cycle) {
  Bank& bank = banks_[index];
  const DramTiming& timing = parameters_.timing;
  const DramRequest& request = bank.request.request;
  const size_t first = Index(bank.wants);
  for (const DramCommand second : {DramCommand::kRead, DramCommand::kWrite}) {
    search_.Hold(second, timing.column_to_column[first][Index(second)].After(cycle));
    search_.HoldGroupOf(index, second, timing.column_to_column_in_group[first][Index(second)].After(cycle));
  }
  Bound& precharge = bank.allowed[Index(DramCommand::kPrecharge)];
  if (request.write) {
    ++counters_.writes;
    Raise(precharge, timing.write_to_precharge.After(cycle));
  } else {
    ++counters_.reads;
    Raise(precharge, timing.read_to_precharge.After(cycle));
    search_.HoldGroupOf(index, DramCommand::kPrecharge, timing.read_to_precharge_in_group.After(cycle));
  }
  counters_.bus_busy += timing.burst_cycles;
  if (!bank.activated && !bank.accessed) ++counters_.row_hits;
  bank.accessed = true;
  if (--bank.accesses_left > 0) return false;
  const uint64_t due = cycle + timing.to_data[first] + timing.burst_cycles;
  if (!request.write) counters_.read_latency += due - bank.request.arrival;
  replies_.Insert({.request = request.request, .write = request.write, .due = due});
  return true;
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
