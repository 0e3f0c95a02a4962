#include "tracegen/machine/text/operand.h"

#include <charconv>
#include <cstdlib>
#include <limits>

#include "absl/status/status.h"
#include "absl/strings/ascii.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "traces/base/printable.h"
#include "traces/base/status_macros.h"

namespace heddle::tracegen::machine {
namespace {

// How many registers a file has; the last number is the constant one, except for convergence barriers.
struct FileName {
  RegisterFile file;
  std::string_view name;
  std::string_view constant;
  uint32_t count;
};
constexpr FileName kFiles[] = {
    {RegisterFile::kUniformPredicate, "UP", "UPT", 7}, {RegisterFile::kUniform, "UR", "URZ", 63},
    {RegisterFile::kGeneral, "R", "RZ", 255},          {RegisterFile::kPredicate, "P", "PT", 7},
    {RegisterFile::kConvergence, "B", "", 16},
};

bool Take(std::string_view* text, std::string_view what) {
  if (!text->starts_with(what)) return false;
  text->remove_prefix(what.size());
  return true;
}

// "0x1f" or "-0x1f": nothing else, so that it prints as it was.
std::optional<int64_t> Hexadecimal(std::string_view text) {
  const bool negative = Take(&text, "-");
  if (!Take(&text, "0x") || text.empty() || text.size() > 16 || (text.size() > 1 && text[0] == '0')) return {};
  uint64_t magnitude = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), magnitude, 16);
  if (error != std::errc() || end != text.data() + text.size()) return {};
  for (const char c : text) {
    if (c >= 'A' && c <= 'F') return {};
  }
  if (negative && (magnitude == 0 || magnitude > uint64_t{1} << 63)) return {};
  return static_cast<int64_t>(negative ? 0 - magnitude : magnitude);
}

std::string HexadecimalText(int64_t value, bool as_signed) {
  if (as_signed && value < 0) return absl::StrFormat("-0x%x", 0 - static_cast<uint64_t>(value));
  return absl::StrFormat("0x%x", static_cast<uint64_t>(value));
}

// A part of a register: letters, digits and underlines, such as H0_H0, 64, X4.
bool IsPart(std::string_view text) {
  if (text.empty() || text.size() > 16) return false;
  for (const char c : text) {
    if (!absl::ascii_isupper(c) && !absl::ascii_isdigit(c) && c != '_') return false;
  }
  return true;
}

// "-|R4|.reuse", "R5.reuse.H0_H0", "!P0". Nothing if the text is something else.
std::optional<RegisterUse> ParseUse(std::string_view text) {
  RegisterUse use;
  if (!text.empty() && (text[0] == '-' || text[0] == '~' || text[0] == '!')) {
    use.sign = text[0];
    text.remove_prefix(1);
  }
  std::string_view name = text;
  std::string_view rest;
  if (Take(&name, "|")) {
    const size_t end = name.find('|');
    if (end == std::string_view::npos) return {};
    rest = name.substr(end + 1);
    name = name.substr(0, end);
    use.absolute = true;
  } else if (const size_t point = name.find('.'); point != std::string_view::npos) {
    rest = name.substr(point);
    name = name.substr(0, point);
  }
  const std::optional<Register> reg = ParseRegister(name);
  if (!reg) return {};
  use.reg = *reg;
  if (rest.starts_with(".reuse") && (rest.size() == 6 || rest[6] == '.')) {
    use.reuse = true;
    rest.remove_prefix(6);
  }
  if (rest.empty()) return use;
  if (!Take(&rest, ".") || !IsPart(rest)) return {};
  use.part = std::string(rest);
  return use;
}

std::string UseText(const RegisterUse& use) {
  std::string text;
  if (use.sign != 0) text += use.sign;
  const char* const bar = use.absolute ? "|" : "";
  absl::StrAppend(&text, bar, RegisterText(use.reg), bar, use.reuse ? ".reuse" : "");
  if (!use.part.empty()) absl::StrAppend(&text, ".", use.part);
  return text;
}

// "R4.64+UR6+-0x10", without brackets. Nothing if it is something else, or in another order.
std::optional<Address> ParseAddress(std::string_view text) {
  Address address;
  while (true) {
    const size_t plus = text.find('+');
    const std::string_view term = text.substr(0, plus);
    if (const std::optional<int64_t> offset = Hexadecimal(term)) {
      if (address.offset) return {};
      address.offset = offset;
    } else {
      const std::optional<RegisterUse> use = ParseUse(term);
      if (!use || use->sign != 0 || use->absolute || address.offset || address.uniform) return {};
      if (use->reg.file == RegisterFile::kGeneral && !address.base) {
        address.base = use;
      } else if (use->reg.file == RegisterFile::kUniform) {
        address.uniform = use;
      } else {
        return {};
      }
    }
    if (plus == std::string_view::npos) return address;
    text.remove_prefix(plus + 1);
  }
}

std::string AddressText(const Address& address) {
  std::string text;
  if (address.base) text = UseText(*address.base);
  if (address.uniform) absl::StrAppend(&text, text.empty() ? "" : "+", UseText(*address.uniform));
  if (address.offset) absl::StrAppend(&text, text.empty() ? "" : "+", HexadecimalText(*address.offset, true));
  return text;
}

