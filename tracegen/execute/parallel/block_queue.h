// Which blocks of a launch begin next where several are live at once.
#ifndef HEDDLE_TRACEGEN_EXECUTE_PARALLEL_BLOCK_QUEUE_H_
#define HEDDLE_TRACEGEN_EXECUTE_PARALLEL_BLOCK_QUEUE_H_

#include <cstdint>
#include <span>
#include <vector>

#include "tracegen/execute/launch/launch_form.h"
#include "traces/format/program/clusters.h"

namespace heddle::tracegen {

// Whole clusters in ascending order; without clusters every block is one.
class BlockQueue {
 public:
  // `ranges` cover the grid in ascending order, and have whole clusters. They must outlive the object.
  BlockQueue(std::span<const GridRange> ranges, const trace::Clusters& clusters)
      : ranges_(ranges), clusters_(clusters) {}

  bool empty() const { return next_ == clusters_.count(); }
  // Of the cluster that is next: whether it is recorded, and its block with that rank. Needs one.
  bool record() const { return IsRecorded(block(0)); }
  uint64_t block(uint32_t rank) const { return clusters_.BlockOf(next_, rank); }
  void Pop() { ++next_; }

  // Blocks with consecutive numbers, of which the next cluster's are some, that the next clusters make up together: all
  // that are recorded of them, ascending. Empty unless the next cluster is the first of these.
  std::vector<uint64_t> BeginningRecords() const;

 private:
  bool IsRecorded(uint64_t block) const;

  const std::span<const GridRange> ranges_;
  const trace::Clusters clusters_;
  uint64_t next_ = 0;  // cluster
};

}  // namespace heddle::tracegen

#endif  // HEDDLE_TRACEGEN_EXECUTE_PARALLEL_BLOCK_QUEUE_H_
