// libFuzzer target over the parser of PTX. Run:
//   ptx_parser_fuzzer -max_total_time=60 -rss_limit_mb=2048 tests/fuzz/corpus_ptx
#include <cstddef>
#include <cstdint>
#include <string>

#include "tests/fuzz/ptx_input.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  heddle::tracegen::ptx::ReadHostilePtx(std::string(reinterpret_cast<const char*>(data), size));
  return 0;
}
