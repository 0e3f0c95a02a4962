#include "tracegen/program/ptx_source/callee.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>

namespace heddle::tracegen {

const ptx::Function* CalleeOf(const ptx::Module& module, const ptx::Instruction& call) {
  const ptx::Operand& callee = call.operands[1];
  if (callee.kind != ptx::Operand::Kind::kSymbol) return nullptr;
  uint32_t index = callee.index;
  for (size_t steps = 0; steps <= module.aliases.size(); ++steps) {
    const auto alias = std::find_if(module.aliases.begin(), module.aliases.end(),
                                    [&](const ptx::Alias& entry) { return entry.function == index; });
    if (alias == module.aliases.end()) break;
    index = alias->aimed;
  }
  return &module.functions[index];
}

}  // namespace heddle::tracegen
