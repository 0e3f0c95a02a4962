#include "traces/format/read/info.h"

#include <zstd.h>

#include <algorithm>
#include <map>
#include <memory>
#include <span>
#include <vector>

#include "traces/base/status_macros.h"
#include "traces/format/chunk/walk.h"
#include "traces/format/program/operands.h"
#include "traces/format/read/block_runs.h"

namespace heddle::trace {
namespace {

constexpr uint32_t kWarp = 32;

// Sizes of messages compressed by themselves.
class Compressor {
 public:
  double Size(const google::protobuf::Message& message) {
    message.SerializeToString(&bytes_);
    out_.resize(ZSTD_compressBound(bytes_.size()));
    const size_t size = ZSTD_compressCCtx(context_.get(), out_.data(), out_.size(), bytes_.data(), bytes_.size(), 1);
    return ZSTD_isError(size) ? static_cast<double>(bytes_.size()) : static_cast<double>(size);
  }

 private:
  struct Free {
    void operator()(ZSTD_CCtx* context) const { ZSTD_freeCCtx(context); }
  };
  std::unique_ptr<ZSTD_CCtx, Free> context_{ZSTD_createCCtx()};
  std::string bytes_;
  std::string out_;
};

// What one thread, or the threads of a warp so far, did in a basic block.
struct BlockVisits {
  uint64_t visits = 0;
  uint64_t most = 0;       // of a thread of the warp
  uint64_t decisions = 0;  // hash of the thread's decisions
  uint64_t first = 0;      // hash of the decisions of the warp's first thread that came here
  bool came = false;
  bool differs = false;
};

class DivergenceMeter {
 public:
  DivergenceMeter(const Program& program, DivergenceSummary& out) : program_(program), out_(out) {
    visits_.resize(program.blocks().size());
  }

  void Add(const DecodedChunk& chunk) {
    out_.distinct_paths += chunk.paths.size();
    cut_ = chunk.part > 0 || !chunk.last_part;
    if (cut_ && chunk.part == 0) cut_warps_.clear();
    warp_in_chunk_ = 0;
    for (size_t first = 0; first < chunk.path_of_thread.size();) {
      const size_t block_end = (first / chunk.threads_per_block + 1) * chunk.threads_per_block;
      const size_t end = std::min(first + kWarp, block_end);
      AddWarp(chunk, first, end);
      ++warp_in_chunk_;
      first = end;
    }
    if (cut_ && chunk.last_part) CountCutWarps();
  }

  void Finish() {
    if (warp_instructions_ > 0) {
      out_.lane_activity_bound =
          static_cast<double>(thread_instructions_) / (static_cast<double>(warp_instructions_) * kWarp);
    }
  }

 private:
  // What is known of a warp of the block that is being read part by part.
  struct CutWarp {
    bool uniform = true;
    std::vector<uint8_t> branches;  // by basic block: kRan, kDiffers
  };
  static constexpr uint8_t kRan = 1, kDiffers = 2;

  void AddWarp(const DecodedChunk& chunk, size_t first, size_t end) {
    bool uniform = true;
    for (size_t t = first; t < end; ++t) {
      const uint32_t path = chunk.path_of_thread[t];
      thread_instructions_ += chunk.paths[path].thread_instructions;
      uniform &= path == chunk.path_of_thread[first];
      if (t > first && path == chunk.path_of_thread[t - 1]) continue;
      AddPath(chunk.paths[path]);
    }
    if (cut_ && warp_in_chunk_ >= cut_warps_.size()) {
      cut_warps_.push_back({true, std::vector<uint8_t>(program_.blocks().size(), 0)});
    }
    for (uint32_t b : in_warp_) {
      BlockVisits& block = visits_[b];
      warp_instructions_ += block.most * program_.block(b).count;
      if (Decides(program_.block(b))) {
        if (cut_) {
          cut_warps_[warp_in_chunk_].branches[b] |= static_cast<uint8_t>(kRan | (block.differs ? kDiffers : 0));
        } else {
          CountDecision(b, block.differs);
        }
      }
      block = BlockVisits();
    }
    in_warp_.clear();
    if (cut_) {
      cut_warps_[warp_in_chunk_].uniform &= uniform;
    } else {
      ++out_.warps;
      out_.uniform_warps += uniform;
    }
  }

