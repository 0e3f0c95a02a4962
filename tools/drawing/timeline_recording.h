// What a timeline of a replay is made of.
#ifndef HEDDLE_TOOLS_DRAWING_TIMELINE_RECORDING_H_
#define HEDDLE_TOOLS_DRAWING_TIMELINE_RECORDING_H_

#include <cstdint>
#include <map>
#include <vector>

#include "replay/engine/replay.h"

namespace heddle::tools {

// Keeps what some SMs do in a range of cycles of every launch.
class TimelineRecording final : public replay::IssueObserver {
 public:
  struct Issue {
    replay::Cycle cycle = 0;
    uint64_t block = 0;  // of the first thread
    uint32_t port = 0;
    uint32_t slot = 0;
    uint32_t pc = 0;  // of the first thread
    uint32_t threads = 0;
  };
  // From `begin` to before `end`, in one state.
  struct Piece {
    replay::Cycle begin = 0;
    replay::Cycle end = 0;
    uint32_t state = 0;  // a WarpState, or a PortLoss
    uint32_t threads = 0;
    uint32_t pc = 0;  // of a warp
    bool Continues(const Piece& before) const {
      return begin == before.end && state == before.state && threads == before.threads && pc == before.pc;
    }
  };
  struct Barrier {
    replay::Cycle cycle = 0;  // in which it opened
    uint64_t block = 0;
  };
  // One SM in one launch. Everything by time.
  struct Sm {
    std::map<uint32_t, std::vector<Piece>> warps;  // by slot
    std::vector<std::vector<Piece>> ports;
    std::vector<Issue> issues;
    std::vector<Barrier> barriers;
  };

  // Cycles `first` to `last` of each launch, both included; `sms` ascending. After `most` events no more are kept.
  TimelineRecording(std::vector<uint32_t> sms, replay::Cycle first, replay::Cycle last, uint64_t most)
      : sms_(std::move(sms)), first_(first), last_(last), most_(most) {}

  void Issued(const replay::IssueEvent& event) override;
  bool wants_waits() const override { return true; }
  void Waits(const replay::WaitEvent& event) override;
  bool wants_states() const override { return true; }
  void States(const replay::StateEvent& event) override;

  // By launch, then by SM.
  const std::map<uint32_t, std::map<uint32_t, Sm>>& launches() const { return launches_; }
  const std::vector<uint32_t>& sms() const { return sms_; }
  replay::Cycle first() const { return first_; }
  replay::Cycle last() const { return last_; }
  uint64_t events() const { return events_; }
  bool full() const { return events_ > most_; }

 private:
  Sm* Of(uint32_t launch, uint32_t sm);
  void Extend(std::vector<Piece>& pieces, const Piece& piece);

  const std::vector<uint32_t> sms_;
  const replay::Cycle first_;
  const replay::Cycle last_;
  const uint64_t most_;
  uint64_t events_ = 0;
  std::map<uint32_t, std::map<uint32_t, Sm>> launches_;
};

}  // namespace heddle::tools

#endif  // HEDDLE_TOOLS_DRAWING_TIMELINE_RECORDING_H_
