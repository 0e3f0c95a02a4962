// Random machines, traffic and networks for the memory of an SM.
#ifndef HEDDLE_TESTS_REPLAY_MEMORY_RANDOM_MEMORY_CASE_H_
#define HEDDLE_TESTS_REPLAY_MEMORY_RANDOM_MEMORY_CASE_H_

#include <random>
#include <vector>

#include "proto/machine.pb.h"
#include "proto/trace.pb.h"
#include "tests/replay/memory/memory_driver.h"
#include "tests/replay/memory/scripted_port.h"

namespace heddle::replay {

// The windows that all cases use: shared, local, constant, parameters.
trace::v1::FileHeader WindowsForTests();
inline constexpr uint64_t kSharedWindow = 0x10000;
inline constexpr uint64_t kLocalWindow = 0x20000;
inline constexpr uint64_t kConstantWindow = 0x30000;
inline constexpr uint64_t kParameterWindow = 0x40000;
inline constexpr uint64_t kGlobalMemory = 0x100000;

struct RandomMemoryCase {
  // On a random machine, or on the one given.
  explicit RandomMemoryCase(uint64_t seed, const machine::v1::Machine* on = nullptr);

  machine::v1::Machine machine;
  ScriptedPort::Script script;
  std::vector<DrivenAccess> accesses;
  std::vector<DrivenFetch> fetches;

 private:
  uint32_t Below(uint32_t count) { return static_cast<uint32_t>(random_() % count); }
  template <typename T>
  T OneOf(std::initializer_list<T> choices) {
    return *(choices.begin() + Below(static_cast<uint32_t>(choices.size())));
  }
  void MakeCache(machine::v1::Cache& cache, uint32_t line_bytes);
  void MakeMachine();
  DrivenAccess MakeAccess(Cycle from);

  std::mt19937_64 random_;
};

}  // namespace heddle::replay

#endif  // HEDDLE_TESTS_REPLAY_MEMORY_RANDOM_MEMORY_CASE_H_
