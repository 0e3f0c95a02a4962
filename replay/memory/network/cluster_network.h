// The network between SMs that hold blocks of one cluster.
#ifndef HEDDLE_REPLAY_MEMORY_NETWORK_CLUSTER_NETWORK_H_
#define HEDDLE_REPLAY_MEMORY_NETWORK_CLUSTER_NETWORK_H_

#include <cstdint>
#include <functional>
#include <queue>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "proto/machine.pb.h"
#include "proto/result.pb.h"
#include "replay/memory/ports/memory_system.h"
#include "replay/memory/ports/remote_access.h"
#include "replay/seams/types.h"

namespace heddle::replay {

// Messages leave an SM and enter one in order, a few bytes per core cycle, and are on their way for as long as the
// machine says. The part "Clusters" in section 12 of docs/reference/timing.md has the rules. It shares nothing with the
// network to the memory, and sleeps between events.
class ClusterNetwork final : public RemoteNetwork {
 public:
  // The machine must have passed its check and have a hierarchy.
  explicit ClusterNetwork(const machine::v1::Machine& machine);

  // A launch begins: nothing is under way, and no SM is there.
  void BeginLaunch();
  // An SM is there and gets its replies, before it sends.
  void Attach(uint32_t sm, RemoteClient& client) { ports_[sm].client = &client; }

  Cycle Send(const RemoteAccess& access, Cycle now) override;
  // The next cycle before which Advance has something to do; kNever if nothing is under way.
  Cycle NextEvent() const { return events_.empty() ? kNever : events_.top().at; }
  // Runs what happens up to the start of core cycle `now`, and wakes SMs whose replies have come.
  void Advance(Cycle now, SmWaker& waker);

  // Checks that every request was served and answered, with all of its bytes, and adds what was counted to the result
  // if anything was. Errors: Internal, naming what does not agree.
  absl::Status EndLaunch(result::v1::LaunchResult& result) const;
  // What is under way, for the report of a deadlock; empty if nothing.
  std::string Explain() const;

 private:
  enum class Stage : uint8_t { kRequestComes, kReplyLeaves, kReplyComes, kReplyTaken };
  struct Event {
    Cycle at = 0;
    uint64_t number = 0;  // of one cycle they come in the order in which they became known
    Stage stage = Stage::kRequestComes;
    RemoteAccess access;

    bool operator>(const Event& other) const { return at != other.at ? at > other.at : number > other.number; }
  };
  struct Port {
    RemoteClient* client = nullptr;
    Cycle out_free = 0;
    Cycle in_free = 0;
    Cycle banks_free = 0;
  };
  struct Traffic {
    uint64_t messages = 0;
    uint64_t bytes = 0;

    void Count(uint64_t more) {
      ++messages;
      bytes += more;
    }
    bool operator==(const Traffic&) const = default;
  };

  void Add(Cycle at, Stage stage, const RemoteAccess& access) { events_.push({at, events_added_++, stage, access}); }
  // The first cycle from `now` on in which a resource is free, which is then taken for `cycles`. The wait is counted.
  Cycle Occupy(Cycle& free, Cycle cycles, Cycle now);
  void RunEvent(const Event& event, SmWaker& waker);
  void Serve(const RemoteAccess& access, Cycle now);

  const ClusterTiming timing_;
  const Cycle shared_latency_;
  std::vector<Port> ports_;  // by SM
  std::priority_queue<Event, std::vector<Event>, std::greater<>> events_;
  uint64_t events_added_ = 0;
  Traffic sent_;
  Traffic served_;
  Traffic answered_;  // replies that left
  Traffic replied_;   // replies that came
  uint64_t passes_ = 0;
  uint64_t wait_cycles_ = 0;
  uint64_t latency_sum_ = 0;
};

}  // namespace heddle::replay

#endif  // HEDDLE_REPLAY_MEMORY_NETWORK_CLUSTER_NETWORK_H_
