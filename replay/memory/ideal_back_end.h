// The memory of limit studies: every request is answered after the same time.
#ifndef HEDDLE_REPLAY_MEMORY_IDEAL_BACK_END_H_
#define HEDDLE_REPLAY_MEMORY_IDEAL_BACK_END_H_

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "replay/memory/jitter.h"
#include "replay/memory/network/delayed_replies.h"
#include "replay/memory/ports/back_end.h"

namespace heddle::replay {

// A request that is sent in core cycle c is answered in c + `ideal_beyond_l1_cycles` (+ jitter); there is always room.
class IdealBackEnd : public MemoryBackEnd {
 public:
  IdealBackEnd(uint32_t sms, uint32_t cycles, uint32_t jitter_cycles, uint64_t seed);
  ~IdealBackEnd() override;

  void BeginLaunch(uint64_t number) override;
  NetworkPort& port(uint32_t sm) override;
  Cycle NextEvent() const override { return replies_.next(); }
  void Advance(Cycle now, SmWaker& waker) override;
  bool drained() const override { return replies_.under_way() == 0; }
  const PortCounters& port_counters() const override { return counters_; }
  absl::Status EndLaunch(Cycle end, result::v1::LaunchResult& result) override;
  std::string Explain() const override;

 private:
  class Port;

  const uint32_t cycles_;
  const uint32_t jitter_cycles_;
  const uint64_t seed_;
  Jitter jitter_;
  DelayedReplies replies_;
  Cycle now_ = 0;
  PortCounters counters_;
  std::vector<Port> ports_;
};

}  // namespace heddle::replay

#endif  // HEDDLE_REPLAY_MEMORY_IDEAL_BACK_END_H_
