#include "tools/exchange/accelsim/machine_operands.h"

#include <algorithm>
#include <charconv>
#include <optional>
#include <span>
#include <string>

#include "absl/strings/str_split.h"

namespace heddle::tools::accelsim {
namespace {

using trace::v1::Function;
using trace::v1::Instruction;

// Registers that the operands of an opcode take, in their order; `m` as many as its modifiers say, `a` an address: two,
// or one beside a uniform register. Opcodes that are not here have operands of one register each.
struct Widths {
  std::string_view opcode;
  std::string_view modifier;  // that it has; empty = with any
  std::string_view sources;
};
constexpr Widths kWidths[] = {
    {"DADD", "", "22"},    {"DMUL", "", "22"},   {"DFMA", "", "222"},  {"DSETP", "", "22"}, {"IMAD", "WIDE", "112"},
    {"IMAD", "HI", "112"}, {"F2I", "F64", "2"},  {"FRND", "F64", "2"}, {"I2F", "S64", "2"}, {"I2F", "U64", "2"},
    {"MATCH", "U64", "2"}, {"BRX", "", "2"},     {"CALL", "", "2"},    {"RET", "", "2"},    {"LD", "", "a"},
    {"LDG", "", "a"},      {"ST", "", "am"},     {"STG", "", "am"},    {"STL", "", "1m"},   {"STS", "", "1m"},
    {"ATOM", "", "amm"},   {"ATOMG", "", "amm"}, {"ATOMS", "", "1mm"}, {"RED", "", "am"},   {"LDGSTS", "", "1a"},
    {"QSPC", "", "a"},     {"CCTL", "", "a"},
};
// Opcodes whose first operand is a register that is read, if they have one at all.
constexpr std::string_view kReadFirst[] = {"RET", "BRX", "CALL", "BRA", "BAR", "WARPSYNC", "NANOSLEEP"};
// Opcodes that read from a constant bank: the register in a place of one is no operand of its own.
constexpr std::string_view kConstant[] = {"LDC", "ULDC"};
// Opcodes whose first operand is always a predicate.
constexpr std::string_view kPredicateFirst[] = {"SHFL", "ATOM", "ATOMG"};

template <size_t n>
bool IsOneOf(const std::string& opcode, const std::string_view (&opcodes)[n]) {
  return std::ranges::find(opcodes, opcode) != std::end(opcodes);
}

bool Has(std::span<const std::string> modifiers, std::string_view modifier) {
  return std::ranges::find(modifiers, modifier) != modifiers.end();
}

// Registers of an element: 4 with "128", 2 with "64", "U64", "S64" or "F64".
uint32_t ElementRegisters(std::span<const std::string> modifiers) {
  if (Has(modifiers, "128")) return 4;
  const bool is_wide = Has(modifiers, "64") || Has(modifiers, "U64") || Has(modifiers, "S64") || Has(modifiers, "F64");
  return is_wide ? 2 : 1;
}

// Puts registers into the places of operands. A place may be empty: there was a constant, a number, R255, or a register
// that an operand in front has named.
class Places {
 public:
  Places(std::span<const uint32_t> registers, std::span<const uint32_t> widths)
      : registers_(registers), widths_(widths) {}

  // The first register of each operand; nothing if the places do not hold them.
  std::optional<std::vector<uint32_t>> Find() {
    if (!Fill(0, 0)) return std::nullopt;
    std::ranges::reverse(found_);
    return found_;
  }

 private:
  bool Fill(size_t at, size_t place) {
    if (at == registers_.size()) return true;
    if (place == widths_.size()) return false;
    if (Fits(at, widths_[place]) && Fill(at + widths_[place], place + 1)) {
      found_.push_back(registers_[at]);
      return true;
    }
    return Fill(at, place + 1);
  }

  bool Fits(size_t at, uint32_t width) const {
    if (at + width > registers_.size() || registers_[at] % width != 0) return false;
    for (uint32_t i = 1; i < width; ++i) {
      if (registers_[at + i] != registers_[at] + i) return false;
    }
    return true;
  }

