// The slices of the L2.
#ifndef HEDDLE_REPLAY_MEMORY_L2_SLICES_H_
#define HEDDLE_REPLAY_MEMORY_L2_SLICES_H_

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "proto/machine.pb.h"
#include "proto/result.pb.h"
#include "replay/memory/l2/l2_slice.h"
#include "replay/memory/ports/clock_domains.h"
#include "replay/memory/ports/memory_system.h"

namespace heddle::replay {

// All of them, numbered over the controllers: what concerns each, and what they have counted together.
class L2Slices {
 public:
  // `rop_edges` and `dram_pipe_edges` are the lengths of the pipelines before the cache and before the DRAM controller,
  // in edges of the L2.
  L2Slices(const machine::v1::L2& l2, uint32_t slices, uint32_t rop_edges, uint32_t dram_pipe_edges);

  uint32_t size() const { return static_cast<uint32_t>(slices_.size()); }
  L2Slice& operator[](uint32_t slice) { return slices_[slice]; }
  const L2Slice& operator[](uint32_t slice) const { return slices_[slice]; }

  // As if nothing had ever been there; nothing may be under way.
  void Flush();
  void BeginLaunch();
  void Invalidate(std::span<const AddressRange> ranges);

  // What they have counted. Errors: of one that is not drained, or whose counters disagree.
  absl::StatusOr<L2SliceCounters> CheckedCounters() const;
  // Writes the counters as they stand before edge `end` of the L2.
  void Write(Edge end, result::v1::L2Counters& out) const;
  void AddSample(MemorySample& out) const;

 private:
  const machine::v1::L2 config_;
  const uint32_t rop_edges_;
  const uint32_t dram_pipe_edges_;
  std::vector<L2Slice> slices_;
};

}  // namespace heddle::replay

#endif  // HEDDLE_REPLAY_MEMORY_L2_SLICES_H_
