#include "traces/format/columns/path_decoder.h"

#include <algorithm>
#include <cstring>

#include "absl/strings/str_cat.h"
#include "traces/base/status_macros.h"
#include "traces/format/chunk/path_steps.h"
#include "traces/format/chunk/walk.h"
#include "traces/format/columns/decision_planes.h"
#include "traces/format/limits.h"

namespace heddle::trace {
namespace {

class PathDecoder {
 public:
  PathDecoder(const v1::BlockChunk& chunk, const Program& program, uint32_t threads_per_block, WalkedPaths& walked,
              DecodedChunk& out)
      : chunk_(chunk),
        table_(chunk.paths()),
        program_(program),
        threads_per_block_(threads_per_block),
        walked_(walked),
        out_(out) {}

  absl::Status Run() {
    for (auto step : {&PathDecoder::ReadBlocks, &PathDecoder::ReadDecisions, &PathDecoder::ReadExtents,
                      &PathDecoder::ReadReferences, &PathDecoder::WalkAll, &PathDecoder::PlaceThreads}) {
      HEDDLE_RETURN_IF_ERROR((this->*step)());
    }
    return absl::OkStatus();
  }

 private:
  static absl::Status Refuse(absl::string_view rule) { return absl::DataLossError(rule); }
  static absl::Status RefusePath(uint64_t path, absl::string_view rule) {
    return absl::DataLossError(absl::StrCat("path ", path, ": ", rule));
  }

  absl::Status ReadBlocks() {
    if (chunk_.path_ref_size() != 0 && chunk_.path_number_size() != 0) {
      return Refuse("a chunk has path_ref or path_number, not both");
    }
    const uint64_t threads = thread_count();
    if (chunk_.block_count() == 0 || threads_per_block_ == 0 || threads > kMaxChunkThreads ||
        threads % threads_per_block_ != 0 || threads / threads_per_block_ != chunk_.block_count()) {
      return Refuse(absl::StrCat(reference_name(), " has ", threads, " elements, ", chunk_.block_count(), " blocks of ",
                                 threads_per_block_, " threads need another number, or there are too many"));
    }
    cut_ = chunk_.part() > 0 || !chunk_.last_part();
    if (cut_ && chunk_.block_count() != 1) return Refuse("a part must hold one block only");
    const int gaps = chunk_.block_gap_size();
    if (gaps != 0 && static_cast<uint64_t>(gaps) != chunk_.block_count() - 1) {
      return Refuse("block_gap must have an element for each block but the first");
    }
    out_.launch = chunk_.launch();
    out_.part = chunk_.part();
    out_.last_part = chunk_.last_part();
    out_.threads_per_block = threads_per_block_;
    out_.blocks.resize(chunk_.block_count());
    uint64_t block = chunk_.first_block();
    for (uint64_t i = 0; i < out_.blocks.size(); ++i) {
      if (i > 0) {
        const uint64_t step = gaps == 0 ? 0 : chunk_.block_gap(static_cast<int>(i) - 1);
        if (step == ~uint64_t{0} || __builtin_add_overflow(block, step + 1, &block))
          return Refuse("block numbers overflow");
      }
      out_.blocks[i] = block;
    }
    return absl::OkStatus();
  }

