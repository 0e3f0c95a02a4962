// Checks that the parts of a block that is cut in time follow one another.
#ifndef HEDDLE_TRACES_FORMAT_READ_PART_CHECK_H_
#define HEDDLE_TRACES_FORMAT_READ_PART_CHECK_H_

#include <vector>

#include "traces/format/chunk/decoded_chunk.h"
#include "traces/format/chunk/walk.h"
#include "traces/format/program/program.h"
#include "traces/format/read/findings.h"
#include "traces/format/read/thread_place.h"

namespace heddle::trace {

// Where each thread stands after a part must be where its next part starts.
class PartCheck {
 public:
  PartCheck(const Program& program, Findings& findings) : program_(program), findings_(findings) {}

  // The next chunk, at `place`.
  void Check(const ThreadPlace& place);
  // A chunk could not be read.
  void Skip() { states_.clear(); }

 private:
  const Program& program_;
  Findings& findings_;
  std::vector<WalkState> states_;  // by thread of the block that is cut; empty if there is none
};

}  // namespace heddle::trace

#endif  // HEDDLE_TRACES_FORMAT_READ_PART_CHECK_H_
