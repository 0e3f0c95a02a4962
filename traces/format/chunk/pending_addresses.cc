#include "traces/format/chunk/pending_addresses.h"

#include <limits>

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

void PendingAddresses::Clear() {
  paths_.clear();
  columns_.clear();
  runs_.clear();
  ranges_.clear();
  threads_.clear();
  given_.Clear();
  moves_.Clear();
  accesses_ = 0;
}

void PendingAddresses::AddPath(std::span<const uint16_t> columns, uint32_t column_count) {
  Path& path = paths_.emplace_back();
  path.first_access = columns_.size();
  path.accesses = columns.size();
  path.column_count = column_count;
  columns_.insert(columns_.end(), columns.begin(), columns.end());
}

bool PendingAddresses::MayBeMoved(const Path& path) {
  constexpr uint64_t kAccessesPerColumn = 2;  // at least, or distances are no fewer than addresses
  constexpr uint64_t kUnlike = 8;             // so many threads, and half of all: there is little hope for more
  if (path.uses == 0 || path.accesses == 0 || path.accesses < kAccessesPerColumn * path.column_count) return false;
  return path.unlike <= kUnlike || path.unlike <= path.uses / 2;
}

void PendingAddresses::AddMoved(uint32_t path) {
  Path& p = paths_[path];
  if (++p.uses == 2) FindRuns(p);
  accesses_ += p.accesses;
  threads_.push_back({path, true, moves_.Add(p.column_count)});
}

void PendingAddresses::AddGiven(uint32_t path) {
  Path& p = paths_[path];
  const size_t at = given_.Add(p.accesses);
  if (++p.uses == 1) p.first_given = at;
  accesses_ += p.accesses;
  threads_.push_back({path, false, at});
}

void PendingAddresses::AddThread(uint32_t path, const uint64_t* addresses) {
  Path& p = paths_[path];
  if (MayBeMoved(p)) {
    AddMoved(path);
    Comparison comparison = Compare(threads_.back());
    CompareNext(addresses, p.accesses, comparison);
    if (comparison.wrong == 0) return;
    ++p.unlike;
    moves_.TakeBack(p.column_count);
    threads_.back() = {path, false, given_.Add(p.accesses)};
  } else {
    AddGiven(path);
  }
  std::copy_n(addresses, p.accesses, given_.at(threads_.back().first));
}

void PendingAddresses::AddThreadOfBlock(uint32_t path) {
  if (MayBeMoved(paths_[path])) {
    AddMoved(path);
  } else {
    AddGiven(path);
  }
}

void PendingAddresses::AddBlock(const SegmentedBlock& block) {
  const std::span<Thread> threads = std::span(threads_).last(block.threads.size());
  const auto copy = [this](std::span<const uint64_t> segment, size_t& to) {
    std::ranges::copy(segment, given_.at(to));
    to += segment.size();
  };
  // First those that others may be compared with.
  next_given_.resize(threads.size());
  for (size_t t = 0; t < threads.size(); ++t) next_given_[t] = threads[t].first;
  if (!std::ranges::all_of(threads, &Thread::moved)) {
    ForEachSegment(block, [&](uint32_t t, std::span<const uint64_t> segment) {
      if (!threads[t].moved) copy(segment, next_given_[t]);
    });
  }
  if (std::ranges::none_of(threads, &Thread::moved)) return;
  comparisons_.resize(threads.size());
  for (size_t t = 0; t < threads.size(); ++t) comparisons_[t] = threads[t].moved ? Compare(threads[t]) : Comparison();
  ForEachSegment(block, [&](uint32_t t, std::span<const uint64_t> segment) {
    if (threads[t].moved && comparisons_[t].wrong == 0) CompareNext(segment.data(), segment.size(), comparisons_[t]);
  });
  bool any_unlike = false;
  for (size_t t = 0; t < threads.size(); ++t) {
    if (comparisons_[t].wrong == 0) continue;
    any_unlike = true;
    Path& path = paths_[threads[t].path];
    ++path.unlike;
    next_given_[t] = given_.Add(path.accesses);
    threads[t] = {threads[t].path, false, next_given_[t]};  // what was meant for its distances stays unused
  }
  if (!any_unlike) return;
  ForEachSegment(block, [&](uint32_t t, std::span<const uint64_t> segment) {
    if (comparisons_[t].wrong != 0) copy(segment, next_given_[t]);
  });
}