  absl::Status ReadDecisions() {
    const uint64_t paths = static_cast<uint64_t>(table_.decision_count_size());
    if (paths > thread_count()) return Refuse("more paths than threads");
    if (paths > kMaxChunkPaths) return Refuse(absl::StrCat("has ", paths, " paths, the limit is ", kMaxChunkPaths));
    const bool wide = table_.wide_count_size() != 0;
    if (wide && static_cast<uint64_t>(table_.wide_count_size()) != paths) {
      return Refuse("wide_count must be empty or have an element per path");
    }
    out_.paths.assign(paths, PathView());
    uint64_t numbers = 0;
    for (uint32_t count : table_.wide_count()) numbers += count;
    HEDDLE_RETURN_IF_ERROR(ReadBits());
    if (numbers != static_cast<uint64_t>(table_.wide_decision_size())) {
      return Refuse(
          absl::StrCat("wide_decision has ", table_.wide_decision_size(), " elements, the paths need ", numbers));
    }
    out_.wide_storage.assign(table_.wide_decision().begin(), table_.wide_decision().end());
    const uint8_t* next = reinterpret_cast<const uint8_t*>(out_.decision_storage.data());
    const uint32_t* next_wide = out_.wide_storage.data();
    for (uint64_t p = 0; p < paths; ++p) {
      PathView& path = out_.paths[p];
      path.decisions = next;
      path.decision_count = table_.decision_count(static_cast<int>(p));
      next += (uint64_t{path.decision_count} + 7) / 8;
      path.wide = next_wide;
      path.wide_count = wide ? table_.wide_count(static_cast<int>(p)) : 0;
      next_wide += path.wide_count;
      path.start_block = program_.entry_block();
    }
    return absl::OkStatus();
  }

  absl::Status ReadBits() {
    const std::span<const uint32_t> counts(table_.decision_count().data(), out_.paths.size());
    const std::string& planes = table_.decision_planes();
    const uint64_t bytes = PathBytes(counts);
    if (planes.empty()) {
      if (bytes != table_.decision_bits().size()) {
        return Refuse(
            absl::StrCat("decision_bits has ", table_.decision_bits().size(), " bytes, the paths need ", bytes));
      }
      out_.decision_storage.assign(table_.decision_bits());
      return absl::OkStatus();
    }
    if (!table_.decision_bits().empty()) return Refuse("a chunk has decision_bits or decision_planes, not both");
    uint64_t decisions = 0;
    for (uint32_t count : counts) decisions += count;
    if (decisions > kMaxChunkThreadInstructions) {
      return Refuse(absl::StrCat(decisions, " decisions are more than the thread-instructions that a chunk may have"));
    }
    if (const uint64_t needed = PlaneBytes(counts); needed != planes.size()) {
      return Refuse(absl::StrCat("decision_planes has ", planes.size(), " bytes, the paths need ", needed));
    }
    out_.decision_storage = PathsOf(counts, planes);
    return absl::OkStatus();
  }

  absl::Status ReadExtents() {
    const uint64_t paths = out_.paths.size();
    const auto size_fits = [&](int size) { return static_cast<uint64_t>(size) == (cut_ ? paths : 0); };
    if (!size_fits(table_.extent_size()) || !size_fits(table_.start_block_size()) ||
        !size_fits(table_.call_depth_size())) {
      return Refuse("extent, start_block and call_depth have one element per path in parts, and none elsewhere");
    }
    uint64_t depth = 0;
    for (uint32_t d : table_.call_depth()) depth += d;
    if (depth != static_cast<uint64_t>(table_.call_stack_size())) {
      return Refuse("call_stack does not have the elements that call_depth counts");
    }
    out_.call_stack_storage.assign(table_.call_stack().begin(), table_.call_stack().end());
    uint64_t next = 0;
    for (uint64_t p = 0; cut_ && p < paths; ++p) {
      PathView& path = out_.paths[p];
      path.start_block = table_.start_block(static_cast<int>(p));
      const uint32_t count = table_.call_depth(static_cast<int>(p));
      path.call_stack = std::span<const uint32_t>(out_.call_stack_storage).subspan(next, count);
      next += count;
      switch (table_.extent(static_cast<int>(p))) {
        case v1::PathTable::RUNS_TO_EXIT:
          path.extent = Extent::kRunsToExit;
          break;
        case v1::PathTable::CUT:
          if (chunk_.last_part()) return RefusePath(p, "a path of the last part must run to its exit");
          path.extent = Extent::kCut;
          break;
        case v1::PathTable::ENDED:
          if (chunk_.part() == 0) return RefusePath(p, "no thread can have exited before the first part");
          path.extent = Extent::kEnded;
          break;
        default:
          return RefusePath(p, "unknown extent");
      }
      HEDDLE_RETURN_IF_ERROR(CheckStart(p, path));
    }
    return absl::OkStatus();
  }

