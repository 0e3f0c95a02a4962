#include "tools/study/report/study_series.h"

#include <algorithm>
#include <string>
#include <utility>

namespace heddle::tools {
namespace {

using Json = nlohmann::ordered_json;
using result::v1::LaunchResult;
using result::v1::TimeSeries;
using List = google::protobuf::RepeatedField<uint64_t>;

// Lists of one cell in the page's bins.
class Binner {
 public:
  Binner(uint64_t width, uint64_t cycles) : width_(width), bins_(static_cast<size_t>((cycles + width - 1) / width)) {}

  // Adds a launch's list, whose bins are `bin` cycles wide and begin at cycle `start`.
  void Add(const List& from, uint64_t start, uint64_t bin, std::vector<uint64_t>& to) const {
    to.resize(bins_);
    for (int i = 0; i < from.size(); ++i) {
      const size_t at = static_cast<size_t>((start + static_cast<uint64_t>(i) * bin) / width_);
      to[std::min(at, bins_ - 1)] += from[i];
    }
  }
  // The same for values that do not add up: a bin has the last of those that fall into it.
  void Set(const List& from, uint64_t start, uint64_t bin, std::vector<uint64_t>& to) const {
    to.resize(bins_);
    for (int i = 0; i < from.size(); ++i) {
      const size_t at = static_cast<size_t>((start + static_cast<uint64_t>(i) * bin) / width_);
      to[std::min(at, bins_ - 1)] = from[i];
    }
  }

 private:
  const uint64_t width_;
  const size_t bins_;
};

// A counter of a policy's own over time.
struct PolicyCourse {
  const TimeSeries::PolicySeries* series;  // of the first launch
  std::vector<uint64_t> values;
};

// [seam, name, unit, whether bins add up, bins], of those that are not 0 all the time.
Json PoliciesJson(const std::vector<PolicyCourse>& policies) {
  Json json = Json::array();
  for (const auto& [series, values] : policies) {
    if (std::all_of(values.begin(), values.end(), [](uint64_t value) { return value == 0; })) continue;
    json.push_back({series->seam(), series->name(), series->unit(), series->adds_up(), values});
  }
  return json;
}

}  // namespace

uint64_t SeriesWidth(const std::vector<const Study::Cell*>& cells, size_t points) {
  uint64_t longest = 0;
  uint64_t widest = 0;
  for (const Study::Cell* cell : cells) {
    uint64_t cycles = 0;
    for (const LaunchResult* launch : cell->launches) {
      cycles += launch->cycles();
      widest = std::max(widest, launch->time_series().bin_cycles());
    }
    longest = std::max(longest, cycles);
  }
  if (widest == 0) return 0;
  const uint64_t least = std::max<uint64_t>((longest + points - 1) / points, 1);
  return (least + widest - 1) / widest * widest;
}

Json SeriesJson(const Study::Cell& cell, uint64_t width) {
  if (width == 0 || cell.sum.cycles() == 0) return nullptr;
  const Binner binner(width, cell.sum.cycles());
  std::vector<uint64_t> warps, threads, resident, misses, dram, stall, memory, idle;
  std::vector<std::vector<uint64_t>> sizes, stalls(9);
  std::vector<uint64_t> starts;
  uint64_t start = 0;
  uint64_t dram_cycles = 0;
  std::vector<PolicyCourse> policies;
  bool any = false;
  bool has_stalls = false;
  bool has_memory = false;
  for (const LaunchResult* launch : cell.launches) {
    starts.push_back(start);
    if (launch->has_time_series()) {
      any = true;
      const TimeSeries& series = launch->time_series();
      const auto add = [&](const List& from, std::vector<uint64_t>& to) {
        binner.Add(from, start, series.bin_cycles(), to);
      };
      add(series.warp_instructions(), warps);
      add(series.thread_instructions(), threads);
      add(series.resident_cycles(), resident);
      add(series.stall(), stall);
      add(series.memory(), memory);
      add(series.idle(), idle);
      sizes.resize(std::max(sizes.size(), static_cast<size_t>(series.issues_by_size_size())));
      for (int i = 0; i < series.issues_by_size_size(); ++i) add(series.issues_by_size(i).issues(), sizes[i]);
      if (series.has_stalls()) {
        has_stalls = true;
        const TimeSeries::StallSeries& classes = series.stalls();
        size_t i = 0;
        for (const List* list :
             {&classes.structural(), &classes.data_memory(), &classes.data_arithmetic(), &classes.control(),
              &classes.fetch(), &classes.policy(), &classes.barrier(), &classes.exit(), &classes.empty()}) {
          add(*list, stalls[i++]);
        }
      }
      for (const TimeSeries::PolicySeries& one : series.policy()) {
        const auto course = std::find_if(policies.begin(), policies.end(), [&one](const PolicyCourse& other) {
          return other.series->seam() == one.seam() && other.series->name() == one.name();
        });
        PolicyCourse& own = course == policies.end() ? policies.emplace_back(PolicyCourse{&one, {}}) : *course;
        if (one.adds_up()) {
          add(one.value(), own.values);
        } else {
          binner.Set(one.value(), start, series.bin_cycles(), own.values);
        }
      }
      if (series.has_memory_system()) {
        has_memory = true;
        add(series.memory_system().outstanding_misses(), misses);
        add(series.memory_system().dram_bus_busy(), dram);
      }
    }
    dram_cycles += launch->dram().cycles() * launch->dram().controllers();
    start += launch->cycles();
  }
  if (!any) return nullptr;
  Json json = {{"width", width}, {"cycles", cell.sum.cycles()}, {"starts", starts}, {"wi", warps},
               {"ti", threads},  {"resident", resident},        {"sizes", sizes}};
  if (has_stalls) {
    json["stalls"] = stalls;
  } else {
    json["ports"] = {stall, memory, idle};
  }
  if (Json courses = PoliciesJson(policies); !courses.empty()) json["policy"] = std::move(courses);
  if (has_memory) {
    json["outstanding"] = misses;
    json["dram"] = dram;
    // DRAM cycles of all controllers per core cycle: what a bin could be busy at most.
    json["dram_rate"] = static_cast<double>(dram_cycles) / static_cast<double>(cell.sum.cycles());
  }
  return json;
}

Json WarpsJson(const Study::Cell& cell, size_t most) {
  Json warps = Json::array();
  size_t phases = 0;
  size_t left_out = 0;
  uint64_t start = 0;
  for (size_t launch = 0; launch < cell.launches.size(); ++launch) {
    for (const result::v1::WarpTimeline& warp : cell.launches[launch]->warp_timeline()) {
      phases += static_cast<size_t>(warp.phase_size());
      if (phases > most) {
        ++left_out;
        continue;
      }
      Json list = {launch, warp.block(), warp.warp(), warp.sm(),
                   warp.phase_size() == 0 ? start : start + warp.phase(0).start()};
      for (const auto& phase : warp.phase()) {
        list.push_back(phase.arrival() - phase.start());
        list.push_back(phase.release() - phase.arrival());
      }
      warps.push_back(std::move(list));
    }
    start += cell.launches[launch]->cycles();
  }
  if (warps.empty()) return nullptr;
  return {{"list", std::move(warps)}, {"left_out", left_out}};
}

}  // namespace heddle::tools
