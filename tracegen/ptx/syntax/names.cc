#include "tracegen/ptx/syntax/names.h"

#include <variant>

#include "absl/strings/ascii.h"
#include "absl/strings/numbers.h"
#include "tracegen/ptx/syntax/cursor.h"
#include "traces/base/status_macros.h"

namespace heddle::tracegen::ptx {
namespace {

absl::string_view Key(std::string_view name) { return {name.data(), name.size()}; }

}  // namespace

bool Scopes::Add(std::string_view name, const Meant& meant) {
  return frames_.back().names.emplace(Key(name), meant).second;
}

bool Scopes::AddRange(std::string_view prefix, uint32_t first, uint32_t count) {
  return frames_.back().ranges.emplace(Key(prefix), Range{first, count}).second;
}

std::optional<Meant> Scopes::FindIn(const Frame& frame, absl::string_view name) {
  if (const auto found = frame.names.find(name); found != frame.names.end()) return found->second;
  // "%r17" may be number 17 of "%r" or number 7 of "%r1".
  for (size_t at = name.size(); at > 1 && name.size() - at < 10 && absl::ascii_isdigit(name[at - 1]); --at) {
    const absl::string_view digits = name.substr(at - 1);
    if (digits.size() > 1 && digits[0] == '0') continue;
    const auto found = frame.ranges.find(name.substr(0, at - 1));
    uint32_t number = 0;
    if (found == frame.ranges.end() || !absl::SimpleAtoi(digits, &number) || number >= found->second.count) continue;
    return Meant{true, SymbolKind::kGlobal, found->second.first + number};
  }
  return std::nullopt;
}

std::optional<Meant> Scopes::Find(std::string_view name) const {
  for (auto frame = frames_.rbegin(); frame != frames_.rend(); ++frame) {
    if (std::optional<Meant> found = FindIn(*frame, Key(name))) return found;
  }
  return std::nullopt;
}

uint32_t Places::Root(uint32_t number) {
  while (places_[number].same_as != number) {
    places_[number].same_as = places_[places_[number].same_as].same_as;  // shorter for the next one
    number = places_[number].same_as;
  }
  return number;
}

void Places::Close() {
  const auto inner = std::move(frames_.back());
  frames_.pop_back();
  for (const auto& [name, number] : inner) {
    if (places_[number].defined) continue;
    const auto [found, is_new] = frames_.back().emplace(name, number);
    if (is_new) continue;
    places_[number].same_as = found->second;
  }
}

uint32_t Places::Mention(std::string_view name, uint32_t line) {
  const auto number = static_cast<uint32_t>(places_.size());
  const auto [found, is_new] = frames_.back().emplace(Key(name), number);
  if (is_new) places_.push_back({name, line, false, false, 0, number});
  return found->second;
}

absl::Status Places::Define(std::string_view name, uint32_t line, bool is_table, uint32_t index) {
  Place& place = places_[Mention(name, line)];
  if (place.defined) return SyntaxError(line, "a name that this scope has already", name);
  place.defined = true;
  place.is_table = is_table;
  place.index = index;
  return absl::OkStatus();
}

absl::Status Places::ResolveNumber(bool is_table, uint32_t line, uint32_t* index) {
  const Place& place = places_[Root(*index)];
  if (!place.defined) return SyntaxError(line, is_table ? "no such table" : "no such label", place.name);
  if (place.is_table != is_table) {
    return SyntaxError(line, is_table ? "a label where a table is due" : "a table where a label is due", place.name);
  }
  *index = place.index;
  return absl::OkStatus();
}

absl::Status Places::ResolveOperand(Operand& operand) {
  const bool is_table = operand.kind == Operand::Kind::kTable;
  if (!is_table && operand.kind != Operand::Kind::kLabel) return absl::OkStatus();
  return ResolveNumber(is_table, operand.line, &operand.index);
}

absl::Status Places::Resolve(Function& function) {
  while (frames_.size() > 1) Close();
  for (Statement& statement : function.body) {
    auto* instruction = std::get_if<Instruction>(&statement.what);
    if (instruction == nullptr) continue;
    for (Operand& operand : instruction->operands) HEDDLE_RETURN_IF_ERROR(ResolveOperand(operand));
  }
  for (Table& table : function.tables) {
    for (uint32_t& label : table.labels) HEDDLE_RETURN_IF_ERROR(ResolveNumber(false, table.line, &label));
  }
  return absl::OkStatus();
}

}  // namespace heddle::tracegen::ptx
