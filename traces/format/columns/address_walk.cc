// The part of the address decoder that goes through all accesses, thread after thread in program order.
#include <algorithm>

#include "traces/format/columns/chunk_decoder.h"

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
  latest_.assign(slots_.size(), Latest());
  occurrence_.assign(columns_, 0);
  ForgetPlan(PathPlan());
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
template <typename Output, bool kShifts, bool kChains, bool kBased>
uint64_t AddressDecoder::WalkThread(const uint16_t* sequence, uint64_t accesses, Output* output) {
  constexpr bool kWide = sizeof(Output) == 8;
  uint64_t beyond = 0;
  Cursor* const cursors = cursors_.data();
  Slot* const slots = slots_.data();
  for (uint64_t i = 0; i < accesses; ++i) {
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

template <typename Output, bool kShifts>
bool AddressDecoder::WalkThreads(const WalkedPaths& walked, const DecodedChunk& out, Output* output) {
  constexpr uint64_t kFewUses = 8;  // of a path; a plan costs more than they do
  Rewind();
  plans_.assign(walked.paths.size(), PathPlan());
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
    if (accesses == 0) continue;
    PathPlan& plan = plans_[p];
    if (!plan.tried) {
      plan.tried = true;
      const bool alone = t + 1 == threads || out.path_of_thread[t + 1] != p;
      plan.planned = path.uses >= kFewUses && Plan(walked, path, accesses, alone, plan);
      for (size_t k = 0; !plan.planned && !chains_.empty() && k < columns.size(); ++k) {
        plan.chained |= cursors_[columns[k]].target != columns[k];
      }
    }
    if (plan.planned) {
      size_t end = t + 1;
      while (end < threads && out.path_of_thread[end] == p) ++end;
      beyond |= WalkPlannedThreads(sequence, accesses, end - t, plan, to);
      t = end - 1;
      continue;
    }
    for (uint16_t c : cleared_.size() <= kFew ? std::span<const uint16_t>(cleared_) : previous) slots_[c].address = 0;
    previous = columns;
    const bool based = StartThread(
        columns, first_addend_.empty() ? std::span<const uint32_t>()
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
