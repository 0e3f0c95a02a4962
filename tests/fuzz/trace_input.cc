#include "tests/fuzz/trace_input.h"

#include <utility>
#include <vector>

#include "tests/traces/forge.h"
#include "traces/format/check.h"
#include "traces/format/info.h"
#include "traces/format/reader.h"

namespace heddle::trace::testing {

void ReadHostileInput(const std::string& input) {
  if (input.empty()) return;
  std::string file = input.substr(1);
  if (input[0] != 'F') {
    v1::TraceFile records;
    if (!records.ParseFromString(file)) return;
    // The records stay as they are, wrong totals included; the index fits them.
    file = AssembleFile(WithIndex({records.record().begin(), records.record().end()}));
  }
  auto reader = TraceReader::Open(FromMemory(std::move(file)), "hostile");
  if (!reader.ok()) return;
  DecodedChunk chunk;
  for (const LaunchView& launch : (*reader)->launches()) {
    for (const v1::ChunkReference& reference : launch.chunks) (void)(*reader)->ReadChunk(reference, chunk);
    (void)(*reader)->FindChunk(launch, launch.grid_blocks / 2);
  }
  (void)CheckTrace(**reader);
  (void)DescribeTrace(**reader);
}

}  // namespace heddle::trace::testing