void PendingAddresses::FindRuns(Path& path) {
  constexpr uint32_t kShort = 6;  // accesses
  path.first_run = runs_.size();
  const uint16_t* const columns = columns_.data() + path.first_access;
  uint32_t known = 0;
  const auto kind_at = [&](uint64_t i) {
    if (columns[i] == known) return ColumnRun::Kind::kNew;
    if (i + 1 == path.accesses || columns[i + 1] == columns[i] + 1) return ColumnRun::Kind::kAscending;
    return columns[i + 1] == columns[i] ? ColumnRun::Kind::kSame : ColumnRun::Kind::kMixed;
  };
  for (uint64_t i = 0; i < path.accesses;) {
    ColumnRun next = {0, columns[i], kind_at(i)};
    const bool is_new = next.kind == ColumnRun::Kind::kNew;
    const uint32_t step = is_new || next.kind == ColumnRun::Kind::kAscending ? 1 : 0;
    do {
      known += is_new;
      ++next.accesses;
      ++i;
    } while (i < path.accesses && next.kind != ColumnRun::Kind::kMixed && (columns[i] == known) == is_new &&
             columns[i] == columns[i - 1] + step);
    if (!is_new && next.accesses < kShort) next.kind = ColumnRun::Kind::kMixed;
    const bool goes_on = runs_.size() > path.first_run && next.kind == ColumnRun::Kind::kMixed &&
                         runs_.back().kind == ColumnRun::Kind::kMixed;
    if (goes_on) {
      runs_.back().accesses += next.accesses;
    } else {
      runs_.push_back(next);
    }
  }
}

PendingAddresses::Comparison PendingAddresses::Compare(const Thread& thread) {
  const Path& path = paths_[thread.path];
  Comparison comparison;
  comparison.first = given_.at(path.first_given);
  comparison.column = columns_.data() + path.first_access;
  comparison.moves = moves_.at(thread.first);
  comparison.run = path.first_run;
  return comparison;
}

void PendingAddresses::CompareNext(const uint64_t* addresses, uint64_t count, Comparison& comparison) const {
  constexpr uint64_t kBetweenLooks = 128;  // accesses
  const uint64_t* first = comparison.first;
  const uint16_t* column = comparison.column;
  uint64_t* const moves = comparison.moves;
  const ColumnRun* run = runs_.data() + comparison.run;
  uint32_t done = comparison.done;
  uint64_t wrong = 0;
  while (count > 0 && wrong == 0) {
    const uint64_t here = std::min({count, uint64_t{run->accesses - done}, kBetweenLooks});
    switch (run->kind) {
      case ColumnRun::Kind::kNew:
        for (uint64_t i = 0; i < here; ++i) moves[run->column + done + i] = addresses[i] - first[i];
        break;
      case ColumnRun::Kind::kAscending: {
        const uint64_t* const expected = moves + run->column + done;
        for (uint64_t i = 0; i < here; ++i) wrong |= (addresses[i] - first[i]) ^ expected[i];
        break;
      }
      case ColumnRun::Kind::kSame: {
        const uint64_t expected = moves[run->column];
        for (uint64_t i = 0; i < here; ++i) wrong |= (addresses[i] - first[i]) ^ expected;
        break;
      }
      case ColumnRun::Kind::kMixed:
        for (uint64_t i = 0; i < here; ++i) wrong |= (addresses[i] - first[i]) ^ moves[column[i]];
        break;
    }
    addresses += here;
    first += here;
    column += here;
    count -= here;
    done += static_cast<uint32_t>(here);
    if (done == run->accesses) {
      ++run;
      done = 0;
    }
  }
  comparison = {first, column, moves, static_cast<size_t>(run - runs_.data()), done, wrong};
}

