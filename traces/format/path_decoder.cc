#include <algorithm>
#include <cstring>

#include "absl/strings/str_cat.h"
#include "traces/format/chunk_decoder.h"
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
      if (absl::Status status = (this->*step)(); !status.ok()) return status;
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
    uint64_t bytes = 0;
    uint64_t numbers = 0;
    for (uint32_t count : table_.decision_count()) bytes += (uint64_t{count} + 7) / 8;
    for (uint32_t count : table_.wide_count()) numbers += count;
    if (bytes != table_.decision_bits().size()) {
      return Refuse(
          absl::StrCat("decision_bits has ", table_.decision_bits().size(), " bytes, the paths need ", bytes));
    }
    if (numbers != static_cast<uint64_t>(table_.wide_decision_size())) {
      return Refuse(
          absl::StrCat("wide_decision has ", table_.wide_decision_size(), " elements, the paths need ", numbers));
    }
    out_.decision_storage.assign(table_.decision_bits());
    out_.wide_storage.assign(table_.wide_decision().begin(), table_.wide_decision().end());
    out_.paths.assign(paths, PathView());
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
      if (absl::Status status = CheckStart(p, path); !status.ok()) return status;
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
    for (size_t t = 0; t < threads; ++t) {
      const uint32_t reference = references[t];
      if (reference > used || (reference == 0 && used >= out_.paths.size())) {
        return Refuse(absl::StrCat(reference_name(), " of thread ", t, " names a path that does not exist"));
      }
      const uint32_t path = reference == 0 ? used++ : distances ? used - reference : reference - 1;
      out_.path_of_thread[t] = path;
      ++walked_.paths[path].uses;
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
    walked.first_column = walked_.columns.size();
    for (uint32_t b : touched) {
      const Block& block = program_.block(b);
      for (uint32_t c = block.first_access; c < block.first_access + block.access_count; ++c) {
        walked_.columns.push_back(static_cast<uint16_t>(c));
        walked_.counts.push_back(visits[b]);
        WalkedPaths::Column& total = walked_.totals[c];
        total.accesses += walked.uses * visits[b];
        total.threads += walked.uses;
        total.most = std::max<uint64_t>(total.most, visits[b]);
      }
      visits[b] = 0;
    }
    touched.clear();
    walked.column_count = static_cast<uint32_t>(walked_.columns.size() - walked.first_column);
  }

  absl::Status WalkAll() {
    sequence_size_ = 0;
    walked_.columns.clear();
    walked_.counts.clear();
    walked_.totals.assign(program_.accesses().size(), WalkedPaths::Column());
    std::vector<uint32_t> visits(program_.blocks().size(), 0);
    std::vector<uint32_t> touched;  // blocks with accesses that the path has visited
    uint64_t instructions = 0;
    uint64_t accesses = 0;
    WalkState state;
    for (uint64_t p = 0; p < out_.paths.size(); ++p) {
      PathView& path = out_.paths[p];
      WalkedPaths::Path& walked = walked_.paths[p];
      walked.first_access = sequence_size_;
      state.block = path.start_block;
      state.stack.assign(path.call_stack.begin(), path.call_stack.end());
      state.ended = false;
      PackedDecisions decisions(path);
      const uint64_t budget = (kMaxChunkThreadInstructions - instructions) / walked.uses;
      const WalkStatus status = Walk(program_, path.extent, decisions, state, budget, path.thread_instructions,
                                     [&](uint32_t index, const Block& block) {
                                       if (visits[index]++ == 0) touched.push_back(index);
                                       AppendAccesses(block);
                                     });
      if (status != WalkStatus::kOk)
        return RefusePath(p, absl::StrCat(WalkMessage(status), " (block ", state.block, ")"));
      path.accesses = sequence_size_ - walked.first_access;
      instructions += walked.uses * path.thread_instructions;
      accesses += walked.uses * path.accesses;
      if (accesses > kMaxChunkAccesses) {
        return Refuse(absl::StrCat("more than ", kMaxChunkAccesses, " accesses"));
      }
      ListColumns(walked, visits, touched);
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
};

}  // namespace

absl::Status DecodePaths(const v1::BlockChunk& chunk, const Program& program, uint32_t threads_per_block,
                         WalkedPaths& walked, DecodedChunk& out) {
  return PathDecoder(chunk, program, threads_per_block, walked, out).Run();
}

}  // namespace heddle::trace