  // A warp counts once, however many parts its block has.
  void CountCutWarps() {
    for (const CutWarp& warp : cut_warps_) {
      ++out_.warps;
      out_.uniform_warps += warp.uniform;
      for (uint32_t b = 0; b < warp.branches.size(); ++b) {
        if ((warp.branches[b] & kRan) != 0) CountDecision(b, (warp.branches[b] & kDiffers) != 0);
      }
    }
    cut_warps_.clear();
  }

  // Of one warp, at the end of a block.
  void CountDecision(uint32_t block, bool differs) {
    const bool guard = program_.DecidesGuard(program_.block(block));
    ++(guard ? out_.warp_guards : out_.warp_branches);
    (guard ? out_.divergent_warp_guards : out_.divergent_warp_branches) += differs;
  }

  static bool Decides(const Block& block) {
    return block.terminator == v1::BRANCH_CONDITIONAL || block.terminator == v1::BRANCH_WIDE;
  }

  void AddPath(const PathView& path) {
    in_thread_.clear();
    WalkState state{path.start_block, {path.call_stack.begin(), path.call_stack.end()}, path.extent == Extent::kEnded};
    PackedDecisions decisions(path);
    uint64_t instructions = 0;
    uint32_t previous = kNoBlock;
    const auto decided = [&](uint32_t next) {
      if (previous == kNoBlock) return;
      uint64_t& hash = visits_[previous].decisions;
      hash = (hash ^ (next + 1)) * 0x9e3779b97f4a7c15;
    };
    (void)Walk(program_, path.extent, decisions, state, ~uint64_t{0}, instructions,
               [&](uint32_t b, const Block& block) {
                 decided(b);
                 if (visits_[b].visits++ == 0) in_thread_.push_back(b);
                 previous = Decides(block) ? b : kNoBlock;
               });
    decided(state.block);
    for (uint32_t b : in_thread_) {
      BlockVisits& block = visits_[b];
      if (!block.came) {
        block.came = true;
        block.first = block.decisions;
        in_warp_.push_back(b);
      }
      block.differs |= block.decisions != block.first;
      block.most = std::max(block.most, block.visits);
      block.visits = 0;
      block.decisions = 0;
    }
  }

