#include "tracegen/ptx/inline_ptx_modifiers.h"

#include <algorithm>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_split.h"
#include "absl/strings/string_view.h"
#include "tracegen/ptx/inline_ptx_operands.h"

namespace heddle::tracegen {

std::string LaneOperation(std::string_view base) {
  const bool lanes = base.size() > 2 && base.front() == 'v' && (base.back() == '2' || base.back() == '4');
  return lanes ? std::string(base.substr(0, base.size() - 1)) : "";
}

bool HasKnownModifiers(const InlineInstruction& instruction) {
  // Beside types. Instructions that have none are not listed.
  static const auto& known = *new std::map<std::string, std::string, std::less<>>{
      {"abs", "ftz"},
      {"add", "rn rz rm rp ftz sat cc"},
      {"addc", "cc"},
      {"atom", "global shared relaxed acquire release acq_rel cta gpu sys add exch cas min max and or xor inc dec"},
      {"bar", "sync warp cta aligned red popc and or"},
      {"barrier", "sync cta aligned"},
      {"bfind", "shiftamt"},
      {"cos", "approx ftz"},
      {"cvt", "rni rzi rmi rpi rn rz rm rp ftz sat"},
      {"cvta", "to global shared local const"},
      {"div", "rn rz rm rp approx full ftz"},
      {"dp2a", "lo hi"},
      {"ex2", "approx ftz"},
      {"fma", "rn rz rm rp ftz sat"},
      {"isspacep", "global shared local const"},
      {"ld", "global shared local const param nc ca cg cs cv lu weak volatile relaxed acquire cta gpu sys v2 v4"},
      {"ldu", "global v2 v4"},
      {"lg2", "approx ftz"},
      {"mad", "lo hi wide cc rn rz rm rp ftz sat"},
      {"mad24", "lo"},
      {"madc", "lo hi cc"},
      {"match", "any all sync"},
      {"max", "ftz"},
      {"min", "ftz"},
      {"mul", "lo hi wide rn rz rm rp ftz sat"},
      {"mul24", "lo"},
      {"neg", "ftz"},
      {"prmt", "f4e b4e rc8 ecl ecr rc16"},
      {"rcp", "approx rn rz rm rp ftz"},
      {"red", "global shared relaxed release cta gpu sys add min max and or xor inc dec"},
      {"redux", "sync add min max and or xor"},
      {"rsqrt", "approx ftz"},
      {"set", "eq ne lt le gt ge lo ls hi hs equ neu ltu leu gtu geu num nan and or xor ftz"},
      {"setp", "eq ne lt le gt ge lo ls hi hs equ neu ltu leu gtu geu num nan and or xor ftz"},
      {"shf", "l r wrap clamp"},
      {"shfl", "sync up down bfly idx"},
      {"sin", "approx ftz"},
      {"slct", "ftz"},
      {"sqrt", "approx rn rz rm rp ftz"},
      {"st", "global shared local wb wt cg cs weak volatile relaxed release cta gpu sys v2 v4"},
      {"sub", "rn rz rm rp ftz sat cc"},
      {"subc", "cc"},
      {"tanh", "approx"},
      {"vabsdiff", "sat add"},
      {"vadd", "sat add"},
      {"vavrg", "sat add"},
      {"vmax", "sat add"},
      {"vmin", "sat add"},
      {"vset", "eq ne lt le gt ge add"},
      {"vsub", "sat add"},
      {"vote", "sync all any uni ballot"},
  };
  const std::string lanes = LaneOperation(instruction.base());
  const auto found = known.find(lanes.empty() ? instruction.base() : lanes);
  std::vector<absl::string_view> words;
  if (found != known.end()) words = absl::StrSplit(found->second, ' ');
  const bool has_caches = instruction.base() == "ld" || instruction.base() == "st";
  for (size_t i = 1; i < instruction.parts.size(); ++i) {
    const absl::string_view part = instruction.parts[i];
    const bool cache = has_caches && (absl::StartsWith(part, "L1::") || absl::StartsWith(part, "L2::"));
    if (cache || ParsePtxType(part)) continue;
    if (std::find(words.begin(), words.end(), part) == words.end()) return false;
  }
  return true;
}

}  // namespace heddle::tracegen
