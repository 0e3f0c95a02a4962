// Which call of which policy a thread is in, for who has to say where a run ended: policies from outside the tree may
// crash, or throw.
#ifndef HEDDLE_REPLAY_ENGINE_POLICY_WATCH_H_
#define HEDDLE_REPLAY_ENGINE_POLICY_WATCH_H_

#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <string>
#include <utility>

#include "replay/engine/configuration.h"
#include "replay/seams/block_dispatcher.h"
#include "replay/seams/divergence_policy.h"
#include "replay/seams/fetch_policy.h"
#include "replay/seams/memory_policy.h"
#include "replay/seams/policy_origin.h"
#include "replay/seams/types.h"
#include "replay/seams/warp_scheduler.h"

namespace heddle::replay {

// One policy object of a run, in words.
struct WatchedPolicy {
  const char* kind;  // "scheduler"
  const char* name;
  int64_t sm;          // -1: of the whole machine
  const Cycle* clock;  // null: that of the run
};

// The run that this thread is in, as long as the object lives. `place`: "launch 0 (bfs) under pdom and gto".
class RunMark {
 public:
  explicit RunMark(std::string place);
  ~RunMark();
  RunMark(const RunMark&) = delete;
  RunMark& operator=(const RunMark&) = delete;
  // From now on there is a cycle to tell.
  void SetClock(const Cycle* clock) { clock_ = clock; }
  // Keeps what is said of a policy until the run's end: after an exception the policy itself may be gone.
  WatchedPolicy& Keep(const WatchedPolicy& policy) { return kept_.emplace_back(policy); }

  const std::string& place() const { return place_; }
  const Cycle* clock() const { return clock_; }

 private:
  const std::string place_;
  const Cycle* clock_ = nullptr;
  RunMark* const before_;
  std::deque<WatchedPolicy> kept_;
};

// The run that this thread is in; null if in none.
RunMark* PresentRun();

// What this thread was doing when something went wrong: " in Pick of scheduler 'x' on SM 0 in cycle 256", " in cycle
// 256", or nothing. After an exception the call is the one that it came through. Writes at most `size` bytes to `out`,
// without an end mark, and returns how many; may be called by a signal handler.
size_t DescribePresentCall(char* out, size_t size);
// The place of the present run, ending in ": "; nothing without one. In the same way.
size_t DescribePresentRun(char* out, size_t size);
std::string PresentCall();

// Forgets the call, after an exception.
void ForgetPresentCall();

// An object that hands everything on to the policy, and notes each call. `what` lives as long as the run.
std::unique_ptr<DivergencePolicy> Watched(std::unique_ptr<DivergencePolicy> policy, const WatchedPolicy& what);
std::unique_ptr<WarpScheduler> Watched(std::unique_ptr<WarpScheduler> policy, const WatchedPolicy& what);
std::unique_ptr<FetchPolicy> Watched(std::unique_ptr<FetchPolicy> policy, const WatchedPolicy& what);
std::unique_ptr<MemoryPolicy> Watched(std::unique_ptr<MemoryPolicy> policy, const WatchedPolicy& what);
std::unique_ptr<BlockDispatcher> Watched(std::unique_ptr<BlockDispatcher> policy, const WatchedPolicy& what);

// Marks one call. Nested calls (a fetch policy asks a scheduler) end before the outer one does.
class PolicyCall {
 public:
  PolicyCall(const WatchedPolicy& policy, const char* call);
  // Not called when an exception passes: what was marked stays so.
  void End() const;

 private:
  const WatchedPolicy* const policy_before_;
  const char* const call_before_;
};

// Makes a policy with its factory. One from outside the tree is watched, in the factory and from then on; `watched` is
// then set to what is said of it, whose clock may be set when there is one.
template <typename Registry, typename Context>
auto MakeWatched(const ChosenPolicy<Registry>& chosen, const Context& context, int64_t sm, WatchedPolicy*& watched) {
  watched = nullptr;
  const auto& entry = *chosen.entry;
  if (entry.origin.source == PolicySource::kTree || PresentRun() == nullptr) {
    return entry.make(context, chosen.parameters);
  }
  watched = &PresentRun()->Keep({Registry::kKind, entry.info.name.c_str(), sm, nullptr});
  const PolicyCall call(*watched, "the factory");
  auto policy = entry.make(context, chosen.parameters);
  call.End();
  return Watched(std::move(policy), *watched);
}

}  // namespace heddle::replay

#endif  // HEDDLE_REPLAY_ENGINE_POLICY_WATCH_H_
