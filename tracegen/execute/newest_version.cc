#include "tracegen/execute/newest_version.h"

#include <unistd.h>

#include <cstdint>
#include <numeric>
#include <utility>
#include <vector>

#include "traces/format/copy.h"
#include "traces/format/limits.h"
#include "traces/format/reader.h"

namespace heddle::tracegen {

absl::StatusOr<std::unique_ptr<trace::TraceWriter>> BeginAtNewestVersion(std::unique_ptr<trace::TraceWriter> writer,
                                                                         const std::string& path,
                                                                         const trace::WriterOptions& options) {
  if (absl::Status status = writer->Finish(); !status.ok()) return status;
  absl::StatusOr<std::unique_ptr<trace::TraceReader>> before = trace::TraceReader::Open(path);
  if (!before.ok()) return before.status();
  trace::v1::FileHeader header = (*before)->header();
  header.set_minor(trace::kMinorVersion);
  absl::StatusOr<std::unique_ptr<trace::TraceWriter>> anew =
      trace::TraceWriter::Create(path, std::move(header), options);
  if (!anew.ok()) return anew.status();
  std::vector<uint32_t> same(static_cast<size_t>((*before)->header().source_file_size()) + 1);
  std::iota(same.begin(), same.end(), 0);
  if (absl::Status status = trace::TraceCopier(**anew, false).Add(**before, {}, same); !status.ok()) return status;
  unlink(path.c_str());  // until it is complete again
  return anew;
}

}  // namespace heddle::tracegen
