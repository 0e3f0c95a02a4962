// Where diverged threads of a warp may rejoin: a choice apart from the order in which their paths run.
#ifndef HEDDLE_REPLAY_POLICIES_DIVERGENCE_SHARED_RECONVERGENCE_POINTS_H_
#define HEDDLE_REPLAY_POLICIES_DIVERGENCE_SHARED_RECONVERGENCE_POINTS_H_

#include <string>
#include <vector>

#include "replay/seams/divergence_policy.h"
#include "traces/format/program/program.h"

namespace heddle::replay {

enum class ReconvergenceSource {
  // The immediate post-dominator of a branch; at the end of a function its caller's continuation (Fung, section 3.2).
  kPostDominator,
  // The start of any block where others of the warp wait (Diamos et al., MICRO 2011).
  kFrontier,
  // Where compilers are seen to put convergence barriers (BSSY and BSYNC; arXiv 2407.02944): the immediate
  // post-dominator, but only inside the branch's own function, not of branches that static analysis knows to be
  // uniform,
  // and not if nothing but the thread's end is left there (ours).
  kCompilerBarrier,
};

// The points of one program. Where a branch has none of its own, its threads rejoin where those of the branch around it
// do.
class ReconvergencePoints {
 public:
  ReconvergencePoints(const trace::Program& program, ReconvergenceSource source);

  // Where the paths of the branch that resolves meet; Exit() if it has no point. Not for kFrontier.
  Position Of(const Resolution& resolution) const {
    const bool has =
        source_ == ReconvergenceSource::kPostDominator || branches_[program_.block_of(resolution.from.pc())];
    return has ? resolution.reconvergence : Position::Exit();
  }

  // Whether threads may rejoin at `at`, whatever branch has parted them.
  bool MayReconverge(Position at) const {
    if (source_ == ReconvergenceSource::kFrontier) return true;
    const uint32_t block = program_.block_of(at.pc());
    return points_[block] && program_.block(block).first == at.pc();
  }

 private:
  bool HasBarrier(const trace::Block& block) const;

  const trace::Program& program_;
  const ReconvergenceSource source_;
  std::vector<bool> branches_;  // by block: its branch has a point
  std::vector<bool> points_;    // by block: it begins at a point
};

// The parameter `reconvergence`, with `frontier` among its choices if the policy can meet anywhere.
ParameterSpec ReconvergenceParameter(const std::string& otherwise, bool frontier);
ReconvergenceSource ReconvergenceOf(const Parameters& parameters);

}  // namespace heddle::replay

#endif  // HEDDLE_REPLAY_POLICIES_DIVERGENCE_SHARED_RECONVERGENCE_POINTS_H_
