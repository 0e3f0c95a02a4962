// A DRAM controller with counters that count down every cycle, as Fung's thesis describes it; written to be read.
#ifndef HEDDLE_TESTS_REPLAY_MEMORY_REFERENCE_DRAM_H_
#define HEDDLE_TESTS_REPLAY_MEMORY_REFERENCE_DRAM_H_

#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "proto/machine.pb.h"
#include "replay/memory/dram/dram_controller.h"
#include "tests/replay/memory/dram_log.h"

namespace heddle::replay {

class ReferenceDram {
 public:
  explicit ReferenceDram(const machine::v1::Dram& dram)
      : dram_(dram),
        t_(dram.timing()),
        burst_((dram.burst_length() + dram.data_rate() - 1) / dram.data_rate()),
        banks_(dram.banks()),
        groups_(std::max(dram.bank_groups(), 1u)),
        interleaved_(dram.bank_grouping() == machine::v1::Dram::INTERLEAVED),
        last_bank_(dram.banks() - 1) {}

  bool HasRoom() const { return dram_.queue() == 0 || queue_.size() < dram_.queue(); }
  void Push(const DramRequest& request, uint64_t cycle) {
    const uint32_t atom = dram_.burst_length() * dram_.bus_bytes() * dram_.chips_per_controller();
    const uint32_t accesses = std::max(1u, (request.bytes + atom - 1) / atom);
    queue_.push_back({.request = request, .arrival = cycle, .accesses = accesses, .left = accesses});
  }

  void Tick(uint64_t cycle) {
    Dispatch();
    counters_.queue_length += queue_.size();
    const uint64_t active = std::ranges::count_if(banks_, [](const Bank& bank) { return bank.request.has_value(); });
    counters_.active_cycles += active > 0;
    counters_.active_banks += active;
    counters_.bus_busy += std::ranges::count(bus_, cycle);
    if (active > 0) IssueOrBlock(cycle);
    CountDown();
  }

  // The reply that is taken next in this cycle, if one is due.
  std::optional<MemoryRequest> TakeReply(uint64_t cycle) {
    if (replies_.empty()) return std::nullopt;
    const auto first = std::ranges::min_element(replies_, {}, &std::pair<uint64_t, MemoryRequest>::first);
    if (first->first > cycle) return std::nullopt;
    const MemoryRequest request = first->second;
    replies_.erase(first);
    return request;
  }

  bool drained() const {
    return queue_.empty() && replies_.empty() &&
           std::ranges::none_of(banks_, [](const Bank& bank) { return bank.request.has_value(); });
  }
  const DramCounters& counters() const { return counters_; }
  const std::vector<DramLogEntry>& log() const { return log_; }

 private:
  struct Request {
    DramRequest request;
    uint64_t arrival = 0;
    uint32_t accesses = 0;
    uint32_t left = 0;
    uint32_t passed = 0;
    bool activated = false;
  };
  struct Bank {
    std::optional<uint32_t> row;
    std::optional<Request> request;
    uint32_t rcd = 0, rcd_write = 0, ras = 0, rp = 0, rc = 0, wtp = 0, rtp = 0;
  };
  struct Group {
    uint32_t ccd = 0, rtp = 0;
  };

  void Dispatch() {
    if (dram_.scheduler() == machine::v1::Dram::FIFO) {
      while (!queue_.empty() && !banks_[queue_.front().request.bank].request.has_value()) Begin(0);
      return;
    }
    for (uint32_t bank = 0; bank < banks_.size(); ++bank) {
      if (banks_[bank].request.has_value()) continue;
      std::vector<size_t> mine;  // by age
      for (size_t i = 0; i < queue_.size(); ++i) {
        if (queue_[i].request.bank == bank) mine.push_back(i);
      }
      if (mine.empty()) continue;
      const auto hit = std::ranges::find_if(mine, [&](size_t i) { return banks_[bank].row == queue_[i].request.row; });
      size_t chosen = hit == mine.end() ? mine.front() : *hit;
      if (dram_.starvation_cap() != 0 && chosen != mine.front()) {
        // Whoever has been passed too often, the oldest first.
        for (size_t i : mine) {
          if (i >= chosen || queue_[i].passed < dram_.starvation_cap()) continue;
          chosen = i;
          ++counters_.starvation_caps;
          break;
        }
      }
      for (size_t i : mine) queue_[i].passed += i < chosen;
      Begin(chosen);
    }
  }

  void Begin(size_t index) {
    const Request request = queue_[index];
    queue_.erase(queue_.begin() + index);
    ++(request.request.write ? counters_.write_requests : counters_.read_requests);
    banks_[request.request.bank].request = request;
  }

  DramCommand Want(const Bank& bank) const {
    if (!bank.row.has_value()) return DramCommand::kActivate;
    if (*bank.row != bank.request->request.row) return DramCommand::kPrecharge;
    return bank.request->request.write ? DramCommand::kWrite : DramCommand::kRead;
  }

