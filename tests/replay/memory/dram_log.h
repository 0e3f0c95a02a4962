// The commands of a DRAM controller, and a check that a DRAM could have carried them out.
#ifndef HEDDLE_TESTS_REPLAY_MEMORY_DRAM_LOG_H_
#define HEDDLE_TESTS_REPLAY_MEMORY_DRAM_LOG_H_

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "absl/strings/str_format.h"
#include "proto/machine.pb.h"
#include "replay/memory/dram/dram_controller.h"

namespace heddle::replay {

struct DramLogEntry {
  uint64_t cycle = 0;
  DramCommand command = DramCommand::kRead;
  uint32_t bank = 0;
  uint32_t row = 0;

  bool operator==(const DramLogEntry&) const = default;
};

// "ACT0 12": command, bank, cycle.
inline std::string Describe(const DramLogEntry& entry) {
  constexpr const char* kNames[] = {"RD", "WR", "PRE", "ACT"};
  return absl::StrFormat("%s%d %d", kNames[static_cast<int>(entry.command)], entry.bank, entry.cycle);
}

class DramLog : public DramObserver {
 public:
  void OnCommand(uint64_t cycle, DramCommand command, uint32_t bank, uint32_t row) override {
    entries.push_back({cycle, command, bank, row});
  }
  std::vector<std::string> Described() const {
    std::vector<std::string> described;
    described.reserve(entries.size());
    for (const DramLogEntry& entry : entries) described.push_back(Describe(entry));
    return described;
  }

  std::vector<DramLogEntry> entries;
};

// Every distance that the data sheet demands, taken from the machine and the log alone. Returns what is wrong with the
// first command that breaks a rule; empty if none does.
inline std::string CheckDramLog(const machine::v1::Dram& dram, const std::vector<DramLogEntry>& log) {
  struct Bank {
    std::optional<uint32_t> row;
    std::map<DramCommand, uint64_t> last;
  };
  using enum DramCommand;
  const machine::v1::DramTiming& t = dram.timing();
  const uint64_t burst = (dram.burst_length() + dram.data_rate() - 1) / dram.data_rate();
  const bool grouped = dram.bank_groups() > 1;
  const auto group_of = [&](uint32_t bank) {
    if (dram.bank_grouping() == machine::v1::Dram::INTERLEAVED) return bank % dram.bank_groups();
    return bank / (dram.banks() / dram.bank_groups());
  };
  std::vector<Bank> banks(dram.banks());
  std::optional<uint64_t> previous;
  uint64_t bus_free = 0;
  for (const DramLogEntry& now : log) {
    Bank& bank = banks.at(now.bank);
    std::string wrong;
    // `second` of this bank, of its group, or of any bank must be `cycles` after the last `first` there.
    const auto after = [&](const Bank& of, DramCommand first, uint64_t cycles, const char* rule) {
      const auto last = of.last.find(first);
      if (last != of.last.end() && now.cycle < last->second + cycles && wrong.empty()) wrong = rule;
    };
    const auto after_any = [&](DramCommand first, uint64_t cycles, const char* rule, bool same_group) {
      for (uint32_t other = 0; other < banks.size(); ++other) {
        if (!same_group || group_of(other) == group_of(now.bank)) after(banks[other], first, cycles, rule);
      }
    };
    if (previous.has_value() && now.cycle <= *previous) wrong = "two commands in a cycle";
    previous = now.cycle;
    switch (now.command) {
      case kActivate:
        if (bank.row.has_value()) wrong = "activates an open bank";
        after(bank, kActivate, t.rc(), "tRC");
        after(bank, kPrecharge, t.rp(), "tRP");
        after_any(kActivate, t.rrd(), "tRRD", false);
        bank.row = now.row;
        break;
      case kPrecharge:
        if (!bank.row.has_value()) wrong = "precharges an idle bank";
        after(bank, kActivate, t.ras(), "tRAS");
        if (t.wr() != 0) after(bank, kWrite, t.wl() + burst + t.wr(), "write to precharge");
        after(bank, kRead, t.rtp(), "tRTP");
        if (grouped) after_any(kRead, t.rtp_group() != 0 ? t.rtp_group() : t.rtp(), "tRTPL", true);
        bank.row.reset();
        break;
      case kRead:
      case kWrite: {
        const bool write = now.command == kWrite;
        if (bank.row != now.row) wrong = "accesses a row that is not open";
        after(bank, kActivate, write && t.rcd_write() != 0 ? t.rcd_write() : t.rcd(), "tRCD");
        after_any(kRead, t.ccd(), "tCCD", false);
        after_any(kWrite, t.ccd(), "tCCD", false);
        if (grouped && t.ccd_group() != 0) {
          after_any(kRead, t.ccd_group(), "tCCDL", true);
          after_any(kWrite, t.ccd_group(), "tCCDL", true);
        }
        if (!write) after_any(kWrite, t.wtr() + (t.wtr_from_data() ? t.wl() + burst : 0), "tWTR", false);
        if (write) {
          const uint64_t turn = t.cl() + burst + 2;
          after_any(kRead, t.rtw() != 0 ? t.rtw() : turn > t.wl() ? turn - t.wl() : 0, "tRTW", false);
        }
        const uint64_t data = now.cycle + (write ? t.wl() : t.cl());
        if (data < bus_free && wrong.empty()) wrong = "data overlap on the bus";
        bus_free = data + burst;
        break;
      }
    }
    bank.last[now.command] = now.cycle;
    if (!wrong.empty()) return Describe(now) + ": " + wrong;
  }
  return {};
}

}  // namespace heddle::replay

#endif  // HEDDLE_TESTS_REPLAY_MEMORY_DRAM_LOG_H_