  // The calls that are pending lead from the kernel to the function of the start block.
  absl::Status CheckStart(uint64_t p, const PathView& path) const {
    if (path.start_block >= program_.blocks().size()) return RefusePath(p, "start_block does not exist");
    if (path.call_stack.size() > kMaxCallDepth) return RefusePath(p, "more pending calls than the format allows");
    if (chunk_.part() == 0 || path.extent == Extent::kEnded) {
      if (path.start_block != program_.entry_block() || !path.call_stack.empty()) {
        return RefusePath(p, "it must start at the entry");
      }
    }
    uint32_t function = 0;
    for (size_t i = 0; i < path.call_stack.size(); ++i) {
      const uint32_t caller = path.call_stack[i];
      if (caller >= program_.blocks().size()) return RefusePath(p, "a block in call_stack does not exist");
      const Block& block = program_.block(caller);
      if (block.function != function || (block.terminator != v1::CALL && block.terminator != v1::CALL_INDIRECT)) {
        return RefusePath(p, "call_stack is not a chain of calls from the kernel");
      }
      const uint32_t callee = i + 1 < path.call_stack.size() ? path.call_stack[i + 1] : path.start_block;
      if (callee >= program_.blocks().size()) return RefusePath(p, "a block in call_stack does not exist");
      function = program_.block(callee).function;
      const auto targets = program_.targets().subspan(block.first_target, block.target_count);
      const bool calls = std::any_of(targets.begin(), targets.end(),
                                     [&](uint32_t entry) { return program_.block(entry).function == function; });
      if (!calls) return RefusePath(p, "call_stack is not a chain of calls from the kernel");
    }
    if (program_.block(path.start_block).function != function) {
      return RefusePath(p, "call_stack does not lead to the start block");
    }
    return absl::OkStatus();
  }

  absl::Status ReadReferences() {
    walked_.paths.assign(out_.paths.size(), WalkedPaths::Path());
    const size_t threads = thread_count();
    out_.path_of_thread.resize(threads);
    const bool distances = chunk_.path_number_size() == 0;  // version 1.0
    const uint32_t* references = distances ? chunk_.path_ref().data() : chunk_.path_number().data();
    uint32_t used = 0;
    for (size_t t = 0; t < threads;) {
      const uint32_t reference = references[t];
      if (reference > used || (reference == 0 && used >= out_.paths.size())) {
        return Refuse(absl::StrCat(reference_name(), " of thread ", t, " names a path that does not exist"));
      }
      const uint32_t path = reference == 0 ? used++ : distances ? used - reference : reference - 1;
      size_t end = t + 1;  // mostly many threads in a row take one path
      while (reference != 0 && end < threads && references[end] == reference) ++end;
      std::fill(out_.path_of_thread.begin() + t, out_.path_of_thread.begin() + end, path);
      walked_.paths[path].uses += end - t;
      t = end;
    }
    if (used != out_.paths.size()) return Refuse("paths are left that no thread takes");
    return absl::OkStatus();
  }

  // Appends the columns of a block's accesses to the sequence.
  void AppendAccesses(const Block& block) {
    // Most blocks have up to four accesses: four are written whatever their number, so that no branch depends on it.
    constexpr uint32_t kAtOnce = 4;
    constexpr uint64_t kOnes = 0x0001000100010001;
    constexpr uint64_t kSteps = 0x0003000200010000;
    const size_t needed = sequence_size_ + block.access_count;
    if (needed + kAtOnce > walked_.sequence.size()) [[unlikely]] {
      if (needed > kMaxChunkAccesses) {  // the chunk is refused at the end of this path
        sequence_size_ = needed;
        return;
      }
      walked_.sequence.resize(needed + needed / 2 + 4096);
    }
    uint16_t* next = walked_.sequence.data() + sequence_size_;
    const uint64_t four = (block.first_access & 0xffff) * kOnes + kSteps;
    memcpy(next, &four, sizeof(four));
    for (uint32_t i = kAtOnce; i < block.access_count; ++i) next[i] = static_cast<uint16_t>(block.first_access + i);
    sequence_size_ = needed;
  }

