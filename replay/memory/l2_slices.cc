#include "replay/memory/l2_slices.h"

#include "replay/memory/memory_result.h"
#include "traces/base/status_macros.h"

namespace heddle::replay {
namespace {

std::vector<L2Slice> MakeSlices(const machine::v1::L2& l2, uint32_t slices, uint32_t rop_edges,
                                uint32_t dram_pipe_edges) {
  std::vector<L2Slice> made;
  made.reserve(slices);
  for (uint32_t slice = 0; slice < slices; ++slice) made.emplace_back(l2, slice, rop_edges, dram_pipe_edges);
  return made;
}

}  // namespace

L2Slices::L2Slices(const machine::v1::L2& l2, uint32_t slices, uint32_t rop_edges, uint32_t dram_pipe_edges)
    : config_(l2),
      rop_edges_(rop_edges),
      dram_pipe_edges_(dram_pipe_edges),
      slices_(MakeSlices(l2, slices, rop_edges, dram_pipe_edges)) {}

void L2Slices::Flush() { slices_ = MakeSlices(config_, size(), rop_edges_, dram_pipe_edges_); }

void L2Slices::BeginLaunch() {
  for (L2Slice& slice : slices_) slice.BeginLaunch();
}

void L2Slices::Invalidate(std::span<const AddressRange> ranges) {
  for (L2Slice& slice : slices_) slice.Invalidate(ranges);
}

absl::StatusOr<L2SliceCounters> L2Slices::CheckedCounters() const {
  L2SliceCounters counters;
  for (const L2Slice& slice : slices_) {
    HEDDLE_RETURN_IF_ERROR(slice.CheckDrained());
    counters.Add(slice.counters());
  }
  return counters;
}

void L2Slices::Write(Edge end, result::v1::L2Counters& out) const {
  L2SliceCounters counters;
  CacheCounters cache;
  std::vector<uint64_t> occupancy;
  for (const L2Slice& slice : slices_) {
    counters.Add(slice.counters());
    if (!slice.has_cache()) continue;
    cache.Add(slice.cache()->counters());
    const std::vector<uint64_t> one = slice.cache()->mshrs().Occupancy(end);
    occupancy.resize(one.size());
    for (size_t used = 0; used < one.size(); ++used) occupancy[used] += one[used];
  }
  WriteL2(counters, size(), end, cache, occupancy, config_.cache().line_bytes(), out);
}

void L2Slices::AddSample(MemorySample& out) const {
  for (const L2Slice& slice : slices_) {
    if (!slice.has_cache()) continue;
    out.l2_accesses += slice.cache()->counters().accesses;
    out.l2_misses += slice.cache()->counters().misses;
  }
}

}  // namespace heddle::replay
