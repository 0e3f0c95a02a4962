// Counts, in what the threads of a block have recorded, reads of global memory outside all allocations.
#ifndef HEDDLE_TRACEGEN_EXECUTE_CHECKS_OUTSIDE_READS_H_
#define HEDDLE_TRACEGEN_EXECUTE_CHECKS_OUTSIDE_READS_H_

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "proto/trace.pb.h"
#include "tracegen/execute/block/block_observer.h"
#include "tracegen/execute/memory/bounds_check.h"
#include "traces/format/chunk/walk.h"
#include "traces/format/program/operands.h"
#include "traces/format/program/program.h"

namespace heddle::tracegen {

// Of one launch whose kernel may read there (RunnerOptions::allow_outside_reads).
class OutsideReads final : public BlockObserver {
 public:
  // The program must outlive the object.
  OutsideReads(const trace::Program& program, uint32_t threads, const std::vector<trace::v1::Allocation>& allocations);

  absl::Status AddBlock(uint64_t block, BlockRecords& records, std::span<const uint64_t> consumed, bool last) override;
  bool CanBeCopied() const override { return true; }
  std::string TakeFindings() override;
  void AddFindings(std::string_view findings) override;

  // By instruction.
  const std::map<trace::Pc, trace::v1::OutsideRead>& reads() const { return reads_; }

 private:
  bool IsOutside(uint64_t address) const;
  void Add(trace::v1::OutsideRead read);

  const trace::Program& program_;
  const std::vector<trace::Column> columns_;
  const uint32_t threads_;
  BoundsCheck bounds_;
  bool in_block_ = false;
  std::vector<trace::WalkState> states_;
  std::map<trace::Pc, trace::v1::OutsideRead> reads_;
};

}  // namespace heddle::tracegen

#endif  // HEDDLE_TRACEGEN_EXECUTE_CHECKS_OUTSIDE_READS_H_
