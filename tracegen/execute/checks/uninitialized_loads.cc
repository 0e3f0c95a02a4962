#include "tracegen/execute/checks/uninitialized_loads.h"

#include <algorithm>

namespace heddle::tracegen {

void UninitializedLoads::LookAt(const SharedAccesses& accesses, uint64_t block) {
  if (accesses.paths.is_first()) settled_ = kNever;
  if (found_.has_value()) return;
  NoteStores(accesses, block);
  Find(accesses, block);
}

// One number of barriers after the other, so that the first store to a place that is found is its first, and nothing is
// left to be found when every place has had a plain one. (Of a block in parts each part begins anew, and ends where
// those before have found plain stores to every place.)
void UninitializedLoads::NoteStores(const SharedAccesses& accesses, uint64_t block) {
  const SharedPaths& paths = accesses.paths;
  for (uint32_t t = 0; t < paths.threads(); ++t) next_span_[t] = paths.path(t).first;
  stored_units_ = 0;
  for (uint32_t barriers = 1; barriers < settled_ && !(paths.is_whole() && stored_units_ == units_);) {
    uint32_t next_barriers = kNever;
    for (uint32_t t = 0; t < paths.threads(); ++t) {
      uint32_t& s = next_span_[t];
      const uint32_t end = paths.path(t).end;
      for (; s < end && paths.span(s).Barriers() <= barriers; ++s) {
        if (paths.span(s).kinds != AccessKind::kLoad) NoteStoresOf(accesses, paths.span(s), t, block);
      }
      if (s < end) next_barriers = std::min(next_barriers, paths.span(s).Barriers());
    }
    barriers = next_barriers;
  }
}

void UninitializedLoads::NoteStoresOf(const SharedAccesses& accesses, const SharedSpan& span, uint32_t thread,
                                      uint64_t block) {
  const uint32_t barriers = span.Barriers();
  for (uint32_t i = span.first; i < span.end; ++i) {
    const SharedStep& step = accesses.paths.step(i);
    if (step.kind == AccessKind::kLoad) continue;
    const SharedUnits units = accesses.UnitsOf(thread, step);
    for (uint32_t unit = units.first; unit < units.end; ++unit) {
      FirstStore& first = first_store_[unit];
      if (first.block != block) first = {block, kNever, kNever};
      first.any = std::min(first.any, barriers);
      if (step.kind == AccessKind::kStore) {
        stored_units_ += first.plain == kNever;
        first.plain = std::min(first.plain, barriers);
      }
    }
  }
}

void UninitializedLoads::Find(const SharedAccesses& accesses, uint64_t block) {
  // By which barrier all of shared memory has been stored to.
  uint32_t all = 0;
  uint32_t all_plain = 0;
  for (uint32_t unit = 0; unit < units_ && all != kNever; ++unit) {
    const FirstStore& first = first_store_[unit];
    all = std::max(all, first.block == block ? first.any : kNever);
    all_plain = std::max(all_plain, first.block == block ? first.plain : kNever);
  }
  if (all == kNever) all_plain = kNever;
  settled_ = std::max(all, all_plain);
  const SharedPaths& paths = accesses.paths;
  for (uint32_t t = 0; t < paths.threads(); ++t) {
    for (uint32_t s = paths.path(t).first; s < paths.path(t).end; ++s) {
      const SharedSpan& span = paths.span(s);
      const uint32_t barriers = span.Barriers();
      if (barriers >= settled_) break;
      const uint32_t doubtful =
          (barriers < all ? AccessKind::kLoad : 0) | (barriers < all_plain ? AccessKind::kAtomic : 0);
      if ((span.kinds & doubtful) == 0) continue;
      for (uint32_t i = span.first; i < span.end; ++i) {
        const SharedStep& step = accesses.paths.step(i);
        if (step.kind == AccessKind::kStore) continue;
        const SharedUnits units = accesses.UnitsOf(t, step);
        for (uint32_t unit = units.first; unit < units.end; ++unit) {
          const FirstStore& first = first_store_[unit];
          const uint32_t stored = first.block != block               ? kNever
                                  : step.kind == AccessKind::kAtomic ? first.plain
                                                                     : first.any;
          if (stored <= barriers) continue;
          found_ = UninitializedLoad{step.pc, block, t};
          return;
        }
      }
    }
  }
}

}  // namespace heddle::tracegen
