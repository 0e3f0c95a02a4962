#include "tracegen/execute/checks/shared_check.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <utility>

#include "absl/strings/match.h"

namespace heddle::tracegen {
namespace {

using trace::v1::Instruction;

constexpr uint64_t kBarrierStep = uint64_t{1} << 32;  // of ThreadState::interval
constexpr uint64_t kNoInterval = ~uint64_t{0};

// Shuffles, votes and syncwarp of today's form, which the threads of their mask reach together.
bool SynchronizesWarp(const Instruction& instruction) {
  return instruction.op() == trace::v1::OP_WARP && absl::StrContains(instruction.mnemonic(), "sync");
}

bool MayBeShared(const Instruction& instruction) {
  return instruction.space() == trace::v1::SPACE_SHARED || instruction.space() == trace::v1::SPACE_GENERIC;
}

// Functions stand behind the kernel, and threads within a call are behind those that have returned from it.
uint64_t OrderOf(const trace::Program& program, trace::Pc pc) {
  const bool in_kernel = program.block(program.block_of(pc)).function == 0;
  return pc + (in_kernel ? uint64_t{1} << 32 : 0);
}

}  // namespace

SharedMemoryCheck::SharedMemoryCheck(const trace::Program& program, uint32_t threads, uint32_t shared_bytes,
                                     std::vector<uint32_t> constants)
    : program_(program),
      threads_(threads),
      shared_bytes_(shared_bytes),
      constants_(std::move(constants)),
      path_of_thread_(threads),
      lanes_(kWarpWidth),
      next_stretch_(threads) {
  for (const trace::Block& block : program.blocks()) {
    first_item_.push_back(static_cast<uint32_t>(items_.size()));
    uint32_t position = 0;
    for (trace::Pc pc = block.first; pc < block.first + block.count; ++pc) {
      const Instruction& instruction = program.instruction(pc);
      if (instruction.op() == trace::v1::OP_BARRIER) {
        items_.push_back({0, pc, 0, 0, kBarrier});
      } else if (SynchronizesWarp(instruction)) {
        items_.push_back({0, pc, 0, 0, kWarpOperation});
      }
      if (!trace::Program::HasAddress(instruction)) continue;
      if (MayBeShared(instruction)) {
        const Kind kind = instruction.op() == trace::v1::OP_ATOMIC  ? kAtomic
                          : instruction.op() == trace::v1::OP_STORE ? kStore
                                                                    : kLoad;
        const uint32_t bytes = instruction.access_bytes();
        items_.push_back({position, pc, OrderOf(program, pc), static_cast<uint16_t>(bytes), kind});
        unit_bits_ = std::min(unit_bits_, static_cast<uint32_t>(std::countr_zero(bytes)));
      }
      ++position;
    }
  }
  first_item_.push_back(static_cast<uint32_t>(items_.size()));
  places_.resize((shared_bytes >> unit_bits_) + 1);
  const bool any_atomic = std::ranges::any_of(items_, [](const Item& item) { return item.kind == kAtomic; });
  if (any_atomic) atomic_places_.resize(places_.size());
  first_store_.resize((shared_bytes >> unit_bits_) + 1);
}

// Walks the path of a thread, or of its part, and appends what may be accesses to shared memory to steps_.
SharedMemoryCheck::Path SharedMemoryCheck::StepsOf(std::span<const uint8_t> taken, bool to_exit, ThreadState& state) {
  Path path;
  path.first = path.end = static_cast<uint32_t>(stretches_.size());
  trace::ByteDecisions decisions(taken.data(), taken.size());
  uint64_t instructions = 0;
  uint32_t position = 0;
  trace::Walk(program_, to_exit ? trace::Extent::kRunsToExit : trace::Extent::kCut, decisions, state.walk, ~uint64_t{0},
              instructions, [&](uint32_t index, const trace::Block& block) {
                for (uint32_t i = first_item_[index]; i < first_item_[index + 1]; ++i) {
                  const Item& item = items_[i];
                  if (item.kind == kBarrier) {
                    state.interval = (state.interval / kBarrierStep + 1) * kBarrierStep;
                    continue;
                  }
                  if (item.kind == kWarpOperation) {
                    ++state.interval;
                    continue;
                  }
                  if (stretches_.size() == path.first || stretches_.back().interval != state.interval) {
                    const auto at = static_cast<uint32_t>(steps_.size());
                    stretches_.push_back({state.interval, 0, at, at});
                  }
                  Stretch& stretch = stretches_.back();
                  ++stretch.end;
                  stretch.kinds |= item.kind;
                  path.mixed |= MayHandOff(stretch.kinds, /*several=*/false);
                  path.stores |= stretch.kinds == kStore && stretch.end - stretch.first > 1;
                  steps_.push_back({position + item.position, item.pc, item.order, item.bytes, item.kind});
                }
                position += block.access_count;
              });
  path.end = static_cast<uint32_t>(stretches_.size());
  return path;
}

absl::Status SharedMemoryCheck::AddBlock(uint64_t block, BlockRecords& records, std::span<const uint64_t> consumed,
                                         bool last) {
  steps_.clear();
  stretches_.clear();
  known_paths_.clear();
  if (!in_block_) {
    states_.assign(threads_, ThreadState{});
    settled_ = kNever;
  }
  const bool whole = last && !in_block_;
  ThreadState start;  // of the thread before
  for (uint32_t t = 0; t < threads_; ++t) {
    const std::span<const uint8_t> decisions = records.decisions(t);
    // Threads that decide alike take the same path.
    if (t > 0 && states_[t] == start && records.exited(t) == records.exited(t - 1) &&
        std::ranges::equal(decisions, records.decisions(t - 1))) {
      path_of_thread_[t] = path_of_thread_[t - 1];
      states_[t] = states_[t - 1];
      continue;
    }
    start = states_[t];
    if (!whole) {
      path_of_thread_[t] = StepsOf(decisions, last || records.exited(t), states_[t]);
      continue;
    }
    const std::string_view key(reinterpret_cast<const char*>(decisions.data()), decisions.size());
    const auto [known, fresh] = known_paths_.try_emplace(key);
    if (fresh) known->second = StepsOf(decisions, true, states_[t]);
    path_of_thread_[t] = known->second;
  }
  in_block_ = !last;
  const Threads threads{records, consumed};
  const bool looks_at_stores = block % kStoresSampled == 0;
  for (uint32_t warp = 0; warp * kWarpWidth < threads_; ++warp) FindHandOffs(warp, looks_at_stores, threads);
  if (!uninitialized_.has_value()) {
    NoteStores(block, whole, threads);
    FindUninitialized(block, threads);
  }
  return absl::OkStatus();
}

// Words: pairs of instructions and their counts, three each; then, if there is one, the first load of what is not
// initialized.
std::string SharedMemoryCheck::TakeFindings() {
  std::vector<uint64_t> words = {hand_offs_.size()};
  for (const auto& [pair, count] : hand_offs_) words.insert(words.end(), {pair.first, pair.second, count});
  if (uninitialized_.has_value()) {
    words.insert(words.end(), {uninitialized_->pc, uninitialized_->block, uninitialized_->thread});
  }
  hand_offs_.clear();
  uninitialized_.reset();
  in_block_ = false;
  return std::string(reinterpret_cast<const char*>(words.data()), words.size() * sizeof(uint64_t));
}

void SharedMemoryCheck::AddFindings(std::string_view findings) {
  std::vector<uint64_t> words(findings.size() / sizeof(uint64_t));
  std::memcpy(words.data(), findings.data(), words.size() * sizeof(uint64_t));
  const uint64_t* next = words.data() + 1;
  for (uint64_t i = 0; i < words[0]; ++i, next += 3) {
    hand_offs_[{static_cast<trace::Pc>(next[0]), static_cast<trace::Pc>(next[1])}] += next[2];
  }
  if (uninitialized_.has_value() || next == words.data() + words.size()) return;
  uninitialized_ = Uninitialized{static_cast<trace::Pc>(next[0]), next[1], static_cast<uint32_t>(next[2])};
}

SharedMemoryCheck::Units SharedMemoryCheck::UnitsOf(const Threads& threads, uint32_t thread, const Step& step) const {
  // What lies behind the end of a part may not have been written.
  if (step.position >= threads.consumed[thread]) return {};
  const uint64_t offset = threads.records.address(thread, step.position) - kSharedBase;
  if (offset >= shared_bytes_ || step.bytes > shared_bytes_ - offset) return {};
  return {static_cast<uint32_t>(offset >> unit_bits_),
          static_cast<uint32_t>((offset + step.bytes - 1) >> unit_bits_) + 1};
}

// One number of barriers after the other, so that the first store to a place that is found is its first, and nothing is
// left to be found when every place has had a plain one. (Of a block in parts each part begins anew, and ends where
// those before have found plain stores to every place.)
void SharedMemoryCheck::NoteStores(uint64_t block, bool whole, const Threads& threads) {
  for (uint32_t t = 0; t < threads_; ++t) next_stretch_[t] = path_of_thread_[t].first;
  stored_units_ = 0;
  for (uint32_t barriers = 1; barriers < settled_ && !(whole && stored_units_ == unit_count());) {
    uint32_t next_barriers = kNever;
    for (uint32_t t = 0; t < threads_; ++t) {
      uint32_t& s = next_stretch_[t];
      for (; s < path_of_thread_[t].end && BarriersOf(stretches_[s]) <= barriers; ++s) {
        if (stretches_[s].kinds != kLoad) NoteStoresOf(stretches_[s], t, block, threads);
      }
      if (s < path_of_thread_[t].end) next_barriers = std::min(next_barriers, BarriersOf(stretches_[s]));
    }
    barriers = next_barriers;
  }
}

void SharedMemoryCheck::NoteStoresOf(const Stretch& stretch, uint32_t thread, uint64_t block, const Threads& threads) {
  const uint32_t barriers = BarriersOf(stretch);
  for (uint32_t i = stretch.first; i < stretch.end; ++i) {
    const Step& step = steps_[i];
    if (step.kind == kLoad) continue;
    const Units units = UnitsOf(threads, thread, step);
    for (uint32_t unit = units.first; unit < units.end; ++unit) {
      FirstStore& first = first_store_[unit];
      if (first.block != block) first = {block, kNever, kNever};
      first.any = std::min(first.any, barriers);
      if (step.kind == kStore) {
        stored_units_ += first.plain == kNever;
        first.plain = std::min(first.plain, barriers);
      }
    }
  }
}

void SharedMemoryCheck::FindUninitialized(uint64_t block, const Threads& threads) {
  // By which barrier all of shared memory has been stored to.
  uint32_t all = 0;
  uint32_t all_plain = 0;
  for (uint32_t unit = 0; unit < unit_count() && all != kNever; ++unit) {
    const FirstStore& first = first_store_[unit];
    all = std::max(all, first.block == block ? first.any : kNever);
    all_plain = std::max(all_plain, first.block == block ? first.plain : kNever);
  }
  if (all == kNever) all_plain = kNever;
  settled_ = std::max(all, all_plain);
  for (uint32_t t = 0; t < threads_; ++t) {
    for (uint32_t s = path_of_thread_[t].first; s < path_of_thread_[t].end; ++s) {
      const Stretch& stretch = stretches_[s];
      const uint32_t barriers = BarriersOf(stretch);
      if (barriers >= settled_) break;
      const uint32_t doubtful = (barriers < all ? kLoad : 0) | (barriers < all_plain ? kAtomic : 0);
      if ((stretch.kinds & doubtful) == 0) continue;
      for (uint32_t i = stretch.first; i < stretch.end; ++i) {
        const Step& step = steps_[i];
        if (step.kind == kStore) continue;
        const Units units = UnitsOf(threads, t, step);
        for (uint32_t unit = units.first; unit < units.end; ++unit) {
          const FirstStore& first = first_store_[unit];
          const uint32_t stored = first.block != block ? kNever : step.kind == kAtomic ? first.plain : first.any;
          if (stored <= barriers) continue;
          uninitialized_ = Uninitialized{step.pc, block, t};
          return;
        }
      }
    }
  }
}

void SharedMemoryCheck::FindHandOffs(uint32_t warp, bool looks_at_stores, const Threads& threads) {
  const uint32_t first = warp * kWarpWidth;
  const uint32_t lanes = std::min<uint32_t>(kWarpWidth, threads_ - first);
  const Path& path = path_of_thread_[first];
  if (!path.mixed && !(path.stores && looks_at_stores) &&
      std::all_of(&path, &path + lanes, [&path](const Path& other) { return other == path; }))
    return;
  uint32_t next[kWarpWidth] = {};
  for (uint32_t lane = 0; lane < lanes; ++lane) next[lane] = path_of_thread_[first + lane].first;
  stretch_of_lane_.fill(nullptr);
  for (;;) {
    uint64_t interval = kNoInterval;
    for (uint32_t lane = 0; lane < lanes; ++lane) {
      if (next[lane] == path_of_thread_[first + lane].end) continue;
      interval = std::min(interval, stretches_[next[lane]].interval);
    }
    if (interval == kNoInterval) return;
    uint32_t kinds = 0;
    const Step* step = nullptr;  // of all lanes, if each has one
    bool several = false;
    for (uint32_t lane = 0; lane < lanes; ++lane) {
      const bool takes_part =
          next[lane] != path_of_thread_[first + lane].end && stretches_[next[lane]].interval == interval;
      stretch_of_lane_[lane] = takes_part ? &stretches_[next[lane]++] : nullptr;
      if (!takes_part) continue;
      const Stretch& stretch = *stretch_of_lane_[lane];
      kinds |= stretch.kinds;
      if (step == nullptr) step = &steps_[stretch.first];
      several |= stretch.end - stretch.first > 1 || steps_[stretch.first].pc != step->pc;
    }
    if (!MayHandOff(kinds, several && looks_at_stores)) continue;
    BeginInterval();
    if (!FindHandOffsInStep(warp, threads)) FindHandOffsIn(warp, threads);
  }
}

bool SharedMemoryCheck::FindHandOffsInStep(uint32_t warp, const Threads& threads) {
  const Stretch* same = nullptr;
  for (const Stretch* stretch : stretch_of_lane_) {
    if (stretch == nullptr) continue;
    if (same == nullptr) same = stretch;
    if (stretch != same) return false;
  }
  units_.clear();
  for (uint32_t i = same->first; i < same->end; ++i) {
    for (uint32_t lane = 0; lane < kWarpWidth; ++lane) {
      if (stretch_of_lane_[lane] == nullptr) continue;
      units_.push_back(UnitsOf(threads, warp * kWarpWidth + lane, steps_[i]));
      if (units_.back().first == units_.back().end) return false;
    }
  }
  const auto lanes = static_cast<uint32_t>(units_.size() / (same->end - same->first));
  if (same->kinds == kStore && StepsLieApart(lanes)) return true;
  const Units* units = units_.data();
  for (uint32_t i = same->first; i < same->end; ++i) {
    ++step_;
    for (uint32_t lane = 0; lane < kWarpWidth; ++lane) {
      if (stretch_of_lane_[lane] != nullptr) Touch(lane, steps_[i].pc, steps_[i].kind, *units++);
    }
    EndStep();
  }
  return true;
}

bool SharedMemoryCheck::StepsLieApart(uint32_t lanes) const {
  Units all = {~0u, 0};  // of the steps before
  for (size_t i = 0; i < units_.size(); i += lanes) {
    Units step = units_[i];
    for (uint32_t lane = 1; lane < lanes; ++lane) {
      step.first = std::min(step.first, units_[i + lane].first);
      step.end = std::max(step.end, units_[i + lane].end);
    }
    if (i != 0 && step.first < all.end && all.first < step.end) return false;
    all = {std::min(all.first, step.first), std::max(all.end, step.end)};
  }
  return true;
}

void SharedMemoryCheck::FindHandOffsIn(uint32_t warp, const Threads& threads) {
  for (uint32_t lane = 0; lane < kWarpWidth; ++lane) {
    lanes_[lane].clear();
    if (stretch_of_lane_[lane] == nullptr) continue;
    for (uint32_t i = stretch_of_lane_[lane]->first; i < stretch_of_lane_[lane]->end; ++i) {
      const Units units = UnitsOf(threads, warp * kWarpWidth + lane, steps_[i]);
      if (units.first != units.end) lanes_[lane].push_back({steps_[i].order, units, steps_[i].pc, steps_[i].kind});
    }
  }
  size_t next[kWarpWidth] = {};
  for (;;) {
    uint64_t order = ~uint64_t{0};
    for (uint32_t lane = 0; lane < kWarpWidth; ++lane) {
      if (next[lane] != lanes_[lane].size()) order = std::min(order, lanes_[lane][next[lane]].order);
    }
    if (order == ~uint64_t{0}) return;
    ++step_;
    for (uint32_t lane = 0; lane < kWarpWidth; ++lane) {
      if (next[lane] == lanes_[lane].size() || lanes_[lane][next[lane]].order != order) continue;
      const Access& access = lanes_[lane][next[lane]++];
      Touch(lane, access.pc, access.kind, access.units);
    }
    EndStep();
  }
}

void SharedMemoryCheck::BeginInterval() {
  step_ = 0;
  if (++stamp_ != 0) return;
  for (Place& place : places_) place.stamp = 0;
  for (AtomicPlace& place : atomic_places_) place.stamp = 0;
  stamp_ = 1;
}

void SharedMemoryCheck::Touch(uint32_t lane, trace::Pc pc, Kind kind, Units units) {
  const uint32_t self = 1u << lane;
  const auto number = static_cast<uint8_t>(1 + lane);
  const auto reads = [&](const Latest& written) {
    if (written.IsOfOthers(self)) ++hand_offs_[{written.pc, pc}];
  };
  const auto overwrites = [&](const LatestTwo& read) {
    if (const trace::Pc* other = read.ByOther(number)) ++hand_offs_[{pc, *other}];
  };
  for (uint32_t unit = units.first; unit < units.end; ++unit) {
    Place& place = At(places_, unit);
    AtomicPlace* const atomic = atomic_places_.empty() ? nullptr : &At(atomic_places_, unit);
    switch (kind) {
      case kLoad:
        reads(place.store);
        if (atomic != nullptr) reads(atomic->latest);
        place.load.Add(pc, number);
        break;
      case kStore:
        overwrites(place.load);
        if (atomic != nullptr) overwrites(atomic->of_lanes);
        if (place.store.step != step_ && place.store.lanes != 0) {
          if (StoreTheSame(place.store.pc, pc)) {
            place.store.step = step_;
          } else {
            overwritten_.push_back({unit, place.store.pc, place.store.lanes});
          }
        }
        place.store.Add(step_, pc, self);
        break;
      default:
        reads(place.store);
        overwrites(place.load);
        atomic->latest.Add(step_, pc, self);
        atomic->of_lanes.Add(pc, number);
        break;
    }
  }
}

void SharedMemoryCheck::EndStep() {
  if (overwritten_.empty()) return;
  for (const Overwritten& old : overwritten_) {
    const Latest& store = places_[old.unit].store;
    if ((old.lanes & ~store.lanes) != 0) ++hand_offs_[{store.pc, old.pc}];
  }
  overwritten_.clear();
}

}  // namespace heddle::tracegen