  std::span<const uint32_t> registers_;
  std::span<const uint32_t> widths_;
  std::vector<uint32_t> found_;
};

std::optional<std::vector<uint32_t>> TryWidths(std::string_view pattern, uint32_t address, uint32_t element,
                                               std::span<const uint32_t> registers) {
  std::vector<uint32_t> widths;
  for (const char width : pattern) {
    widths.push_back(width == 'a' ? address : width == 'm' ? element : static_cast<uint32_t>(width - '0'));
  }
  return Places(registers, widths).Find();
}

std::vector<uint32_t> Sources(const Instruction& instruction, std::span<const std::string> words,
                              std::span<const uint32_t> registers) {
  const std::span<const std::string> modifiers = words.subspan(1);
  if (instruction.has_matrix() && instruction.matrix().a_registers() != 0) {
    const uint32_t widths[] = {instruction.matrix().a_registers(), instruction.matrix().b_registers(),
                               instruction.matrix().c_registers()};
    if (const auto found = Places(registers, widths).Find()) return *found;
  }
  // What a conversion reads, its second type says: "F2F.F32.F64".
  if (words[0] == "F2F") {
    const auto wide = std::ranges::find(modifiers, "F64");
    if (wide != modifiers.end() && wide != modifiers.begin()) {
      if (const auto found = TryWidths("2", 2, 1, registers)) return *found;
    }
  }
  for (const Widths& row : kWidths) {
    if (row.opcode != words[0] || (!row.modifier.empty() && !Has(modifiers, row.modifier))) continue;
    const uint32_t element = ElementRegisters(modifiers);
    for (const uint32_t address : {2u, 1u}) {
      if (const auto found = TryWidths(row.sources, address, element, registers)) return *found;
    }
  }
  return {registers.begin(), registers.end()};
}

// What the text of an instruction reads: a guarded one reads its results' registers besides, behind all others.
std::vector<uint32_t> ReadByText(const Instruction& instruction) {
  std::vector<uint32_t> read(instruction.src().begin(), instruction.src().end());
  const bool is_guarded = (instruction.flags() & trace::v1::FLAG_GUARDED) != 0;
  const auto results = static_cast<size_t>(instruction.dst_size());
  if (is_guarded && read.size() >= results &&
      std::equal(instruction.dst().begin(), instruction.dst().end(), read.end() - instruction.dst_size())) {
    read.resize(read.size() - results);
  }
  return read;
}

}  // namespace

TracedOperands OperandsOf(const Function& function, const Instruction& instruction) {
  const std::vector<std::string> words = absl::StrSplit(instruction.mnemonic(), '.');
  const auto file_of = [&](uint32_t number) {
    return static_cast<trace::v1::RegisterFile>(static_cast<uint8_t>(function.register_file()[number - 1]));
  };
  const auto general = [&](const auto& numbers) {
    std::vector<uint32_t> found;
    for (const uint32_t number : numbers) {
      if (file_of(number) == trace::v1::FILE_GENERAL) {
        found.push_back(static_cast<uint8_t>(function.register_number()[number - 1]));
      }
    }
    return found;
  };
  const std::vector<uint32_t> written = general(instruction.dst());
  TracedOperands operands;
  if (!IsOneOf(words[0], kConstant)) operands.src = Sources(instruction, words, general(ReadByText(instruction)));
  if (IsOneOf(words[0], kReadFirst) && !operands.src.empty()) {
    operands.dst = {operands.src.front()};
    operands.src.erase(operands.src.begin());
  }
  if (written.empty()) return operands;
  const bool is_behind_predicate =
      IsOneOf(words[0], kPredicateFirst) || file_of(instruction.dst(0)) != trace::v1::FILE_GENERAL;
  if (is_behind_predicate) {
    operands.src.insert(operands.src.begin(), written.front());
  } else {
    operands.dst.push_back(written.front());
  }
  return operands;
}

uint32_t TracedWidth(std::string_view opcode) {
  for (absl::string_view word :
       absl::StrSplit(absl::string_view(opcode.data(), opcode.size()), '.', absl::SkipEmpty())) {
    if (word.front() == 'U') word.remove_prefix(1);
    uint32_t bits = 0;
    const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), bits);
    if (error == std::errc() && end == word.data() + word.size()) return bits / 8;
  }
  return 4;
}

}  // namespace heddle::tools::accelsim
