#include "tests/reference/scripted_memory.h"

#include <algorithm>
#include <deque>
#include <vector>

#include "tests/random/random.h"

namespace heddle::replay {
namespace {

class ScriptedSm final : public SmMemory {
 public:
  ScriptedSm(uint64_t seed, uint32_t stage_cycles, uint32_t places, MemoryClient& client)
      : seed_(seed), stage_cycles_(stage_cycles), places_(places), client_(client) {}

  bool needs_addresses() const override { return true; }
  uint32_t usual_latency() const override { return 60; }
  void RunCycle(Cycle now) override;
  Cycle NextWake(Cycle now) const override {
    Cycle wake = in_stage_.empty() ? kNever : std::max(now + 1, in_stage_.front().until);
    for (const Event& event : events_) wake = std::min(wake, std::max(now + 1, event.at));
    return wake;
  }
  bool StageFree() const override { return in_stage_.size() < places_; }
  void Submit(const WarpAccess& access, Cycle now) override {
    const uint64_t given = MixAll({seed_, 1, ++accesses_, Given(access)});
    Random random(given);
    const Cycle from = in_stage_.empty() ? now : std::max(now, in_stage_.back().until);
    in_stage_.push_back({access, given, from + stage_cycles_ + (random.Chance(30) ? random.Below(25) : 0)});
  }
  FetchResult Fetch(uint64_t address, uint32_t fetcher, Cycle now) override {
    Random random(MixAll({seed_, 2, ++fetches_, address}));
    if (random.Chance(10)) return FetchResult::kRefused;
    if (!random.Chance(20)) return FetchResult::kHit;
    events_.push_back({now + random.In(1, 40), Event::Kind::kFetch, fetcher, 0});
    return FetchResult::kPending;
  }
  bool drained() const override { return in_stage_.empty() && events_.empty(); }
  std::string Explain() const override { return {}; }

 private:
  struct Event {
    enum class Kind { kLanes, kAcknowledged, kFetch };
    Cycle at = 0;  // when it is told
    Kind kind = Kind::kLanes;
    uint32_t id = 0;
    LaneMask lanes = 0;
    Cycle early = 0;  // the data are there so much later than they are told of
  };

  struct InStage {
    WarpAccess access;
    uint64_t given = 0;
    Cycle until = 0;
  };

  void LeaveStage(Cycle now);
  // A hash of what the core says of an access, but for its number.
  static uint64_t Given(const WarpAccess& access);

  uint64_t seed_;
  uint32_t stage_cycles_;
  uint32_t places_;
  MemoryClient& client_;
  uint64_t accesses_ = 0;
  uint64_t fetches_ = 0;
  std::deque<InStage> in_stage_;
  std::vector<Event> events_;
};

void ScriptedSm::RunCycle(Cycle now) {
  for (size_t i = 0; i < events_.size();) {
    if (events_[i].at > now) {
      ++i;
      continue;
    }
    const Event event = events_[i];
    events_.erase(events_.begin() + static_cast<std::ptrdiff_t>(i));
    switch (event.kind) {
      case Event::Kind::kLanes:
        client_.LanesDone(event.id, event.lanes, now + event.early, /*returned=*/true);
        break;
      case Event::Kind::kAcknowledged:
        client_.StoreAcknowledged(event.id, now + event.early);
        break;
      case Event::Kind::kFetch:
        client_.FetchArrived(event.id);
        break;
    }
  }
  if (!in_stage_.empty() && now >= in_stage_.front().until) LeaveStage(now);
}

uint64_t ScriptedSm::Given(const WarpAccess& access) {
  uint64_t hash = MixAll({access.slot, static_cast<uint64_t>(access.op), static_cast<uint64_t>(access.space),
                          access.bytes, access.lanes, access.pc, access.addresses != nullptr});
  for (int lane = 0; lane < kMaxLanes; ++lane) {
    if ((access.lanes >> lane & 1) == 0) continue;
    if (access.addresses != nullptr) hash = MixAll({hash, (*access.addresses)[lane]});
    if (access.threads != nullptr) hash = MixAll({hash, (*access.threads)[lane]});
  }
  return hash;
}

void ScriptedSm::LeaveStage(Cycle now) {
  const InStage leaving = in_stage_.front();
  in_stage_.pop_front();
  const WarpAccess& access = leaving.access;
  Random random(MixAll({leaving.given, 3}));
  if (access.op == trace::v1::OP_STORE) {
    client_.LanesDone(access.id, access.lanes, now + 1, /*returned=*/false);
    events_.push_back({now + 1 + random.Below(60), Event::Kind::kAcknowledged, access.id, 0, random.Below(3)});
    return;
  }
  if (random.Chance(40)) {
    client_.LanesDone(access.id, access.lanes, now + random.OneOf({1u, 1u, 1u, 4u}), /*returned=*/false);
    return;
  }
  LaneMask left = access.lanes;
  if (random.Chance(30)) {  // some hit
    const LaneMask hits = left & random.Next();
    if (hits != 0) client_.LanesDone(access.id, hits, now + 1, /*returned=*/false);
    left &= ~hits;
    if (left == 0) return;
  }
  client_.WaitsOffCore(access.id);
  while (left != 0) {
    LaneMask part = random.Chance(60) ? left : left & random.Next();
    if (part == 0) part = left;
    events_.push_back({now + random.In(1, 50), Event::Kind::kLanes, access.id, part, random.Below(3)});
    left &= ~part;
  }
}

}  // namespace

std::unique_ptr<SmMemory> ScriptedMemory::MakeSm(uint32_t sm, MemoryClient& client) {
  return std::make_unique<ScriptedSm>(MixAll({seed_, sm, launches_}), stage_cycles_, places_, client);
}

}  // namespace heddle::replay
