// Warnings of recorded accesses that lie outside all allocations.
#ifndef HEDDLE_TRACEGEN_EXECUTE_BLOCK_OUTSIDE_ACCESSES_H_
#define HEDDLE_TRACEGEN_EXECUTE_BLOCK_OUTSIDE_ACCESSES_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "proto/trace.pb.h"
#include "tracegen/execute/block/block_records.h"
#include "tracegen/execute/block/record_log.h"
#include "tracegen/execute/block/thread_places.h"
#include "tracegen/execute/launch/geometry.h"
#include "tracegen/execute/launch/warnings.h"
#include "tracegen/execute/memory/bounds_check.h"
#include "tracegen/instrument/instrument.h"

namespace heddle::tracegen {

// Looks at what blocks have recorded, and warns of the first access outside of each kernel, with its place in the
// source.
class OutsideAccesses {
 public:
  // What is known of an address that a kernel may not access; may be empty.
  using DescribeAddress = std::function<std::string(uint64_t address)>;

  // `places` and `warnings`, to which is added, must outlive the object.
  OutsideAccesses(const ThreadPlaces& places, const DescribeAddress& describe, Warnings& warnings)
      : places_(places), describe_(describe), warnings_(warnings) {}

  // What is allocated while the next launches run, and the program that they record; null: nothing is looked at.
  void SetBounds(const std::vector<trace::v1::Allocation>& allocations, const trace::v1::KernelProgram* program) {
    bounds_.SetAllocations(allocations);
    program_ = program;
  }
  void BeginLaunch(const InstrumentedKernel& kernel, const Geometry& geometry);

  // Looks at a whole block. `records` are those of `log`.
  void LookAt(RecordLog& log, BlockRecords& records) {
    if (!IsOver() && !bounds_.Holds(records.ranges()) && log.FindOutside(bounds_)) Warn(log, {});
  }
  // Looks at a part of a block that is cut in time. Of a thread that goes on in the next part, what is behind the
  // consumed addresses may not have been written yet.
  void LookAtPart(RecordLog& log, std::span<const uint64_t> consumed) {
    if (!IsOver() && log.FindOutside(bounds_)) Warn(log, consumed);
  }

 private:
  bool IsOver() const { return program_ == nullptr || warned_; }
  // If the records hold an access outside. `consumed` is empty for a whole block.
  void Warn(RecordLog& log, std::span<const uint64_t> consumed);
  // " at k.cu:12". The instruction is the one that a walk along the thread's decisions finds at this address.
  std::string PlaceOf(const trace::ThreadRecord& record, size_t position) const;

  const ThreadPlaces& places_;
  const DescribeAddress& describe_;
  Warnings& warnings_;
  BoundsCheck bounds_;
  const trace::v1::KernelProgram* program_ = nullptr;
  const InstrumentedKernel* kernel_ = nullptr;
  bool warned_ = false;              // of this kernel
  std::set<std::string> warned_of_;  // kernels
};

}  // namespace heddle::tracegen

#endif  // HEDDLE_TRACEGEN_EXECUTE_BLOCK_OUTSIDE_ACCESSES_H_