  // Lists the columns of the path that has visited the blocks in `touched`, and clears the counts of visits.
  void ListColumns(WalkedPaths::Path& walked, std::vector<uint32_t>& visits, std::vector<uint32_t>& touched) {
    walked.first_column = columns_size_;
    for (uint32_t b : touched) {
      const Block& block = program_.block(b);
      MakeRoomForColumns(block.access_count);
      for (uint32_t c = block.first_access; c < block.first_access + block.access_count; ++c) {
        walked_.columns[columns_size_] = static_cast<uint16_t>(c);
        walked_.counts[columns_size_++] = visits[b];
        CountColumn(walked, c, visits[b]);
      }
      visits[b] = 0;
    }
    touched.clear();
    walked.column_count = static_cast<uint32_t>(columns_size_ - walked.first_column);
  }

  // Appends the columns of a step's or a stride's accesses to the sequence; false if they are more than a chunk may
  // have.
  bool AppendAccesses(uint32_t first_access, uint32_t access_count) {
    const size_t needed = sequence_size_ + access_count;
    if (needed + PathSteps::kPadding > walked_.sequence.size()) [[unlikely]] {
      if (needed > kMaxChunkAccesses) return false;
      walked_.sequence.resize(needed + needed / 2 + 4096);
    }
    uint16_t* next = walked_.sequence.data() + sequence_size_;
    const uint16_t* from = steps_.sequence() + first_access;
    memcpy(next, from, PathSteps::kPadding * sizeof(uint16_t));
    if (access_count > PathSteps::kPadding) memcpy(next, from, access_count * sizeof(uint16_t));
    sequence_size_ = needed;
    return true;
  }

  // Takes strides as far as there are decisions and strides: moves `current` and `count` behind them and returns the
  // number of decisions. kVisits as in WalkSteps.
  template <bool kVisits>
  uint32_t WalkStrides(const PathView& path, uint64_t budget, uint32_t& current, uint64_t& count) {
    static_assert(PathSteps::kStrideDecisions == 4);
    uint32_t i = 0;
    for (; path.decision_count - i >= 4; i += 4) {
      const uint32_t decisions = (path.decisions[i >> 3] >> (i & 4)) & 15;
      const uint32_t taken = steps_.StrideFrom(current, decisions);
      if (taken == PathSteps::kNone) break;
      PathSteps::Stride& stride = steps_.stride(taken);
      if (count + stride.instructions > budget || !AppendAccesses(stride.first_access, stride.access_count)) break;
      count += stride.instructions;
      if constexpr (kVisits) {
        if (stride.visits++ == 0) touched_strides_.push_back(taken);
      }
      current = stride.next;
    }
    return i;
  }

  // Walks a path by steps; with kVisits it counts the visits of each. False if that cannot be done, or if the path
  // breaks a rule: the general walk will tell.
  template <bool kVisits>
  bool WalkSteps(const PathView& path, uint64_t budget, uint64_t& instructions) {
    const bool cut = path.extent == Extent::kCut;
    if (!steps_.usable() || path.extent == Extent::kEnded || path.wide_count != 0 || !path.call_stack.empty()) {
      return false;
    }
    uint32_t current = steps_.At(path.start_block);
    if (current == PathSteps::kNone) return false;
    uint64_t count = 0;
    for (uint32_t i = WalkStrides<kVisits>(path, budget, current, count); current != PathSteps::kNone; ++i) {
      const bool last = i == path.decision_count;
      if (last && cut) break;
      PathSteps::Step& step = steps_.step(current);
      count += step.instructions;
      if (count > budget || step.decides == last) return false;
      if constexpr (kVisits) {
        if (step.visits++ == 0) touched_steps_.push_back(current);
      }
      if (!AppendAccesses(step.first_access, step.access_count)) return false;
      if (last) break;
      current = steps_.Behind(current, (path.decisions[i >> 3] >> (i & 7)) & 1);
    }
    if (current == PathSteps::kNone) return false;
    instructions = count;
    return true;
  }

