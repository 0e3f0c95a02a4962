#include "traces/format/edit/block_slices.h"

#include "absl/strings/str_cat.h"
#include "traces/base/status_macros.h"
#include "traces/format/chunk/walk.h"
#include "traces/format/program/operands.h"

namespace heddle::trace {
namespace {

// Hands decisions on to a walk and notes them in their order.
class NotedDecisions {
 public:
  NotedDecisions(const PathView& path, std::vector<uint8_t>& out) : decisions_(path), out_(out) {}
  bool empty() const { return decisions_.empty(); }
  bool two_way(uint32_t& decision) { return decisions_.two_way(decision) && Note(decision); }
  bool wide(uint32_t& decision) { return decisions_.wide(decision) && Note(decision); }
  bool fits() const { return fits_; }

 private:
  bool Note(uint32_t decision) {
    fits_ &= decision <= 255;
    out_.push_back(static_cast<uint8_t>(decision));
    return true;
  }

  PackedDecisions decisions_;
  std::vector<uint8_t>& out_;
  bool fits_ = true;
};

}  // namespace

absl::Status ExpandedPaths::Expand(const Program& program, const DecodedChunk& chunk) {
  decisions_.clear();
  slots_.clear();
  first_decision_.assign(1, 0);
  first_access_.assign(1, 0);
  for (const PathView& path : chunk.paths) {
    WalkState state{path.start_block, {path.call_stack.begin(), path.call_stack.end()}, path.extent == Extent::kEnded};
    NotedDecisions decisions(path, decisions_);
    uint64_t instructions = 0;
    (void)Walk(program, path.extent, decisions, state, ~uint64_t{0}, instructions, [&](uint32_t, const Block& block) {
      for (uint32_t i = 0; i < block.access_count; ++i) slots_.push_back(SlotOf(program, block.first_access + i));
    });  // DecodeChunk walked the same path and found nothing wrong
    if (!decisions.fits()) {
      return absl::UnimplementedError(
          "a branch with more than 256 successors cannot be encoded anew; whole chunks can be copied as they are");
    }
    first_decision_.push_back(decisions_.size());
    first_access_.push_back(slots_.size());
  }
  return absl::OkStatus();
}

absl::StatusOr<bool> BlockSlices::Next() {
  if (next_reference_ > 0 && in_chunk_ + 1 < chunk_.blocks.size()) {
    ++in_chunk_;
  } else {
    if (next_reference_ == references_.size()) return false;
    const v1::ChunkReference& reference = references_[next_reference_++];
    HEDDLE_RETURN_IF_ERROR(reader_.ReadChunk(reference, chunk_));
    if (absl::Status status = paths_.Expand(*launch_.program, chunk_); !status.ok()) {
      return absl::Status(status.code(),
                          absl::StrCat(reader_.name(), ": frame ", reference.frame(), ": ", status.message()));
    }
    in_chunk_ = 0;
  }
  const size_t first = in_chunk_ * chunk_.threads_per_block;
  const size_t end = first + chunk_.threads_per_block;
  const uint64_t origin = chunk_.first_address[first];
  addresses_.resize(chunk_.first_address[end] - origin);
  threads_.clear();
  for (size_t t = first; t < end; ++t) {
    const uint32_t path = chunk_.path_of_thread[t];
    uint64_t position = chunk_.first_address[t];
    uint64_t* out = addresses_.data() + (position - origin);
    for (Pc slot : paths_.slots(path)) *out++ = chunk_.address(position++, slot);
    threads_.push_back({paths_.decisions(path),
                        std::span(addresses_).subspan(chunk_.first_address[t] - origin, paths_.slots(path).size()),
                        chunk_.paths[path].extent != Extent::kCut});
  }
  return true;
}

}  // namespace heddle::trace