// "[...]" at the beginning of the text: what is inside. Nothing if there is none.
std::optional<std::string_view> Brackets(std::string_view* text) {
  if (!Take(text, "[")) return {};
  const size_t end = text->find(']');
  if (end == std::string_view::npos) return {};
  const std::string_view inside = text->substr(0, end);
  text->remove_prefix(end + 1);
  return inside;
}

// c[0x0][0x160], -|c[0x3][R0+0x10]|, c[0x0][0x164].SIGN, cx[UR4][0x10], [R4.64], desc[UR6][R4.64]. Nothing if the text
// is none of these.
std::optional<Operand> ParseBracketed(std::string_view text) {
  Operand operand;
  const bool is_negated = text.starts_with('!') && text.ends_with("].SIGN");
  if (!text.empty() && (text[0] == '-' || text[0] == '~' || is_negated)) {
    operand.use.sign = text[0];
    text.remove_prefix(1);
  }
  if (text.size() > 2 && text[0] == '|' && text.back() == '|') {
    operand.use.absolute = true;
    text = text.substr(1, text.size() - 2);
  }
  if (text.ends_with("].SIGN")) {
    operand.use.part = "SIGN";
    text.remove_suffix(5);
  }
  const bool has_part = !operand.use.part.empty();
  const bool changed = operand.use.sign != 0 || operand.use.absolute;
  if (Take(&text, "cx")) {
    operand.kind = Operand::Kind::kBindless;
  } else if (Take(&text, "c")) {
    operand.kind = Operand::Kind::kConstant;
  } else if (changed) {
    return {};
  } else {
    operand.kind = Operand::Kind::kAddress;
  }
  const bool has_descriptor = operand.kind == Operand::Kind::kAddress && Take(&text, "desc");
  std::optional<std::string_view> inside = Brackets(&text);
  if (!inside) return {};
  if (operand.kind == Operand::Kind::kConstant) {
    const std::optional<int64_t> bank = Hexadecimal(*inside);
    if (!bank || *bank < 0 || *bank > 31) return {};
    operand.bank = static_cast<uint32_t>(*bank);
    inside = Brackets(&text);
  } else if (operand.kind == Operand::Kind::kBindless || has_descriptor) {
    operand.descriptor = ParseUse(*inside);
    if (!operand.descriptor || operand.descriptor->reg.file != RegisterFile::kUniform) return {};
    inside = Brackets(&text);
  }
  if (!inside) return {};
  if (operand.kind == Operand::Kind::kAddress && !has_descriptor && !text.empty()) {
    const std::optional<std::string_view> second = Brackets(&text);
    if (second) operand.second = ParseAddress(*second);
    if (!operand.second) return {};
  }
  if (!text.empty()) return {};
  const std::optional<Address> address = ParseAddress(*inside);
  if (!address || (has_part && operand.kind != Operand::Kind::kConstant)) return {};
  operand.address = *address;
  return operand;
}

// "39", "-1.5", "5.96e-08", "+INF", "-QNAN".
std::optional<double> FloatNumber(std::string_view text) {
  const bool negative = text.starts_with('-');
  const std::string_view magnitude = text.starts_with('-') || text.starts_with('+') ? text.substr(1) : text;
  double value = 0;
  if (magnitude == "INF") {
    value = std::numeric_limits<double>::infinity();
  } else if (magnitude == "QNAN" || magnitude == "SNAN") {
    value = std::numeric_limits<double>::quiet_NaN();
  } else if (text.starts_with('+') || magnitude.empty() || magnitude.size() > 64 ||
             magnitude.find_first_not_of("0123456789.e+-") != std::string_view::npos ||
             !absl::ascii_isdigit(magnitude[0]) ||
             !absl::SimpleAtod(absl::string_view(magnitude.data(), magnitude.size()), &value)) {
    return {};
  }
  return negative ? -value : value;
}

// A register that the architecture does not have must not pass for a symbol: R255, P7.reuse, SB6.
bool LooksLikeRegister(std::string_view text) {
  Take(&text, "U");
  return (Take(&text, "R") || Take(&text, "P") || Take(&text, "SB") || Take(&text, "B")) && !text.empty() &&
         absl::ascii_isdigit(text[0]);
}

bool IsName(std::string_view text) {
  if (text.empty() || text.size() > 4096 || LooksLikeRegister(text)) return false;
  if (!absl::ascii_isalpha(text[0]) && text[0] != '_' && text[0] != '$' && text[0] != '.') return false;
  for (const char c : text) {
    if (!absl::ascii_isalnum(c) && c != '_' && c != '$' && c != '.') return false;
  }
  return true;
}

