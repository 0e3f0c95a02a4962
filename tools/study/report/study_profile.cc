#include "tools/study/report/study_profile.h"

#include <algorithm>
#include <filesystem>
#include <fstream>

#include "absl/strings/strip.h"

namespace heddle::tools {
namespace {

using Json = nlohmann::ordered_json;
using result::v1::InstructionCounters;
using result::v1::InstructionProfile;
using result::v1::LaunchResult;
using result::v1::SchedulerCycles;

uint64_t PortCycles(const InstructionCounters& counters) {
  return counters.has_stalls() ? counters.stalls().total() : counters.scheduler_cycles().total();
}

// Under the single pipeline: issued, stall, memory, idle.
std::vector<uint64_t> PortList(const SchedulerCycles& cycles) {
  return {cycles.issued(), cycles.stall(), cycles.memory(), cycles.idle()};
}

void Add(const std::vector<uint64_t>& more, std::vector<uint64_t>& sum) {
  sum.resize(std::max(sum.size(), more.size()));
  for (size_t i = 0; i < more.size(); ++i) sum[i] += more[i];
}

}  // namespace

std::vector<uint64_t> StallList(const result::v1::StallCycles& stalls) {
  return {stalls.issued(),  stalls.structural(), stalls.data_memory(), stalls.data_arithmetic(),
          stalls.control(), stalls.fetch(),      stalls.policy(),      stalls.barrier(),
          stalls.exit(),    stalls.empty()};
}

std::string SourceLines::Line(const std::string& file, uint32_t line) {
  if (file.empty() || line == 0) return "";
  const std::string name = std::filesystem::path(file).filename().string();
  const auto [entry, is_new] = files_.try_emplace(name);
  for (size_t i = 0; is_new && i < folders_.size() && entry->second.empty(); ++i) {
    std::ifstream opened(std::filesystem::path(folders_[i]) / name);
    for (std::string text; std::getline(opened, text);) entry->second.push_back(text);
  }
  if (line > entry->second.size()) return "";
  return std::string(absl::StripAsciiWhitespace(entry->second[line - 1]));
}

HotInstructions::HotInstructions(const std::vector<const Study::Cell*>& cells, size_t most) {
  struct Candidate {
    const InstructionCounters* any = nullptr;
    double cost = 0;  // the largest of all cells
  };
  std::map<uint64_t, Candidate> candidates;  // by PC
  for (const Study::Cell* cell : cells) {
    std::map<uint64_t, uint64_t> cycles;
    uint64_t all = 0;
    for (const LaunchResult* launch : cell->launches) {
      for (const InstructionCounters& counters : launch->instruction_profile().instruction()) {
        candidates[counters.pc()].any = &counters;
        cycles[counters.pc()] += PortCycles(counters);
        all += PortCycles(counters);
      }
    }
    for (const auto& [pc, count] : cycles) {
      double& cost = candidates[pc].cost;
      if (all != 0) cost = std::max(cost, static_cast<double>(count) / static_cast<double>(all));
    }
  }
  std::vector<Candidate> order;
  for (const auto& [pc, candidate] : candidates) order.push_back(candidate);
  std::stable_sort(order.begin(), order.end(), [](const auto& a, const auto& b) { return a.cost > b.cost; });
  if (order.size() > most) order.resize(most);
  std::sort(order.begin(), order.end(), [](const auto& a, const auto& b) { return a.any->pc() < b.any->pc(); });
  for (const Candidate& candidate : order) hot_.push_back(*candidate.any);
}

Json HotInstructions::Describe(SourceLines& sources) const {
  Json json = Json::array();
  for (const InstructionCounters& one : hot_) {
    json.push_back({one.pc(), one.text(), std::filesystem::path(one.source_file()).filename().string(),
                    one.source_line(), sources.Line(one.source_file(), one.source_line())});
  }
  return json;
}

Json HotInstructions::Profile(const Study::Cell& cell) const {
  std::map<uint64_t, size_t> index;
  for (size_t i = 0; i < hot_.size(); ++i) index[hot_[i].pc()] = i;
  std::vector<uint64_t> issues(hot_.size()), threads(hot_.size()), splits(hot_.size()), transactions(hot_.size()),
      misses(hot_.size());
  std::vector<std::vector<uint64_t>> cycles(hot_.size());
  std::vector<uint64_t> elsewhere;  // also at instructions that are not kept
  bool any = false;
  for (const LaunchResult* launch : cell.launches) {
    if (!launch->has_instruction_profile()) continue;
    any = true;
    const InstructionProfile& profile = launch->instruction_profile();
    if (profile.has_elsewhere()) Add(StallList(profile.elsewhere()), elsewhere);
    if (profile.has_scheduler_elsewhere()) Add(PortList(profile.scheduler_elsewhere()), elsewhere);
    for (const InstructionCounters& one : profile.instruction()) {
      const std::vector<uint64_t> classes =
          one.has_stalls() ? StallList(one.stalls()) : PortList(one.scheduler_cycles());
      const auto found = index.find(one.pc());
      if (found == index.end()) {
        Add(classes, elsewhere);
        continue;
      }
      const size_t i = found->second;
      Add(classes, cycles[i]);
      issues[i] += one.issues();
      threads[i] += one.thread_instructions();
      splits[i] += one.splits();
      transactions[i] += one.memory().transactions();
      misses[i] += one.memory().l1_misses();
    }
  }
  if (!any) return nullptr;
  return {{"cycles", cycles}, {"elsewhere", elsewhere},       {"issues", issues}, {"threads", threads},
          {"splits", splits}, {"transactions", transactions}, {"misses", misses}};
}

}  // namespace heddle::tools
