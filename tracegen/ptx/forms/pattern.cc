#include "tracegen/ptx/forms/pattern.h"

#include <algorithm>
#include <cassert>
#include <string>

#include "absl/container/flat_hash_map.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "tracegen/ptx/forms/form.h"
#include "tracegen/ptx/forms/type.h"

namespace heddle::tracegen::ptx {
namespace {

// m64n8k16 and its like: every size that wgmma has.
const std::string& GroupShapes() {
  static const std::string& shapes = *[] {
    auto* all = new std::string();
    for (int k : {8, 16, 32, 64, 256}) {
      for (int n = 8; n <= 256; n += 8) absl::StrAppend(all, all->empty() ? "" : "|", "m64n", n, "k", k);
    }
    return all;
  }();
  return shapes;
}

// Choices that many rows share.
const absl::flat_hash_map<absl::string_view, absl::string_view>& Sets() {
  static const auto& sets = *new absl::flat_hash_map<absl::string_view, absl::string_view>{
      {"rnd", "rn|rz|rm|rp"},
      {"intrnd", "rni|rzi|rmi|rpi"},
      {"bool", "and|or|xor"},
      {"cmpsigned", "eq|ne|lt|le|gt|ge"},
      {"cmpunsigned", "eq|ne|lt|le|gt|ge|lo|ls|hi|hs"},
      {"cmpfloat", "eq|ne|lt|le|gt|ge|equ|neu|ltu|leu|gtu|geu|num|nan"},
      {"i16", "u16|s16"},
      {"i32", "u32|s32"},
      {"i64", "u64|s64"},
      {"int", "u16|u32|u64|s16|s32|s64"},
      {"bits", "b8|b16|b32|b64|b128"},
      {"data", "b8|b16|b32|b64|u8|u16|u32|u64|s8|s16|s32|s64|f32|f64|b128"},
      {"vec", "v2|v4|v8"},
      {"scope", "cta|cluster|gpu|sys"},
      {"space", "const|global|local|param|param::entry|param::func|shared|shared::cta|shared::cluster"},
      {"shared_or_global", "global|shared|shared::cta|shared::cluster"},
      {"store_space", "global|local|param|param::func|shared|shared::cta|shared::cluster"},
      {"shared", "shared|shared::cta|shared::cluster"},
      {"l1", "L1::evict_normal|L1::evict_unchanged|L1::evict_first|L1::evict_last|L1::no_allocate"},
      {"l2", "L2::evict_normal|L2::evict_first|L2::evict_last"},
      {"hint", "L2::cache_hint"},
      {"prefetch", "L2::64B|L2::128B|L2::256B"},
      {"sem", "relaxed|acquire|release|acq_rel|sc"},
      {"geom", "1d|2d|3d|a1d|a2d|cube|acube|2dms|a2dms"},
      {"dim", "1d|2d|3d|4d|5d"},
      {"multicast", "multicast::cluster"},
      {"bytes", "mbarrier::complete_tx::bytes"},
      {"cg", "cta_group::1|cta_group::2"},
      {"fp8", "e4m3|e5m2|e3m2|e2m3|e2m1"},
      {"wmmashape", "m16n16k16|m8n32k16|m32n8k16|m16n16k8|m8n8k4|m8n8k32|m8n8k128"},
      {"mmashape", "m8n8k4|m8n8k16|m8n8k32|m8n8k128|m16n8k4|m16n8k8|m16n8k16|m16n8k32|m16n8k64|m16n8k128|m16n8k256"},
      {"wgmmashape", GroupShapes()},
  };
  return sets;
}

struct ModifierPlace {
  std::vector<uint16_t> choices;  // ascending
  bool optional = false;
  bool repeat = false;
};

class Patterns {
 public:
  Patterns() {
    for (const Form& form : AllForms()) {
      modifiers_.push_back(Modifiers(form.modifiers));
      operands_.push_back(Operands(form.operands));
    }
  }

  std::span<const OperandPlace> operands(size_t row) const { return operands_[row]; }
  std::span<const ModifierPlace> modifiers(size_t row) const { return modifiers_[row]; }

  // Number of a modifier; -1 if no row has it.
  int Number(absl::string_view word) const {
    const auto found = numbers_.find(word);
    return found == numbers_.end() ? -1 : found->second;
  }
  std::string_view Word(int number) const { return {words_[number].data(), words_[number].size()}; }

 private:
  std::vector<ModifierPlace> Modifiers(std::string_view pattern) {
    std::vector<ModifierPlace> places;
    for (absl::string_view word :
         absl::StrSplit(absl::string_view(pattern.data(), pattern.size()), ' ', absl::SkipEmpty())) {
      ModifierPlace place;
      place.optional = absl::ConsumeSuffix(&word, "?");
      place.repeat = absl::ConsumeSuffix(&word, "*");
      for (absl::string_view choice : absl::StrSplit(word, '|')) AddChoice(choice, &place);
      std::sort(place.choices.begin(), place.choices.end());
      places.push_back(std::move(place));
    }
    assert(places.size() < 63);
    return places;
  }

