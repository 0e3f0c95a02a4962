#include "tools/heddle/trace_findings.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "tools/heddle/instruction_text.h"
#include "tools/heddle/table.h"

namespace heddle::tools {
namespace {

using trace::v1::Certificate;

constexpr Table::Align kLeft = Table::Align::kLeft;
constexpr size_t kMostRows = 200;  // of a table

// One table: rows by launch, or summed up over the launches of a program. Of a sum, what stands beside the count is
// that of the first launch.
class Rows {
 public:
  // `columns` without the first one, which is the launch, or how many there are. `counted`: the column, among these, in
  // which the count goes.
  Rows(bool per_launch, std::vector<Table::Column> columns, size_t counted)
      : per_launch_(per_launch), columns_(std::move(columns)), counted_(counted) {
    columns_.insert(columns_.begin(), {per_launch ? "launch" : "launches"});
  }

  // Findings of the same `what` in a program are the same.
  void Add(const trace::LaunchView& launch, const std::string& what, uint64_t count, std::vector<std::string> cells) {
    const uint64_t scope = per_launch_ ? launch.launch.id() : launch.program->id();
    const auto [place, is_new] = place_of_.emplace(std::pair(scope, what), rows_.size());
    if (is_new) rows_.push_back({0, 0, std::move(cells)});
    Row& row = rows_[place->second];
    row.number = per_launch_ ? launch.launch.id() : row.number + 1;
    row.count += count;
  }

  std::string Text(absl::string_view heading) const {
    if (rows_.empty()) return "";
    Table table(columns_);
    for (size_t i = 0; i < std::min(rows_.size(), kMostRows); ++i) {
      std::vector<std::string> cells = rows_[i].cells;
      cells.insert(cells.begin() + static_cast<std::ptrdiff_t>(counted_), WithThousands(rows_[i].count));
      cells.insert(cells.begin(), absl::StrCat(rows_[i].number));
      table.AddRow(std::move(cells));
    }
    const size_t more = rows_.size() - std::min(rows_.size(), kMostRows);
    return absl::StrCat("\n", heading, "\n", table.Text(2),
                        more == 0 ? "" : absl::StrCat("  and ", more, " more, see --json\n"));
  }

 private:
  struct Row {
    uint64_t number = 0;  // of the launch, or how many there are
    uint64_t count = 0;
    std::vector<std::string> cells;  // without these two
  };

  const bool per_launch_;
  std::vector<Table::Column> columns_;
  const size_t counted_;
  std::vector<Row> rows_;
  std::map<std::pair<uint64_t, std::string>, size_t> place_of_;
};

// Instructions and addresses of a launch in words.
struct Words {
  const trace::TraceReader& reader;
  const trace::LaunchView& launch;

  std::string Name(uint32_t pc) const {
    return absl::StrCat(launch.program->instruction(pc).mnemonic(), " at ", uint64_t{pc} * 8);
  }
  std::string Source(uint32_t pc) const { return SourcePlace(reader.header(), launch.program->instruction(pc)); }
  static std::string Thread(uint64_t block, uint32_t thread) { return absl::StrCat(block, ", ", thread); }
  // "byte 16 of 'a'".
  std::string Place(uint64_t address) const {
    for (const trace::v1::Allocation& allocation : launch.launch.allocation()) {
      if (address - allocation.base() >= allocation.bytes()) continue;
      return absl::StrCat("byte ", address - allocation.base(), " of '", allocation.name(), "'");
    }
    return absl::StrCat("0x", absl::Hex(address));
  }
};

// What the second of two accesses does to what the first has stored.
const char* Use(trace::v1::OpClass op) {
  if (op == trace::v1::OP_STORE) return "overwritten";
  return op == trace::v1::OP_ATOMIC ? "updated" : "loaded";
}

}  // namespace

std::string FindingsText(const trace::TraceReader& reader, bool per_launch) {
  Rows races(per_launch,
             {{"stored by", kLeft},
              {"source", kLeft},
              {"used by", kLeft},
              {"source", kLeft},
              {"how", kLeft},
              {"places"},
              {"such as", kLeft},
              {"by block, thread", kLeft},
              {"and by", kLeft}},
             5);
  Rows memory(per_launch,
              {{"allocation", kLeft}, {"bytes"}, {"of"}, {"from", kLeft}, {"stored by", kLeft}, {"source", kLeft}}, 1);
  Rows waits(per_launch,
             {{"waits at", kLeft},
              {"source", kLeft},
              {"for", kLeft},
              {"times"},
              {"such as block"},
              {"thread"},
              {"for thread"}},
             3);
  Rows outside(per_launch, {{"reads", kLeft}, {"source", kLeft}, {"times"}, {"first address", kLeft}}, 2);
  for (const Certificate& certificate : reader.certificates()) {
    const trace::LaunchView& launch = reader.launches()[certificate.launch()];
    const Words words{reader, launch};
    for (const trace::v1::Race& race : certificate.race()) {
      races.Add(launch, absl::StrCat(race.writer(), " ", race.other()), race.places(),
                {words.Name(race.writer()), words.Source(race.writer()), words.Name(race.other()),
                 words.Source(race.other()), Use(launch.program->instruction(race.other()).op()),
                 words.Place(race.address()), Words::Thread(race.writer_block(), race.writer_thread()),
                 Words::Thread(race.other_block(), race.other_thread())});
    }
    for (const trace::v1::MemoryDifference& difference : certificate.memory()) {
      std::string name;
      uint64_t bytes = 0;
      for (const trace::v1::Allocation& allocation : launch.launch.allocation()) {
        if (allocation.base() != difference.base()) continue;
        name = allocation.name();
        bytes = allocation.bytes();
      }
      memory.Add(launch, name, difference.bytes(),
                 {name, WithThousands(bytes), words.Place(difference.address()), words.Name(difference.writer()),
                  words.Source(difference.writer())});
    }
    for (const trace::v1::WarpWait& wait : certificate.warp_wait()) {
      waits.Add(launch, absl::StrCat(wait.instruction(), wait.lock() ? " lock" : ""), wait.count(),
                {words.Name(wait.instruction()), words.Source(wait.instruction()),
                 wait.lock() ? "a lock" : "a change of memory", absl::StrCat(wait.block()), absl::StrCat(wait.thread()),
                 absl::StrCat(wait.other_thread())});
    }
    for (const trace::v1::OutsideRead& read : certificate.outside_read()) {
      outside.Add(launch, absl::StrCat(read.instruction()), read.count(),
                  {words.Name(read.instruction()), words.Source(read.instruction()),
                   absl::StrCat("0x", absl::Hex(read.address()))});
    }
  }
  return absl::StrCat(
      races.Text("Races in global memory: accesses of different threads that nothing orders"),
      memory.Text("Memory that a run in another order left otherwise (of the orders, that with the most bytes)"),
      waits.Text("Threads that wait for others of their warp if they run together"),
      outside.Text("Reads outside all allocations, which the recording let pass (they got what lay there, or zero)"));
}

}  // namespace heddle::tools
