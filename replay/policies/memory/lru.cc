// LRU: the data cache as the machine has it.
#include <memory>

#include "replay/seams/memory_policy.h"

namespace heddle::replay {
namespace {

// Wants to be asked nothing, so that it is no part of any access: every miss that allocates takes a line, and the line
// that was used least recently gives way.
class LeastRecentlyUsed final : public MemoryPolicy {};

HEDDLE_MEMORY_POLICY(PolicyInfo{.name = "lru",
                                .summary = "Every miss that allocates takes a line; the least recently used gives way",
                                .source = "the machine's own cache"},
                     [](const MemoryContext&, const Parameters&) { return std::make_unique<LeastRecentlyUsed>(); });

}  // namespace
}  // namespace heddle::replay
