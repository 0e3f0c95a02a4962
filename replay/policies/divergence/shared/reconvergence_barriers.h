// HARP's table of reconvergence barriers (HARP, section 4.2.2, Figures 8 and 9).
#ifndef HEDDLE_REPLAY_POLICIES_DIVERGENCE_SHARED_RECONVERGENCE_BARRIERS_H_
#define HEDDLE_REPLAY_POLICIES_DIVERGENCE_SHARED_RECONVERGENCE_BARRIERS_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "replay/seams/types.h"

namespace heddle::replay {

// A barrier gathers threads of diverged warps at a reconvergence point, one per lane. A thread finds its set by the
// hardware warp that it belongs to. Threads that do not get a barrier run past the reconvergence point.
//
// The hardware compares the RPC of all ways of a set. Here every thread has a list of the barriers that hold it, the
// newest first, which gives the same answers.
class ReconvergenceBarriers {
 public:
  enum class Match : uint8_t {
    kEvent,  // a diverged warp has barriers of its own (section 4.1: unique for point and diverged threads)
    kPoint,  // threads may enter any barrier of their set at this point with their lane free (section 4.2.2, literally)
  };
  struct Setup {
    uint32_t entries = 128;  // ignored by per_warp
    uint32_t ways = 16;
    Match match = Match::kEvent;  // ignored by per_warp
    // One entry per diverged warp, fully associative, as many as are needed.
    bool per_warp = false;
    int warp_size = 32;
    uint32_t max_threads = 0;
    uint32_t instructions = 0;  // of the program
  };

  explicit ReconvergenceBarriers(const Setup& setup);

  uint32_t sets() const { return sets_; }
  // The hardware warp's threads use this set. Call it before they reserve.
  void SetHwWarp(size_t hw_warp, uint32_t set) { set_of_hw_warp_[hw_warp] = set; }

  // Threads of a diverged warp, in their home lanes, are to meet at `point`. A thread that has a barrier there keeps it
  // (not per_warp: there barriers nest). Returns how many threads got none.
  int Reserve(Position point, BlockId block, const Lanes& lanes);

  // Whether some barrier waits at this instruction; cheap.
  bool AnyAt(Position point) const { return waiting_at_[point.pc()] != 0; }
  // The threads of `lanes` that a barrier waits for at `point`.
  LaneMask Expected(Position point, const Lanes& lanes) const;
  // Marks them as reached, each in its newest barrier there, and returns them. Barriers that have become complete are
  // added to `complete`, ascending by their lowest thread that has just come, then by place.
  LaneMask Reach(Position point, const Lanes& lanes, std::vector<uint32_t>& complete);
  // Threads that have ended leave their barriers; barriers that are complete without them are added to `complete`.
  void Exit(const Lanes& lanes, LaneMask exited, std::vector<uint32_t>& complete);
  // Frees a complete barrier and returns its threads.
  Lanes Release(uint32_t barrier, Position& point);

  // Barriers in use now, at most, and reserved in all.
  uint32_t live() const { return live_; }
  uint32_t most_live() const { return most_live_; }
  uint64_t reserved() const { return reserved_; }

  // "pc 32: 2 of 4 threads" for the first few barriers.
  std::string Text() const;

 private:
  static constexpr uint32_t kNone = ~uint32_t{0};
  struct Barrier {
    Position point = Position::Exit();
    BlockId block = 0;
    LaneMask valid = 0;  // 0: the entry is free
    LaneMask reached = 0;
    std::array<ThreadId, kMaxLanes> thread{};
    std::array<uint32_t, kMaxLanes> older{};  // the next older barrier of the lane's thread
  };
  struct Touched {
    uint32_t barrier;
    ThreadId lowest;
  };

  uint32_t Take(uint32_t set);
  void Add(uint32_t index, int lane, ThreadId thread);
  void Unlink(uint32_t index, int lane);
  void Free(uint32_t index);
  void Touch(uint32_t barrier, ThreadId thread);
  void ReportComplete(std::vector<uint32_t>& complete);

  const Setup setup_;
  const uint32_t sets_;
  std::vector<Barrier> barriers_;  // set by set, or per_warp as needed
  std::vector<uint32_t> free_;     // per_warp
  std::vector<uint32_t> set_of_hw_warp_;
  std::vector<uint32_t> newest_;      // by thread
  std::vector<uint32_t> waiting_at_;  // by PC: barriers
  std::vector<uint32_t> own_;         // scratch: by set, the barrier that the present warp has there
  std::vector<uint32_t> own_sets_;
  std::vector<Touched> touched_;
  uint32_t live_ = 0;
  uint32_t most_live_ = 0;
  uint64_t reserved_ = 0;
};

}  // namespace heddle::replay

#endif  // HEDDLE_REPLAY_POLICIES_DIVERGENCE_SHARED_RECONVERGENCE_BARRIERS_H_
