// Which lanes of each warp are together, as machine code with convergence barriers has it: lanes part when they go
// different ways, and only a barrier (BSSY, BSYNC) or a meeting with a mask (WARPSYNC) brings them together again.
#ifndef HEDDLE_TRACEGEN_EXECUTE_THREADS_CONVERGENCE_GROUPS_H_
#define HEDDLE_TRACEGEN_EXECUTE_THREADS_CONVERGENCE_GROUPS_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace heddle::tracegen {

// Lanes are masks and numbers within a warp. Nothing here knows which of them run, wait or have exited: whoever asks
// leaves the others out.
class ConvergenceGroups {
 public:
  // Barriers have numbers from 1 to this. Where a warp has used up all of them, Join gives 0.
  static constexpr uint32_t kMostBarriers = 4095;

  void BeginLaunch(size_t warps) { warps_.assign(warps, Warp{}); }
  // The lanes of each warp are together, and there are no barriers.
  void BeginBlock();

  // The lanes that are together with this one, itself included.
  uint32_t TogetherWith(uint32_t warp, uint32_t lane) const;
  // These lanes are together from now on, and with no others.
  void Unite(uint32_t warp, uint32_t lanes);

  // The lane sets a barrier at a place of the program (BSSY). Its members are the lanes that were together last, and
  // come to the same place: the first time each, or the second time each, and so on. Returns the barrier's number.
  uint32_t Join(uint32_t warp, uint32_t lane, uint32_t site);
  // The lane is no member any more: it breaks away, or goes on without the others.
  void Leave(uint32_t warp, uint32_t lane, uint32_t barrier);
  void Exit(uint32_t warp, uint32_t lane);
  // None if there is no such barrier.
  uint32_t MembersOf(uint32_t warp, uint32_t barrier) const;
  // Whether one of `lanes` could still become a member.
  bool MayJoin(uint32_t warp, uint32_t barrier, uint32_t lanes) const;

 private:
  struct Barrier {
    uint32_t group = 0;  // in which it was set
    uint32_t site = 0;
    uint32_t members = 0;  // none: the place is free
    uint32_t joined = 0;   // members, and those that have left
    uint64_t order = 0;    // of setting
  };
  struct Warp {
    std::array<uint32_t, 32> group{};  // by lane: an arbitrary number, equal for those that are together
    uint32_t groups = 0;               // numbers that were given
    uint64_t order = 0;
    std::vector<Barrier> barriers;  // by number - 1
  };

  std::vector<Warp> warps_;
};

}  // namespace heddle::tracegen

#endif  // HEDDLE_TRACEGEN_EXECUTE_THREADS_CONVERGENCE_GROUPS_H_
