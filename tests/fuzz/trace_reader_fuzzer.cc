// libFuzzer target over the trace reader. Run: trace_reader_fuzzer -max_total_time=60 -rss_limit_mb=2048
// tests/fuzz/corpus
#include <cstddef>
#include <cstdint>
#include <string>

#include "tests/fuzz/trace_input.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  heddle::trace::testing::ReadHostileInput(std::string(reinterpret_cast<const char*>(data), size));
  return 0;
}
