// What `heddle trace info` and `heddle characterise` tell of machine code.
#ifndef HEDDLE_TOOLS_SHOW_MACHINE_REPORT_H_
#define HEDDLE_TOOLS_SHOW_MACHINE_REPORT_H_

#include <array>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "tools/console/table.h"
#include "tools/show/machine_mix.h"
#include "traces/format/program/machine_code.h"
#include "traces/format/read/info.h"
#include "traces/format/read/reader.h"

namespace heddle::tools {

// One kernel, or one trace.
struct MachineRow {
  std::string name;
  std::array<uint32_t, trace::kRegisterFiles> registers = {};  // different ones, by RegisterFile
  MachineMix mix;
};

// Of a launch of a program of machine code; and of all of them by program, in the order of programs.
MachineRow MachineRowOf(const trace::Program& program, const trace::LaunchInfo& launch);
std::vector<MachineRow> MachineRows(const trace::TraceReader& reader, const trace::TraceInfo& info);

// What the columns of MachineTable are, in words.
inline constexpr char kMachineColumns[] =
    "registers by file; convergence barriers: how often threads set, reached and left one, waited for lanes or "
    "yielded;\n"
    "uniform: instructions that write registers of the whole warp; control bits: mean stall in cycles, share of\n"
    "instructions that let another warp go first, and that wait for an earlier instruction";
// Registers by file, then what is executed.
Table MachineTable(const std::string& title, const std::vector<MachineRow>& rows);

// Keys of JSON, and titles: of a RegisterFile, and of what is done at a convergence barrier.
const char* RegisterFileKey(uint32_t file);
const char* RegisterFileTitle(uint32_t file);
const char* ConvergenceKey(trace::v1::Convergence::Role role);

// The same numbers of one row.
nlohmann::ordered_json MachineJson(const MachineRow& row);

}  // namespace heddle::tools

#endif  // HEDDLE_TOOLS_SHOW_MACHINE_REPORT_H_
