#include "traces/format/columns/address_walk.h"

#include <algorithm>

namespace heddle::trace {

void AddressWalk::Rewind() {
  std::vector<ColumnCursor>& cursors = columns_.cursors;
  progress_.starts.assign(columns_.count, ThreadStart());
  cleared_.clear();
  for (uint32_t c = 0; c < columns_.count; ++c) {
    if (columns_.needs_clearing[c] != 0) cleared_.push_back(static_cast<uint16_t>(c));
    ColumnCursor& cursor = cursors[c];
    if (!cursor.used) continue;
    progress_.starts[c] = {columns_.storage[c].bases.data(), columns_.storage[c].addends.data()};
    cursor.next = columns_.storage[c].first;
    cursor.based = cursor.separable;
  }
  progress_.slots.assign(columns_.slot_count(), AddressSlot());
  for (ColumnCursor& cursor : cursors) cursor.from = progress_.slots.data() + cursor.source;
  for (size_t k = 0; k < columns_.chains.size(); ++k) {
    progress_.slots[columns_.ChainSlot(k)].address = columns_.chains[k].start();
  }
  plans_.Clear();
}

inline bool AddressWalk::StartThread(std::span<const uint16_t> columns, std::span<const uint32_t> first_addends) {
  const auto start_chain = [&](size_t number) {
    AddressSlot& slot = progress_.slots[columns_.ChainSlot(number)];
    slot.state = 0;
    if (!columns_.chains[number].carry()) slot.address = columns_.chains[number].start();
  };
  const bool few_chains = columns_.chains.size() <= kFew;
  for (size_t k = 0; few_chains && k < columns_.chains.size(); ++k) start_chain(k);
  bool based = true;
  ColumnCursor* const cursors = columns_.cursors.data();
  AddressSlot* const bases = progress_.slots.data() + columns_.BaseSlot(0);
  ThreadStart* const starts = progress_.starts.data();
  for (const uint16_t c : columns) {
    ColumnCursor& cursor = cursors[c];
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
    if (columns_.IsChainSlot(target)) start_chain(target - columns_.ChainSlot(0));
  }
  return based;
}

template <typename Output, bool kShifts, bool kChains, bool kBased>
uint64_t AddressWalk::WalkThread(const uint16_t* sequence, uint64_t accesses, Output* output) {
  constexpr bool kWide = sizeof(Output) == 8;
  uint64_t beyond = 0;
  ColumnCursor* const cursors = columns_.cursors.data();
  AddressSlot* const slots = progress_.slots.data();
  for (uint64_t i = 0; i < accesses; ++i) {
    const uint32_t c = sequence[i];
    ColumnCursor& cursor = cursors[c];
    const AddressSlot& source = *cursor.from;
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
      AddressSlot& target = slots[cursor.target];
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
        cursor.base = MiddleBase(address);
      }
      const uint64_t offset = address - cursor.base;
      beyond |= offset;
      output[i] = static_cast<Output>(offset);
    }
  }
  return kWide ? 0 : beyond >> 32;
}

template <typename Output, bool kShifts>
bool AddressWalk::WalkThreads(const DecodedChunk& out, Output* output) {
  constexpr uint64_t kFewUses = 8;  // of a path; a plan costs more than they do
  const WalkedPaths& walked = *columns_.walked;
  Rewind();
  plan_of_path_.assign(walked.paths.size(), PathPlan());
  uint64_t beyond = 0;
  std::span<const uint16_t> previous;
  const std::vector<uint32_t>& first_sum = columns_.terms.first_sum;
  const size_t threads = out.path_of_thread.size();
  for (size_t t = 0; t < threads; ++t) {
    const uint32_t p = out.path_of_thread[t];
    const WalkedPaths::Path& path = walked.paths[p];
    const uint64_t accesses = out.paths[p].accesses;
    const std::span<const uint16_t> columns = std::span(walked.columns).subspan(path.first_column, path.column_count);
    const uint16_t* sequence = walked.sequence.data() + path.first_access;
    Output* to = output + out.first_address[t];
    if (accesses == 0) continue;
    PathPlan& plan = plan_of_path_[p];
    if (!plan.tried) {
      plan.tried = true;
      const bool alone = t + 1 == threads || out.path_of_thread[t + 1] != p;
      plan.planned = path.uses >= kFewUses && plans_.Make(path, accesses, alone, plan);
      for (size_t k = 0; !plan.planned && !columns_.chains.empty() && k < columns.size(); ++k) {
        plan.chained |= columns_.cursors[columns[k]].target != columns[k];
      }
    }
    if (plan.planned) {
      size_t end = t + 1;
      while (end < threads && out.path_of_thread[end] == p) ++end;
      beyond |= plans_.Walk(sequence, accesses, end - t, plan, to);
      t = end - 1;
      continue;
    }
    for (uint16_t c : cleared_.size() <= kFew ? std::span<const uint16_t>(cleared_) : previous)
      progress_.slots[c].address = 0;
    previous = columns;
    const bool based =
        StartThread(columns, first_sum.empty() ? std::span<const uint32_t>()
                                               : std::span(first_sum).subspan(path.first_column, path.column_count));
    const auto walk = [&]<bool kChains>() {
      return based ? WalkThread<Output, kShifts, kChains, true>(sequence, accesses, to)
                   : WalkThread<Output, kShifts, kChains, false>(sequence, accesses, to);
    };
    beyond |= plan.chained ? walk.template operator()<true>() : walk.template operator()<false>();
  }
  return beyond == 0;
}

template <typename Output>
bool AddressWalk::Run(const DecodedChunk& out, Output* output) {
  return columns_.any_shift ? WalkThreads<Output, true>(out, output) : WalkThreads<Output, false>(out, output);
}

template bool AddressWalk::Run(const DecodedChunk&, uint32_t*);
template bool AddressWalk::Run(const DecodedChunk&, uint64_t*);

}  // namespace heddle::trace
