#include "tools/inputs/trace_memory.h"

#include "absl/strings/str_cat.h"
#include "tools/console/terminal.h"

namespace heddle::tools {

void NoteDecoding(const replay::DecodingCounters& decoding, uint64_t mebibytes) {
  if (decoding.again == 0) return;
  Note(absl::StrCat("thread blocks that are on the SMs together read more than the ", mebibytes,
                    " MiB of decoded trace that are kept: ", decoding.again, " of ", decoding.chunks,
                    " parts were decoded once more, which took time and changed no result (--trace-memory)"));
}

}  // namespace heddle::tools
