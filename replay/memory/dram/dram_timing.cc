#include "replay/memory/dram/dram_timing.h"

#include <algorithm>

#include "absl/status/status.h"
#include "absl/strings/str_format.h"
#include "traces/base/status_macros.h"

namespace heddle::replay {
namespace {

absl::Status Refuse(std::string_view field, std::string_view why) {
  return absl::InvalidArgumentError(absl::StrFormat("memory.hierarchy.dram.%s: %s", field, why));
}

constexpr uint32_t kLongest = DramParameters::kLongest;

// first - second, not below zero.
uint32_t Less(uint32_t first, uint32_t second) { return first > second ? first - second : 0; }

absl::Status CheckTimes(const machine::v1::DramTiming& t) {
  const std::pair<const char*, uint32_t> times[] = {{"cl", t.cl()},
                                                    {"wl", t.wl()},
                                                    {"rcd", t.rcd()},
                                                    {"rcd_write", t.rcd_write()},
                                                    {"ras", t.ras()},
                                                    {"rp", t.rp()},
                                                    {"rc", t.rc()},
                                                    {"rrd", t.rrd()},
                                                    {"ccd", t.ccd()},
                                                    {"wtr", t.wtr()},
                                                    {"rtw", t.rtw()},
                                                    {"ccd_group", t.ccd_group()},
                                                    {"wr", t.wr()},
                                                    {"rtp", t.rtp()},
                                                    {"rtp_group", t.rtp_group()}};
  for (const auto& [name, cycles] : times) {
    if (cycles > kLongest) {
      return Refuse(absl::StrFormat("timing.%s", name), absl::StrFormat("is %d; at most %d.", cycles, kLongest));
    }
  }
  const std::pair<const char*, uint32_t> needed[] = {{"cl", t.cl()},   {"wl", t.wl()},  {"rcd", t.rcd()},
                                                     {"ras", t.ras()}, {"rp", t.rp()},  {"rc", t.rc()},
                                                     {"rrd", t.rrd()}, {"ccd", t.ccd()}};
  for (const auto& [name, cycles] : needed) {
    if (cycles == 0) return Refuse(absl::StrFormat("timing.%s", name), "must be at least 1 cycle.");
  }
  return absl::OkStatus();
}

DramTiming MakeTiming(const machine::v1::DramTiming& t, uint32_t burst, bool grouped) {
  using enum DramConstraint;
  DramTiming timing;
  timing.burst_cycles = burst;
  timing.to_data = {t.cl(), t.wl()};

  const uint32_t wtr = t.wtr_from_data() ? t.wl() + burst + t.wtr() : t.wtr();
  const uint32_t rtw = t.rtw() != 0 ? t.rtw() : Less(t.cl() + burst + 2, t.wl());
  for (int first = 0; first < 2; ++first) {
    for (int second = 0; second < 2; ++second) {
      Bound longest(t.ccd(), kCcd);
      if (first == 1 && second == 0) longest = std::max(longest, Bound(wtr, kWtr));
      if (first == 0 && second == 1) longest = std::max(longest, Bound(rtw, kRtw));
      // The second burst starts when the first one has left the bus.
      const uint32_t bus = Less(timing.to_data[first] + burst, timing.to_data[second]);
      longest = std::max(longest, Bound(bus, kBus));
      timing.column_to_column[first][second] = longest;
      if (grouped) longest = std::max(longest, Bound(t.ccd_group(), kCcdGroup));
      timing.column_to_column_in_group[first][second] = longest;
    }
  }
  timing.activate_to_activate_any_bank = Bound(t.rrd(), kRrd);
  timing.activate_to = {Bound(t.rcd(), kRcd), Bound(t.rcd_write() != 0 ? t.rcd_write() : t.rcd(), kRcd),
                        Bound(t.ras(), kRas), Bound(t.rc(), kRc)};
  timing.precharge_to_activate = Bound(t.rp(), kRp);
  timing.read_to_precharge = Bound(t.rtp(), kRtp);
  if (grouped) timing.read_to_precharge_in_group = Bound(t.rtp_group() != 0 ? t.rtp_group() : t.rtp(), kRtpGroup);
  timing.write_to_precharge = Bound(t.wr() != 0 ? t.wl() + burst + t.wr() : 0, kWtp);
  return timing;
}

}  // namespace

std::string_view NameOf(DramConstraint constraint) {
  constexpr std::array<std::string_view, kDramConstraints> kNames = {
      "rrd", "ccd", "wtr", "rtw", "rcd", "ras", "rp", "rc", "ccd_group", "wtp", "rtp", "rtp_group", "bus"};
  return kNames[static_cast<int>(constraint)];
}

absl::StatusOr<DramParameters> DramParameters::Make(const machine::v1::Dram& dram) {
  if (dram.banks() == 0 || dram.banks() > kMaxBanks) {
    return Refuse("banks", absl::StrFormat("is %d; must be 1 to %d.", dram.banks(), kMaxBanks));
  }
  const uint32_t groups = std::max(dram.bank_groups(), 1u);
  if (dram.banks() % groups != 0) {
    return Refuse("bank_groups", absl::StrFormat("is %d, which does not divide the %d banks.", groups, dram.banks()));
  }
  if (dram.chips_per_controller() == 0) return Refuse("chips_per_controller", "must be at least 1.");
  if (dram.bus_bytes() == 0) return Refuse("bus_bytes", "must be at least 1.");
  if (dram.burst_length() == 0) return Refuse("burst_length", "must be at least 1 transfer.");
  if (dram.data_rate() == 0) return Refuse("data_rate", "must be at least 1 transfer per cycle.");
  const uint64_t atom = uint64_t{dram.burst_length()} * dram.bus_bytes() * dram.chips_per_controller();
  if (atom > kLongest)
    return Refuse("burst_length", "times bus_bytes and chips_per_controller is more than a million bytes.");
  HEDDLE_RETURN_IF_ERROR(CheckTimes(dram.timing()));

  DramParameters made;
  made.banks = dram.banks();
  made.bank_groups = groups;
  made.interleaved_groups = dram.bank_grouping() == machine::v1::Dram::INTERLEAVED;
  made.queue = dram.queue();
  made.starvation_cap = dram.starvation_cap();
  made.fifo = dram.scheduler() == machine::v1::Dram::FIFO;
  made.atom_bytes = static_cast<uint32_t>(atom);
  const uint32_t burst = (dram.burst_length() + dram.data_rate() - 1) / dram.data_rate();
  made.timing = MakeTiming(dram.timing(), burst, groups > 1);
  return made;
}

}  // namespace heddle::replay
