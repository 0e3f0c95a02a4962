#include "tracegen/machine/meaning/meaning.h"

#include <algorithm>
#include <vector>

#include "absl/strings/str_split.h"
#include "absl/strings/string_view.h"

namespace heddle::tracegen::machine {
namespace {

bool Understands(const OpcodeMeaning& row, std::string_view modifier) {
  const absl::string_view wanted(modifier.data(), modifier.size());
  for (const absl::string_view known :
       absl::StrSplit(absl::string_view(row.modifiers.data(), row.modifiers.size()), ' ')) {
    if (known == wanted) return true;
  }
  return false;
}

}  // namespace

std::span<const OpcodeMeaning> AllMeanings() {
  static const auto& all = *[] {
    auto* rows = new std::vector<OpcodeMeaning>();
    for (const auto& part : {IntegerMeanings(), PackedMeanings(), BitMeanings(), MoveMeanings(), FloatMeanings(),
                             HalfMeanings(), ConversionMeanings(), EffectMeanings()}) {
      rows->insert(rows->end(), part.begin(), part.end());
    }
    return rows;
  }();
  return all;
}

const OpcodeMeaning* MeaningOf(const Instruction& instruction) {
  for (const OpcodeMeaning& row : AllMeanings()) {
    if (row.opcode != instruction.opcode()) continue;
    const bool all = std::all_of(instruction.modifiers.begin(), instruction.modifiers.end(),
                                 [&](const std::string& modifier) { return Understands(row, modifier); });
    return all ? &row : nullptr;
  }
  return nullptr;
}

}  // namespace heddle::tracegen::machine