const uint64_t* PendingAddresses::Of(size_t thread, std::vector<uint64_t>& room) const {
  const Thread& place = threads_[thread];
  if (!place.moved) return given_.at(place.first);
  const Path& path = paths_[place.path];
  const uint64_t* const moves = moves_.at(place.first);
  const uint64_t* const first = given_.at(path.first_given);
  const uint16_t* const columns = columns_.data() + path.first_access;
  if (room.size() < path.accesses) room.resize(path.accesses);
  for (uint64_t i = 0; i < path.accesses; ++i) room[i] = first[i] + moves[columns[i]];
  return room.data();
}

void PendingAddresses::FindRanges(const Path& path, const uint64_t* addresses, AddressBounds* ranges) const {
  std::fill_n(ranges, path.column_count, AddressBounds{~uint64_t{0}, 0});
  const uint16_t* const column = columns_.data() + path.first_access;
  for (uint64_t i = 0; i < path.accesses; ++i) {
    AddressBounds& range = ranges[column[i]];
    range.lowest = std::min(range.lowest, addresses[i]);
    range.highest = std::max(range.highest, addresses[i]);
  }
}

bool PendingAddresses::FindRangesOfMoved(std::span<const Thread> threads, AddressBounds* ranges) {
  constexpr uint64_t kWidest = uint64_t{1} << 62;  // so that no sum of two widths overflows
  Path& path = paths_[threads.front().path];
  if (!path.has_ranges) {
    path.has_ranges = true;
    path.first_range = ranges_.size();
    ranges_.resize(ranges_.size() + path.column_count);
    FindRanges(path, given_.at(path.first_given), ranges_.data() + path.first_range);
  }
  for (uint32_t column = 0; column < path.column_count; ++column) {
    int64_t lowest = std::numeric_limits<int64_t>::max();
    int64_t highest = std::numeric_limits<int64_t>::min();
    for (const Thread& thread : threads) {
      const auto move = static_cast<int64_t>(*moves_.at(thread.first + column));
      lowest = std::min(lowest, move);
      highest = std::max(highest, move);
    }
    const AddressBounds& of_first = ranges_[path.first_range + column];
    if (of_first.highest - of_first.lowest >= kWidest ||
        static_cast<uint64_t>(highest) - static_cast<uint64_t>(lowest) >= kWidest) {
      return false;
    }
    ranges[column] = {of_first.lowest + static_cast<uint64_t>(lowest),
                      of_first.highest + static_cast<uint64_t>(highest)};
  }
  return true;
}

void PendingAddresses::RangesOfLatest(size_t threads, std::vector<AddressBounds>& ranges) {
  constexpr size_t kGiven = 8;  // more than one of so many threads is too much to look at
  ranges.clear();
  const std::span<const Thread> latest = std::span(threads_).last(threads);
  const auto moved = static_cast<size_t>(std::ranges::count_if(latest, &Thread::moved));
  if (threads - moved > threads / kGiven) return;
  for (size_t t = 0; t < threads;) {
    const Path& path = paths_[latest[t].path];
    const size_t begin = ranges.size();
    ranges.resize(begin + path.column_count);
    if (!latest[t].moved) {
      FindRanges(path, given_.at(latest[t].first), ranges.data() + begin);
      ++t;
      continue;
    }
    size_t end = t + 1;
    while (end < threads && latest[end].moved && latest[end].path == latest[t].path) ++end;
    if (!FindRangesOfMoved(latest.subspan(t, end - t), ranges.data() + begin)) {
      ranges.clear();
      return;
    }
    t = end;
  }
}

}  // namespace heddle::trace
