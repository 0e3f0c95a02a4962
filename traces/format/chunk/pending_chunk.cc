#include "traces/format/chunk/pending_chunk.h"

#include <cstring>

#include "absl/strings/str_cat.h"
#include "traces/base/status_macros.h"
#include "traces/format/limits.h"

namespace heddle::trace {
namespace {

uint64_t Mix(uint64_t a, uint64_t b) {
  const unsigned __int128 product = static_cast<unsigned __int128>(a) * b;
  return static_cast<uint64_t>(product) ^ static_cast<uint64_t>(product >> 64);
}

// Multiply-and-fold over 16 bytes at a time; only has to be fast and the same everywhere.
uint64_t Hash(const uint8_t* data, size_t size, uint64_t seed) {
  constexpr uint64_t kA = 0x9e3779b97f4a7c15, kB = 0xd6e8feb86659fd93, kC = 0xa0761d6478bd642f;
  uint64_t hash = seed ^ (size * kC);
  uint64_t word[2];
  for (; size >= 16; size -= 16, data += 16) {
    memcpy(word, data, 16);
    hash = Mix(word[0] ^ kA ^ hash, word[1] ^ kB);
  }
  if (size > 0) {
    word[0] = word[1] = 0;
    memcpy(word, data, size);
    hash = Mix(word[0] ^ kA ^ hash, word[1] ^ kB);
  }
  return Mix(hash ^ kA, kC);
}

}  // namespace

void PendingChunk::Reset(const Program* program) {
  program_ = program;
  paths_.clear();
  path_of_thread_.clear();
  addresses_.Clear();
  decisions_.clear();
  sequence_.clear();
  columns_.clear();
  starts_.assign(1, WalkState{program->entry_block(), {}, false});
  ends_.clear();
  start_of_.clear();
  table_.assign(1024, 0);
  column_counts_.assign(program->accesses().size(), 0);
  column_numbers_.resize(program->accesses().size());
  thread_instructions_ = 0;
}

bool PendingChunk::Same(const PendingPath& path, std::span<const uint8_t> taken, uint32_t start, Extent extent) const {
  return path.decision_count == taken.size() && path.start == start && path.extent == extent &&
         (path.decision_count == 0 ||
          memcmp(decisions_.data() + path.first_decision, taken.data(), path.decision_count) == 0);
}

uint32_t PendingChunk::Find(uint64_t hash, std::span<const uint8_t> taken, uint32_t start, Extent extent) const {
  const size_t mask = table_.size() - 1;
  for (size_t slot = hash & mask; table_[slot] != 0; slot = (slot + 1) & mask) {
    const uint32_t path = table_[slot] - 1;
    if (paths_[path].hash == hash && Same(paths_[path], taken, start, extent)) return path;
  }
  return kNoPath;
}

void PendingChunk::Insert(uint32_t path) {
  if (paths_.size() * 2 > table_.size()) {
    table_.assign(table_.size() * 4, 0);
    for (uint32_t p = 0; p < paths_.size(); ++p) {
      size_t slot = paths_[p].hash & (table_.size() - 1);
      while (table_[slot] != 0) slot = (slot + 1) & (table_.size() - 1);
      table_[slot] = p + 1;
    }
    return;
  }
  size_t slot = paths_[path].hash & (table_.size() - 1);
  while (table_[slot] != 0) slot = (slot + 1) & (table_.size() - 1);
  table_[slot] = path + 1;
}

absl::StatusOr<uint32_t> PendingChunk::NewPath(uint64_t hash, std::span<const uint8_t> taken, uint32_t start,
                                               Extent extent, uint64_t budget) {
  PendingPath path;
  path.hash = hash;
  path.start = start;
  path.extent = extent;
  path.first_access = sequence_.size();
  path.first_column = static_cast<uint32_t>(columns_.size());
  number_sequence_.clear();
  WalkState state = starts_[start];
  ByteDecisions decisions(taken.data(), taken.size());
  const WalkStatus status =
      Walk(*program_, extent, decisions, state, budget, path.thread_instructions, [&](uint32_t, const Block& block) {
        for (uint32_t c = block.first_access; c < block.first_access + block.access_count; ++c) {
          sequence_.push_back(static_cast<uint16_t>(c));
          if (column_counts_[c]++ == 0) {
            column_numbers_[c] = static_cast<uint16_t>(columns_.size() - path.first_column);
            columns_.push_back({c, 0});
          }
          number_sequence_.push_back(column_numbers_[c]);
        }
      });
  path.accesses = sequence_.size() - path.first_access;
  path.column_count = static_cast<uint32_t>(columns_.size()) - path.first_column;
  for (size_t i = path.first_column; i < columns_.size(); ++i) {
    columns_[i].count = column_counts_[columns_[i].column];
    column_counts_[columns_[i].column] = 0;
  }
  if (status != WalkStatus::kOk) {
    sequence_.resize(path.first_access);
    columns_.resize(path.first_column);
    if (status == WalkStatus::kTooLong) {
      return absl::ResourceExhaustedError(
          absl::StrCat("the thread brings the chunk above ", budget, " thread-instructions: add the block in parts"));
    }
    if (status == WalkStatus::kOutOfDecisions) return absl::OutOfRangeError(WalkMessage(status));
    return absl::InvalidArgumentError(absl::StrCat(WalkMessage(status), " (at block ", state.block, ")"));
  }
  path.first_decision = decisions_.size();
  path.decision_count = static_cast<uint32_t>(taken.size());
  decisions_.insert(decisions_.end(), taken.begin(), taken.end());
  if (extent == Extent::kCut) {
    path.end = static_cast<uint32_t>(ends_.size());
    ends_.push_back(std::move(state));
    WalkTail(path);
  }
  addresses_.AddPath(number_sequence_, path.column_count);
  paths_.push_back(path);
  Insert(static_cast<uint32_t>(paths_.size()) - 1);
  return static_cast<uint32_t>(paths_.size()) - 1;
}

void PendingChunk::WalkTail(PendingPath& path) {
  WalkState state = ends_[path.end];
  ByteDecisions none(nullptr, 0);
  uint64_t instructions = 0;
  const WalkStatus status = Walk(*program_, Extent::kRunsToExit, none, state, kMaxChunkThreadInstructions, instructions,
                                 [&](uint32_t, const Block& block) { path.tail_accesses += block.access_count; });
  path.tail_exits = status == WalkStatus::kOk;
}

void PendingChunk::CountThread(uint32_t path) {
  ++paths_[path].uses;
  thread_instructions_ += paths_[path].thread_instructions;
  path_of_thread_.push_back(path);
}

void PendingChunk::AddThread(uint32_t path, const ThreadRecord& thread) {
  CountThread(path);
  addresses_.AddThread(path, thread.addresses.data());
}

absl::StatusOr<uint32_t> PendingChunk::WholePath(std::span<const uint8_t> decisions, uint64_t accesses,
                                                 uint64_t budget) {
  uint32_t path = kNoPath;
  // Neighbouring threads often agree; comparing is cheaper than hashing.
  if (!path_of_thread_.empty() && Same(paths_[path_of_thread_.back()], decisions, 0, Extent::kRunsToExit)) {
    path = path_of_thread_.back();
  } else {
    const uint64_t hash = Hash(decisions.data(), decisions.size(), 0);
    path = Find(hash, decisions, 0, Extent::kRunsToExit);
    if (path == kNoPath) {
      absl::StatusOr<uint32_t> added = NewPath(hash, decisions, 0, Extent::kRunsToExit, budget);
      if (!added.ok()) {
        if (absl::IsOutOfRange(added.status())) {
          return absl::InvalidArgumentError(
              absl::StrCat("a block asks for a decision behind the last of ", decisions.size()));
        }
        return added.status();
      }
      path = *added;
    }
  }
  if (paths_[path].accesses != accesses) {
    return absl::InvalidArgumentError(
        absl::StrCat("the path has ", paths_[path].accesses, " accesses, but ", accesses, " were given"));
  }
  return path;
}

absl::StatusOr<uint32_t> PendingChunk::AddWholeThread(const ThreadRecord& thread, uint64_t budget) {
  const absl::StatusOr<uint32_t> path = WholePath(thread.decisions, thread.addresses.size(), budget);
  if (path.ok()) AddThread(*path, thread);
  return path;
}

absl::StatusOr<uint32_t> PendingChunk::AddThreadOfBlock(std::span<const uint8_t> decisions, uint64_t accesses,
                                                        uint64_t budget) {
  const absl::StatusOr<uint32_t> path = WholePath(decisions, accesses, budget);
  if (!path.ok()) return path;
  CountThread(*path);
  addresses_.AddThreadOfBlock(*path);
  return path;
}

void PendingChunk::AddAddresses(const SegmentedBlock& block, std::vector<AddressBounds>& ranges) {
  addresses_.AddBlock(block);
  addresses_.RangesOfLatest(block.threads.size(), ranges);
}

uint32_t PendingChunk::InternStart(const WalkState& state) {
  std::string key(reinterpret_cast<const char*>(&state.block), sizeof(state.block));
  key.append(reinterpret_cast<const char*>(state.stack.data()), state.stack.size() * sizeof(uint32_t));
  auto [it, inserted] = start_of_.try_emplace(std::move(key), static_cast<uint32_t>(starts_.size()));
  if (inserted) starts_.push_back(state);
  return it->second;
}

absl::StatusOr<uint32_t> PendingChunk::AddThreadPart(const ThreadRecord& thread, WalkState& state, bool last,
                                                     uint64_t budget, uint64_t& consumed) {
  const uint64_t given = thread.addresses.size();
  if (state.ended) {
    if (given != 0 || !thread.decisions.empty()) {
      return absl::InvalidArgumentError("the thread has exited in an earlier part, yet something was recorded for it");
    }
    constexpr uint32_t kEntry = 0;
    constexpr uint64_t kEndedHash = 1;
    uint32_t path = Find(kEndedHash, thread.decisions, kEntry, Extent::kEnded);
    if (path == kNoPath) {
      HEDDLE_ASSIGN_OR_RETURN(uint32_t added, NewPath(kEndedHash, thread.decisions, kEntry, Extent::kEnded, budget));
      path = added;
    }
    AddThread(path, thread);
    consumed = 0;
    return path;
  }
  const uint32_t start = InternStart(state);
  const uint64_t whole_hash = Hash(thread.decisions.data(), thread.decisions.size(), 2 * start);
  uint32_t path = Find(whole_hash, thread.decisions, start, Extent::kRunsToExit);
  const bool exits = thread.exited || last;
  if (!exits || path == kNoPath || paths_[path].accesses != given) {
    // Not the known way to the exit. A thread that has not exited stops behind its last decision.
    const uint64_t cut_hash = whole_hash + 1;
    uint32_t cut = Find(cut_hash, thread.decisions, start, Extent::kCut);
    if (cut == kNoPath) {
      HEDDLE_ASSIGN_OR_RETURN(uint32_t added, NewPath(cut_hash, thread.decisions, start, Extent::kCut, budget));
      cut = added;
    }
    const PendingPath& p = paths_[cut];
    if (given < p.accesses || given > p.accesses + p.tail_accesses) {
      return absl::InvalidArgumentError(absl::StrCat("the path has ", p.accesses, " to ", p.accesses + p.tail_accesses,
                                                     " accesses, but ", given, " were given"));
    }
    if (exits && p.tail_exits && given == p.accesses + p.tail_accesses) {
      HEDDLE_ASSIGN_OR_RETURN(uint32_t added,
                              NewPath(whole_hash, thread.decisions, start, Extent::kRunsToExit, budget));
      path = added;
    } else if (exits) {
      return absl::InvalidArgumentError("the thread does not reach its exit, though it is said to have exited");
    } else {
      path = cut;
    }
  }
  AddThread(path, thread);
  consumed = paths_[path].accesses;
  if (paths_[path].extent == Extent::kCut) {
    state = ends_[paths_[path].end];
  } else {
    state.ended = true;
  }
  return path;
}

}  // namespace heddle::trace
