// What certificates of a trace say about memory and about threads that wait, for `heddle trace info`.
#ifndef HEDDLE_TOOLS_SHOW_TRACE_FINDINGS_H_
#define HEDDLE_TOOLS_SHOW_TRACE_FINDINGS_H_

#include <string>

#include "traces/format/read/reader.h"

namespace heddle::tools {

// Tables of races in global memory, of memory that other orders leave otherwise, of threads of a warp that wait for one
// another if they run together, and of reads outside allocations; those that have rows. By launch, or summed up over
// the launches of a kernel.
std::string FindingsText(const trace::TraceReader& reader, bool per_launch);

}  // namespace heddle::tools

#endif  // HEDDLE_TOOLS_SHOW_TRACE_FINDINGS_H_
