// The order in which the basic blocks of a program stand as machine code.
#ifndef HEDDLE_TOOLS_EXCHANGE_ACCELSIM_CODE_LAYOUT_H_
#define HEDDLE_TOOLS_EXCHANGE_ACCELSIM_CODE_LAYOUT_H_

#include <cstdint>
#include <vector>

#include "traces/format/program/program.h"

namespace heddle::tools::accelsim {

// In machine code a block without a branch goes on at what stands behind it, and so does a conditional branch that is
// not taken; blocks of a trace stand in an order in which this need not be so. The layout is the trace's own where that
// is possible, and so are then the PCs. Else the blocks that have to follow one another are put together, as they are
// in the PTX text; a conditional branch is turned round if the place of its target is behind it; and where two blocks
// without a branch go on at the same one, the second gets a branch of its own.
struct CodeLayout {
  struct Place {
    uint32_t first = 0;  // position of the block's first instruction in the code
    // Conditional branches: leads to the successor that the trace calls the fall-through.
    bool turned = false;
    // A branch behind the block's last instruction leads to what should stand there.
    bool jumps_behind = false;
  };
  std::vector<Place> places;    // by block
  std::vector<uint32_t> order;  // blocks as they stand

  // The successor that control comes to without a jump, kNoBlock if the block ends in another way.
  uint32_t FallThrough(const trace::Program& program, uint32_t block) const;
  // The other successor of a conditional branch.
  uint32_t Goal(const trace::Program& program, uint32_t block) const;
};

// `jumps`, by block: whether its last instruction is one that can go on anywhere.
CodeLayout LayOut(const trace::Program& program, const std::vector<bool>& jumps);

}  // namespace heddle::tools::accelsim

#endif  // HEDDLE_TOOLS_EXCHANGE_ACCELSIM_CODE_LAYOUT_H_
