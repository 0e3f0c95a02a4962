// What a dispatcher of single warps must keep to, as far as its assignments alone tell.
#ifndef HEDDLE_REPLAY_ENGINE_DISPATCH_WARP_DISPATCH_CHECK_H_
#define HEDDLE_REPLAY_ENGINE_DISPATCH_WARP_DISPATCH_CHECK_H_

#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "replay/seams/block_dispatcher.h"

namespace heddle::replay {

// The rules of virtual blocks, and of clusters of several blocks: all warps of a cluster come in one round, to SMs of
// one group, or all of its blocks go to the virtual blocks of one cluster that did, each to that of its rank. That a
// warp goes on in a virtual block follows from how many warps its hardware warp has had, whatever the dispatcher says.
class WarpDispatchCheck {
 public:
  explicit WarpDispatchCheck(const DispatchContext& context);

  // A warp is sent to a hardware warp that is there and free. What is wrong with that, as words behind "the dispatcher
  // sent warp 1 of block 2 to row 3 of SM 4"; empty if nothing is.
  std::string Take(const WarpAssignment& warp);
  // A round is over. What is wrong with the clusters that began in it, as words behind "the dispatcher sent".
  std::string EndRound();

 private:
  // A cluster that begins in this round.
  struct Begun {
    uint64_t warps = 0;
    uint32_t group = 0;  // of SMs
  };
  // A virtual block, by the block that it ran first.
  struct VirtualBlock {
    uint64_t cluster = 0;
    uint64_t rank = 0;
  };
  // A cluster that goes on in virtual blocks.
  struct GoingOn {
    uint64_t warps = 0;
    uint64_t first_cluster = 0;  // that these have run
  };

  std::string TakeFirst(const WarpAssignment& warp);
  std::string TakeNext(const WarpAssignment& warp);

  const uint64_t cluster_blocks_;
  const uint64_t warps_per_block_;
  const uint32_t group_sms_;
  std::vector<std::vector<uint64_t>> given_;  // by SM and hardware warp: warps that it has had
  // The rest is of clusters of several blocks.
  std::map<uint64_t, Begun> begun_;                                       // by cluster
  std::map<std::pair<uint32_t, uint32_t>, VirtualBlock> virtual_blocks_;  // by SM and place
  std::map<uint64_t, GoingOn> going_on_;  // by cluster, while not all of its warps have come
};

}  // namespace heddle::replay

#endif  // HEDDLE_REPLAY_ENGINE_DISPATCH_WARP_DISPATCH_CHECK_H_
