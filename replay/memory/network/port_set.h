// A set of ports of a network.
#ifndef HEDDLE_REPLAY_MEMORY_NETWORK_PORT_SET_H_
#define HEDDLE_REPLAY_MEMORY_NETWORK_PORT_SET_H_

#include <algorithm>
#include <bit>
#include <cstdint>
#include <vector>

namespace heddle::replay {

// Ports to which something happened. Storage is fixed at construction.
class PortSet {
 public:
  // Of the ports 0 to `ports` - 1, empty.
  explicit PortSet(uint32_t ports) : words_((ports + 63) / 64) {}
  void Insert(uint32_t port) { words_[port >> 6] |= uint64_t{1} << (port & 63); }
  void Erase(uint32_t port) { words_[port >> 6] &= ~(uint64_t{1} << (port & 63)); }
  bool Contains(uint32_t port) const { return (words_[port >> 6] >> (port & 63) & 1) != 0; }
  void Clear() { std::fill(words_.begin(), words_.end(), 0); }
  // Calls `function` with each, ascending.
  template <typename Function>
  void ForEach(Function function) const {
    for (uint32_t word = 0; word < words_.size(); ++word) {
      for (uint64_t rest = words_[word]; rest != 0; rest &= rest - 1) {
        function(word * 64 + static_cast<uint32_t>(std::countr_zero(rest)));
      }
    }
  }
  // Calls `function` with each, ascending, and empties the set.
  template <typename Function>
  void TakeEach(Function function) {
    for (uint32_t word = 0; word < words_.size(); ++word) {
      uint64_t rest = words_[word];
      words_[word] = 0;
      for (; rest != 0; rest &= rest - 1) function(word * 64 + static_cast<uint32_t>(std::countr_zero(rest)));
    }
  }
  // Calls `function` with each that is in `wanted` as well, ascending, and empties the set.
  template <typename Function>
  void TakeEachOf(const PortSet& wanted, Function function) {
    for (uint32_t word = 0; word < words_.size(); ++word) {
      uint64_t rest = words_[word] & wanted.words_[word];
      words_[word] = 0;
      for (; rest != 0; rest &= rest - 1) function(word * 64 + static_cast<uint32_t>(std::countr_zero(rest)));
    }
  }

 private:
  std::vector<uint64_t> words_;
};

}  // namespace heddle::replay

#endif  // HEDDLE_REPLAY_MEMORY_NETWORK_PORT_SET_H_
