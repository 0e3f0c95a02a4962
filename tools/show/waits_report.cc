#include "tools/show/waits_report.h"

#include <cstdint>
#include <map>
#include <set>
#include <vector>

#include "absl/strings/str_cat.h"
#include "tools/console/table.h"
#include "tools/show/instruction_text.h"

namespace heddle::tools {
namespace {

// Waits of one instruction.
struct Polls {
  uint64_t waits = 0;
  uint64_t polls = 0;
  uint64_t within_block = 0;  // ended by a thread of the same block
  uint64_t other_block = 0;
  std::set<uint64_t> addresses;
};

void AddWaits(const trace::LaunchView& launch, std::map<uint32_t, Polls>& by_instruction) {
  for (const trace::v1::Wait& wait : launch.totals.wait()) {
    Polls& polls = by_instruction[wait.instruction()];
    ++polls.waits;
    polls.polls += wait.polls();
    if (wait.writer_known()) ++(wait.writer_block() == wait.block() ? polls.within_block : polls.other_block);
    if (wait.address() != 0) polls.addresses.insert(wait.address());
  }
}

std::map<uint32_t, Polls> ByInstruction(const trace::LaunchView& launch) {
  std::map<uint32_t, Polls> by_instruction;
  AddWaits(launch, by_instruction);
  return by_instruction;
}

// Launches that share a row: one, or all of a program.
struct Waits {
  const trace::Program* program = nullptr;
  uint64_t number = 0;  // of the launch, or how many there are
  std::map<uint32_t, Polls> by_instruction;
};

std::vector<Waits> Gather(const trace::TraceReader& reader, bool per_launch) {
  std::vector<Waits> all;
  std::map<uint32_t, size_t> place_of;  // by program
  for (const trace::LaunchView& launch : reader.launches()) {
    if (launch.totals.wait_size() == 0) continue;
    if (per_launch) {
      all.push_back({launch.program, launch.launch.id(), ByInstruction(launch)});
      continue;
    }
    const auto [place, is_new] = place_of.emplace(launch.program->id(), all.size());
    if (is_new) all.emplace_back().program = launch.program;
    ++all[place->second].number;
    AddWaits(launch, all[place->second].by_instruction);
  }
  return all;
}

}  // namespace

std::string WaitsReport(const trace::TraceReader& reader, bool per_launch) {
  Table table({{per_launch ? "launch" : "launches"},
               {"polls", Table::Align::kLeft},
               {"source", Table::Align::kLeft},
               {"addresses"},
               {"waits"},
               {"polls in vain"},
               {"ended by own block"},
               {"by another"}});
  bool any = false;
  uint64_t not_listed = 0;
  for (const trace::LaunchView& launch : reader.launches()) not_listed += launch.totals.waits_not_listed();
  for (const Waits& waits : Gather(reader, per_launch)) {
    for (const auto& [pc, polls] : waits.by_instruction) {
      const trace::v1::Instruction& instruction = waits.program->instruction(pc);
      any = true;
      table.AddRow({absl::StrCat(waits.number), absl::StrCat(instruction.mnemonic(), " at ", pc * 8),
                    SourcePlace(reader.header(), instruction), absl::StrCat(polls.addresses.size()),
                    absl::StrCat(polls.waits), absl::StrCat(polls.polls), absl::StrCat(polls.within_block),
                    absl::StrCat(polls.other_block)});
    }
  }
  if (!any) return "";
  return absl::StrCat("\nThreads that waited in loops for a write of another thread\n", table.Text(2),
                      not_listed == 0 ? "" : absl::StrCat("  ", not_listed, " further waits were only counted\n"));
}

nlohmann::ordered_json WaitsJson(const trace::TraceReader& reader, const trace::LaunchView& launch) {
  nlohmann::ordered_json list = nlohmann::ordered_json::array();
  for (const auto& [pc, polls] : ByInstruction(launch)) {
    const trace::v1::Instruction& instruction = launch.program->instruction(pc);
    list.push_back({{"instruction", pc},
                    {"mnemonic", instruction.mnemonic()},
                    {"source", SourcePlace(reader.header(), instruction)},
                    {"addresses", polls.addresses.size()},
                    {"waits", polls.waits},
                    {"polls", polls.polls},
                    {"ended_within_block", polls.within_block},
                    {"ended_by_other_block", polls.other_block}});
  }
  return list;
}

}  // namespace heddle::tools
