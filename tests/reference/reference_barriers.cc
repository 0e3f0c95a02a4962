// Barriers of the reference cores.
#include <algorithm>
#include <set>
#include <utility>

#include "tests/reference/reference_sm.h"

namespace heddle::replay {

void ReferenceSm::ArriveAtBarrier(SlotId slot) {
  Arrival& arrival = arrivals_[slot];
  arrival = Arrival{};
  arrival.pc = formation_.table().position[slot].pc();
  for (int place : PlacesOf(slot)) arrival.release[place] = kNever;
  const Lanes& lanes = formation_.table().lanes[slot];
  Note(ReferenceWarpProgress::Event::kArrived, lanes, lanes.mask);
}

void ReferenceSm::WaitAtBarrier(SlotId slot) {
  arrivals_.at(slot).waiting = true;
  formation_.WaitAtBarrier(slot);
}

bool ReferenceSm::IsOpen(SlotId slot, Cycle now) const {
  const auto& release = arrivals_.at(slot).release;
  return std::all_of(release.begin(), release.end(), [&](const auto& block) { return block.second < now; });
}

// Arrivals are taken one by one; the warps go on some time after the last of them, and after now.
Cycle ReferenceSm::ReleaseOf(const std::vector<Arrival*>& arrivals, Cycle now) const {
  const machine::v1::BlockBarriers& timing = launch_.machine->core().block_barriers();
  std::vector<Cycle> at;
  for (const Arrival* arrival : arrivals) at.push_back(arrival->at);
  std::sort(at.begin(), at.end());
  Cycle taken = 0;
  for (const Cycle arrival : at) taken = std::max(taken, arrival) + timing.arrival_interval();
  return std::max(taken, now) + timing.release_latency() + 1;
}

void ReferenceSm::OpenBarriers(Cycle now) {
  for (size_t place = 0; place < places_.size(); ++place) {
    if (!places_[place].has_value()) continue;
    uint64_t threads = 0;
    uint64_t exited = 0;
    for (const Thread& thread : threads_) {
      if (thread.place != static_cast<int>(place)) continue;
      ++threads;
      exited += thread.done();
    }
    struct Arrived {
      std::vector<Arrival*> arrivals;
      uint64_t threads = 0;
      uint32_t counted = 0;
    };
    std::map<uint32_t, Arrived> barriers;  // by id
    for (auto& [slot, arrival] : arrivals_) {
      const auto closed = arrival.release.find(static_cast<int>(place));
      if (closed == arrival.release.end() || closed->second != kNever) continue;
      arrival.at = std::min(arrival.at, now);
      Arrived& arrived = barriers[program().instruction(arrival.pc).barrier_id()];
      arrived.arrivals.push_back(&arrival);
      arrived.counted = program().instruction(arrival.pc).barrier_threads();
      const Lanes& lanes = formation_.table().lanes[slot];
      ForEachLaneOf(lanes.mask, [&](int lane) {
        arrived.threads += threads_[lanes.thread[lane]].place == static_cast<int>(place);
      });
    }
    for (const auto& [barrier, arrived] : barriers) {
      if (arrived.counted == 0 ? arrived.threads + exited < threads : arrived.threads < arrived.counted) continue;
      const Cycle release = ReleaseOf(arrived.arrivals, now);
      for (Arrival* arrival : arrived.arrivals) arrival->release[static_cast<int>(place)] = release;
    }
  }
}

std::vector<SlotId> ReferenceSm::Released(Cycle now) {
  std::set<std::pair<int, uint32_t>> opened;
  std::vector<SlotId> slots;
  for (const auto& [slot, arrival] : arrivals_) {
    bool free = arrival.waiting;
    for (const auto& [place, release] : arrival.release) {
      if (release == now) opened.insert({place, program().instruction(arrival.pc).barrier_id()});
      free &= release <= now;
    }
    if (free) slots.push_back(slot);
  }
  for (const auto& [place, barrier] : opened) {
    launch_.warp_progress->Released({sm_, static_cast<size_t>(place)});
    for (const auto& scheduler : schedulers_) scheduler->BarrierReleased(static_cast<BlockId>(place));
  }
  for (SlotId slot : slots) arrivals_.at(slot).waiting = false;
  return slots;
}

bool ReferenceSm::AllBarriersClosed() const {
  return std::all_of(arrivals_.begin(), arrivals_.end(), [](const auto& entry) {
    return std::any_of(entry.second.release.begin(), entry.second.release.end(),
                       [](const auto& block) { return block.second == kNever; });
  });
}

}  // namespace heddle::replay
