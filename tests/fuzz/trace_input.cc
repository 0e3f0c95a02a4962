#include "tests/fuzz/trace_input.h"

#include <cstdio>
#include <cstdlib>
#include <utility>
#include <vector>

#include "tests/traces/forge.h"
#include "tests/traces/program_builder.h"
#include "traces/base/sha256.h"
#include "traces/format/container/container_writer.h"
#include "traces/format/edit/block_slices.h"
#include "traces/format/edit/compare.h"
#include "traces/format/edit/recover.h"
#include "traces/format/read/check.h"
#include "traces/format/read/info.h"
#include "traces/format/read/reader.h"

namespace heddle::trace::testing {
namespace {

// The file that 'R' and 'X' stand for; empty if the bytes are no records.
std::string FileOfRecords(const std::string& bytes, bool with_index) {
  v1::TraceFile records;
  if (!records.ParseFromString(bytes)) return "";
  if (!with_index) return AssembleFile(WithIndex({records.record().begin(), records.record().end()}));
  std::vector<std::string> frames;
  Sha256 sha;
  for (v1::Record& record : *records.mutable_record()) {
    const bool last = frames.size() + 1 == static_cast<size_t>(records.record_size());
    if (last && record.has_index()) record.mutable_index()->set_content_sha256(sha.Finish());
    frames.push_back(SerializeRecord(record));
    if (!last) sha.Update(frames.back().data(), frames.back().size());
  }
  return AssembleFile(frames);
}

// What must hold for every trace that can be read.
void Require(bool holds, const char* what) {
  if (holds) return;
  fprintf(stderr, "broken: %s\n", what);
  abort();
}

// A trace of which everything that is done with small ones would take long.
bool IsLarge(const TraceReader& reader) {
  constexpr uint64_t kMost = 1u << 19;
  return reader.index().thread_instructions() + reader.index().accesses() > kMost;
}

// With coverage of comparisons and the sanitizers, an access costs 35 times what it does otherwise, and small files may
// ask for millions: of a large trace, each chunk is decoded once, as far as few of them go.
Depth DecodeOnly(const TraceReader& reader) {
  constexpr uint64_t kMostAccesses = 4u << 20;
  Depth depth = Depth::kOpened;
  uint64_t accesses = 0;
  DecodedChunk chunk;
  for (const LaunchView& launch : reader.launches()) {
    for (const v1::ChunkReference& reference : launch.chunks) {
      if (accesses > kMostAccesses) return depth;
      if (!reader.ReadChunk(reference, chunk).ok()) continue;
      depth = Depth::kDecoded;
      accesses += chunk.accesses + chunk.thread_instructions / 4;
    }
  }
  return depth;
}

void RecoverAndCheck(const std::string& file) {
  TemporaryFile recovered("fuzz");
  if (!RecoverTrace(FromMemory(file), "hostile", recovered.path(), {}, {}).ok()) return;
  auto reader = TraceReader::Open(recovered.path());
  Require(reader.ok(), "what was recovered opens");
  auto report = CheckTrace(**reader);
  Require(report.ok(), "what was recovered can be checked");
  for (const Finding& finding : report->findings) {
    Require(finding.rule != "chunk" && finding.rule != "digest", "what was recovered decodes");
  }
}

}  // namespace

Depth ReadHostileInput(const std::string& input) {
  if (input.empty()) return Depth::kNothing;
  std::string file = input.substr(1);
  const bool records = input[0] != 'F';
  if (records) {
    file = FileOfRecords(file, input[0] == 'X');
    if (file.empty()) return Depth::kNothing;
  }
  auto opened = TraceReader::Open(FromMemory(file), "hostile");
  if (opened.ok() && IsLarge(**opened)) return DecodeOnly(**opened);
  if (!records) RecoverAndCheck(file);
  if (!opened.ok()) return Depth::kNothing;
  const TraceReader& reader = **opened;
  Depth depth = Depth::kOpened;
  bool readable = true;
  for (const LaunchView& launch : reader.launches()) {
    BlockSlices slices(reader, launch, launch.chunks);
    auto more = slices.Next();
    for (; more.ok() && *more; more = slices.Next()) depth = Depth::kDecoded;
    readable &= more.ok();
    (void)reader.FindChunk(launch, launch.grid_blocks / 2);
  }
  auto report = CheckTrace(reader);
  if (report.ok() && report->ok()) depth = Depth::kVerified;
  (void)DescribeTrace(reader);
  auto difference = CompareTraces(reader, reader);
  // Paths that parts do not continue are found by the check, not by a comparison with itself.
  if (report.ok() && report->ok() && readable) {
    Require(difference.ok() && !difference->has_value(), "a trace equals itself");
  }
  return depth;
}

}  // namespace heddle::trace::testing
