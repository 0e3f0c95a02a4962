// PTX instructions at the edges of their operands: what the user's assembler makes of each must leave the same as the
// instruction itself. Every pair of edges is one thread; each instruction has a buffer of its own, whose digests are
// compared. Without a toolkit, or without nvdisasm, it is skipped by name. HEDDLE_EDGES=TEXT takes the instructions
// that contain the text only.
#include <bit>
#include <cstdlib>
#include <iostream>

#include "absl/strings/str_split.h"
#include "tests/tracegen/execute/capture_fixture.h"
#include "tests/tracegen/program/machine_source/edge_forms.h"
#include "tracegen/machine/toolchain/toolchain.h"

namespace heddle::tracegen {
namespace {

const uint32_t kIntegers[] = {0,      1,      2,          5,          7,          31,         32,         33,
                              63,     64,     0x7f,       0x80,       0xff,       0x100,      0x7fff,     0x8000,
                              0xffff, 0x5410, 0x7fffffff, 0x80000000, 0x80000001, 0xfffffffe, 0xffffffff, 0xdeadbeef};
constexpr uint32_t kEdges = std::size(kIntegers);

const float kFloats[kEdges] = {0.0f,
                               -0.0f,
                               1.0f,
                               -1.0f,
                               0.5f,
                               1.5f,
                               -2.5f,
                               255.5f,
                               -128.5f,
                               65535.7f,
                               3e9f,
                               -3e9f,
                               1e19f,
                               -1e30f,
                               3.4e38f,
                               std::bit_cast<float>(0x7f800000u),
                               std::bit_cast<float>(0xff800000u),
                               std::bit_cast<float>(0x7fc00000u),
                               std::bit_cast<float>(0x00000001u),
                               std::bit_cast<float>(0x807fffffu),
                               std::bit_cast<float>(0x00800000u),
                               1.00048828125f,
                               0.3333333f,
                               std::bit_cast<float>(0xffc00001u)};
const uint16_t kHalves[kEdges] = {0,      0x8000, 0x3c00, 0xbc00, 0x3800, 0x3e00, 0xc100, 0x7bff,
                                  0xfbff, 0x7c00, 0xfc00, 0x7e00, 0x0001, 0x83ff, 0x0400, 0x3c01,
                                  0x4248, 0x5bff, 0x3f80, 0xbf80, 0x7f80, 0x0080, 0x1234, 0xfe00};

// A double for each float: not one of single precision where it is a common number.
uint64_t DoubleBits(size_t i) {
  uint64_t bits = std::bit_cast<uint64_t>(static_cast<double>(kFloats[i]));
  if (i == 18) return 1;                      // the least one
  if (i == 20) return 0x000f'ffff'ffff'ffff;  // the largest subnormal one
  if (i == 14) return 0x7fef'ffff'ffff'ffff;
  return i > 4 && i < 14 ? bits | 0x12345 : bits;
}

class MachineEdgesTest : public CaptureTest {
 protected:
  static constexpr size_t kAtOnce = 12;  // instructions of a kernel
  static constexpr uint32_t kUniformLaunches = 72;

  static bool HasIntegersOnly(const EdgeForm& form) {
    // What the assembler makes of szext with a constant names a bank that there is not.
    const std::string_view text = form.text;
    if (text.find("szext") != text.npos) return false;
    return text.find("%f") == text.npos && text.find("%g") == text.npos && text.find("%q") == text.npos &&
           text.find("f16") == text.npos;
  }

  void SetUp() override {
    if (const auto toolchain = machine::Toolchain::Find(); !toolchain.ok()) {
      GTEST_SKIP() << toolchain.status().message();
    }
    options_.plan = Path("plan");
    options_.compare_with_native = false;
  }