// Words that an opcode has as operands, where a name would stand for a symbol.
bool IsWord(std::string_view text) {
  for (const std::string_view word : {"1D", "2D", "3D", "CUBE", "ARRAY_1D", "ARRAY_2D", "ARRAY_3D", "ARRAY_CUBE",
                                      "2D_MS", "ARRAY_2D_MS", "MACTIVE", "MKILL", "MATEXIT", "MEXITED"}) {
    if (text == word) return true;
  }
  // The signs by lane of FSWZADD.
  return text.size() == 8 && text.find_first_not_of("NPZ") == std::string_view::npos;
}

bool IsScoreboards(std::string_view text) {
  if (text.size() == 3 && text.starts_with("SB") && text[2] >= '0' && text[2] <= '5') return true;
  if (text.size() < 3 || text.front() != '{' || text.back() != '}') return false;
  for (size_t i = 1; i + 1 < text.size(); ++i) {
    if (i % 2 == 1 ? text[i] < '0' || text[i] > '5' : text[i] != ',') return false;
  }
  return text.size() % 2 == 1;
}

}  // namespace

std::optional<Register> ParseRegister(std::string_view text) {
  for (const FileName& file : kFiles) {
    if (!file.constant.empty() && text == file.constant) {
      return Register{file.file, static_cast<uint8_t>(file.count), true};
    }
    if (!text.starts_with(file.name)) continue;
    const std::string_view digits = text.substr(file.name.size());
    if (digits.empty() || digits.size() > 3 || (digits.size() > 1 && digits[0] == '0')) continue;
    uint32_t number = 0;
    const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), number);
    if (error != std::errc() || end != digits.data() + digits.size() || number >= file.count) continue;
    return Register{file.file, static_cast<uint8_t>(number), false};
  }
  return {};
}

absl::StatusOr<Operand> ParseOperand(std::string_view text) {
  const absl::string_view stripped = absl::StripAsciiWhitespace(absl::string_view(text.data(), text.size()));
  text = std::string_view(stripped.data(), stripped.size());
  Operand operand;
  operand.text = std::string(text);
  if (const std::optional<RegisterUse> use = ParseUse(text)) {
    operand.kind = Operand::Kind::kRegister;
    operand.use = *use;
    operand.text.clear();
    return operand;
  }
  if (const std::optional<int64_t> value = Hexadecimal(text)) {
    operand.value = *value;
    operand.number = static_cast<double>(*value);
    return operand;
  }
  if (text.find('[') != std::string_view::npos) {
    std::optional<Operand> bracketed = ParseBracketed(text);
    if (bracketed) return *bracketed;
  }
  if (IsWord(text)) {
    operand.kind = Operand::Kind::kWord;
    return operand;
  }
  if (const std::optional<double> number = FloatNumber(text)) {
    operand.is_float = true;
    operand.number = *number;
    return operand;
  }
  if (text == "PR" || text == "UPR") {
    operand.kind = Operand::Kind::kAllPredicates;
    return operand;
  }
  if (text.starts_with("SR_") || text == "SRZ") {
    if (IsName(text)) {
      operand.kind = Operand::Kind::kSpecial;
      return operand;
    }
  }
  if (IsScoreboards(text)) {
    operand.kind = Operand::Kind::kScoreboard;
    return operand;
  }
  if (IsName(text)) {
    operand.kind = Operand::Kind::kSymbol;
    return operand;
  }
  // `(.L_x_0) of a listing. A name that stands for something else without these signs is refused: it is printed so.
  if (text.starts_with("`(") && text.ends_with(')') && IsName(text.substr(2, text.size() - 3))) {
    absl::StatusOr<Operand> symbol = ParseOperand(text.substr(2, text.size() - 3));
    if (symbol.ok() && symbol->kind == Operand::Kind::kSymbol) return symbol;
  }
  return absl::InvalidArgumentError(absl::StrCat("operand '", CutText(Printable(text), 80), "' is not known"));
}

std::string RegisterText(const Register& reg) {
  for (const FileName& file : kFiles) {
    if (file.file != reg.file) continue;
    return reg.is_constant ? std::string(file.constant) : absl::StrCat(std::string(file.name), int{reg.number});
  }
  return "";
}

std::string OperandText(const Operand& operand) {
  std::string text;
  switch (operand.kind) {
    case Operand::Kind::kRegister:
      return UseText(operand.use);
    case Operand::Kind::kAddress:
      if (operand.descriptor) text = absl::StrCat("desc[", UseText(*operand.descriptor), "]");
      absl::StrAppend(&text, "[", AddressText(operand.address), "]");
      if (operand.second) absl::StrAppend(&text, "[", AddressText(*operand.second), "]");
      return text;
    case Operand::Kind::kConstant:
    case Operand::Kind::kBindless: {
      const char* const bar = operand.use.absolute ? "|" : "";
      if (operand.use.sign != 0) text += operand.use.sign;
      absl::StrAppend(&text, bar, operand.descriptor ? "cx[" : "c[",
                      operand.descriptor ? UseText(*operand.descriptor) : HexadecimalText(operand.bank, false), "][",
                      AddressText(operand.address), "]", bar);
      if (!operand.use.part.empty()) absl::StrAppend(&text, ".", operand.use.part);
      return text;
    }
    default:
      return operand.text;
  }
}

}  // namespace heddle::tracegen::machine
