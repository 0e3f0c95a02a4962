// Committed warps while the pipelined barrier table of a HARP scheduler is being searched.
#ifndef HEDDLE_REPLAY_POLICIES_DIVERGENCE_HARP_PENDING_COMMITS_H_
#define HEDDLE_REPLAY_POLICIES_DIVERGENCE_HARP_PENDING_COMMITS_H_

#include <cstddef>
#include <cstdint>
#include <vector>

#include "replay/seams/divergence_policy.h"
#include "replay/seams/types.h"

namespace heddle::replay {

// A warp whose instruction is done.
struct PendingCommit {
  bool used = false;
  SlotId slot = kNoSlot;  // where its threads wait; kNoSlot: they are unassigned
  Position reconvergence;
  Lanes lanes;
  std::vector<PathGroup> groups;
};

// Commits by number: always the smallest free one. They keep their memory.
class PendingCommits {
 public:
  // The number of a commit of unassigned threads without a reconvergence point; lanes and groups are to be filled in.
  uint32_t Take() {
    size_t index = 0;
    while (index < commits_.size() && commits_[index].used) ++index;
    if (index == commits_.size()) commits_.emplace_back();
    PendingCommit& commit = commits_[index];
    commit.used = true;
    commit.slot = kNoSlot;
    commit.reconvergence = Position::Exit();
    return static_cast<uint32_t>(index);
  }
  // Good until the next Take.
  PendingCommit& operator[](uint32_t index) { return commits_[index]; }
  // The number may be given again; what the commit holds stays until then.
  void Free(uint32_t index) { commits_[index].used = false; }

 private:
  std::vector<PendingCommit> commits_;
};

}  // namespace heddle::replay

#endif  // HEDDLE_REPLAY_POLICIES_DIVERGENCE_HARP_PENDING_COMMITS_H_
