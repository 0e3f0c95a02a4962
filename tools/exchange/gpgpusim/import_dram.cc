// The DRAM: controllers, chips, timing, address map.
#include <algorithm>
#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/str_split.h"
#include "tools/exchange/gpgpusim/option_reader.h"

namespace heddle::tools {
namespace {

using enum ImportOutcome;

const std::string kDram = "memory.hierarchy.dram.";

// The order in which the values stand if they are not named; version 2.x has the first ten, its last one tWTR, and the
// first configurations of 3.x end with WR.
constexpr std::array<const char*, 14> kTimingNames = {"nbk", "CCD", "RRD",  "RCD", "RAS",    "RP",   "RC",
                                                      "CL",  "WL",  "CDLR", "WR",  "nbkgrp", "CCDL", "RTPL"};
constexpr size_t kVersion2Timings = 10;
constexpr size_t kFirstVersion3Timings = 11;

struct TimingText {
  std::map<std::string, uint64_t> value;
  bool from_command = false;  // CDLR is version 2.x's tWTR, counted from the command
};

std::optional<TimingText> ParseTiming(OptionReader& reader, const OptionValue& option) {
  TimingText timing;
  const std::string text = absl::StrReplaceAll(option.text, {{" ", ""}});
  const std::vector<std::string> pieces = absl::StrSplit(text, ':', absl::SkipEmpty());
  const bool named = text.find('=') != std::string::npos;
  if (!named && pieces.size() != kVersion2Timings && pieces.size() != kFirstVersion3Timings &&
      pieces.size() != kTimingNames.size()) {
    reader.Error(
        option, absl::StrCat("\"", text, "\" has ", pieces.size(), " values: must be ", kVersion2Timings, ", ",
                             kFirstVersion3Timings, " or ", kTimingNames.size(), ", or named, as in nbk=16:CCD=2:..."));
    return std::nullopt;
  }
  timing.from_command = !named && pieces.size() == kVersion2Timings;
  for (size_t i = 0; i < pieces.size(); ++i) {
    std::string name = named ? "" : kTimingNames[i];
    std::string number = pieces[i];
    if (named) {
      const std::pair<std::string, std::string> parts = absl::StrSplit(pieces[i], absl::MaxSplits('=', 1));
      name = parts.first;
      number = parts.second;
      if (std::ranges::find(kTimingNames, name) == kTimingNames.end()) {
        reader.Error(option,
                     absl::StrCat("unknown timing \"", name, "\"; known are ", absl::StrJoin(kTimingNames, ", ")));
        return std::nullopt;
      }
    }
    timing.value[name] = reader.Number(option, number);
  }
  for (size_t i = 0; i < kVersion2Timings; ++i) {
    if (!timing.value.contains(kTimingNames[i])) {
      reader.Error(option, absl::StrCat("the timing ", kTimingNames[i], " is missing"));
      return std::nullopt;
    }
  }
  return timing;
}

// Banks that an address map selects, 1 if it has no bits for them.
uint64_t BanksOf(const std::string& map) {
  return uint64_t{1} << std::ranges::count_if(map.substr(map.find(';') + 1),
                                              [](char c) { return c == 'B' || c == 'b'; });
}

void ImportTiming(OptionReader& reader, uint64_t burst_cycles, uint64_t banks_of_map) {
  const OptionValue option = reader.Take(
      {"-gpgpu_dram_timing_opt"}, reader.version2() ? "4:2:8:12:21:13:34:9:4:5" : "4:2:8:12:21:13:34:9:4:5:13:1:0:0");
  std::optional<TimingText> parsed = ParseTiming(reader, option);
  if (!parsed.has_value()) return;
  std::map<std::string, uint64_t>& value = parsed->value;
  const std::string source = option.Source();
  const std::string path = kDram + "timing.";
  const OptionValue grouping = reader.Take({"-dram_bnkgrp_indexing_policy"}, "0");
  if (grouping.text != "0" && grouping.text != "1") {
    reader.Error(grouping, absl::StrCat("\"", grouping.text, "\" is not 0 (higher bits) or 1 (lower bits)"));
  }
  const bool interleaved = grouping.text == "1";
  const uint64_t banks = value["nbk"];
  if (banks_of_map < banks || (banks_of_map != banks && !option.given())) {
    reader.Note(kDifferent, option, absl::StrCat(banks_of_map, " banks, as the address map selects, not ", banks));
    value["nbk"] = banks_of_map;
    if (banks_of_map < banks) {  // the others are never used, nor are their groups
      value["nbkgrp"] = interleaved ? std::min(value["nbkgrp"], banks_of_map) : value["nbkgrp"] * banks_of_map / banks;
    }
  }
  reader.Set(kDram + "banks", value["nbk"], source);
  reader.Set(kDram + "bank_groups", value["nbkgrp"], source);
  if (value["nbkgrp"] > 1) {
    reader.Set(kDram + "bank_grouping", interleaved ? "INTERLEAVED" : "NEIGHBOURS", grouping.Source());
  }
  reader.Set(path + "cl", value["CL"], source);
  reader.Set(path + "wl", value["WL"], source);
  reader.Set(path + "rcd", value["RCD"], source);
  reader.Set(path + "ras", value["RAS"], source);
  reader.Set(path + "rp", value["RP"], source);
  reader.Set(path + "rc", value["RC"], source);
  reader.Set(path + "rrd", value["RRD"], source);
  reader.Set(path + "ccd", value["CCD"], source);
  reader.Set(path + "wtr", value["CDLR"], source);
  reader.Set(path + "wtr_from_data", parsed->from_command ? "false" : "true", source);
  if (parsed->from_command) return;
  // GPGPU-Sim 3.x: a write may follow its activation earlier than a read does.
  if (value["RCD"] > value["WL"] + 1) {
    reader.Set(path + "rcd_write", value["RCD"] - (value["WL"] + 1), absl::StrCat(source, " (RCD - (WL + 1))"));
  }
  reader.Set(path + "ccd_group", value["CCDL"], source);
  reader.Set(path + "wr", value["WR"], source);
  reader.Set(path + "rtp", burst_cycles, "GPGPU-Sim: burst length / data rate");
  reader.Set(path + "rtp_group", value["RTPL"], source);
}

void ImportAddressMap(OptionReader& reader, const OptionValue& option) {
  reader.Take({"-gpgpu_mem_address_mask"}, "1");  // chooses among default masks, which the text replaces
  if (!option.given()) {
    reader.Error(option, "without it the masks depend on the version of GPGPU-Sim: add the option with the map to use");
    return;
  }
  reader.Set("memory.hierarchy.address_map.text", option.text, option.Source());
  // The slices of a controller share its banks: the lowest bits of the bank choose.
  uint64_t slice_bit = 0;
  uint64_t bit = 0;
  for (auto it = option.text.rbegin(); it != option.text.rend() && *it != ';' && slice_bit == 0; ++it) {
    if (*it == '.') continue;
    if (*it == 'B' || *it == 'b') slice_bit = bit;
    ++bit;
  }
  reader.Set("memory.hierarchy.address_map.slice_bit", slice_bit,
             absl::StrCat(option.Source(), " (the slice is the lowest bit of the bank)"));
  const OptionValue hash = reader.Take({"-gpgpu_memory_partition_indexing"}, "0");
  if (reader.Number(hash) == 0) return;
  if (!option.text.starts_with("dramid@")) {
    reader.Note(kNotRepresented, hash, "partitions are hashed only where the address map begins with dramid@");
    return;
  }
  reader.Set("memory.hierarchy.address_map.hashed_partitions", "true", hash.Source());
  reader.Note(kDifferent, hash, "whichever the hash of partitions, here it is Heddle's");
}

}  // namespace

void ImportDram(OptionReader& reader) {
  reader.SetNumber(kDram + "controllers", reader.Take({"-gpgpu_n_mem"}, "8"));
  reader.SetNumber(kDram + "chips_per_controller", reader.Take({"-gpgpu_n_mem_per_ctrlr"}, "1"));
  const OptionValue scheduler = reader.Take({"-gpgpu_dram_scheduler"}, reader.version2() ? "0" : "1");
  if (scheduler.text != "0" && scheduler.text != "1") {
    reader.Error(scheduler, absl::StrCat("\"", scheduler.text, "\" is not 0 (FIFO) or 1 (FR-FCFS)"));
  }
  reader.Set(kDram + "scheduler", scheduler.text == "0" ? "FIFO" : "FR_FCFS", scheduler.Source());
  const OptionValue queue = reader.Take({"-gpgpu_frfcfs_dram_sched_queue_size", "-gpgpu_dram_sched_queue_size"}, "0");
  reader.SetNumber(kDram + "queue", queue);
  reader.SetNumber(kDram + "bus_bytes", reader.Take({"-gpgpu_dram_buswidth"}, "4"));
  const OptionValue burst = reader.Take({"-gpgpu_dram_burst_length"}, "4");
  const OptionValue rate = reader.Take({"-dram_data_command_freq_ratio"}, "2");
  reader.SetNumber(kDram + "burst_length", burst);
  reader.SetNumber(kDram + "data_rate", rate);
  const OptionValue map = reader.Take({"-gpgpu_mem_addr_mapping"}, "");
  ImportTiming(reader, reader.Number(burst) / std::max<uint64_t>(reader.Number(rate), 1), BanksOf(map.text));
  ImportAddressMap(reader, map);
}

}  // namespace heddle::tools
