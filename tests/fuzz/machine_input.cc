#include "tests/fuzz/machine_input.h"

#include <cstdio>
#include <cstdlib>

#include "absl/strings/match.h"
#include "absl/strings/str_split.h"
#include "tracegen/machine/text/disassembly.h"
#include "traces/base/printable.h"

namespace heddle::tracegen::machine {
namespace {

void Require(bool holds, const char* rule, const std::string& text) {
  if (holds) return;
  std::fprintf(stderr, "%s:\n%s\n", rule, PrintableText(text).c_str());
  std::abort();
}

bool IsShown(const absl::Status& status) {
  if (status.ok()) return true;
  const std::string message(status.message());
  Require(IsPrintable(message) && message.size() < 1000, "a message that must not be shown", message);
  return false;
}

// Numbers that are none (NaN) are not equal to themselves, so texts are compared.
void CheckPrinted(const Instruction& instruction) {
  const std::string printed = InstructionText(instruction);
  const absl::StatusOr<Instruction> again = ParseInstruction(printed);
  Require(again.ok(), "what is printed cannot be read", printed);
  Require(again->form == instruction.form && again->places == instruction.places && InstructionText(*again) == printed,
          "what is printed reads to another instruction", printed);
}

bool Check(const absl::StatusOr<Disassembly>& read) {
  if (!IsShown(read.status())) return false;
  for (const CodeText& section : read->sections) {
    for (const Instruction& instruction : section.instructions) CheckPrinted(instruction);
  }
  return true;
}

}  // namespace

bool ReadHostileMachineText(const std::string& input) {
  if (absl::StartsWith(input, "[")) return Check(ReadDisassembly(input));
  if (absl::StrContains(input, ".target")) return Check(ReadListing(input));
  bool right = true;
  for (const absl::string_view line : absl::StrSplit(input, '\n', absl::SkipWhitespace())) {
    const absl::StatusOr<Instruction> instruction = ParseInstruction(std::string_view(line.data(), line.size()));
    if (IsShown(instruction.status())) {
      CheckPrinted(*instruction);
    } else {
      right = false;
    }
  }
  return right;
}

}  // namespace heddle::tracegen::machine
