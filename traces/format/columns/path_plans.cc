#include "traces/format/columns/path_plans.h"

#include <algorithm>
#include <span>

namespace heddle::trace {
namespace {

// Plans take up to some 60 bytes per access of a distinct path.
constexpr size_t kMostPlannedAccesses = size_t{1} << 17;
constexpr size_t kMostValues = size_t{1} << 16;  // a place takes 16 bits
// Threads that are walked together, and the values of theirs that are not bases: what they read and write stays in the
// first-level cache.
constexpr uint64_t kShortThreads = 128;
constexpr uint64_t kShortValues = 2048;
constexpr uint64_t kShortAccesses = 64;

}  // namespace

void PathPlans::Clear() {
  latest_.assign(columns_.slot_count(), Latest());
  occurrence_.assign(columns_.count, 0);
  Forget(PathPlan());
}

void PathPlans::Forget(const PathPlan& plan) {
  places_.resize(plan.first_place);
  values_.resize(plan.first_value);
  base_columns_.resize(plan.first_value);
  carries_.resize(plan.first_carry);
}

// Where the threads of a path start: bases are known, other columns have no latest address, chains have their start.
void PathPlans::Start(const WalkedPaths::Path& path, PathPlan& plan) {
  plan.first_place = places_.size();
  plan.first_value = values_.size();
  plan.first_carry = carries_.size();
  const std::vector<ColumnCursor>& cursors = columns_.cursors;
  const auto columns = std::span(columns_.walked->columns).subspan(path.first_column, path.column_count);
  for (const uint16_t c : columns) {
    const uint32_t target = cursors[c].target;
    if (columns_.IsChainSlot(target)) latest_[target].value = kNoValue;
  }
  for (const uint16_t c : columns) {
    const uint32_t target = cursors[c].target;
    if (!columns_.IsChainSlot(target) || latest_[target].value != kNoValue) continue;
    const v1::Chain& chain = columns_.chains[target - columns_.ChainSlot(0)];
    if (chain.carry()) {
      latest_[target] = {.value = ++plan.carry_count};
      carries_.push_back({.slot = target});
    } else {
      latest_[target] = {.added = chain.start()};
    }
  }
  for (size_t k = 0; k < columns.size(); ++k) {
    const uint16_t c = columns[k];
    const ColumnCursor& cursor = cursors[c];
    occurrence_[c] = columns_.terms.first_sum.empty() ? 0 : columns_.terms.first_sum[path.first_column + k];
    latest_[c] = Latest();
    if (cursor.source < columns_.count) latest_[cursor.source] = Latest();
    if (!cursor.separable) continue;
    latest_[columns_.BaseSlot(c)] = {.value = plan.carry_count + ++plan.base_count};
    values_.push_back({.stream = &progress_.starts[c].next_base, .stride = sizeof(uint64_t)});
    base_columns_.push_back(c);
  }
  plan.value_count = plan.base_count;
}

bool PathPlans::Make(const WalkedPaths::Path& path, uint64_t accesses, bool alone, PathPlan& plan) {
  if (places_.size() + accesses > kMostPlannedAccesses) return false;
  Start(path, plan);
  places_.resize(plan.first_place + accesses);
  added_.resize(accesses);
  std::vector<ColumnCursor>& cursors = columns_.cursors;
  const uint16_t* sequence = columns_.walked->sequence.data() + path.first_access;
  for (uint64_t i = 0; i < accesses; ++i) {
    const uint16_t c = sequence[i];
    ColumnCursor& cursor = cursors[c];
    Latest address = latest_[cursor.source];
    const uint64_t bias = cursor.chained ? cursor.biases[address.state] : 0;
    address.state = 0;
    if (cursor.separable) {
      address.added += bias + columns_.storage[c].addends[occurrence_[c]++];
    } else if (cursor.stride == 0 && !cursor.shifts) {
      address.added += bias + *cursor.next;
    } else {
      Value value{.stream = &cursor.next, .source = address.value, .constant = bias};
      value.stride = static_cast<uint8_t>(cursor.stride);
      if (cursor.shifts) {
        value.left = cursor.left;
        value.right = cursor.right;
        value.before = address.added;
        plan.shifts = true;
      } else {
        value.constant += address.added;
      }
      values_.push_back(value);
      address = {.value = plan.carry_count + ++plan.value_count};
    }
    if (plan.carry_count + plan.value_count >= kMostValues) {
      Forget(plan);
      return false;
    }
    places_[plan.first_place + i] = static_cast<uint16_t>(address.value);
    added_[i] = address.added;
    latest_[c] = address;
    if (cursor.target != c) {
      address.state = cursor.state;
      latest_[cursor.target] = address;
    }
  }
  // Where nearly every access makes a value, or begins with a base, nothing is gained.
  const uint64_t own = plan.value_count - (alone ? 0 : plan.base_count);
  if (own * 4 > accesses * 3) {
    Forget(plan);
    return false;
  }
  base_columns_.resize(values_.size());
  for (Carry& carry : std::span(carries_).subspan(plan.first_carry)) carry.last = latest_[carry.slot];
  of_thread_.resize(std::max<size_t>(of_thread_.size(), 1 + plan.carry_count + plan.value_count));
  return true;
}

// Finds the values of the next thread. Returns the bits that 32-bit offsets of their accesses lack, once the plan is
// finished.
template <bool kShifts>
inline uint64_t PathPlans::FindValues(const PathPlan& plan) {
  uint64_t beyond = 0;
  uint64_t* const values = of_thread_.data();
  uint64_t* next = values;
  *next++ = 0;
  const auto carries = std::span(carries_).subspan(plan.first_carry, plan.carry_count);
  for (const Carry& carry : carries) {
    const uint64_t value = progress_.slots[carry.slot].address;
    *next++ = value;
    if (carry.reaches) beyond |= (value + carry.reach.lowest) | (value + carry.reach.highest);
  }
  for (const Value& planned : std::span(values_).subspan(plan.first_value, plan.value_count)) {
    uint64_t value = values[planned.source];
    if constexpr (kShifts) {
      value = static_cast<uint64_t>(static_cast<int64_t>((value + planned.before) << planned.left) >> planned.right);
    }
    const uint64_t* const from = *planned.stream;
    *planned.stream = reinterpret_cast<const uint64_t*>(reinterpret_cast<const char*>(from) + planned.stride);
    value += planned.constant + *from;
    *next++ = value;
    beyond |= (value + planned.reach.lowest) | (value + planned.reach.highest);
  }
  for (const Carry& carry : carries) {
    progress_.slots[carry.slot].address = values[carry.last.value] + carry.last.added;
  }
  return beyond;
}

// With the values of the path's first thread: gives bases to instructions that have none, and what is added to values
// its last form. Returns the bits that 32-bit offsets of this thread, or of the distances between accesses, lack.
template <typename Output>
uint64_t PathPlans::Finish(const uint16_t* sequence, uint64_t accesses, PathPlan& plan) {
  std::vector<Output>& all_added = AddedOf(Output());
  all_added.resize(plan.first_place + accesses);
  Output* const added = all_added.data() + plan.first_place;
  plan.finished = true;
  if constexpr (sizeof(Output) == 8) {
    std::copy_n(added_.data(), accesses, added);
    return 0;
  }
  const uint16_t* const places = places_.data() + plan.first_place;
  reaches_.assign(1 + plan.carry_count + plan.value_count, FullReach());
  uint64_t beyond = 0;
  for (uint64_t i = 0; i < accesses; ++i) {
    ColumnCursor& cursor = columns_.cursors[sequence[i]];
    const uint64_t address = of_thread_[places[i]] + added_[i];
    if (!cursor.based) {
      cursor.based = true;
      cursor.base = MiddleBase(address);
    }
    beyond |= address - cursor.base;
    const uint64_t offset = added_[i] - cursor.base;
    added[i] = static_cast<Output>(offset);
    FullReach& reach = reaches_[places[i]];
    if (!reach.any) reach = {true, offset, 0, 0};
    const int64_t distance = static_cast<int64_t>(offset - reach.first);
    reach.lowest = std::min(reach.lowest, distance);
    reach.highest = std::max(reach.highest, distance);
  }
  // What counts from 0 has been checked with this thread. For other values: if lowest and highest are within reach and
  // no farther apart, so is all that lies between.
  const FullReach* next = reaches_.data() + 1;
  const auto take = [&](AddressReach& reach) {
    const FullReach& full = *next++;
    reach = {full.first + static_cast<uint64_t>(full.lowest), full.first + static_cast<uint64_t>(full.highest)};
    beyond |= reach.highest - reach.lowest;
    return full.any;
  };
  for (Carry& carry : std::span(carries_).subspan(plan.first_carry)) carry.reaches = take(carry.reach);
  plan.certain = true;
  for (size_t v = plan.first_value; v < values_.size(); ++v) {
    AddressReach& reach = values_[v].reach;
    take(reach);
    if (v - plan.first_value >= plan.base_count) continue;
    const AddressReach& all = columns_.storage[base_columns_[v]].bases_reach;
    const uint64_t bits = (all.highest - all.lowest) | (reach.highest - reach.lowest) | (all.lowest + reach.lowest) |
                          (all.highest + reach.highest);
    plan.certain &= bits >> 32 == 0;
  }
  return beyond >> 32;
}

// Threads with few accesses, without carries and shifts: value after value, then access after access, each of all
// threads.
template <typename Output>
uint64_t PathPlans::WalkShortThreads(const PathPlan& plan, uint64_t accesses, uint64_t threads, Output* output) {
  constexpr bool kWide = sizeof(Output) == 8;
  static constexpr uint64_t kZeros[kShortThreads] = {};
  uint64_t made[kShortValues];
  const uint64_t* by_thread[2 * kShortAccesses + 1] = {kZeros};  // of each value: its elements
  const auto values = std::span(values_).subspan(plan.first_value, plan.value_count);
  const auto bases = values.first(plan.base_count);
  const auto others = values.subspan(plan.base_count);
  uint64_t beyond = 0;
  const auto check = [&](const uint64_t* elements, const AddressReach& reach) {
    for (uint64_t t = 0; t < threads && !kWide; ++t) {
      beyond |= (elements[t] + reach.lowest) | (elements[t] + reach.highest);
    }
  };
  for (size_t v = 0; v < bases.size(); ++v) {
    by_thread[v + 1] = *bases[v].stream;
    if (!plan.certain) check(*bases[v].stream, bases[v].reach);
  }
  for (size_t v = 0; v < others.size(); ++v) {
    const Value& value = others[v];
    // A column has as many elements per thread as there are values that it makes.
    uint64_t before = 0;
    uint64_t step = 0;  // bytes from thread to thread
    for (size_t other = 0; other < others.size(); ++other) {
      if (others[other].stream != value.stream) continue;
      before += other < v ? value.stride : 0;
      step += value.stride;
    }
    const char* from = reinterpret_cast<const char*>(*value.stream) + before;
    const uint64_t* const source = by_thread[value.source];
    uint64_t* const to = made + v * threads;
    for (uint64_t t = 0; t < threads; ++t, from += step) {
      to[t] = source[t] + value.constant + *reinterpret_cast<const uint64_t*>(from);
    }
    by_thread[bases.size() + v + 1] = to;
    check(to, value.reach);
  }
  for (const Value& value : values) {
    const char* const from = reinterpret_cast<const char*>(*value.stream);
    *value.stream = reinterpret_cast<const uint64_t*>(from + value.stride * threads);
  }
  const uint16_t* const places = places_.data() + plan.first_place;
  const Output* const added = AddedOf(Output()).data() + plan.first_place;
  for (uint64_t i = 0; i < accesses; ++i) {
    Output* to = output + i;
    const uint64_t* const from = by_thread[places[i]];
    const Output more = added[i];
#pragma GCC unroll 4
    for (uint64_t t = 0; t < threads; ++t, to += accesses) *to = static_cast<Output>(from[t]) + more;
  }
  return beyond >> 32;
}

template <typename Output>
uint64_t PathPlans::Walk(const uint16_t* sequence, uint64_t accesses, uint64_t threads, PathPlan& plan,
                         Output* output) {
  constexpr bool kWide = sizeof(Output) == 8;
  constexpr uint64_t kLeastRun = 8;  // threads
  const uint16_t* const places = places_.data() + plan.first_place;
  const uint64_t* const values = of_thread_.data();
  const auto write = [&] {
    const Output* const added = AddedOf(Output()).data() + plan.first_place;
#pragma GCC unroll 4
    for (uint64_t i = 0; i < accesses; ++i) output[i] = static_cast<Output>(values[places[i]]) + added[i];
    output += accesses;
  };
  uint64_t beyond = 0;
  if (!plan.finished) {
    plan.shifts ? FindValues<true>(plan) : FindValues<false>(plan);
    beyond |= Finish<Output>(sequence, accesses, plan);
    write();
    --threads;
  }
  if (plan.carry_count == 0 && !plan.shifts && accesses <= kShortAccesses && threads >= kLeastRun) {
    const uint64_t at_once =
        std::min(kShortThreads, kShortValues / std::max<uint64_t>(1, plan.value_count - plan.base_count));
    while (threads > 0) {
      const uint64_t some = std::min(threads, at_once);
      beyond |= WalkShortThreads(plan, accesses, some, output);
      output += some * accesses;
      threads -= some;
    }
    return beyond;
  }
  uint64_t bits = 0;
  for (; threads > 0; --threads) {
    bits |= plan.shifts ? FindValues<true>(plan) : FindValues<false>(plan);
    write();
  }
  return kWide ? 0 : beyond | bits >> 32;
}

template uint64_t PathPlans::Walk(const uint16_t*, uint64_t, uint64_t, PathPlan&, uint32_t*);
template uint64_t PathPlans::Walk(const uint16_t*, uint64_t, uint64_t, PathPlan&, uint64_t*);

}  // namespace heddle::trace
