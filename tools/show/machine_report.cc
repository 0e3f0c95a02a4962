#include "tools/show/machine_report.h"

#include <algorithm>
#include <map>
#include <utility>

#include "tools/console/with_thousands.h"
#include "traces/format/program/kernel_name.h"

namespace heddle::tools {
namespace {

using trace::v1::Convergence;

// By RegisterFile.
struct FileName {
  const char* key;
  const char* title;
};
constexpr FileName kFiles[] = {{"general", "general"},
                               {"predicate", "predicate"},
                               {"uniform", "uniform"},
                               {"uniform_predicate", "uniform pred."},
                               {"convergence", "convergence"}};
static_assert(std::size(kFiles) == trace::kRegisterFiles);

struct RoleName {
  Convergence::Role role;
  const char* key;
};
constexpr RoleName kRoles[] = {{Convergence::SET, "set"},
                               {Convergence::SYNC, "sync"},
                               {Convergence::BREAK, "break"},
                               {Convergence::WARP_SYNC, "warp_sync"},
                               {Convergence::YIELD, "yield"}};
static_assert(std::size(kRoles) == Convergence::Role_ARRAYSIZE - 1);

std::string ShareText(uint64_t part, uint64_t whole) {
  return whole == 0 ? "-" : Decimal(100 * static_cast<double>(part) / static_cast<double>(whole), 1);
}

}  // namespace

MachineRow MachineRowOf(const trace::Program& program, const trace::LaunchInfo& launch) {
  MachineRow row{trace::ShortKernelName(program.name()), trace::RegistersByFile(program.proto()), {}};
  for (uint32_t b = 0; b < launch.block_runs.size(); ++b) row.mix.Add(program, program.block(b), launch.block_runs[b]);
  return row;
}

std::vector<MachineRow> MachineRows(const trace::TraceReader& reader, const trace::TraceInfo& info) {
  std::map<uint32_t, MachineRow> rows;  // by program
  for (size_t i = 0; i < info.launches.size(); ++i) {
    if (info.launches[i].block_runs.empty()) continue;
    const trace::Program& program = *reader.launches()[i].program;
    MachineRow more = MachineRowOf(program, info.launches[i]);
    const auto [place, is_new] = rows.try_emplace(program.id(), more);
    if (!is_new) place->second.mix.Add(more.mix);
  }
  std::vector<MachineRow> all;
  for (auto& [id, row] : rows) all.push_back(std::move(row));
  return all;
}

Table MachineTable(const std::string& title, const std::vector<MachineRow>& rows) {
  std::vector<Table::Column> columns = {{title, Table::Align::kLeft}};
  for (const FileName& file : kFiles) columns.push_back({file.title});
  for (const RoleName& role : kRoles) columns.push_back({role.key});
  columns.insert(columns.end(), {{"uniform %"}, {"stall cycles"}, {"yield %"}, {"wait %"}});
  Table table(std::move(columns));
  for (const MachineRow& row : rows) {
    const MachineMix& mix = row.mix;
    std::vector<std::string> cells = {row.name};
    for (const uint32_t count : row.registers) cells.push_back(WithThousands(count));
    for (const RoleName& role : kRoles) cells.push_back(WithThousands(mix[role.role]));
    cells.push_back(ShareText(mix.uniform, mix.instructions));
    cells.push_back(mix.scheduled == 0
                        ? "-"
                        : Decimal(static_cast<double>(mix.stall_cycles) / static_cast<double>(mix.scheduled), 2));
    cells.push_back(ShareText(mix.yields, mix.scheduled));
    cells.push_back(ShareText(mix.waits, mix.scheduled));
    table.AddRow(std::move(cells));
  }
  return table;
}

const char* RegisterFileKey(uint32_t file) { return kFiles[file].key; }

const char* RegisterFileTitle(uint32_t file) { return kFiles[file].title; }

const char* ConvergenceKey(Convergence::Role role) { return std::ranges::find(kRoles, role, &RoleName::role)->key; }

nlohmann::ordered_json MachineJson(const MachineRow& row) {
  nlohmann::ordered_json json;
  for (uint32_t file = 0; file < trace::kRegisterFiles; ++file)
    json["registers"][kFiles[file].key] = row.registers[file];
  for (const RoleName& role : kRoles) json["convergence"][role.key] = row.mix[role.role];
  json["uniform"] = row.mix.uniform;
  json["control"] = {{"instructions", row.mix.scheduled},
                     {"stall_cycles", row.mix.stall_cycles},
                     {"yields", row.mix.yields},
                     {"waits", row.mix.waits}};
  return json;
}

}  // namespace heddle::tools
