// A network whose room and latencies follow from a seed.
#ifndef HEDDLE_TESTS_REPLAY_MEMORY_SCRIPTED_PORT_H_
#define HEDDLE_TESTS_REPLAY_MEMORY_SCRIPTED_PORT_H_

#include <cstdint>
#include <deque>
#include <map>
#include <utility>
#include <vector>

#include "gtest/gtest.h"
#include "replay/memory/ports/network_port.h"
#include "replay/seams/types.h"

namespace heddle::replay {

// A buffer of `places` requests, which leave one after another, each after up to `service` cycles; the reply comes up
// to `spread` cycles after `latency` later. In some periods of `period` cycles there is no room at all (another SM
// uses the port). The same requests at the same times get the same treatment.
class ScriptedPort : public NetworkPort {
 public:
  struct Script {
    uint64_t seed = 0;
    uint32_t places = 1000;
    uint32_t service = 0;
    uint32_t latency = 10;
    uint32_t spread = 0;
    uint32_t period = 0;  // 0: always open
  };
  struct Sent {
    Cycle at = 0;
    MemoryRequest request;
  };

  explicit ScriptedPort(const Script& script) : script_(script) {}

  // To be called before the SM's cycle. Whether the SM is to be woken for it.
  bool Begin(Cycle now) {
    now_ = now;
    while (!leaving_.empty() && leaving_.front() <= now) leaving_.pop_front();
    const bool room_made = refused_ && HasRoomNow();
    if (room_made) refused_ = false;
    return room_made || Reply() != nullptr;
  }
  bool HasRoom(const MemoryRequest& /*request*/) override {
    const bool room = HasRoomNow();
    if (!room) refused_ = true;
    return room;
  }
  void Send(const MemoryRequest& request) override {
    const uint64_t number = sent.size();
    sent.push_back({now_, request});
    const Cycle start = leaving_.empty() ? now_ : std::max(now_, leaving_.back());
    const Cycle leaves = start + 1 + Draw(3 * number, script_.service);
    leaving_.push_back(leaves);
    replies_[{leaves + script_.latency + Draw(3 * number + 1, script_.spread), number}] = request;
  }
  const MemoryRequest* Reply() const override {
    return replies_.empty() || replies_.begin()->first.first > now_ ? nullptr : &replies_.begin()->second;
  }
  void TakeReply() override { replies_.erase(replies_.begin()); }
  bool idle() const { return replies_.empty(); }

  std::vector<Sent> sent;

 private:
  bool HasRoomNow() const {
    const bool open = script_.period == 0 || Draw(1000003 * (now_ / script_.period) + 2, 3) != 0;
    return open && leaving_.size() < script_.places;
  }
  // 0 to `most`.
  uint64_t Draw(uint64_t number, uint64_t most) const {
    uint64_t x = script_.seed + 0x9e3779b97f4a7c15 * (number + 1);
    x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9;
    x = (x ^ x >> 27) * 0x94d049bb133111eb;
    return (x ^ x >> 31) % (most + 1);
  }

  Script script_;
  Cycle now_ = 0;
  bool refused_ = false;
  std::deque<Cycle> leaving_;
  std::map<std::pair<Cycle, uint64_t>, MemoryRequest> replies_;
};

// Whether two SMs have sent the same requests in the same cycles.
inline void ExpectSameRequests(const std::vector<ScriptedPort::Sent>& fast,
                               const std::vector<ScriptedPort::Sent>& slow) {
  ASSERT_EQ(fast.size(), slow.size());
  for (size_t index = 0; index < fast.size(); ++index) {
    const MemoryRequest& a = fast[index].request;
    const MemoryRequest& b = slow[index].request;
    ASSERT_EQ(fast[index].at, slow[index].at);
    ASSERT_EQ(a.address, b.address);
    ASSERT_EQ(a.bytes, b.bytes);
    ASSERT_EQ(a.kind, b.kind);
    ASSERT_EQ(a.cache, b.cache);
    ASSERT_EQ(a.passes, b.passes);
    ASSERT_EQ(a.sm, b.sm);
  }
}

}  // namespace heddle::replay

#endif  // HEDDLE_TESTS_REPLAY_MEMORY_SCRIPTED_PORT_H_
