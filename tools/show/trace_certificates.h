// What `heddle trace info` says about a trace's certificates.
#ifndef HEDDLE_TOOLS_SHOW_TRACE_CERTIFICATES_H_
#define HEDDLE_TOOLS_SHOW_TRACE_CERTIFICATES_H_

#include <string>

#include "traces/format/read/info.h"
#include "traces/format/read/reader.h"

namespace heddle::tools {

// A line per certified launch, or per kernel and outcome, the instructions that changed under other orders, and those
// that share data within warps without synchronization, with their places in the source.
std::string CertificateText(const trace::TraceReader& reader, const trace::TraceInfo& info, bool per_launch);

}  // namespace heddle::tools

#endif  // HEDDLE_TOOLS_SHOW_TRACE_CERTIFICATES_H_