  // Operands come from a table, by thread; or from parameters, so that the assembler works on uniform registers.
  static std::string Kernel(int architecture, const std::vector<const EdgeForm*>& forms, bool uniform) {
    std::string text = absl::StrCat(".version 8.6\n.target sm_", architecture,
                                    "\n.address_size 64\n.visible .entry k(.param .u64 tables, .param .u32 place, ",
                                    ".param .u32 a1, .param .u32 a2, .param .u32 a3");
    for (size_t i = 0; i < forms.size(); ++i) absl::StrAppend(&text, ", .param .u64 out", i);
    absl::StrAppend(&text, ") {\n  .reg .b32 %r<16>; .reg .b64 %d<16>; .reg .f32 %f<8>; .reg .f64 %g<8>; ",
                    ".reg .b16 %h<8>; .reg .b32 %q<8>; .reg .pred %p<8>; .reg .b64 %at<4>; .reg .b32 %i<8>;\n",
                    "  ld.param.u64 %at0, [tables]; mov.u32 %i0, %tid.x; ld.param.u32 %i4, [place]; ",
                    "add.u32 %i4, %i4, %i0; mul.wide.u32 %at2, %i4, 8;\n", uniform ? FromParameters() : FromTables(),
                    "  mov.b64 %d1, {%r2, %r1}; mov.b64 %d2, {%r1, %r3}; mov.b64 %d3, {%r3, %r2};\n");
    for (size_t i = 0; i < forms.size(); ++i) {
      absl::StrAppend(&text, "  ld.param.u64 %at3, [out", i, "]; add.u64 %at3, %at3, %at2;\n  ", forms[i]->text, "\n",
                      Store(forms[i]->result), "\n");
    }
    return text + "  ret;\n}\n";
  }

  // A row of the table: an integer, a float, a double, two halves.
  static std::string FromTables() {
    std::string text = absl::StrCat("  rem.u32 %i1, %i0, ", kEdges, "; div.u32 %i2, %i0, ", kEdges,
                                    "; mad.lo.u32 %i3, %i1, 5, %i2; rem.u32 %i3, %i3, ", kEdges, ";\n");
    for (const int k : {1, 2, 3}) {
      absl::StrAppend(&text, absl::StrFormat("  mad.wide.u32 %%at1, %%i%d, 24, %%at0; ld.global.u32 %%r%d, [%%at1]; "
                                             "ld.global.f32 %%f%d, [%%at1+4]; ld.global.f64 %%g%d, [%%at1+8]; "
                                             "ld.global.u16 %%h%d, [%%at1+16]; ld.global.u32 %%q%d, [%%at1+16];\n",
                                             k, k, k, k, k, k));
    }
    return text + "  setp.lt.u32 %p1, %i3, 9; setp.gt.u32 %p2, %i3, 14;\n";
  }

  static std::string FromParameters() {
    std::string text;
    for (const int k : {1, 2, 3}) {
      absl::StrAppend(&text, absl::StrFormat("  ld.param.u32 %%r%d, [a%d]; cvt.u16.u32 %%h%d, %%r%d;\n", k, k, k, k));
    }
    return text + "  setp.lt.s32 %p1, %r3, 9; setp.gt.u32 %p2, %r3, 14;\n";
  }

  // Of what is no number the bits do not matter.
  static std::string Store(char result) {
    switch (result) {
      case 'd':
        return "  st.global.u64 [%at3], %d0;";
      case 'f':
        return "  testp.notanumber.f32 %p4, %f0; selp.f32 %f0, 0f7fffffff, %f0, %p4; st.global.f32 [%at3], %f0;";
      case 'g':
        return "  testp.notanumber.f64 %p4, %g0; selp.f64 %g0, 0d7fffffffffffffff, %g0, %p4; "
               "st.global.f64 [%at3], %g0;";
      case 'h':
        return "  cvt.u32.u16 %r0, %h0; st.global.u32 [%at3], %r0;";
      case 'q':
      case 'b':
        return absl::StrFormat(
            "  mov.b32 {%%h4, %%h5}, %%q0; cvt.u32.u16 %%r4, %%h4; cvt.u32.u16 %%r5, %%h5; and.b32 %%r6, %%r4, 0x7fff; "
            "and.b32 %%r7, %%r5, 0x7fff; setp.gt.u32 %%p4, %%r6, %s; selp.u32 %%r4, 0x7fff, %%r4, %%p4; "
            "setp.gt.u32 %%p4, %%r7, %s; selp.u32 %%r5, 0x7fff, %%r5, %%p4; st.global.v2.u32 [%%at3], {%%r4, %%r5};",
            result == 'q' ? "0x7c00" : "0x7f80", result == 'q' ? "0x7c00" : "0x7f80");
      case 'p':
        return "  selp.u32 %r0, 1, 0, %p0; st.global.u32 [%at3], %r0;";
      case '2':
        return "  selp.u32 %r4, 1, 0, %p0; st.global.v2.u32 [%at3], {%r0, %r4};";
      case '3':
        return "  selp.u32 %r0, 1, 0, %p0; selp.u32 %r4, 1, 0, %p3; st.global.v2.u32 [%at3], {%r0, %r4};";
      default:
        return "  st.global.u32 [%at3], %r0;";
    }
  }

