#include "tracegen/execute/checks/global_races.h"

#include <algorithm>
#include <tuple>

#include "tracegen/instrument/thread_context.h"
#include "traces/base/status_macros.h"

namespace heddle::tracegen {
namespace {

constexpr uint32_t kNoSample = ~0u;  // GlobalAccess::thread

}  // namespace

GlobalRaces::GlobalRaces(const trace::Program& program, uint32_t threads, std::vector<uint32_t> constants,
                         BlockStore& store)
    : accesses_(program, threads, store), constants_(std::move(constants)), differences_(accesses_) {}

GlobalRaces::Use* GlobalRaces::UseOf(uint64_t unit) const {
  const auto page = pages_.find(unit >> kPageBits);
  return page == pages_.end() ? nullptr : &(*page->second)[unit & ((1u << kPageBits) - 1)];
}

absl::Status GlobalRaces::KeepMemory() {
  const std::vector<uint64_t> blocks = accesses_.blocks();
  for (const uint64_t block : blocks) {
    absl::Status status = accesses_.ForEachAccess(block, [this](const GlobalAccess& access, uint64_t address) {
      if (access.item->kind == AccessKind::kLoad) return;
      accesses_.ForEachUnit(address, *access.item, [this](uint64_t unit) {
        std::unique_ptr<Page>& page = pages_[unit >> kPageBits];
        if (page == nullptr && pages_.size() > kMostPages) {
          pages_.erase(unit >> kPageBits);
          return;
        }
        if (page == nullptr) page = std::make_unique<Page>();
        (*page)[unit & ((1u << kPageBits) - 1)].written = true;
      });
    });
    if (!status.ok()) return status;
  }
  if (pages_.empty()) return absl::OkStatus();
  for (const uint64_t block : blocks) {
    absl::Status status = accesses_.ForEachAccess(block, [this](const GlobalAccess& access, uint64_t address) {
      const uint64_t thread = 1 + access.block * accesses_.threads() + access.thread;
      accesses_.ForEachUnit(address, *access.item, [this, thread, &access](uint64_t unit) {
        Use* use = UseOf(unit);
        if (use == nullptr || !use->written) return;
        if (use->thread == 0) use->thread = thread;
        use->shared |= use->thread != thread;
        use->between |= (use->thread - 1) / accesses_.threads() != access.block;
      });
    });
    if (!status.ok()) return status;
  }
  const uint64_t page_bytes = uint64_t{1} << (kPageBits + accesses_.unit_bits());
  for (const auto& [number, page] : pages_) differences_.Keep(accesses_.AddressOf(number << kPageBits), page_bytes);
  return absl::OkStatus();
}

void GlobalRaces::Samples::Add(const GlobalAccess& access) {
  const auto warp = [](const GlobalAccess& of) { return of.thread / kWarpWidth; };
  if (accesses[0].thread == kNoSample) {
    accesses[0] = access;
  } else if (warp(access) != warp(accesses[0])) {
    if (accesses[2].thread == kNoSample) accesses[2] = access;
  } else if (access.thread != accesses[0].thread && accesses[1].thread == kNoSample) {
    accesses[1] = access;
  }
}

bool GlobalRaces::IsBenign(const GlobalAccess& a, const GlobalAccess& b, uint64_t unit) const {
  if (a.item->is_sync && b.item->is_sync) return true;
  if (a.item->kind != AccessKind::kStore || b.item->kind != AccessKind::kStore) return false;
  if (!constants_.empty() && constants_[a.item->pc] != 0 && constants_[a.item->pc] == constants_[b.item->pc]) {
    return true;
  }
  return differences_.has_runs() && !differences_.Contains(unit);
}

// Of two threads that no barrier orders.
void GlobalRaces::Compare(uint64_t unit, const GlobalAccess& a, const GlobalAccess& b) {
  if ((a.item->kind == AccessKind::kLoad && b.item->kind == AccessKind::kLoad) || IsBenign(a, b, unit) ||
      syncs_.AreOrdered(a, b))
    return;
  // Plain stores before atomics, before loads.
  const auto rank = [](const GlobalAccess& access) {
    return std::pair(access.item->kind == AccessKind::kStore    ? 0
                     : access.item->kind == AccessKind::kAtomic ? 1
                                                                : 2,
                     access.item->pc);
  };
  const GlobalAccess& writer = rank(a) <= rank(b) ? a : b;
  const GlobalAccess& other = rank(a) <= rank(b) ? b : a;
  RacePair& race = races_[{writer.item->pc, other.item->pc}];
  if (race.units.empty()) {
    race.unit = unit;
    race.writer = writer;
    race.other = other;
  }
  race.units.insert(unit);
}

absl::Status GlobalRaces::FindInBlock(uint64_t block) {
  std::vector<Event> events;
  absl::Status status = accesses_.ForEachAccess(block, [&](const GlobalAccess& access, uint64_t address) {
    if (access.item->is_sync) syncs_.Add(access, address);
    accesses_.ForEachUnit(address, *access.item, [&](uint64_t unit) {
      if (access.item->kind != AccessKind::kLoad) differences_.NoteWriter(unit, access.item->pc);
      if (const Use* use = UseOf(unit); use != nullptr && use->shared) events.push_back({unit, access});
    });
  });
  if (!status.ok()) return status;
  std::ranges::sort(events, [](const Event& a, const Event& b) {
    return std::tie(a.unit, a.access.barriers, a.access.thread, a.access.position) <
           std::tie(b.unit, b.access.barriers, b.access.thread, b.access.position);
  });
  std::map<trace::Pc, Samples> here;
  for (auto event = events.begin(); event != events.end();) {
    const uint64_t unit = event->unit;
    const uint32_t barriers = event->access.barriers;
    here.clear();
    for (; event != events.end() && event->unit == unit && event->access.barriers == barriers; ++event) {
      auto known = here.find(event->access.item->pc);
      if (known == here.end()) {
        if (here.size() >= kMostInstructions) continue;
        known = here.emplace(event->access.item->pc, Samples()).first;
        for (GlobalAccess& sample : known->second.accesses) sample.thread = kNoSample;
      }
      known->second.Add(event->access);
    }
    for (auto a = here.begin(); a != here.end(); ++a) {
      for (auto b = a; b != here.end(); ++b) {
        for (const GlobalAccess& first : a->second.accesses) {
          for (const GlobalAccess& second : b->second.accesses) {
            if (first.thread == kNoSample || second.thread == kNoSample || first.thread == second.thread) continue;
            const bool one_warp = first.thread / kWarpWidth == second.thread / kWarpWidth;
            if (one_warp && first.warp_operations != second.warp_operations) continue;
            Compare(unit, first, second);
          }
        }
      }
      if (!UseOf(unit)->between) continue;
      BlockSamples& blocks =
          between_[unit]
              .try_emplace(a->first,
                           BlockSamples{{GlobalAccess{.thread = kNoSample}, GlobalAccess{.thread = kNoSample}}})
              .first->second;
      const GlobalAccess& first = a->second.accesses[0];
      if (blocks.accesses[0].thread == kNoSample) {
        blocks.accesses[0] = first;
      } else if (blocks.accesses[0].block != block && blocks.accesses[1].thread == kNoSample) {
        blocks.accesses[1] = first;
      }
    }
  }
  return absl::OkStatus();
}

absl::Status GlobalRaces::Find(const std::vector<trace::v1::Allocation>& allocations,
                               trace::v1::Certificate& certificate) {
  if (pages_.empty()) return absl::OkStatus();
  const bool any = std::ranges::any_of(pages_, [](const auto& page) {
    return std::ranges::any_of(*page.second, [](const Use& use) { return use.shared; });
  });
  if (!any && differences_.empty()) return absl::OkStatus();
  for (const uint64_t block : accesses_.blocks()) {
    HEDDLE_RETURN_IF_ERROR(FindInBlock(block));
  }
  for (const auto& [unit, instructions] : between_) {
    for (auto a = instructions.begin(); a != instructions.end(); ++a) {
      for (auto b = a; b != instructions.end(); ++b) {
        for (const GlobalAccess& first : a->second.accesses) {
          for (const GlobalAccess& second : b->second.accesses) {
            if (first.thread == kNoSample || second.thread == kNoSample || first.block == second.block) continue;
            Compare(unit, first, second);
          }
        }
      }
    }
  }
  for (const auto& [pair, race] : races_) {
    trace::v1::Race& found = *certificate.add_race();
    found.set_writer(pair.first);
    found.set_other(pair.second);
    found.set_places(race.units.size());
    found.set_address(accesses_.AddressOf(race.unit));
    found.set_writer_block(race.writer.block);
    found.set_writer_thread(race.writer.thread);
    found.set_other_block(race.other.block);
    found.set_other_thread(race.other.thread);
  }
  differences_.AddTo(allocations, certificate);
  return absl::OkStatus();
}

}  // namespace heddle::tracegen
