// --registers: how many registers threads take, in place of what traces say.
#ifndef HEDDLE_TOOLS_INPUTS_REGISTER_COUNTS_H_
#define HEDDLE_TOOLS_INPUTS_REGISTER_COUNTS_H_

#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "replay/engine/replay.h"
#include "traces/format/read/reader.h"

namespace heddle::tools {

inline constexpr char kRegistersHelp[] =
    "Registers per thread in place of the trace's: assembler (of the machine's architecture), assembler:sm_80, or\n"
    "KERNEL=N; repeat";

// The architecture whose register counts stand for a machine: by the beginning of its name, sm_90 for hopper_, sm_80
// for ampere_, sm_75 for turing_ and, as the nearest that is known, for volta_. Empty for all others.
std::string_view ArchitectureOf(std::string_view machine);

// Refuses words that are not of the forms above, and names that none of these kernels has, parameters included or not.
absl::Status CheckRegisterNames(const std::vector<std::string>& words, const std::set<std::string>& kernels);

// Fills options.registers for the kernels of these traces that options.kernels selects, and adds to options.overrides
// what was asked. `words` are the values of --registers; a kernel that is named goes before "assembler". Kernels of
// machine code keep what their trace says under "assembler", which is the assembler's count. Refuses words that are not
// of these forms, machines that name no architecture, and kernels that the assembler's table
// does not have.
absl::Status ApplyRegisters(const std::vector<std::string>& words, std::span<const trace::TraceReader* const> traces,
                            replay::ReplayOptions& options);

}  // namespace heddle::tools

#endif  // HEDDLE_TOOLS_INPUTS_REGISTER_COUNTS_H_
