#include "tracegen/machine/text/disassembly.h"

#include <nlohmann/json.hpp>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "traces/base/printable.h"
#include "traces/base/status_macros.h"

namespace heddle::tracegen::machine {
namespace {

using Json = nlohmann::json;

absl::Status Damaged(const std::string& what) {
  return absl::InvalidArgumentError(absl::StrCat("the disassembler's output is not what we can read: ", what,
                                                 "; take nvdisasm of CUDA 12.4 or later, or report its version"));
}

// A member of an object, if it is text.
const std::string* TextOf(const Json& object, const char* name) {
  if (!object.is_object()) return nullptr;
  const auto found = object.find(name);
  return found == object.end() ? nullptr : found->get_ptr<const std::string*>();
}

absl::StatusOr<Architecture> ArchitectureIn(const Json& head) {
  const auto sm = head.find("SM");
  if (sm == head.end() || !sm->is_object()) return Damaged("it does not name an architecture");
  const auto version = sm->find("version");
  if (version == sm->end() || !version->is_object()) return Damaged("it does not name an architecture");
  const auto major = version->find("major");
  const auto minor = version->find("minor");
  if (major == version->end() || minor == version->end() || !major->is_number_unsigned() ||
      !minor->is_number_unsigned()) {
    return Damaged("its architecture is no number");
  }
  return ArchitectureOf(absl::StrCat("sm_", major->get<uint64_t>(), minor->get<uint64_t>()));
}

absl::StatusOr<CodeText> ReadSection(const Json& json) {
  CodeText section;
  const std::string* name = TextOf(json, "function-name");
  if (name == nullptr) return Damaged("a function has no name");
  section.function = *name;
  const std::string shown = CutText(Printable(*name), 80);
  const auto start = json.find("start");
  if (start != json.end() && *start != 0) return Damaged(absl::StrCat(shown, " does not begin at 0"));
  const auto instructions = json.find("sass-instructions");
  if (instructions == json.end() || !instructions->is_array()) {
    return Damaged(absl::StrCat(shown, " has no instructions"));
  }
  section.instructions.reserve(instructions->size());
  for (const Json& item : *instructions) {
    const std::string place = absl::StrFormat("%s+0x%x", shown, section.instructions.size() * kInstructionBytes);
    const std::string* opcode = TextOf(item, "opcode");
    if (opcode == nullptr) return Damaged(absl::StrCat(place, " has no opcode"));
    const std::string* guard = TextOf(item, "predicate");
    const std::string* operands = TextOf(item, "operands");
    absl::StatusOr<Instruction> instruction = ParseInstruction(guard == nullptr ? std::string_view() : *guard, *opcode,
                                                               operands == nullptr ? std::string_view() : *operands);
    if (!instruction.ok()) {
      return absl::Status(instruction.status().code(), absl::StrCat(place, ": ", instruction.status().message()));
    }
    section.instructions.push_back(*std::move(instruction));
  }
  return section;
}

}  // namespace

absl::StatusOr<Disassembly> ReadDisassembly(std::string_view json) {
  const Json tree = Json::parse(json, nullptr, /*allow_exceptions=*/false);
  if (tree.is_discarded()) return Damaged("it is no JSON");
  if (!tree.is_array() || tree.size() != 2 || !tree[0].is_object() || !tree[1].is_array()) {
    return Damaged("it is no list of a head and functions");
  }
  Disassembly disassembly;
  HEDDLE_ASSIGN_OR_RETURN(disassembly.architecture, ArchitectureIn(tree[0]));
  if (const std::string* producer = TextOf(tree[0], "Producer")) {
    disassembly.disassembler = CutText(Printable(*producer), 200);
  }
  for (const Json& section : tree[1]) {
    HEDDLE_ASSIGN_OR_RETURN(CodeText text, ReadSection(section));
    disassembly.sections.push_back(std::move(text));
  }
  return disassembly;
}

}  // namespace heddle::tracegen::machine
