#include "replay/policies/divergence/shared/reconvergence_points.h"

namespace heddle::replay {

using trace::v1::Terminator;

ReconvergencePoints::ReconvergencePoints(const trace::Program& program, ReconvergenceSource source)
    : program_(program), source_(source), branches_(program.blocks().size()), points_(program.blocks().size()) {
  for (uint32_t b = 0; b < program.blocks().size(); ++b) {
    const trace::Block& block = program.block(b);
    switch (block.terminator) {
      case Terminator::BRANCH_CONDITIONAL:
      case Terminator::BRANCH_WIDE:
        branches_[b] = source != ReconvergenceSource::kCompilerBarrier || HasBarrier(block);
        if (branches_[b] && block.post_dominator != trace::kNoBlock) points_[block.post_dominator] = true;
        break;
      case Terminator::CALL_INDIRECT:
        branches_[b] = true;
        points_[block.successor] = true;
        break;
      case Terminator::CALL:
        // A branch whose post-dominator is the end of the function reconverges behind the call.
        if (source == ReconvergenceSource::kPostDominator && block.successor != trace::kNoBlock) {
          points_[block.successor] = true;
        }
        break;
      default:
        break;
    }
  }
}

bool ReconvergencePoints::HasBarrier(const trace::Block& block) const {
  if (block.post_dominator == trace::kNoBlock) return false;
  if ((program_.instruction(block.first + block.count - 1).flags() & trace::v1::FLAG_UNIFORM) != 0) return false;
  const trace::Block& reconvergence_point = program_.block(block.post_dominator);
  return reconvergence_point.count > 1 || reconvergence_point.terminator != Terminator::EXIT;
}

ParameterSpec ReconvergenceParameter(const std::string& otherwise, bool frontier) {
  ParameterSpec spec{.name = "reconvergence",
                     .type = ParameterType::kChoice,
                     .default_value = otherwise,
                     .choices = {"post_dominator", "compiler_barrier"},
                     .description =
                         "where threads that have parted may rejoin: at the branch's immediate "
                         "post-dominator; or at those of them where compilers put convergence barriers",
                     .source = "Fung, section 3.2; arXiv 2407.02944"};
  if (frontier) {
    spec.choices.push_back("frontier");
    spec.description += "; or at the start of any block where others of the warp wait";
    spec.source += "; Diamos et al., MICRO 2011";
  }
  return spec;
}

ReconvergenceSource ReconvergenceOf(const Parameters& parameters) {
  const std::string& name = parameters.Choice("reconvergence");
  if (name == "frontier") return ReconvergenceSource::kFrontier;
  return name == "compiler_barrier" ? ReconvergenceSource::kCompilerBarrier : ReconvergenceSource::kPostDominator;
}

}  // namespace heddle::replay