  // As ListColumns, for a path that was walked by steps: from the visits, or from the path's accesses if those have not
  // been counted, which is quicker where there are few.
  void ListStepColumns(WalkedPaths::Path& walked) {
    walked.first_column = columns_size_;
    if (touched_strides_.empty() && touched_steps_.empty()) {
      VisitColumns(std::span(walked_.sequence).subspan(walked.first_access, sequence_size_ - walked.first_access), 1);
    }
    const auto visit = [&](auto& part) {
      VisitColumns({steps_.sequence() + part.first_access, part.access_count}, part.visits);
      part.visits = 0;
    };
    for (uint32_t index : touched_strides_) visit(steps_.stride(index));
    for (uint32_t index : touched_steps_) visit(steps_.step(index));
    touched_strides_.clear();
    touched_steps_.clear();
    for (size_t i = walked.first_column; i < columns_size_; ++i) {
      uint32_t& visits = column_visits_[walked_.columns[i]];
      walked_.counts[i] = visits;
      CountColumn(walked, walked_.columns[i], visits);
      visits = 0;
    }
    walked.column_count = static_cast<uint32_t>(columns_size_ - walked.first_column);
  }

  // Counts visits, and appends the columns that have had none so far; every column is written, so that no branch
  // depends on whether it is new.
  void VisitColumns(std::span<const uint16_t> columns, uint32_t visits) {
    MakeRoomForColumns(std::min(columns.size(), column_visits_.size()) + 1);
    uint16_t* next = walked_.columns.data() + columns_size_;
    for (const uint16_t column : columns) {
      *next = column;
      next += column_visits_[column] == 0;
      column_visits_[column] += visits;
    }
    columns_size_ = static_cast<size_t>(next - walked_.columns.data());
  }

  // Room in the lists of columns and counts for `more` elements behind those that there are.
  void MakeRoomForColumns(size_t more) {
    const size_t needed = columns_size_ + more;
    if (needed <= walked_.columns.size()) [[likely]] {
      return;
    }
    walked_.columns.resize(needed + needed / 2 + 1024);
    walked_.counts.resize(walked_.columns.size());
  }

  // Forgets what WalkSteps has done of a path.
  void UndoSteps(const WalkedPaths::Path& walked) {
    for (uint32_t index : touched_strides_) steps_.stride(index).visits = 0;
    for (uint32_t index : touched_steps_) steps_.step(index).visits = 0;
    touched_strides_.clear();
    touched_steps_.clear();
    sequence_size_ = walked.first_access;
  }

  void CountColumn(const WalkedPaths::Path& walked, uint32_t column, uint32_t visits) {
    WalkedPaths::Column& total = walked_.totals[column];
    total.accesses += walked.uses * visits;
    total.threads += walked.uses;
    total.most = std::max<uint64_t>(total.most, visits);
  }

