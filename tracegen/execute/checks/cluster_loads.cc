#include "tracegen/execute/checks/cluster_loads.h"

#include <tuple>

namespace heddle::tracegen {

void ClusterLoads::LookAt(const SharedAccesses& accesses, uint64_t block, bool last) {
  if (found_.has_value()) return;
  const SharedPaths& paths = accesses.paths;
  for (uint32_t t = 0; t < paths.threads(); ++t) {
    for (uint32_t s = paths.path(t).first; s < paths.path(t).end; ++s) {
      for (uint32_t i = paths.span(s).first; i < paths.span(s).end; ++i) {
        const SharedStep& step = paths.step(i);
        const SharedUnits units = accesses.UnitsOf(t, step);
        for (uint32_t unit = units.first; unit < units.end; ++unit) {
          if (step.kind != AccessKind::kLoad) {
            stored_[unit] = true;
          } else if (!loads_[unit].has_value()) {
            loads_[unit] = UninitializedLoad{step.pc, block, t};
          }
        }
      }
    }
  }
  if (last && ++ended_ == blocks_) EndCluster();
}

void ClusterLoads::EndCluster() {
  ended_ = 0;
  const auto place = [](const UninitializedLoad& load) { return std::tuple(load.block, load.thread, load.pc); };
  for (size_t unit = 0; unit < loads_.size(); ++unit) {
    const std::optional<UninitializedLoad>& load = loads_[unit];
    if (load.has_value() && !stored_[unit] && (!found_.has_value() || place(*load) < place(*found_))) found_ = load;
  }
  stored_.assign(stored_.size(), false);
  loads_.assign(loads_.size(), std::nullopt);
}

}  // namespace heddle::tracegen
