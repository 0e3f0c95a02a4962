// What a warp issues of machine code, whose guarded instructions are no branches.
#ifndef HEDDLE_TOOLS_EXCHANGE_ACCELSIM_WARP_ISSUES_H_
#define HEDDLE_TOOLS_EXCHANGE_ACCELSIM_WARP_ISSUES_H_

#include <span>

#include "replay/analysis/alignment.h"
#include "replay/analysis/warp_paths.h"

namespace heddle::tools::accelsim {

// The issues of a warp with a reconvergence stack, in order, as replay::ReconvergingAtPostDominators has them, but for
// guards (trace::Program::DecidesGuard): the guarded instruction issues once, right behind the decision, for the lanes
// whose predicate holds. That may be none.
replay::Alignment IssuesWithGuards(std::span<const replay::ThreadPath* const> threads, replay::PieceTable& pieces);

}  // namespace heddle::tools::accelsim

#endif  // HEDDLE_TOOLS_EXCHANGE_ACCELSIM_WARP_ISSUES_H_
