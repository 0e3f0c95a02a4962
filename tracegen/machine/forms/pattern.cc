#include "tracegen/machine/forms/pattern.h"

#include <cassert>

#include "absl/strings/str_split.h"
#include "absl/strings/string_view.h"

namespace heddle::tracegen::machine {
namespace {

std::string_view View(absl::string_view text) { return {text.data(), text.size()}; }
absl::string_view View(std::string_view text) { return {text.data(), text.size()}; }

struct Set {
  std::string_view name;
  std::string_view choices;
};
constexpr Set kSets[] = {
    {"compare", "F|LT|EQ|LE|GT|NE|GE|T"},
    {"fcompare", "F|LT|EQ|LE|GT|NE|GE|NUM|NAN|LTU|EQU|LEU|GTU|NEU|GEU|T|MAX|MIN"},
    {"logic", "AND|OR|XOR"},
    {"round", "RN|RM|RP|RZ"},
    {"toint", "TRUNC|FLOOR|CEIL"},
    {"width", "U8|S8|U16|S16|64|128"},
    {"cache", "EF|EL|LU|EU|NA"},
    {"scope", "CTA|SM|GPU|SYS|VC"},
    {"prefetch", "LTC64B|LTC128B|LTC256B"},
    {"atomic", "ADD|MIN|MAX|INC|DEC|AND|OR|XOR|EXCH|CAS"},
    {"byte", "U8|S8"},
    {"nibble", "U4|S4"},
    {"number", "U32|S32|64|U64|S64|F16x2|BF16x2|F32|F64"},
};

struct ModifierPlace {
  std::vector<std::string_view> choices;
  bool optional = false;
};

struct Parsed {
  std::vector<ModifierPlace> modifiers;
  std::vector<OperandPlace> operands;
};

void AddChoices(std::string_view text, std::vector<std::string_view>* choices) {
  for (const absl::string_view choice : absl::StrSplit(View(text), '|')) {
    if (choice.substr(0, 1) != "$") {
      choices->push_back(View(choice));
      continue;
    }
    [[maybe_unused]] bool found = false;
    for (const Set& set : kSets) {
      if (View(set.name) != choice.substr(1)) continue;
      AddChoices(set.choices, choices);
      found = true;
    }
    assert(found);
  }
}

Parsed Parse(const Form& form) {
  Parsed parsed;
  for (absl::string_view word : absl::StrSplit(View(form.modifiers), ' ', absl::SkipEmpty())) {
    ModifierPlace place;
    if (word.back() == '?') {
      place.optional = true;
      word.remove_suffix(1);
    }
    AddChoices(View(word), &place.choices);
    parsed.modifiers.push_back(std::move(place));
  }
  for (absl::string_view word : absl::StrSplit(View(form.operands), ' ', absl::SkipEmpty())) {
    OperandPlace place;
    place.kind = word[0];
    word.remove_prefix(1);
    if (!word.empty() && word[0] == ':') {
      word.remove_prefix(1);
      place.by_modifiers = word[0] == 'm';
      if (place.by_modifiers) word.remove_prefix(1);
      if (!place.by_modifiers) place.count = 0;
      while (!word.empty() && word[0] >= '0' && word[0] <= '9') {
        place.count = static_cast<uint8_t>(10 * place.count + (word[0] - '0'));
        word.remove_prefix(1);
      }
    }
    place.optional = word == "?";
    assert(word.empty() || place.optional);
    parsed.operands.push_back(place);
  }
  return parsed;
}

const Parsed& ParsedOf(const Form& form) {
  static const std::vector<Parsed>& all = *[] {
    auto* parsed = new std::vector<Parsed>();
    for (const Form& row : AllForms()) parsed->push_back(Parse(row));
    return parsed;
  }();
  return all[static_cast<size_t>(&form - AllForms().data())];
}

}  // namespace

std::span<const OperandPlace> OperandPlaces(const Form& form) { return ParsedOf(form).operands; }

bool MatchesModifiers(const Form& form, std::span<const std::string> modifiers) {
  size_t next = 0;
  for (const ModifierPlace& place : ParsedOf(form).modifiers) {
    bool taken = false;
    if (next < modifiers.size()) {
      for (const std::string_view choice : place.choices) taken |= choice == modifiers[next];
    }
    if (taken) {
      ++next;
    } else if (!place.optional) {
      return false;
    }
  }
  return next == modifiers.size();
}

uint8_t RegistersOf(std::span<const std::string> modifiers) {
  for (const std::string& modifier : modifiers) {
    if (modifier == "128") return 4;
    if (modifier == "64" || modifier == "U64" || modifier == "S64" || modifier == "F64") return 2;
  }
  return 1;
}

}  // namespace heddle::tracegen::machine