  absl::Status WalkAll() {
    sequence_size_ = 0;
    columns_size_ = 0;
    walked_.totals.assign(program_.accesses().size(), WalkedPaths::Column());
    steps_.Reset(program_);
    touched_strides_.clear();
    touched_steps_.clear();
    column_visits_.assign(program_.accesses().size(), 0);
    std::vector<uint32_t> visits(program_.blocks().size(), 0);
    std::vector<uint32_t> touched;  // blocks with accesses that the path has visited
    uint64_t instructions = 0;
    uint64_t accesses = 0;
    constexpr uint32_t kFewDecisions = 64;
    constexpr uint32_t kMoreFewDecisions = 256;
    uint32_t few_decisions = kFewDecisions;  // of a path whose visits are not counted
    WalkState state;
    for (uint64_t p = 0; p < out_.paths.size(); ++p) {
      PathView& path = out_.paths[p];
      WalkedPaths::Path& walked = walked_.paths[p];
      walked.first_access = sequence_size_;
      const uint64_t budget = (kMaxChunkThreadInstructions - instructions) / walked.uses;
      const bool by_steps = path.decision_count <= few_decisions
                                ? WalkSteps<false>(path, budget, path.thread_instructions)
                                : WalkSteps<true>(path, budget, path.thread_instructions);
      if (!by_steps) {
        UndoSteps(walked);
        state.block = path.start_block;
        state.stack.assign(path.call_stack.begin(), path.call_stack.end());
        state.ended = false;
        PackedDecisions decisions(path);
        const WalkStatus status = Walk(program_, path.extent, decisions, state, budget, path.thread_instructions,
                                       [&](uint32_t index, const Block& block) {
                                         if (visits[index]++ == 0) touched.push_back(index);
                                         AppendAccesses(block);
                                       });
        if (status != WalkStatus::kOk)
          return RefusePath(p, absl::StrCat(WalkMessage(status), " (block ", state.block, ")"));
      }
      path.accesses = sequence_size_ - walked.first_access;
      instructions += walked.uses * path.thread_instructions;
      accesses += walked.uses * path.accesses;
      if (accesses > kMaxChunkAccesses) {
        return Refuse(absl::StrCat("more than ", kMaxChunkAccesses, " accesses"));
      }
      if (by_steps) {
        // Where most strides of a path are visited once, looking at the visits of each is slower than at each access.
        if (touched_strides_.size() * 2 > path.decision_count / PathSteps::kStrideDecisions) {
          few_decisions = kMoreFewDecisions;
        }
        ListStepColumns(walked);
      } else {
        ListColumns(walked, visits, touched);
      }
    }
    if (instructions != chunk_.thread_instructions() || accesses != chunk_.accesses()) {
      return Refuse(absl::StrCat("declares ", chunk_.thread_instructions(), " thread-instructions and ",
                                 chunk_.accesses(), " accesses, its paths have ", instructions, " and ", accesses));
    }
    out_.thread_instructions = instructions;
    out_.accesses = accesses;
    return absl::OkStatus();
  }

  absl::Status PlaceThreads() {
    out_.first_address.resize(out_.path_of_thread.size() + 1);
    uint64_t next = 0;
    for (size_t t = 0; t < out_.path_of_thread.size(); ++t) {
      out_.first_address[t] = next;
      next += out_.paths[out_.path_of_thread[t]].accesses;
    }
    out_.first_address.back() = next;
    return absl::OkStatus();
  }

  absl::string_view reference_name() const { return chunk_.path_number_size() == 0 ? "path_ref" : "path_number"; }
  size_t thread_count() const {
    return static_cast<size_t>(std::max(chunk_.path_ref_size(), chunk_.path_number_size()));
  }

  const v1::BlockChunk& chunk_;
  const v1::PathTable& table_;
  const Program& program_;
  const uint32_t threads_per_block_;
  WalkedPaths& walked_;
  DecodedChunk& out_;
  bool cut_ = false;
  size_t sequence_size_ = 0;
  size_t columns_size_ = 0;  // of WalkedPaths::columns and counts, as far as they are used
  PathSteps steps_;
  std::vector<uint32_t> touched_strides_;  // that the path has visited
  std::vector<uint32_t> touched_steps_;
  std::vector<uint32_t> column_visits_;  // by column, 0 between paths
};

}  // namespace

absl::Status DecodePaths(const v1::BlockChunk& chunk, const Program& program, uint32_t threads_per_block,
                         WalkedPaths& walked, DecodedChunk& out) {
  return PathDecoder(chunk, program, threads_per_block, walked, out).Run();
}

}  // namespace heddle::trace
