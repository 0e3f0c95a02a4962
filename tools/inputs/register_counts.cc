#include "tools/inputs/register_counts.h"

#include <google/protobuf/text_format.h>

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <utility>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "proto/registers.pb.h"
#include "tools/inputs/register_table.h"
#include "traces/base/status_macros.h"
#include "traces/format/program/kernel_name.h"
#include "traces/format/program/kernel_pattern.h"

namespace heddle::tools {
namespace {

using registers::v1::KernelRegisters;
using registers::v1::RegisterTable;

constexpr char kAssembler[] = "assembler";
constexpr uint32_t kMostRegisters = 255;  // that a thread of any GPU has
constexpr char kKnown[] = "sm_75, sm_80, sm_86 or sm_90";

struct Asked {
  bool assembler = false;
  std::string architecture;                 // of assembler; empty = the machine's
  std::map<std::string, uint32_t> kernels;  // by name, as it was given
};

const RegisterTable& Table() {
  static const RegisterTable& table = *new RegisterTable([] {
    RegisterTable read;
    google::protobuf::TextFormat::ParseFromString(kRegisterTableText, &read);
    return read;
  }());
  return table;
}

bool IsKnown(std::string_view architecture) {
  return std::ranges::any_of(Table().kernel(), [&](const KernelRegisters& kernel) {
    return kernel.assembled().contains(std::string(architecture));
  });
}

absl::StatusOr<Asked> Parse(const std::vector<std::string>& words) {
  Asked asked;
  for (const std::string& word : words) {
    const size_t equals = word.rfind('=');
    const size_t colon = word.find(':');
    if (equals != std::string::npos) {
      uint32_t count = 0;
      if (!absl::SimpleAtoi(word.substr(equals + 1), &count) || count < 1 || count > kMostRegisters || equals == 0) {
        return absl::InvalidArgumentError(
            absl::StrCat("--registers ", word, ": is not KERNEL=N with N from 1 to ", kMostRegisters));
      }
      asked.kernels[word.substr(0, equals)] = count;
    } else if (word == kAssembler || word.substr(0, colon) == kAssembler) {
      asked.assembler = true;
      if (colon != std::string::npos) asked.architecture = word.substr(colon + 1);
    } else {
      return absl::InvalidArgumentError(
          absl::StrCat("--registers ", word, ": is none of assembler, assembler:ARCHITECTURE and KERNEL=N"));
    }
  }
  return asked;
}

absl::StatusOr<std::string> ArchitectureFor(const Asked& asked, const machine::v1::Machine& machine) {
  if (!asked.architecture.empty()) {
    if (IsKnown(asked.architecture)) return asked.architecture;
    return absl::InvalidArgumentError(
        absl::StrCat("--registers assembler:", asked.architecture, ": counts are known of ", kKnown));
  }
  const std::string_view architecture = ArchitectureOf(machine.name());
  if (!architecture.empty()) return std::string(architecture);
  return absl::InvalidArgumentError(absl::StrCat("--registers assembler: machine ", machine.name(),
                                                 " names no architecture; name it: --registers assembler:sm_80 (",
                                                 kKnown, ")"));
}

// The table's row of a kernel; null if it has none. A kernel is known by its name and by the file that it is from.
const KernelRegisters* Find(const trace::TraceReader& reader, const trace::Program& program) {
  for (const KernelRegisters& kernel : Table().kernel()) {
    const auto& files = reader.header().source_file();
    if (kernel.name() != program.name()) continue;
    if (std::ranges::find(files, kernel.source()) != files.end()) return &kernel;
  }
  return nullptr;
}

// What was said of a kernel by its full name, or by the name without parameters.
std::optional<uint32_t> Named(const Asked& asked, const trace::Program& program) {
  for (const std::string& name : {program.name(), std::string(trace::ShortKernelName(program.name()))}) {
    if (const auto found = asked.kernels.find(name); found != asked.kernels.end()) return found->second;
  }
  return std::nullopt;
}

}  // namespace

absl::Status CheckRegisterNames(const std::vector<std::string>& words, const std::set<std::string>& kernels) {
  HEDDLE_ASSIGN_OR_RETURN(const Asked asked, Parse(words));
  for (const auto& [name, count] : asked.kernels) {
    const bool found = std::ranges::any_of(kernels, [&name = name](const std::string& kernel) {
      return kernel == name || trace::ShortKernelName(kernel) == name;
    });
    if (!found) {
      return absl::InvalidArgumentError(absl::StrCat("--registers ", name, "=", count, ": no trace has a kernel '",
                                                     name, "'; 'heddle trace info' lists them"));
    }
  }
  return absl::OkStatus();
}

std::string_view ArchitectureOf(std::string_view machine) {
  constexpr std::pair<std::string_view, std::string_view> kFamilies[] = {
      {"hopper_", "sm_90"}, {"ampere_", "sm_80"}, {"turing_", "sm_75"}, {"volta_", "sm_75"}};
  for (const auto& [family, architecture] : kFamilies) {
    if (machine.substr(0, family.size()) == family) return architecture;
  }
  return "";
}

absl::Status ApplyRegisters(const std::vector<std::string>& words, std::span<const trace::TraceReader* const> traces,
                            replay::ReplayOptions& options) {
  if (words.empty()) return absl::OkStatus();
  HEDDLE_ASSIGN_OR_RETURN(const Asked asked, Parse(words));
  std::string architecture;
  if (asked.assembler) {
    HEDDLE_ASSIGN_OR_RETURN(architecture, ArchitectureFor(asked, options.machine));
    options.overrides.push_back(absl::StrCat("registers=assembler:", architecture));
  }
  for (const auto& [name, count] : asked.kernels) {
    options.overrides.push_back(absl::StrCat("registers=", name, "=", count));
  }
  const std::string source =
      absl::StrCat("the assembler (", Table().assembler(), ", ", Table().date(), ") for ", architecture);
  HEDDLE_ASSIGN_OR_RETURN(const auto pattern, trace::KernelPattern::Parse(options.kernels));
  for (const trace::TraceReader* reader : traces) {
    for (const trace::LaunchView& launch : reader->launches()) {
      const trace::Program& program = *launch.program;
      if (!launch.launch.recorded() || !pattern.Matches(program.name()) || options.registers.contains(&program))
        continue;
      if (const auto count = Named(asked, program); count.has_value()) {
        options.registers[&program] = {*count, "the command line"};
        continue;
      }
      if (!asked.assembler) continue;
      if (program.proto().level() == trace::v1::LEVEL_MACHINE) {
        options.registers[&program] = {
            program.proto().register_count(),
            absl::StrCat("the trace's assembler (", program.proto().producer(), ") for ", program.proto().target())};
        continue;
      }
      const KernelRegisters* row = Find(*reader, program);
      if (row == nullptr || !row->assembled().contains(architecture)) {
        const std::string name(trace::ShortKernelName(program.name()));
        return absl::NotFoundError(absl::StrCat(reader->name(), ": the assembler's registers of kernel ", name, " for ",
                                                architecture, " are not known; give them: --registers ", name, "=N"));
      }
      options.registers[&program] = {row->assembled().at(architecture), source};
    }
  }
  return absl::OkStatus();
}

}  // namespace heddle::tools