  void AddChoice(absl::string_view choice, ModifierPlace* place) {
    if (absl::ConsumePrefix(&choice, "$")) {
      for (absl::string_view word : absl::StrSplit(Sets().at(choice), '|')) AddChoice(word, place);
      return;
    }
    const auto [found, is_new] = numbers_.emplace(choice, static_cast<uint16_t>(words_.size()));
    if (is_new) words_.push_back(choice);
    place->choices.push_back(found->second);
  }

  static std::vector<OperandPlace> Operands(std::string_view pattern) {
    std::vector<OperandPlace> places;
    for (absl::string_view word :
         absl::StrSplit(absl::string_view(pattern.data(), pattern.size()), ' ', absl::SkipEmpty())) {
      OperandPlace place;
      place.optional = absl::ConsumeSuffix(&word, "?");
      place.repeat = absl::ConsumeSuffix(&word, "*");
      place.wider = absl::ConsumeSuffix(&word, ">");
      assert(!word.empty());
      place.kind = word[0];
      word.remove_prefix(1);
      if (absl::ConsumePrefix(&word, ":")) {
        uint32_t bits = 0;
        if (word == "0") {
          place.width = OperandPlace::Width::kFirst;
        } else if (word == "1") {
          place.width = OperandPlace::Width::kSecond;
        } else if (word == "x2") {
          place.width = OperandPlace::Width::kTwice;
        } else if (word == "-") {
          place.width = OperandPlace::Width::kAny;
        } else {
          const bool is_number = absl::SimpleAtoi(word, &bits);
          assert(is_number);
          (void)is_number;
          place.width = OperandPlace::Width::kBits;
          place.bits = static_cast<uint16_t>(bits);
        }
      } else {
        assert(word.empty());
      }
      places.push_back(place);
    }
    return places;
  }

  std::vector<std::vector<ModifierPlace>> modifiers_;
  std::vector<std::vector<OperandPlace>> operands_;
  std::vector<absl::string_view> words_;  // parts of literals and of GroupShapes
  absl::flat_hash_map<absl::string_view, uint16_t> numbers_;
};

const Patterns& All() {
  static const Patterns& patterns = *new Patterns();
  return patterns;
}

bool Has(const ModifierPlace& place, std::string_view modifier) {
  const int number = All().Number(absl::string_view(modifier.data(), modifier.size()));
  return number >= 0 && std::binary_search(place.choices.begin(), place.choices.end(), static_cast<uint16_t>(number));
}

// Every place takes the first modifier that it has among those that are left; of types only the first one that is left.
bool MatchesInAnyOrder(std::span<const ModifierPlace> places, std::span<const std::string_view> modifiers) {
  std::vector<std::string_view> left(modifiers.begin(), modifiers.end());
  for (const ModifierPlace& place : places) {
    bool taken = false;
    do {
      bool type_before = false;
      taken = false;
      for (size_t i = 0; i < left.size() && !taken; ++i) {
        const bool is_type = FindType(left[i]).has_value();
        taken = !(is_type && type_before) && Has(place, left[i]);
        if (taken) left.erase(left.begin() + static_cast<ptrdiff_t>(i));
        type_before = type_before || is_type;
      }
      if (!taken && !place.optional && !place.repeat) return false;
    } while (taken && place.repeat);
  }
  return left.empty();
}

size_t Row(const Form& form) { return static_cast<size_t>(&form - AllForms().data()); }

}  // namespace

std::span<const OperandPlace> OperandPlaces(const Form& form) { return All().operands(Row(form)); }

std::string_view KnownModifier(std::string_view modifier) {
  const int number = All().Number(absl::string_view(modifier.data(), modifier.size()));
  return number < 0 ? std::string_view() : All().Word(number);
}

bool MatchesModifiers(const Form& form, std::span<const std::string_view> modifiers, bool any_order) {
  const std::span<const ModifierPlace> places = All().modifiers(Row(form));
  if (any_order) return MatchesInAnyOrder(places, modifiers);
  // Bit i: the places before i have taken the modifiers so far. Closed over places that may stay empty.
  const auto close = [&](uint64_t at) {
    for (size_t i = 0; i < places.size(); ++i) {
      if ((at >> i & 1) != 0 && (places[i].optional || places[i].repeat)) at |= uint64_t{1} << (i + 1);
    }
    return at;
  };
  uint64_t at = close(1);
  for (const std::string_view modifier : modifiers) {
    uint64_t next = 0;
    for (size_t i = 0; i < places.size(); ++i) {
      if ((at >> i & 1) == 0 || !Has(places[i], modifier)) continue;
      next |= uint64_t{1} << (places[i].repeat ? i : i + 1);
    }
    at = close(next);
    if (at == 0) return false;
  }
  return (at >> places.size() & 1) != 0;
}

}  // namespace heddle::tracegen::ptx