  // What the bank's command waits for longest, and how long; of equals the first in the list of constraints.
  std::pair<uint32_t, DramConstraint> Wait(uint32_t index, uint64_t cycle) const {
    using enum DramConstraint;
    const Bank& bank = banks_[index];
    const Group& group = groups_[GroupOf(index)];
    std::vector<std::pair<uint32_t, DramConstraint>> waits;
    // Cycles until the data of a column access issued now would find the bus free.
    const auto bus = [&](uint32_t to_data) {
      return static_cast<uint32_t>(bus_free_ > cycle + to_data ? bus_free_ - cycle - to_data : 0);
    };
    switch (Want(bank)) {
      case DramCommand::kActivate:
        waits = {{rrd_, kRrd}, {bank.rp, kRp}, {bank.rc, kRc}};
        break;
      case DramCommand::kPrecharge:
        waits = {{bank.ras, kRas}, {bank.wtp, kWtp}, {bank.rtp, kRtp}, {group.rtp, kRtpGroup}};
        break;
      case DramCommand::kRead:
        waits = {{ccd_, kCcd}, {wtr_, kWtr}, {bank.rcd, kRcd}, {group.ccd, kCcdGroup}, {bus(t_.cl()), kBus}};
        break;
      case DramCommand::kWrite:
        waits = {{ccd_, kCcd}, {rtw_, kRtw}, {bank.rcd_write, kRcd}, {group.ccd, kCcdGroup}, {bus(t_.wl()), kBus}};
        break;
    }
    std::pair<uint32_t, DramConstraint> longest = waits.front();
    for (const auto& wait : waits) {
      if (wait.first > longest.first || (wait.first == longest.first && wait.second < longest.second)) longest = wait;
    }
    return longest;
  }

  void IssueOrBlock(uint64_t cycle) {
    std::optional<std::pair<uint32_t, DramConstraint>> shortest;
    for (uint32_t step = 1; step <= banks_.size(); ++step) {
      const uint32_t index = (last_bank_ + step) % banks_.size();
      if (!banks_[index].request.has_value()) continue;
      const auto wait = Wait(index, cycle);
      if (wait.first == 0) return Issue(index, cycle);
      if (!shortest.has_value() || wait < *shortest) shortest = wait;
    }
    ++counters_.blocked[static_cast<int>(shortest->second)];
  }

  void Issue(uint32_t index, uint64_t cycle) {
    last_bank_ = index;
    Bank& bank = banks_[index];
    Group& group = groups_[GroupOf(index)];
    Request& request = *bank.request;
    const DramCommand command = Want(bank);
    log_.push_back({cycle, command, index, command == DramCommand::kPrecharge ? *bank.row : request.request.row});
    const bool grouped = groups_.size() > 1;
    if (command == DramCommand::kActivate) {
      ++counters_.activates;
      bank.row = request.request.row;
      request.activated = true;
      bank.rcd = t_.rcd();
      bank.rcd_write = t_.rcd_write() != 0 ? t_.rcd_write() : t_.rcd();
      bank.ras = t_.ras();
      bank.rc = t_.rc();
      rrd_ = t_.rrd();
      return;
    }
    if (command == DramCommand::kPrecharge) {
      ++counters_.precharges;
      bank.row.reset();
      bank.rp = t_.rp();
      return;
    }
    const bool write = command == DramCommand::kWrite;
    ccd_ = t_.ccd();
    if (grouped) group.ccd = t_.ccd_group();
    if (write) {
      ++counters_.writes;
      wtr_ = t_.wtr() + (t_.wtr_from_data() ? t_.wl() + burst_ : 0);
      if (t_.wr() != 0) bank.wtp = t_.wl() + burst_ + t_.wr();
    } else {
      ++counters_.reads;
      const uint32_t turn = t_.cl() + burst_ + 2;
      rtw_ = t_.rtw() != 0 ? t_.rtw() : turn - std::min(turn, t_.wl());
      bank.rtp = t_.rtp();
      if (grouped) group.rtp = t_.rtp_group() != 0 ? t_.rtp_group() : t_.rtp();
    }
    const uint64_t data = cycle + (write ? t_.wl() : t_.cl());
    for (uint64_t beat = 0; beat < burst_; ++beat) bus_.push_back(data + beat);
    bus_free_ = data + burst_;
    if (request.left == request.accesses && !request.activated) ++counters_.row_hits;
    if (--request.left > 0) return;
    replies_.emplace_back(bus_free_, request.request.request);
    if (!write) counters_.read_latency.Record(bus_free_ - request.arrival);
    bank.request.reset();
  }

  void CountDown() {
    const auto down = [](uint32_t& counter) { counter -= counter > 0; };
    for (uint32_t* counter : {&rrd_, &ccd_, &wtr_, &rtw_}) down(*counter);
    for (Group& group : groups_) {
      down(group.ccd);
      down(group.rtp);
    }
    for (Bank& bank : banks_) {
      for (uint32_t* counter : {&bank.rcd, &bank.rcd_write, &bank.ras, &bank.rp, &bank.rc, &bank.wtp, &bank.rtp}) {
        down(*counter);
      }
    }
  }

  uint32_t GroupOf(uint32_t bank) const {
    if (interleaved_) return bank % groups_.size();
    return bank / (banks_.size() / groups_.size());
  }

  const machine::v1::Dram dram_;
  const machine::v1::DramTiming t_;
  const uint32_t burst_;
  std::vector<Request> queue_;  // by age
  std::vector<Bank> banks_;
  std::vector<Group> groups_;
  bool interleaved_;
  uint32_t last_bank_;
  uint32_t rrd_ = 0, ccd_ = 0, wtr_ = 0, rtw_ = 0;
  std::vector<uint64_t> bus_;  // cycles with data
  uint64_t bus_free_ = 0;      // the first cycle after all data so far
  std::vector<std::pair<uint64_t, MemoryRequest>> replies_;
  DramCounters counters_;
  std::vector<DramLogEntry> log_;
};

}  // namespace heddle::replay

#endif  // HEDDLE_TESTS_REPLAY_MEMORY_REFERENCE_DRAM_H_
