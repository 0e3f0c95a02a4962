// libFuzzer target over everything that reads traces. Its mutator changes records and keeps checksums, digests and sums
// right, so that inputs get behind them. Run:
//   trace_reader_fuzzer -max_total_time=60 -rss_limit_mb=2048 tests/fuzz/corpus
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>

#include "tests/fuzz/record_mutator.h"
#include "tests/fuzz/trace_input.h"
#include "tests/traces/forge.h"
#include "traces/format/container/parse_limit.h"

namespace testing = heddle::trace::testing;
namespace v1 = heddle::trace::v1;

extern "C" size_t LLVMFuzzerMutate(uint8_t* data, size_t size, size_t max_size);

namespace {

// The records of an input, the index only if it is 'X'. False if there are none, or if it is a bomb: of a file of some
// kilobytes that holds millions of empty messages, a mutator that parsed it would take gigabytes.
bool RecordsOfInput(const uint8_t* data, size_t size, v1::TraceFile& out) {
  constexpr uint64_t kMostBytes = 4u << 20;  // of a frame, and of all records in memory
  if (size == 0) return false;
  const std::string bytes(reinterpret_cast<const char*>(data) + 1, size - 1);
  if (data[0] != 'F') return out.ParseFromString(bytes);
  uint64_t left = kMostBytes;
  for (const std::string& frame : testing::SplitFrames(bytes, kMostBytes)) {
    const auto parsed = heddle::trace::EstimateParsedBytes(*v1::TraceFile::descriptor(), frame, left);
    if (!parsed.ok()) return false;
    left -= *parsed;
    v1::Record record = testing::ParseRecord(frame);
    if (!record.has_index()) *out.add_record() = std::move(record);
  }
  return out.record_size() > 0;
}

size_t Store(char kind, const v1::TraceFile& records, uint8_t* data, size_t max_size) {
  const std::string bytes = kind + records.SerializeAsString();
  if (bytes.size() > max_size) return 0;
  std::copy(bytes.begin(), bytes.end(), data);
  return bytes.size();
}

}  // namespace

extern "C" size_t LLVMFuzzerCustomMutator(uint8_t* data, size_t size, size_t max_size, unsigned int seed) {
  v1::TraceFile records;
  const bool file = size > 0 && data[0] == 'F';
  // Plain changes of bytes try the container and the protobuf parser.
  if (seed % (file ? 2 : 8) == 0 || !RecordsOfInput(data, size, records)) return LLVMFuzzerMutate(data, size, max_size);
  char kind = file ? 'R' : static_cast<char>(data[0]);
  if (kind != 'X' && seed % 16 == 1) {
    // From here on with the index that fits now.
    v1::TraceFile with_index;
    for (const std::string& frame : testing::WithIndex({records.record().begin(), records.record().end()})) {
      *with_index.add_record() = testing::ParseRecord(frame);
    }
    records = std::move(with_index);
    kind = 'X';
  }
  testing::MutateRecords(records, seed);
  if (seed % 5 != 0) testing::FixTotals(records);
  const size_t stored = Store(kind, records, data, max_size);
  return stored > 0 ? stored : LLVMFuzzerMutate(data, size, max_size);
}

extern "C" size_t LLVMFuzzerCustomCrossOver(const uint8_t* one, size_t one_size, const uint8_t* other,
                                            size_t other_size, uint8_t* out, size_t max_size, unsigned int seed) {
  v1::TraceFile records, others;
  if (!RecordsOfInput(one, one_size, records) || !RecordsOfInput(other, other_size, others)) return 0;
  testing::CrossRecords(records, others, seed);
  testing::FixTotals(records);
  return Store(one[0] == 'X' ? 'X' : 'R', records, out, max_size);
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  testing::ReadHostileInput(std::string(reinterpret_cast<const char*>(data), size));
  return 0;
}
