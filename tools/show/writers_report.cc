#include "tools/show/writers_report.h"

#include <algorithm>
#include <map>
#include <tuple>
#include <utility>

#include "absl/strings/str_cat.h"
#include "tools/console/table.h"
#include "tools/show/instruction_text.h"
#include "traces/base/status_macros.h"
#include "traces/format/chunk/decoded_chunk.h"

namespace heddle::tools {
namespace {

std::string TextOf(const trace::Program& program, trace::Pc pc) {
  return absl::StrCat(program.instruction(pc).mnemonic(), " at ", pc * 8);
}

}  // namespace

absl::Status ReadLastWriters(const trace::TraceReader& reader, const trace::LaunchView& launch,
                             const trace::v1::ChunkReference& reference, std::vector<trace::WrittenRead>& reads) {
  reads.clear();
  trace::v1::BlockChunk chunk;
  HEDDLE_RETURN_IF_ERROR(reader.ReadChunk(reference, chunk));
  absl::Status status =
      trace::DecodeLastWriters(chunk, *launch.program, launch.grid_blocks, launch.threads_per_block, reads);
  if (status.ok()) return status;
  return absl::DataLossError(
      absl::StrCat(reader.name(), ": frame ", reference.frame(), ", BlockChunk: ", status.message()));
}

absl::StatusOr<std::vector<WriterPair>> CountWriters(const trace::TraceReader& reader) {
  std::vector<WriterPair> pairs;
  std::vector<trace::WrittenRead> reads;
  trace::DecodedChunk decoded;
  for (const trace::LaunchView& launch : reader.launches()) {
    struct Count {
      uint64_t reads = 0;
      uint64_t least_distance = ~uint64_t{0};
    };
    std::map<std::pair<trace::Pc, trace::Pc>, Count> counts;
    for (const trace::v1::ChunkReference& reference : launch.chunks) {
      HEDDLE_RETURN_IF_ERROR(ReadLastWriters(reader, launch, reference, reads));
      if (reads.empty()) continue;
      HEDDLE_RETURN_IF_ERROR(reader.ReadChunk(reference, decoded));
      size_t thread = 0;
      for (const trace::WrittenRead& read : reads) {
        while (decoded.first_address[thread + 1] <= read.position) ++thread;
        const uint64_t block = decoded.blocks[thread / decoded.threads_per_block];
        Count& count = counts[{read.instruction, read.write.instruction}];
        ++count.reads;
        count.least_distance = std::min(count.least_distance,
                                        block > read.write.block ? block - read.write.block : read.write.block - block);
      }
    }
    const trace::Program& program = *launch.program;
    for (const auto& [instructions, count] : counts) {
      const auto [by, of] = instructions;
      pairs.push_back({launch.launch.id(), program.id(), by, of, TextOf(program, by), TextOf(program, of),
                       SourcePlace(reader.header(), program.instruction(by)),
                       SourcePlace(reader.header(), program.instruction(of)), count.reads, count.least_distance});
    }
  }
  return pairs;
}

namespace {

// One row for the launches of a kernel; `launch` becomes how many there are.
std::vector<WriterPair> SumLaunches(const std::vector<WriterPair>& pairs) {
  std::vector<WriterPair> sums;
  std::map<std::tuple<uint32_t, trace::Pc, trace::Pc>, size_t> place_of;
  for (const WriterPair& pair : pairs) {
    const auto [place, is_new] = place_of.emplace(std::tuple(pair.program, pair.reader, pair.writer), sums.size());
    if (is_new) {
      sums.push_back(pair);
      sums.back().launch = 1;
      continue;
    }
    WriterPair& sum = sums[place->second];
    ++sum.launch;
    sum.reads += pair.reads;
    sum.least_distance = std::min(sum.least_distance, pair.least_distance);
  }
  return sums;
}

}  // namespace

std::string WritersText(const std::vector<WriterPair>& pairs, bool per_launch) {
  if (pairs.empty()) return "";
  Table table({{per_launch ? "launch" : "launches"},
               {"reads", Table::Align::kLeft},
               {"source", Table::Align::kLeft},
               {"written by", Table::Align::kLeft},
               {"source", Table::Align::kLeft},
               {"times"},
               {"nearest block"}});
  for (const WriterPair& pair : per_launch ? pairs : SumLaunches(pairs)) {
    table.AddRow({absl::StrCat(pair.launch), pair.reader_text, pair.reader_place, pair.writer_text, pair.writer_place,
                  WithThousands(pair.reads), absl::StrCat(pair.least_distance)});
  }
  return absl::StrCat("\nReads of what another thread block of the launch had written last\n", table.Text(2));
}

nlohmann::ordered_json WritersJson(const std::vector<WriterPair>& pairs, uint32_t launch) {
  nlohmann::ordered_json list = nlohmann::ordered_json::array();
  for (const WriterPair& pair : pairs) {
    if (pair.launch != launch) continue;
    list.push_back({{"instruction", pair.reader},
                    {"source", pair.reader_place},
                    {"writer_instruction", pair.writer},
                    {"writer_source", pair.writer_place},
                    {"reads", pair.reads},
                    {"least_block_distance", pair.least_distance}});
  }
  return list;
}

}  // namespace heddle::tools