  static std::string Recipe(size_t forms, bool uniform) {
    std::vector<double> words;
    for (size_t i = 0; i < kEdges; ++i) {
      const uint64_t wide = DoubleBits(i);
      const uint32_t halves = kHalves[i] | uint32_t{kHalves[(i * 7 + 3) % kEdges]} << 16;
      for (const uint32_t word : {kIntegers[i], std::bit_cast<uint32_t>(kFloats[i]), static_cast<uint32_t>(wide),
                                  static_cast<uint32_t>(wide >> 32), halves, 0u}) {
        words.push_back(word);
      }
    }
    std::string recipe =
        absl::StrCat("buffer { name: \"tables\" type: U32 count: ", words.size(), " fill { ", Values(words), " } }\n");
    std::string outputs;
    for (size_t i = 0; i < forms; ++i) {
      absl::StrAppend(&recipe, "buffer { name: \"out", i, "\" type: U32 count: ", 2 * kEdges * kEdges,
                      " fill { zeros {} } }\n");
      absl::StrAppend(&outputs, " argument { buffer: \"out", i, "\" }");
    }
    for (uint32_t i = 0; i < (uniform ? kUniformLaunches : 1); ++i) {
      absl::StrAppend(&recipe, "launch { kernel: \"k\" block { x: ", uniform ? 1 : kEdges * kEdges,
                      " } argument { buffer: \"tables\" }");
      for (const uint32_t word : {i, kIntegers[i % kEdges], kIntegers[(i * 7 + i / kEdges) % kEdges],
                                  kIntegers[(i * 11 + 5 + i / kEdges) % kEdges]}) {
        absl::StrAppend(&recipe, " argument { u32: ", word, " }");
      }
      absl::StrAppend(&recipe, outputs, " }\n");
    }
    return recipe;
  }

  // The digest of each output.
  std::vector<std::string> Digests(const std::string& ptx, size_t forms, bool uniform) {
    const absl::StatusOr<CaptureSummary> summary = Capture(ptx, Recipe(forms, uniform), "ptx");
    EXPECT_TRUE(summary.ok()) << summary.status();
    std::vector<std::string> digests(forms);
    if (!summary.ok()) return digests;
    const std::string plan = Read(options_.plan + "/plan.txt");
    for (const absl::string_view line : absl::StrSplit(plan, '\n')) {
      const std::vector<std::string> words = absl::StrSplit(line, ' ');
      for (size_t i = 0; i < forms; ++i) {
        if (words[0] != "buffer" || words[1] != absl::StrCat("out", i)) continue;
        for (const std::string& word : words) {
          if (word.size() == 64) digests[i] = word;  // the last one: afterwards
        }
      }
    }
    for (const std::string& digest : digests) EXPECT_NE(digest, "") << plan;
    return digests;
  }

  void Try(int architecture, bool uniform = false) {
    const char* only = std::getenv("HEDDLE_EDGES");
    std::vector<const EdgeForm*> all;
    for (const EdgeForm& form : kEdgeForms) {
      if (form.architecture > architecture || (uniform && !HasIntegersOnly(form))) continue;
      if (only == nullptr || std::string_view(form.text).find(only) != std::string_view::npos) all.push_back(&form);
    }
    options_.machine_level.architecture = absl::StrCat("sm_", architecture);
    for (size_t first = 0; first < all.size(); first += kAtOnce) {
      const std::vector<const EdgeForm*> some(
          all.begin() + static_cast<ptrdiff_t>(first),
          all.begin() + static_cast<ptrdiff_t>(std::min(first + kAtOnce, all.size())));
      const std::string ptx = Kernel(architecture, some, uniform);
      options_.machine_code = false;
      const std::vector<std::string> expected = Digests(ptx, some.size(), uniform);
      options_.machine_code = true;
      const std::vector<std::string> got = Digests(ptx, some.size(), uniform);
      for (size_t i = 0; i < some.size(); ++i) EXPECT_EQ(got[i], expected[i]) << some[i]->text;
    }
    std::cout << all.size() << " instructions of sm_" << architecture << "\n";
  }
};

TEST_F(MachineEdgesTest, Sm80EqualsThePtx) { Try(80); }
TEST_F(MachineEdgesTest, Sm90EqualsThePtx) { Try(90); }
TEST_F(MachineEdgesTest, UniformRegistersOfSm80EqualThePtx) { Try(80, true); }
TEST_F(MachineEdgesTest, UniformRegistersOfSm90EqualThePtx) { Try(90, true); }

}  // namespace
}  // namespace heddle::tracegen
