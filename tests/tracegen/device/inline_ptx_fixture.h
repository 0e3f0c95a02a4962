// Evaluates asm statements in kernels of CUDA.
#ifndef HEDDLE_TESTS_TRACEGEN_DEVICE_INLINE_PTX_FIXTURE_H_
#define HEDDLE_TESTS_TRACEGEN_DEVICE_INLINE_PTX_FIXTURE_H_

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "tests/tracegen/execute/capture_fixture.h"

namespace heddle::tracegen {

class InlinePtxTest : public CaptureTest {
 protected:
  static constexpr uint32_t kA = 0x9234'5678, kB = 0xdeed'beef;  // what the statements get

  // One thread of `threads` evaluates each statement; a statement sets r from a and b (unsigned), t is the thread.
  void Expect(const std::vector<std::pair<std::string, uint32_t>>& statements, uint32_t threads = 1,
              const std::string& target = "sm_70") {
    std::string source = "__global__ void k(unsigned* out, unsigned a, unsigned b) {\n  unsigned r, t = threadIdx.x;\n";
    std::vector<double> expected;
    for (const auto& [statement, value] : statements) {
      absl::StrAppend(&source, "  r = 0; asm volatile(", statement, "); if (t == 0) out[", expected.size(), "] = r;\n");
      expected.push_back(value);
    }
    source += "}\n";
    const std::string recipe = absl::StrCat(
        "target: \"", target, "\"\nbuffer { name: \"out\" type: U32 count: ", expected.size(), " fill { zeros {} } }\n",
        "launch { kernel: \"k\" block { x: ", threads, " } argument { buffer: \"out\" } argument { u32: ", kA,
        " } argument { u32: ", kB, " } }\ncheck { buffer: \"out\" expected { ", Values(expected), " } }\n");
    Succeeds(source, recipe);
  }
};

}  // namespace heddle::tracegen

#endif  // HEDDLE_TESTS_TRACEGEN_DEVICE_INLINE_PTX_FIXTURE_H_
