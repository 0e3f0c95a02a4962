#include "tracegen/execute/checks/global_races.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <tuple>

#include "absl/strings/match.h"
#include "tracegen/instrument/thread_context.h"
#include "traces/base/status_macros.h"
#include "traces/format/chunk/walk.h"

namespace heddle::tracegen {
namespace {

using trace::v1::Instruction;

constexpr uint32_t kNoSample = ~0u;  // Access::thread

bool MayBeGlobal(const Instruction& instruction) {
  return instruction.space() == trace::v1::SPACE_GLOBAL || instruction.space() == trace::v1::SPACE_GENERIC;
}

}  // namespace

GlobalRaces::GlobalRaces(const trace::Program& program, uint32_t threads, std::vector<uint32_t> constants,
                         BlockStore& store)
    : program_(program), threads_(threads), constants_(std::move(constants)), store_(store) {
  for (const trace::Block& block : program.blocks()) {
    first_item_.push_back(static_cast<uint32_t>(items_.size()));
    for (trace::Pc pc = block.first; pc < block.first + block.count; ++pc) {
      const Instruction& instruction = program.instruction(pc);
      if (instruction.op() == trace::v1::OP_BARRIER) items_.push_back({pc, 0, kBarrier, false, false, false});
      if (instruction.op() == trace::v1::OP_WARP && absl::StrContains(instruction.mnemonic(), "sync")) {
        items_.push_back({pc, 0, kWarpOperation, false, false, false});
      }
      if (!trace::Program::HasAddress(instruction)) continue;
      const Kind kind = instruction.op() == trace::v1::OP_ATOMIC  ? kAtomic
                        : instruction.op() == trace::v1::OP_STORE ? kStore
                                                                  : kLoad;
      const uint32_t bytes = instruction.access_bytes();
      const bool is_sync = kind == kAtomic || (instruction.flags() & trace::v1::FLAG_VOLATILE) != 0;
      items_.push_back({pc, static_cast<uint16_t>(bytes), kind, is_sync, true, MayBeGlobal(instruction)});
      if (MayBeGlobal(instruction)) unit_bits_ = std::min(unit_bits_, static_cast<unsigned>(std::countr_zero(bytes)));
    }
  }
  first_item_.push_back(static_cast<uint32_t>(items_.size()));
}

// Calls visit(access, address) for every access of the block to global memory, thread after thread.
template <typename Visitor>
absl::Status GlobalRaces::ForEachAccess(uint64_t block, Visitor&& visit) {
  HEDDLE_ASSIGN_OR_RETURN(const StoredBlock* stored, store_.Get(block));
  for (uint32_t t = 0; t < threads_; ++t) {
    const std::span<const uint8_t> taken = stored->decisions_of(t);
    const std::span<const uint64_t> addresses = stored->addresses_of(t);
    trace::ByteDecisions decisions(taken.data(), taken.size());
    trace::WalkState state;
    uint64_t instructions = 0;
    Access access;
    access.block = block;
    access.thread = t;
    trace::Walk(program_, trace::Extent::kRunsToExit, decisions, state, ~uint64_t{0}, instructions,
                [&](uint32_t index, const trace::Block&) {
                  for (uint32_t i = first_item_[index]; i < first_item_[index + 1]; ++i) {
                    const Item& item = items_[i];
                    if (item.kind == kBarrier) {
                      ++access.barriers;
                      access.meetings = 0;
                    }
                    if (item.kind == kWarpOperation) ++access.meetings;
                    if (!item.has_address || access.position >= addresses.size()) continue;
                    access.item = &item;
                    const uint64_t address = addresses[access.position];
                    if (item.is_global && address - kGlobalBase < kGlobalBytes) visit(access, address);
                    ++access.position;
                  }
                });
  }
  return absl::OkStatus();
}

template <typename Visitor>
void GlobalRaces::ForEachUnit(uint64_t address, const Item& item, Visitor&& visit) const {
  const uint64_t offset = address - kGlobalBase;
  for (uint64_t unit = offset >> unit_bits_; unit <= (offset + item.bytes - 1) >> unit_bits_; ++unit) visit(unit);
}

GlobalRaces::Use* GlobalRaces::UseOf(uint64_t unit) const {
  const auto page = pages_.find(unit >> kPageBits);
  return page == pages_.end() ? nullptr : &(*page->second)[unit & ((1u << kPageBits) - 1)];
}

uint64_t GlobalRaces::AddressOf(uint64_t unit) const { return kGlobalBase + (unit << unit_bits_); }

absl::Status GlobalRaces::KeepMemory() {
  const std::vector<uint64_t> blocks = store_.Blocks();
  for (const uint64_t block : blocks) {
    absl::Status status = ForEachAccess(block, [this](const Access& access, uint64_t address) {
      if (access.item->kind == kLoad) return;
      ForEachUnit(address, *access.item, [this](uint64_t unit) {
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
    absl::Status status = ForEachAccess(block, [this](const Access& access, uint64_t address) {
      const uint64_t thread = 1 + access.block * threads_ + access.thread;
      ForEachUnit(address, *access.item, [this, thread, &access](uint64_t unit) {
        Use* use = UseOf(unit);
        if (use == nullptr || !use->written) return;
        if (use->thread == 0) use->thread = thread;
        use->shared |= use->thread != thread;
        use->between |= (use->thread - 1) / threads_ != access.block;
      });
    });
    if (!status.ok()) return status;
  }
  const uint64_t page_bytes = uint64_t{1} << (kPageBits + unit_bits_);
  for (const auto& [number, page] : pages_) {
    kept_.emplace(number, std::string(reinterpret_cast<const char*>(AddressOf(number << kPageBits)), page_bytes));
  }
  return absl::OkStatus();
}

void GlobalRaces::CompareMemory() {
  std::vector<uint64_t>& run = runs_.emplace_back();
  for (const auto& [number, contents] : kept_) {
    const uint64_t base = AddressOf(number << kPageBits);
    const char* now = reinterpret_cast<const char*>(base);
    if (std::memcmp(now, contents.data(), contents.size()) == 0) continue;
    for (size_t i = 0; i < contents.size() && run.size() < kMostDifferent; ++i) {
      if (now[i] == contents[i]) continue;
      run.push_back(base + i);
      different_units_.insert((base + i - kGlobalBase) >> unit_bits_);
    }
  }
}

void GlobalRaces::Samples::Add(const Access& access) {
  const auto warp = [](const Access& of) { return of.thread / kWarpWidth; };
  if (accesses[0].thread == kNoSample) {
    accesses[0] = access;
  } else if (warp(access) != warp(accesses[0])) {
    if (accesses[2].thread == kNoSample) accesses[2] = access;
  } else if (access.thread != accesses[0].thread && accesses[1].thread == kNoSample) {
    accesses[1] = access;
  }
}

void GlobalRaces::AddSync(const Access& access, uint64_t address) {
  if (sync_count_ >= kMostSyncs) return;
  const auto [found, fresh] = syncs_[access.block].try_emplace({address, access.thread});
  Sync& sync = found->second;
  if (fresh) {
    sync = {access.barriers, access.barriers, access.position, access.position};
    ++sync_count_;
  } else {
    sync.last_barriers = access.barriers;
    sync.last_position = access.position;
  }
}

bool GlobalRaces::IsSyncBetween(const Access& first, const Access& second) const {
  const auto behind = syncs_.find(first.block);
  const auto before = syncs_.find(second.block);
  if (behind == syncs_.end() || before == syncs_.end()) return false;
  auto other = before->second.begin();
  uint64_t address = 0;  // of a sync behind the first
  for (const auto& [place, sync] : behind->second) {
    if (place.first == address) continue;
    const bool is_behind =
        (place.second == first.thread && sync.last_position > first.position) || sync.last_barriers > first.barriers;
    if (!is_behind) continue;
    address = place.first;
    while (other != before->second.end() && other->first.first < address) ++other;
    for (auto same = other; same != before->second.end() && same->first.first == address; ++same) {
      if (same->first.second == second.thread && same->second.first_position < second.position) return true;
      if (same->second.first_barriers < second.barriers) return true;
    }
  }
  return false;
}

// The same instructions usually stand in the same relation, so a few answers serve for all.
bool GlobalRaces::AreOrdered(const Access& a, const Access& b) {
  constexpr uint32_t kMostAsked = 1000;
  Order& order = orders_[std::minmax(a.item->pc, b.item->pc)];
  if (order.asked >= kMostAsked) return order.ordered == order.asked;
  ++order.asked;
  const bool ordered = IsSyncBetween(a, b) || IsSyncBetween(b, a);
  order.ordered += ordered;
  return ordered;
}

bool GlobalRaces::IsBenign(const Access& a, const Access& b, uint64_t unit) const {
  if (a.item->is_sync && b.item->is_sync) return true;
  if (a.item->kind != kStore || b.item->kind != kStore) return false;
  if (!constants_.empty() && constants_[a.item->pc] != 0 && constants_[a.item->pc] == constants_[b.item->pc]) {
    return true;
  }
  return !runs_.empty() && !different_units_.contains(unit);
}

// Of two threads that no barrier orders.
void GlobalRaces::Compare(uint64_t unit, const Access& a, const Access& b) {
  if ((a.item->kind == kLoad && b.item->kind == kLoad) || IsBenign(a, b, unit) || AreOrdered(a, b)) return;
  // Plain stores before atomics, before loads.
  const auto rank = [](const Access& access) {
    return std::pair(access.item->kind == kStore ? 0 : access.item->kind == kAtomic ? 1 : 2, access.item->pc);
  };
  const Access& writer = rank(a) <= rank(b) ? a : b;
  const Access& other = rank(a) <= rank(b) ? b : a;
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
  absl::Status status = ForEachAccess(block, [&](const Access& access, uint64_t address) {
    if (access.item->is_sync) AddSync(access, address);
    ForEachUnit(address, *access.item, [&](uint64_t unit) {
      if (access.item->kind != kLoad && different_units_.contains(unit)) writers_.try_emplace(unit, access.item->pc);
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
        for (Access& sample : known->second.accesses) sample.thread = kNoSample;
      }
      known->second.Add(event->access);
    }
    for (auto a = here.begin(); a != here.end(); ++a) {
      for (auto b = a; b != here.end(); ++b) {
        for (const Access& first : a->second.accesses) {
          for (const Access& second : b->second.accesses) {
            if (first.thread == kNoSample || second.thread == kNoSample || first.thread == second.thread) continue;
            const bool one_warp = first.thread / kWarpWidth == second.thread / kWarpWidth;
            if (one_warp && first.meetings != second.meetings) continue;
            Compare(unit, first, second);
          }
        }
      }
      if (!UseOf(unit)->between) continue;
      BlockSamples& blocks =
          between_[unit]
              .try_emplace(a->first, BlockSamples{{Access{.thread = kNoSample}, Access{.thread = kNoSample}}})
              .first->second;
      const Access& first = a->second.accesses[0];
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
  if (!any && different_units_.empty()) return absl::OkStatus();
  for (const uint64_t block : store_.Blocks()) {
    HEDDLE_RETURN_IF_ERROR(FindInBlock(block));
  }
  for (const auto& [unit, instructions] : between_) {
    for (auto a = instructions.begin(); a != instructions.end(); ++a) {
      for (auto b = a; b != instructions.end(); ++b) {
        for (const Access& first : a->second.accesses) {
          for (const Access& second : b->second.accesses) {
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
    found.set_address(AddressOf(race.unit));
    found.set_writer_block(race.writer.block);
    found.set_writer_thread(race.writer.thread);
    found.set_other_block(race.other.block);
    found.set_other_thread(race.other.thread);
  }
  AddDifferences(allocations, certificate);
  return absl::OkStatus();
}

void GlobalRaces::AddDifferences(const std::vector<trace::v1::Allocation>& allocations,
                                 trace::v1::Certificate& certificate) const {
  for (const trace::v1::Allocation& allocation : allocations) {
    trace::v1::MemoryDifference most;
    for (const std::vector<uint64_t>& run : runs_) {
      const auto first = std::lower_bound(run.begin(), run.end(), allocation.base());
      const auto end = std::lower_bound(first, run.end(), allocation.base() + allocation.bytes());
      if (static_cast<uint64_t>(end - first) <= most.bytes()) continue;
      most.set_base(allocation.base());
      most.set_bytes(static_cast<uint64_t>(end - first));
      most.set_address(*first);
      const auto writer = writers_.find((*first - kGlobalBase) >> unit_bits_);
      if (writer != writers_.end()) most.set_writer(writer->second);
    }
    if (most.bytes() != 0) *certificate.add_memory() = most;
  }
}

}  // namespace heddle::tracegen