  const Program& program_;
  DivergenceSummary& out_;
  std::vector<BlockVisits> visits_;
  std::vector<uint32_t> in_thread_;
  std::vector<uint32_t> in_warp_;
  bool cut_ = false;
  size_t warp_in_chunk_ = 0;
  std::vector<CutWarp> cut_warps_;
  uint64_t thread_instructions_ = 0;
  uint64_t warp_instructions_ = 0;
};

// Counts how often each memory instruction and each of the `collective` ones ran; and each basic block, if `block_runs`
// has a number for it.
void AddAccesses(const Program& program, const DecodedChunk& chunk, std::span<const Pc> collective,
                 std::map<Pc, ColumnInfo>& columns, std::map<Pc, uint64_t>& collectives,
                 std::vector<uint64_t>& block_runs) {
  std::vector<uint64_t> visits(program.blocks().size(), 0);
  AddBlockRuns(program, chunk, visits);
  for (size_t b = 0; b < block_runs.size(); ++b) block_runs[b] += visits[b];
  for (const Block& block : program.blocks()) {
    const uint64_t times = visits[static_cast<size_t>(&block - program.blocks().data())];
    if (times == 0) continue;
    for (Pc pc : program.accesses_of(block)) columns[pc].accesses += times;
  }
  for (const Pc pc : collective) {
    if (const uint64_t times = visits[program.block_of(pc)]; times != 0) collectives[pc] += times;
  }
}

// Splits the bytes of a chunk's frame among its contents.
void AddBytes(v1::BlockChunk& chunk, uint64_t frame_bytes, Compressor& compressor, LaunchInfo& info,
              std::map<Pc, ColumnInfo>& columns) {
  struct Share {
    ByteCount* count;
    double compressed;
  };
  std::vector<Share> shares;
  const auto add = [&](const google::protobuf::Message& message, ByteCount& count) {
    count.encoded += message.ByteSizeLong();
    shares.push_back({&count, compressor.Size(message)});
  };
  for (const v1::AddressColumn& column : chunk.column()) {
    ColumnInfo& out = columns[column.instruction()];
    out.instruction = column.instruction();
    // The numbers between RELATIVE and CHAIN are reserved, and refused when the chunk is decoded.
    constexpr int kReserved = v1::AddressColumn::CHAIN - v1::AddressColumn::RELATIVE - 1;
    ++out.chunks_by_model[column.model() < v1::AddressColumn::CHAIN ? column.model() : column.model() - kReserved];
    add(column, out.bytes);
  }
  chunk.clear_column();
  v1::BlockChunk paths;
  paths.mutable_paths()->Swap(chunk.mutable_paths());
  paths.mutable_path_ref()->Swap(chunk.mutable_path_ref());
  paths.mutable_path_number()->Swap(chunk.mutable_path_number());
  add(paths, info.paths);
  add(chunk, info.other);
  double total = 0;
  for (const Share& share : shares) total += share.compressed;
  for (const Share& share : shares)
    share.count->compressed += static_cast<double>(frame_bytes) * share.compressed / total;
}

}  // namespace

absl::StatusOr<TraceInfo> DescribeTrace(const TraceReader& reader) {
  TraceInfo info;
  info.digest = reader.digest();
  info.records = reader.record_count();
  info.thread_instructions = reader.index().thread_instructions();
  info.accesses = reader.index().accesses();
  info.file_bytes = reader.file_bytes();
  Compressor compressor;
  for (const LaunchView& view : reader.launches()) {
    LaunchInfo& launch = info.launches.emplace_back();
    launch.id = view.launch.id();
    launch.kernel = view.program->name();
    launch.recorded = view.launch.recorded();
    launch.grid_blocks = view.grid_blocks;
    launch.threads_per_block = view.threads_per_block;
    launch.blocks = view.totals.blocks();
    launch.threads = view.totals.threads();
    launch.thread_instructions = view.totals.thread_instructions();
    launch.accesses = view.totals.accesses();
    launch.chunks = view.totals.chunks();
    if (const auto certificates = reader.CertificatesOf(launch.id); !certificates.empty()) {
      launch.certificate = certificates.back();
    }
    DivergenceMeter meter(*view.program, launch.divergence);
    std::vector<Pc> collective;
    for (Pc pc = 0; pc < view.program->instruction_count(); ++pc) {
      if (IsCollective(view.program->instruction(pc))) collective.push_back(pc);
    }
    if (view.program->proto().level() == v1::LEVEL_MACHINE) launch.block_runs.resize(view.program->blocks().size());
    std::map<Pc, ColumnInfo> columns;
    v1::BlockChunk chunk;
    DecodedChunk decoded;
    for (const v1::ChunkReference& reference : view.chunks) {
      HEDDLE_RETURN_IF_ERROR(reader.ReadChunk(reference, decoded));
      meter.Add(decoded);
      AddAccesses(*view.program, decoded, collective, columns, launch.collectives, launch.block_runs);
      HEDDLE_RETURN_IF_ERROR(reader.ReadChunk(reference, chunk));
      launch.frame_bytes += reader.record_bytes(reference.frame());
      AddBytes(chunk, reader.record_bytes(reference.frame()), compressor, launch, columns);
    }
    meter.Finish();
    for (const auto& [pc, column] : columns) launch.columns.push_back(column);
  }
  return info;
}

}  // namespace heddle::trace
