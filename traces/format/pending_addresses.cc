// The part of a PendingChunk that takes in addresses.
#include <algorithm>
#include <limits>

#include "traces/format/pending_chunk.h"

namespace heddle::trace {
namespace {

// Calls take(thread, addresses) for each segment.
template <typename Take>
void ForEachSegment(const SegmentedBlock& block, Take take) {
  const uint64_t* addresses = block.addresses;
  for (const SegmentRun& run : block.runs) {
    for (uint32_t t = run.first_thread; t < run.first_thread + run.threads; ++t) {
      take(t, std::span(addresses, run.addresses));
      addresses += run.addresses;
    }
  }
}

}  // namespace

bool PendingChunk::CountThread(uint32_t path) {
  constexpr uint64_t kAccessesPerColumn = 2;  // at least, or distances are no fewer than addresses
  constexpr uint64_t kUnlike = 8;             // so many threads, and half of all: there is little hope for more
  PendingPath& p = paths_[path];
  thread_instructions_ += p.thread_instructions;
  accesses_ += p.accesses;
  path_of_thread_.push_back(path);
  place_of_thread_.emplace_back();
  if (p.uses++ == 0) return false;
  if (p.accesses == 0 || p.accesses < kAccessesPerColumn * p.column_count) return false;
  return p.unlike <= kUnlike || p.unlike <= p.uses / 2;
}

void PendingChunk::FindStretches(PendingPath& path) {
  constexpr uint32_t kShort = 6;  // accesses
  path.first_stretch = stretches_.size();
  const uint16_t* const columns = column_sequence_.data() + path.first_access;
  uint32_t known = 0;  // columns are numbered by first use
  const auto kind_at = [&](uint64_t i) {
    if (columns[i] == known) return Stretch::Kind::kNew;
    if (i + 1 == path.accesses || columns[i + 1] == columns[i] + 1) return Stretch::Kind::kAscending;
    return columns[i + 1] == columns[i] ? Stretch::Kind::kSame : Stretch::Kind::kMixed;
  };
  for (uint64_t i = 0; i < path.accesses;) {
    Stretch next = {0, columns[i], kind_at(i)};
    const uint32_t step = next.kind == Stretch::Kind::kSame || next.kind == Stretch::Kind::kMixed ? 0 : 1;
    const bool is_new = next.kind == Stretch::Kind::kNew;
    do {
      known += is_new;
      ++next.accesses;
      ++i;
    } while (i < path.accesses && (columns[i] == known) == is_new && next.kind != Stretch::Kind::kMixed &&
             columns[i] == columns[i - 1] + step);
    if (!is_new && next.accesses < kShort) next.kind = Stretch::Kind::kMixed;
    Stretch* const last = stretches_.size() == path.first_stretch ? nullptr : &stretches_.back();
    if (last != nullptr && last->kind == Stretch::Kind::kMixed && next.kind == Stretch::Kind::kMixed) {
      last->accesses += next.accesses;
    } else {
      stretches_.push_back(next);
    }
  }
}

void PendingChunk::AddMoves(PendingPath& path) {
  if (path.uses == 2) FindStretches(path);
  place_of_thread_.back() = {moves_.Add(path.column_count), true};
}

PendingChunk::Comparison PendingChunk::Compare(size_t thread) {
  const PendingPath& path = paths_[path_of_thread_[thread]];
  return {given_.at(path.first_given),
          column_sequence_.data() + path.first_access,
          moves_.at(place_of_thread_[thread].first),
          path.first_stretch,
          0,
          0};
}

void PendingChunk::CompareNext(const uint64_t* addresses, uint64_t count, Comparison& comparison) const {
  constexpr uint64_t kBetweenLooks = 128;  // accesses
  const uint64_t* first = comparison.first;
  const uint16_t* column = comparison.column;
  uint64_t* const moves = comparison.moves;
  const Stretch* stretch = stretches_.data() + comparison.stretch;
  uint32_t done = comparison.done;
  uint64_t wrong = 0;
  while (count > 0 && wrong == 0) {
    const uint64_t here = std::min({count, uint64_t{stretch->accesses - done}, kBetweenLooks});
    switch (stretch->kind) {
      case Stretch::Kind::kNew:
        for (uint64_t i = 0; i < here; ++i) moves[stretch->column + done + i] = addresses[i] - first[i];
        break;
      case Stretch::Kind::kAscending: {
        const uint64_t* const expected = moves + stretch->column + done;
        for (uint64_t i = 0; i < here; ++i) wrong |= (addresses[i] - first[i]) ^ expected[i];
        break;
      }
      case Stretch::Kind::kSame: {
        const uint64_t expected = moves[stretch->column];
        for (uint64_t i = 0; i < here; ++i) wrong |= (addresses[i] - first[i]) ^ expected;
        break;
      }
      case Stretch::Kind::kMixed:
        for (uint64_t i = 0; i < here; ++i) wrong |= (addresses[i] - first[i]) ^ moves[column[i]];
        break;
    }
    addresses += here;
    first += here;
    column += here;
    count -= here;
    done += static_cast<uint32_t>(here);
    if (done == stretch->accesses) {
      ++stretch;
      done = 0;
    }
  }
  comparison = {first, column, moves, static_cast<size_t>(stretch - stretches_.data()), done, wrong};
}

void PendingChunk::AddThread(uint32_t path, const ThreadRecord& thread) {
  PendingPath& p = paths_[path];
  if (CountThread(path)) {
    AddMoves(p);
    Comparison comparison = Compare(place_of_thread_.size() - 1);
    CompareNext(thread.addresses.data(), p.accesses, comparison);
    if (comparison.wrong == 0) return;
    ++p.unlike;
    moves_.TakeBack(p.column_count);
  }
  if (p.uses == 1) p.first_given = given_.size();
  const size_t at = given_.Add(p.accesses);
  place_of_thread_.back() = {at, false};
  std::copy_n(thread.addresses.data(), p.accesses, given_.at(at));
}

absl::StatusOr<uint32_t> PendingChunk::AddThreadWithoutAddresses(std::span<const uint8_t> decisions, uint64_t accesses,
                                                                 uint64_t budget) {
  const absl::StatusOr<uint32_t> path = WholePath(decisions, accesses, budget);
  if (!path.ok()) return path;
  PendingPath& p = paths_[*path];
  if (CountThread(*path)) {
    AddMoves(p);
  } else {
    if (p.uses == 1) p.first_given = given_.size();
    place_of_thread_.back() = {given_.Add(accesses), false};
  }
  return path;
}

void PendingChunk::AddAddresses(const SegmentedBlock& block) {
  const size_t begin = place_of_thread_.size() - block.threads.size();
  const std::span<Place> places = std::span(place_of_thread_).subspan(begin);
  const auto is_moved = [](const Place& place) { return place.moved; };
  const auto copy = [this](std::span<const uint64_t> segment, uint64_t& to) {
    std::ranges::copy(segment, given_.at(to));
    to += segment.size();
  };
  // First those that others may be compared with.
  next_given_.resize(places.size());
  for (size_t t = 0; t < places.size(); ++t) next_given_[t] = places[t].first;
  if (!std::ranges::all_of(places, is_moved)) {
    ForEachSegment(block, [&](uint32_t t, std::span<const uint64_t> segment) {
      if (!places[t].moved) copy(segment, next_given_[t]);
    });
  }
  if (std::ranges::none_of(places, is_moved)) return;
  comparisons_.resize(places.size());
  for (size_t t = 0; t < places.size(); ++t) comparisons_[t] = places[t].moved ? Compare(begin + t) : Comparison();
  ForEachSegment(block, [&](uint32_t t, std::span<const uint64_t> segment) {
    if (places[t].moved && comparisons_[t].wrong == 0) CompareNext(segment.data(), segment.size(), comparisons_[t]);
  });
  bool any_unlike = false;
  for (size_t t = 0; t < places.size(); ++t) {
    if (comparisons_[t].wrong == 0) continue;
    any_unlike = true;
    ++paths_[path_of_thread_[begin + t]].unlike;
    next_given_[t] = given_.Add(block.access_count[t]);
    places[t] = {next_given_[t], false};  // what was meant for its distances stays unused
  }
  if (!any_unlike) return;
  ForEachSegment(block, [&](uint32_t t, std::span<const uint64_t> segment) {
    if (comparisons_[t].wrong != 0) copy(segment, next_given_[t]);
  });
}

void PendingChunk::FindRanges(const PendingPath& path, const uint64_t* addresses, AddressBounds* ranges) const {
  std::fill_n(ranges, path.column_count, AddressBounds{~uint64_t{0}, 0});
  const uint16_t* const column = column_sequence_.data() + path.first_access;
  for (uint64_t i = 0; i < path.accesses; ++i) {
    AddressBounds& range = ranges[column[i]];
    range.lowest = std::min(range.lowest, addresses[i]);
    range.highest = std::max(range.highest, addresses[i]);
  }
}

void PendingChunk::RangesOfLast(size_t threads, std::vector<AddressBounds>& ranges) {
  constexpr size_t kMostGiven = 8;                 // one of so many threads
  constexpr uint64_t kWidest = uint64_t{1} << 62;  // so that no sum of two widths overflows
  ranges.clear();
  const size_t begin = place_of_thread_.size() - threads;
  const std::span<const Place> places = std::span(place_of_thread_).subspan(begin);
  const auto given = std::ranges::count_if(places, [](const Place& place) { return !place.moved; });
  if (static_cast<size_t>(given) > threads / kMostGiven) return;
  for (size_t t = 0; t < threads;) {
    PendingPath& path = paths_[path_of_thread_[begin + t]];
    const size_t first = ranges.size();
    ranges.resize(first + path.column_count);
    if (!places[t].moved) {
      FindRanges(path, given_.at(places[t].first), ranges.data() + first);
      ++t;
      continue;
    }
    if (!path.has_ranges) {
      path.has_ranges = true;
      first_ranges_.resize(columns_.size());
      FindRanges(path, FirstAddresses(path), first_ranges_.data() + path.first_column);
    }
    // Threads in a row on one path.
    size_t end = t + 1;
    while (end < threads && places[end].moved && path_of_thread_[begin + end] == path_of_thread_[begin + t]) ++end;
    for (uint32_t j = 0; j < path.column_count; ++j) {
      int64_t lowest = std::numeric_limits<int64_t>::max();
      int64_t highest = std::numeric_limits<int64_t>::min();
      for (size_t u = t; u < end; ++u) {
        const auto move = static_cast<int64_t>(*moves_.at(places[u].first + j));
        lowest = std::min(lowest, move);
        highest = std::max(highest, move);
      }
      const AddressBounds& of_first = first_ranges_[path.first_column + j];
      if (of_first.highest - of_first.lowest >= kWidest ||
          static_cast<uint64_t>(highest) - static_cast<uint64_t>(lowest) >= kWidest) {
        ranges.clear();
        return;
      }
      ranges[first + j] = {of_first.lowest + static_cast<uint64_t>(lowest),
                           of_first.highest + static_cast<uint64_t>(highest)};
    }
    t = end;
  }
}

const uint64_t* PendingChunk::AddressesOf(size_t thread, std::vector<uint64_t>& room) const {
  const Place& place = place_of_thread_[thread];
  if (!place.moved) return given_.at(place.first);
  const PendingPath& path = paths_[path_of_thread_[thread]];
  const uint64_t* const moves = moves_.at(place.first);
  const uint64_t* const first = given_.at(path.first_given);
  const uint16_t* const columns = column_sequence_.data() + path.first_access;
  if (room.size() < path.accesses) room.resize(path.accesses);
  for (uint64_t i = 0; i < path.accesses; ++i) room[i] = first[i] + moves[columns[i]];
  return room.data();
}

}  // namespace heddle::trace
