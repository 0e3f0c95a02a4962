// The text form of a disassembly: sections, labels, and instructions behind their offsets.
#include <algorithm>
#include <charconv>
#include <optional>
#include <utility>

#include "absl/container/flat_hash_map.h"
#include "absl/status/status.h"
#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_split.h"
#include "tracegen/machine/text/disassembly.h"
#include "traces/base/printable.h"
#include "traces/base/status_macros.h"

namespace heddle::tracegen::machine {
namespace {

std::string_view Stripped(absl::string_view text) {
  const absl::string_view stripped = absl::StripAsciiWhitespace(text);
  return {stripped.data(), stripped.size()};
}

// What follows a directive such as ".section"; nothing if the line is something else, such as ".sectioninfo".
std::optional<std::string_view> AfterDirective(std::string_view line, std::string_view directive) {
  if (!line.starts_with(directive)) return {};
  line.remove_prefix(directive.size());
  if (line.empty() || !absl::ascii_isspace(line[0])) return {};
  return Stripped(absl::string_view(line.data(), line.size()));
}

// "RET.REL.NODEC R12 `(walk)", "BRX R10 -0x1900": the listing has a blank where the JSON has a comma.
std::string WithComma(std::string_view instruction) {
  std::string text(instruction);
  const size_t end = text.rfind(' ');
  if (end == std::string::npos || text.find(',') != std::string::npos) return text;
  const std::string_view before = Stripped(absl::string_view(text.data(), end));
  const std::optional<Register> reg = ParseRegister(before.substr(before.rfind(' ') + 1));
  if (reg && reg->file == RegisterFile::kGeneral) text[end] = ',';
  return text;
}

class ListingReader {
 public:
  absl::Status Line(std::string_view line) {
    ++line_;
    line = Stripped(absl::string_view(line.data(), line.size()));
    if (line.starts_with("//") || line.empty()) return absl::OkStatus();
    if (const auto name = AfterDirective(line, ".target")) return Target(*name);
    if (const auto name = AfterDirective(line, ".section")) return Section(*name);
    if (line.starts_with("/*")) return Instruction(line);
    if (line.ends_with(':') && in_code_) labels_[std::string(line.substr(0, line.size() - 1))] = Offset();
    return absl::OkStatus();
  }

  absl::StatusOr<Disassembly> Finish() {
    HEDDLE_RETURN_IF_ERROR(EndSection());
    if (!has_target_) return Error("there is no .target line");
    return std::move(disassembly_);
  }

 private:
  absl::Status Error(const std::string& what) const {
    return absl::InvalidArgumentError(absl::StrCat("listing of the disassembler, line ", line_, ": ", what));
  }

  uint64_t Offset() const {
    return in_code_ ? disassembly_.sections.back().instructions.size() * uint64_t{kInstructionBytes} : 0;
  }

  absl::Status Target(std::string_view name) {
    HEDDLE_ASSIGN_OR_RETURN(disassembly_.architecture, ArchitectureOf(name));
    has_target_ = true;
    return absl::OkStatus();
  }

  absl::Status Section(std::string_view name) {
    HEDDLE_RETURN_IF_ERROR(EndSection());
    name = name.substr(0, name.find(','));
    in_code_ = name.starts_with(".text.");
    if (in_code_) disassembly_.sections.push_back({.function = std::string(name.substr(6)), .instructions = {}});
    return absl::OkStatus();
  }

  // "/*0010*/ @P0 BRA `(.L_x_0) ; /* 0x... */", or a line that has nothing but the upper half of a code.
  absl::Status Instruction(std::string_view line) {
    if (!in_code_) return absl::OkStatus();
    size_t end = line.find("*/", 2);
    if (end == std::string_view::npos) return Error("a comment does not end");
    const std::string_view offset = Stripped(absl::string_view(line.data() + 2, end - 2));
    if (offset.starts_with("0x")) return absl::OkStatus();
    uint64_t at = 0;
    const auto [last, error] = std::from_chars(offset.data(), offset.data() + offset.size(), at, 16);
    if (error != std::errc() || last != offset.data() + offset.size() || at != Offset()) {
      return Error(
          absl::StrFormat("an instruction stands at '%s' instead of 0x%x", CutText(Printable(offset), 40), Offset()));
    }
    line.remove_prefix(end + 2);
    end = line.find(';');
    if (end == std::string_view::npos) return Error("an instruction has no semicolon");
    // "BRX R10 -0x1900 (*"..."*)": the list of targets is of no use, for the cubin has it.
    line = line.substr(0, end);
    const std::string text =
        WithComma(Stripped(absl::string_view(line.data(), std::min(line.size(), line.find("(*")))));
    absl::StatusOr<machine::Instruction> instruction = ParseInstruction(text);
    if (!instruction.ok()) {
      return absl::Status(instruction.status().code(),
                          absl::StrFormat("%s+0x%x: %s", CutText(Printable(disassembly_.sections.back().function), 80),
                                          at, instruction.status().message()));
    }
    disassembly_.sections.back().instructions.push_back(*std::move(instruction));
    return absl::OkStatus();
  }

  // Labels of the disassembler become offsets, as its JSON has them. Other names stay.
  absl::Status EndSection() {
    if (in_code_) {
      for (machine::Instruction& instruction : disassembly_.sections.back().instructions) {
        for (Operand& operand : instruction.operands) {
          if (operand.kind != Operand::Kind::kSymbol || !operand.text.starts_with(".L_")) continue;
          const auto found = labels_.find(operand.text);
          if (found == labels_.end()) {
            return Error(absl::StrCat("label ", CutText(Printable(operand.text), 80), " is nowhere"));
          }
          operand.kind = Operand::Kind::kImmediate;
          operand.value = static_cast<int64_t>(found->second);
          operand.number = static_cast<double>(found->second);
          operand.text = absl::StrFormat("0x%x", found->second);
        }
      }
    }
    labels_.clear();
    in_code_ = false;
    return absl::OkStatus();
  }

  Disassembly disassembly_;
  absl::flat_hash_map<std::string, uint64_t> labels_;
  uint64_t line_ = 0;
  bool has_target_ = false;
  bool in_code_ = false;
};

}  // namespace

absl::StatusOr<Disassembly> ReadListing(std::string_view listing) {
  ListingReader reader;
  for (const absl::string_view line : absl::StrSplit(absl::string_view(listing.data(), listing.size()), '\n')) {
    HEDDLE_RETURN_IF_ERROR(reader.Line(std::string_view(line.data(), line.size())));
  }
  return reader.Finish();
}

}  // namespace heddle::tracegen::machine
