// How many bits a policy would take in hardware, where its paper says.
#ifndef HEDDLE_REPLAY_SEAMS_POLICY_STORAGE_H_
#define HEDDLE_REPLAY_SEAMS_POLICY_STORAGE_H_

#include <bit>
#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "replay/seams/policy_registry.h"

namespace heddle::replay {

// The core that the structures are for.
struct StorageContext {
  uint32_t warp_size = 32;
  uint32_t max_threads = 0;  // hardware threads of an SM
  uint32_t max_blocks = 0;   // resident thread blocks of an SM
  uint32_t ports = 1;        // schedulers of an SM

  uint32_t warps() const { return max_threads / warp_size; }
};

// Bits that it takes to tell `count` things apart; 0 for one thing.
inline uint32_t BitsFor(uint64_t count) { return count <= 1 ? 0 : static_cast<uint32_t>(std::bit_width(count - 1)); }

// One structure of an SM.
struct StorageItem {
  std::string structure = {};
  uint64_t entries = 0;  // 0: as many as are needed, so that the whole has no size
  uint64_t bits = 0;     // of an entry
  std::string contents = {};
};

// What a policy's file declares.
struct PolicyStorage {
  std::string source = {};  // paper and section
  std::string remark = {};  // where the paper is silent or does not agree with itself; empty = nothing
  std::function<std::vector<StorageItem>(const StorageContext&, const Parameters&)> items = {};
};

// By seam and name: "divergence", "scheduler", "dispatch", "fetch" or "memory", as in `heddle policies --json`.
// Policies whose papers give no sizes are not there.
class PolicyStorageRegistry {
 public:
  static PolicyStorageRegistry& Get() {
    static PolicyStorageRegistry registry;
    return registry;
  }
  // Called by HEDDLE_POLICY_STORAGE before main.
  bool Register(std::string seam, std::string name, PolicyStorage storage) {
    entries_[{std::move(seam), std::move(name)}] = std::move(storage);
    return true;
  }
  // Null if the policy declares none.
  const PolicyStorage* Find(const std::string& seam, const std::string& name) const {
    const auto it = entries_.find({seam, name});
    return it == entries_.end() ? nullptr : &it->second;
  }

 private:
  std::map<std::pair<std::string, std::string>, PolicyStorage> entries_;
};

// The sum over all structures of an SM; 0 if one of them has no bound.
inline uint64_t TotalBits(const std::vector<StorageItem>& items) {
  uint64_t sum = 0;
  for (const StorageItem& item : items) {
    if (item.entries == 0) return 0;
    sum += item.entries * item.bits;
  }
  return sum;
}

}  // namespace heddle::replay

// HEDDLE_POLICY_STORAGE("divergence", "name", PolicyStorage{...}), in the policy's own file.
#define HEDDLE_POLICY_STORAGE(seam, name, ...)                                      \
  [[maybe_unused]] static const bool HEDDLE_CONCAT(storage_registered_, __LINE__) = \
      ::heddle::replay::PolicyStorageRegistry::Get().Register(seam, name, __VA_ARGS__)

#endif  // HEDDLE_REPLAY_SEAMS_POLICY_STORAGE_H_
