// Small PTX kernels as machine code of sm_80 and sm_90: each must leave the same memory from its PTX and from what the
// user's assembler makes of it. Without a toolkit, or without nvdisasm, tests are skipped by name.
#ifndef HEDDLE_TESTS_TRACEGEN_PROGRAM_MACHINE_SOURCE_CONSTRUCT_FIXTURE_H_
#define HEDDLE_TESTS_TRACEGEN_PROGRAM_MACHINE_SOURCE_CONSTRUCT_FIXTURE_H_

#include <functional>
#include <string>
#include <vector>

#include "tests/tracegen/execute/capture_fixture.h"
#include "tracegen/machine/toolchain/toolchain.h"

namespace heddle::tracegen {

inline constexpr char kHeader[] = ".version 8.0\n.target sm_80\n.address_size 64\n";
inline constexpr char kHeader90[] = ".version 8.6\n.target sm_90\n.address_size 64\n";
// Registers, and %d, the address of the thread's own words of `out`.
inline constexpr char kBegin[] = R"(
.visible .entry k(.param .u64 out) {
  .reg .b32 %r<40>; .reg .b64 %d, %e<20>; .reg .pred %p<10>; .reg .b16 %h<4>;
  mov.u32 %r0, %tid.x; mov.u32 %r1, %ctaid.x; mov.u32 %r2, %ntid.x; mad.lo.u32 %r3, %r1, %r2, %r0;
  ld.param.u64 %d, [out]; mad.wide.u32 %d, %r3, 16, %d;
)";
inline constexpr uint32_t kWords = 4, kThreads = 64;

class MachineConstructsTest : public CaptureTest {
 protected:
  void SetUp() override {
    if (const auto toolchain = machine::Toolchain::Find(); !toolchain.ok()) {
      GTEST_SKIP() << toolchain.status().message();
    }
  }

  // A recipe of `blocks` blocks, whose thread t leaves four words.
  static std::string Recipe(const std::function<std::vector<double>(uint32_t)>& words, uint32_t blocks) {
    std::vector<double> expected;
    for (uint32_t t = 0; t < blocks * kThreads; ++t) {
      std::vector<double> of_thread = words(t);
      of_thread.resize(kWords, 0);
      expected.insert(expected.end(), of_thread.begin(), of_thread.end());
    }
    return absl::StrCat("buffer { name: \"out\" type: U32 count: ", expected.size(), " fill { zeros {} } }\n",
                        "launch { kernel: \"k\" grid { x: ", blocks, " } block { x: ", kThreads,
                        " } argument { buffer: \"out\" } }\n", "check { buffer: \"out\" expected { ", Values(expected),
                        " } }\n");
  }

  // Module scope, body, and what each thread leaves.
  void Both(const std::string& variables, const std::string& body,
            const std::function<std::vector<double>(uint32_t)>& words, uint32_t blocks = 1) {
    Try(absl::StrCat(kHeader, variables, kBegin, body, "  ret;\n}\n"), Recipe(words, blocks), {"", "sm_80", "sm_90"});
  }
  // Of instructions that only the newer architecture has.
  void Sm90(const std::string& variables, const std::string& body,
            const std::function<std::vector<double>(uint32_t)>& words, uint32_t blocks = 1) {
    Try(absl::StrCat(kHeader90, variables, kBegin, body, "  ret;\n}\n"), Recipe(words, blocks), {"", "sm_90"});
  }
  // As machine code of these architectures; empty: as PTX.
  std::vector<CaptureSummary> Try(const std::string& ptx, const std::string& recipe,
                                  const std::vector<std::string>& architectures) {
    std::vector<CaptureSummary> summaries;
    for (const std::string& architecture : architectures) {
      SCOPED_TRACE(architecture.empty() ? "PTX" : architecture);
      options_.machine_code = !architecture.empty();
      options_.machine_level.architecture = architecture;
      summaries.push_back(Succeeds(ptx, recipe, "ptx"));
    }
    return summaries;
  }
};

}  // namespace heddle::tracegen

#endif  // HEDDLE_TESTS_TRACEGEN_PROGRAM_MACHINE_SOURCE_CONSTRUCT_FIXTURE_H_
