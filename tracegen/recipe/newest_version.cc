#include "tracegen/recipe/newest_version.h"

#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <utility>
#include <vector>

#include "traces/base/status_macros.h"
#include "traces/format/edit/copy.h"
#include "traces/format/limits.h"
#include "traces/format/read/reader.h"

namespace heddle::tracegen {

absl::StatusOr<std::unique_ptr<trace::TraceWriter>> BeginAtNewestVersion(std::unique_ptr<trace::TraceWriter> writer,
                                                                         const std::string& path,
                                                                         const trace::WriterOptions& options) {
  HEDDLE_RETURN_IF_ERROR(writer->Finish());
  HEDDLE_ASSIGN_OR_RETURN(std::unique_ptr<trace::TraceReader> before, trace::TraceReader::Open(path));
  trace::v1::FileHeader header = before->header();
  header.set_minor(std::max(header.minor(), trace::kCertificateMinorVersion));
  absl::StatusOr<std::unique_ptr<trace::TraceWriter>> anew =
      trace::TraceWriter::Create(path, std::move(header), options);
  if (!anew.ok()) return anew.status();
  std::vector<uint32_t> same(static_cast<size_t>(before->header().source_file_size()) + 1);
  std::iota(same.begin(), same.end(), 0);
  HEDDLE_RETURN_IF_ERROR(trace::TraceCopier(**anew, false).Add(*before, {}, same));
  unlink(path.c_str());  // until it is complete again
  return anew;
}

}  // namespace heddle::tracegen
