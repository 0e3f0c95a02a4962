#include "tools/heddle/waits_report.h"

#include <cstdint>
#include <map>
#include <set>

#include "absl/strings/str_cat.h"
#include "tools/heddle/instruction_text.h"
#include "tools/heddle/table.h"

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

std::map<uint32_t, Polls> ByInstruction(const trace::LaunchView& launch) {
  std::map<uint32_t, Polls> by_instruction;
  for (const trace::v1::Wait& wait : launch.totals.wait()) {
    Polls& polls = by_instruction[wait.instruction()];
    ++polls.waits;
    polls.polls += wait.polls();
    if (wait.writer_known()) ++(wait.writer_block() == wait.block() ? polls.within_block : polls.other_block);
    if (wait.address() != 0) polls.addresses.insert(wait.address());
  }
  return by_instruction;
}

}  // namespace

std::string WaitsReport(const trace::TraceReader& reader) {
  Table table({{"launch"},
               {"polls", Table::Align::kLeft},
               {"source", Table::Align::kLeft},
               {"addresses"},
               {"waits"},
               {"polls in vain"},
               {"ended by own block"},
               {"by another"}});
  bool any = false;
  uint64_t not_listed = 0;
  for (const trace::LaunchView& launch : reader.launches()) {
    not_listed += launch.totals.waits_not_listed();
    for (const auto& [pc, polls] : ByInstruction(launch)) {
      const trace::v1::Instruction& instruction = launch.program->instruction(pc);
      any = true;
      table.AddRow({absl::StrCat(launch.launch.id()), absl::StrCat(instruction.mnemonic(), " at ", pc * 8),
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
