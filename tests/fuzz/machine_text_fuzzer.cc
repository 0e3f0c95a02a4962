// libFuzzer target over the readers of disassemblies. Run:
//   machine_text_fuzzer -max_total_time=60 -rss_limit_mb=2048 tests/fuzz/corpus_machine
#include <cstddef>
#include <cstdint>
#include <string>

#include "tests/fuzz/machine_input.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  heddle::tracegen::machine::ReadHostileMachineText(std::string(reinterpret_cast<const char*>(data), size));
  return 0;
}
