// The part of the address decoder that goes through all accesses, thread after thread in program order.
#include <algorithm>

#include "traces/format/chunk_decoder.h"

namespace heddle::trace {

void AddressDecoder::Rewind() {
  starts_.assign(columns_, ThreadStart());
  for (size_t c = 0; c < columns_; ++c) {
    Cursor& cursor = cursors_[c];
    if (!cursor.used) continue;
    starts_[c] = {storage_[c].bases.data(), storage_[c].addends.data()};
    cursor.next = storage_[c].first;
    cursor.based = cursor.separable;
  }
  slots_.assign(2 * columns_ + chains_.size() + 1, Slot());
  for (Cursor& cursor : cursors_) cursor.from = slots_.data() + cursor.source;
  for (size_t k = 0; k < chains_.size(); ++k) slots_[2 * columns_ + k].address = chains_[k].start();
}

bool AddressDecoder::FindRoots(const WalkedPaths& walked, const WalkedPaths::Path& path, uint64_t accesses,
                               PathPlan& plan) {
  constexpr uint64_t kMostWalkedShare = 4;  // one access in so many
  const auto columns = std::span(walked.columns).subspan(path.first_column, path.column_count);
  const auto counts = std::span(walked.counts).subspan(path.first_column, path.column_count);
  const auto may_have_root = [&](uint32_t c) {
    return cursors_[c].target == c && (cursors_[c].separable || cursors_[c].constant_distance);
  };
  plan.first_walked = walked_columns_.size();
  uint64_t walked_accesses = 0;
  for (size_t k = 0; k < columns.size(); ++k) {
    const uint16_t c = columns[k];
    const Cursor& cursor = cursors_[c];
    column_root_[c].column = kNoColumn;
    occurrence_[c] = first_addend_.empty() ? 0 : first_addend_[path.first_column + k];
    if (cursor.separable && cursor.target == c) continue;
    const bool from_latest = cursor.source < columns_;
    if (may_have_root(c)) {
      // Its reference may not be in the path, or come later: the latest address is 0 then.
      if (!from_latest) return false;
      column_root_[cursor.source].column = kNoColumn;
      continue;
    }
    // What is walked may not look at what is not.
    if (from_latest && may_have_root(cursor.source)) return false;
    walked_columns_.push_back(c);
    if (!first_addend_.empty()) walked_first_addend_.push_back(occurrence_[c]);
    walked_accesses += counts[k];
  }
  if (walked_accesses * kMostWalkedShare > accesses) return false;
  plan.walked_count = static_cast<uint32_t>(walked_columns_.size() - plan.first_walked);
  plan.first_position = positions_.size();
  for (uint64_t i = path.first_access; i < path.first_access + accesses; ++i) {
    const uint16_t c = walked.sequence[i];
    const Cursor& cursor = cursors_[c];
    if (!may_have_root(c)) {
      positions_.push_back(static_cast<uint32_t>(i - path.first_access));
      added_[i] = 0;
      continue;
    }
    uint32_t root = c;
    uint64_t added;
    if (cursor.separable) {
      added = storage_[c].addends[occurrence_[c]++];
    } else {
      root = column_root_[cursor.source].column;
      if (root == kNoColumn) return false;
      added = latest_added_[cursor.source] + storage_[c].biases[0];
    }
    Root& known = column_root_[c];
    const int64_t signed_added = static_cast<int64_t>(added);
    if (known.column == kNoColumn) {
      known = {root, added, signed_added, signed_added};
    } else if (known.column != root) {
      return false;
    }
    known.lowest = std::min(known.lowest, signed_added);
    known.highest = std::max(known.highest, signed_added);
    latest_added_[c] = added;
    added_[i] = added;
  }
  plan.position_count = static_cast<uint32_t>(positions_.size() - plan.first_position);
  plan.first_root = roots_.size();
  for (uint16_t c : columns) roots_.push_back(column_root_[c]);
  return true;
}

// Paths that several threads take, and that mostly count from bases, hardly need cursors.
void AddressDecoder::PlanPaths(const WalkedPaths& walked, const DecodedChunk& out) {
  constexpr uint64_t kFewUses = 4;
  plans_.assign(walked.paths.size(), PathPlan());
  column_offset_.assign(columns_, 0);
  column_root_.assign(columns_, Root());
  latest_added_.assign(columns_, 0);
  occurrence_.assign(columns_, 0);
  roots_.clear();
  positions_.clear();
  walked_columns_.clear();
  walked_first_addend_.clear();
  for (size_t p = 0; p < walked.paths.size(); ++p) {
    const WalkedPaths::Path& path = walked.paths[p];
    if (path.uses >= kFewUses) {
      if (added_.size() < walked.sequence.size()) added_.resize(walked.sequence.size());
      plans_[p].rooted = FindRoots(walked, path, out.paths[p].accesses, plans_[p]);
    }
    if (plans_[p].rooted || chains_.empty()) continue;
    for (uint16_t c : std::span(walked.columns).subspan(path.first_column, path.column_count)) {
      plans_[p].chained |= cursors_[c].target != c;
    }
  }
}

inline bool AddressDecoder::StartThread(std::span<const uint16_t> columns, std::span<const uint32_t> first_addends) {
  const auto start_chain = [&](size_t number) {
    Slot& slot = slots_[2 * columns_ + number];
    slot.state = 0;
    if (!chains_[number].carry()) slot.address = chains_[number].start();
  };
  const bool few_chains = chains_.size() <= kFew;
  for (size_t k = 0; few_chains && k < chains_.size(); ++k) start_chain(k);
  bool based = true;
  Cursor* const cursors = cursors_.data();
  Slot* const bases = slots_.data() + columns_;
  ThreadStart* const starts = starts_.data();
  for (const uint16_t c : columns) {
    Cursor& cursor = cursors[c];
    based &= cursor.based;
    if (!cursor.separable) continue;
    bases[c].address = *starts[c].next_base++;
    cursor.next = starts[c].addends;
  }
  for (size_t k = 0; k < first_addends.size(); ++k) {
    if (cursors[columns[k]].separable) cursors[columns[k]].next += first_addends[k];
  }
  for (size_t k = 0; !few_chains && k < columns.size(); ++k) {
    const uint32_t target = cursors[columns[k]].target;
    if (target >= 2 * columns_) start_chain(target - 2 * columns_);
  }
  return based;
}

// Returns the bits of all offsets that 32 bits cannot hold.
template <typename Output, bool kShifts, bool kChains, bool kBased, bool kSome>
uint64_t AddressDecoder::WalkThread(const uint16_t* sequence, uint64_t accesses, Output* output,
                                    const uint32_t* positions) {
  constexpr bool kWide = sizeof(Output) == 8;
  uint64_t beyond = 0;
  Cursor* const cursors = cursors_.data();
  Slot* const slots = slots_.data();
  for (uint64_t n = 0; n < accesses; ++n) {
    const uint64_t i = kSome ? positions[n] : n;
    const uint32_t c = sequence[i];
    Cursor& cursor = cursors[c];
    const Slot& source = *cursor.from;
    uint64_t address = source.address;
    if constexpr (kShifts) {
      // A branch that is nearly always guessed right costs less than shifts by 0, for which later accesses would wait.
      if (cursor.shifts) {
        address = static_cast<uint64_t>(static_cast<int64_t>(address << cursor.left) >> cursor.right);
      }
    }
    // Which accesses have to do with chains follows the order of the program, and is nearly always guessed right too.
    if (kChains && cursor.chained) {
      address += cursor.biases[source.state] + *cursor.next;
      Slot& target = slots[cursor.target];
      target.address = address;
      target.state = cursor.state;
    } else {
      address += *cursor.next;
    }
    cursor.next = reinterpret_cast<const uint64_t*>(reinterpret_cast<const char*>(cursor.next) + cursor.stride);
    slots[c].address = address;
    if constexpr (kWide) {
      output[i] = address;
    } else {
      if (!kBased && !cursor.based) [[unlikely]] {
        cursor.based = true;
        cursor.base = BaseOf(address);
      }
      const uint64_t offset = address - cursor.base;
      beyond |= offset;
      output[i] = static_cast<Output>(offset);
    }
  }
  return kWide ? 0 : beyond >> 32;
}

// As WalkThread, for threads that follow one another in one rooted path.
template <typename Output>
uint64_t AddressDecoder::WalkRootedThreads(std::span<const uint16_t> columns, const Root* roots,
                                           const uint16_t* sequence, const uint64_t* added, uint64_t accesses,
                                           uint64_t threads, Output* output) {
  constexpr bool kWide = sizeof(Output) == 8;
  uint64_t beyond = 0;
  if (rooted_.size() < columns.size()) rooted_.resize(columns.size());
  for (size_t k = 0; k < columns.size(); ++k) {
    RootedColumn& rooted = rooted_[k];
    if (roots[k].column == kNoColumn) {
      rooted = RootedColumn();
      continue;
    }
    rooted.bases = starts_[roots[k].column].next_base;
    if constexpr (kWide) {
      rooted.base = 0;
    } else {
      Cursor& cursor = cursors_[columns[k]];
      if (!cursor.based) [[unlikely]] {
        cursor.based = true;
        cursor.base = BaseOf(*rooted.bases + roots[k].first);
      }
      rooted.base = cursor.base;
    }
  }
  for (size_t k = 0; k < columns.size(); ++k) {
    if (roots[k].column == columns[k]) starts_[columns[k]].next_base += threads;
  }
  if (accesses == columns.size() && std::equal(columns.begin(), columns.end(), sequence)) {  // no column twice
    for (uint64_t i = 0; i < accesses; ++i) {
      const uint64_t* const bases = rooted_[i].bases;
      if (bases == nullptr) continue;
      const uint64_t constant = added[i] - rooted_[i].base;
      Output* to = output + i;
      for (uint64_t t = 0; t < threads; ++t, to += accesses) {
        const uint64_t offset = bases[t] + constant;
        beyond |= offset;
        *to = static_cast<Output>(offset);
      }
    }
    return kWide ? 0 : beyond >> 32;
  }
  for (size_t k = 0; k < columns.size() && !kWide; ++k) {
    const RootedColumn& rooted = rooted_[k];
    if (rooted.bases == nullptr) continue;
    const uint64_t lowest = static_cast<uint64_t>(roots[k].lowest) - rooted.base;
    const uint64_t highest = static_cast<uint64_t>(roots[k].highest) - rooted.base;
    beyond |= highest - lowest;
    for (uint64_t t = 0; t < threads; ++t) beyond |= (rooted.bases[t] + lowest) | (rooted.bases[t] + highest);
  }
  uint64_t* const offsets = column_offset_.data();
  for (uint64_t t = 0; t < threads; ++t) {
    for (size_t k = 0; k < columns.size(); ++k) {
      if (rooted_[k].bases != nullptr) offsets[columns[k]] = rooted_[k].bases[t] - rooted_[k].base;
    }
#pragma GCC unroll 4
    for (uint64_t i = 0; i < accesses; ++i) {
      output[i] = static_cast<Output>(offsets[sequence[i]]) + static_cast<Output>(added[i]);
    }
    output += accesses;
  }
  return kWide ? 0 : beyond >> 32;
}

template <typename Output, bool kShifts>
bool AddressDecoder::WalkThreads(const WalkedPaths& walked, const DecodedChunk& out, Output* output) {
  Rewind();
  uint64_t beyond = 0;
  std::span<const uint16_t> previous;
  const size_t threads = out.path_of_thread.size();
  for (size_t t = 0; t < threads; ++t) {
    const uint32_t p = out.path_of_thread[t];
    const WalkedPaths::Path& path = walked.paths[p];
    const uint64_t accesses = out.paths[p].accesses;
    const std::span<const uint16_t> columns = std::span(walked.columns).subspan(path.first_column, path.column_count);
    const uint16_t* sequence = walked.sequence.data() + path.first_access;
    Output* to = output + out.first_address[t];
    const PathPlan& plan = plans_[p];
    const auto start = [&](std::span<const uint16_t> walked_columns, std::span<const uint32_t> first_addends) {
      for (uint16_t c : cleared_.size() <= kFew ? std::span<const uint16_t>(cleared_) : previous) slots_[c].address = 0;
      previous = walked_columns;
      return StartThread(walked_columns, first_addends);
    };
    if (plan.rooted) {
      constexpr size_t kAtOnce = 256;  // what they write stays in the first-level cache
      size_t end = t + 1;
      while (end < threads && end - t < kAtOnce && out.path_of_thread[end] == p) ++end;
      beyond |= WalkRootedThreads(columns, roots_.data() + plan.first_root, sequence, added_.data() + path.first_access,
                                  accesses, end - t, to);
      if (plan.position_count > 0) {
        const auto walked_columns = std::span(walked_columns_).subspan(plan.first_walked, plan.walked_count);
        std::span<const uint32_t> first_addends;
        if (!first_addend_.empty()) {
          first_addends = std::span(walked_first_addend_).subspan(plan.first_walked, plan.walked_count);
        }
        for (; t < end; ++t, to += accesses) {
          start(walked_columns, first_addends);
          beyond |= WalkThread<Output, kShifts, true, false, true>(sequence, plan.position_count, to,
                                                                   positions_.data() + plan.first_position);
        }
      }
      t = end - 1;
      continue;
    }
    const bool based =
        start(columns, first_addend_.empty() ? std::span<const uint32_t>()
                                             : std::span(first_addend_).subspan(path.first_column, path.column_count));
    const auto walk = [&]<bool kChains>() {
      return based ? WalkThread<Output, kShifts, kChains, true>(sequence, accesses, to)
                   : WalkThread<Output, kShifts, kChains, false>(sequence, accesses, to);
    };
    beyond |= plan.chained ? walk.template operator()<true>() : walk.template operator()<false>();
  }
  return beyond == 0;
}

template <typename Output>
bool AddressDecoder::WalkAll(const WalkedPaths& walked, const DecodedChunk& out, Output* output) {
  return any_shift_ ? WalkThreads<Output, true>(walked, out, output) : WalkThreads<Output, false>(walked, out, output);
}

template bool AddressDecoder::WalkAll(const WalkedPaths&, const DecodedChunk&, uint32_t*);
template bool AddressDecoder::WalkAll(const WalkedPaths&, const DecodedChunk&, uint64_t*);

bool AddressDecoder::ZeroedColumnsHold(bool narrow) {
  if (!any_zeroed_) return true;
  bool low = narrow;
  for (size_t c = 0; c < columns_ && low; ++c) {
    if (!storage_[c].zeroed) continue;
    // All addresses of the reference lie within 4 GiB from its base.
    constexpr uint64_t kReach = uint64_t{1} << 32;
    const uint64_t base = cursors_[storage_[c].reference_slot].base;
    low = base < (uint64_t{1} << 63) - kReach;
  }
  if (low) return true;
  any_zeroed_ = false;
  any_shift_ = true;
  for (size_t c = 0; c < columns_; ++c) {
    if (!storage_[c].zeroed) continue;
    cursors_[c].source = storage_[c].reference_slot;
    cursors_[c].shifts = true;
  }
  return false;
}

}  // namespace heddle::trace
