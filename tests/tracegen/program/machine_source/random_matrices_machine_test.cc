// Random programs of tiles, products, moves and asynchronous copies leave the same memory from their PTX and from what
// the user's assembler makes of it. Without a toolkit, or without nvdisasm, it is skipped by name.
// HEDDLE_RANDOM_MACHINE=NUMBER tries so many programs instead of a few; HEDDLE_RANDOM_MACHINE_SEED is the first one's
// seed.
#include <cstdlib>
#include <random>

#include "absl/strings/str_split.h"
#include "tests/tracegen/execute/capture_fixture.h"
#include "tracegen/machine/toolchain/toolchain.h"

namespace heddle::tracegen {
namespace {

constexpr uint32_t kThreads = 64, kWords = 12, kSteps = 24;

uint64_t NumberFrom(const char* name, uint64_t otherwise) {
  const char* text = std::getenv(name);
  return text == nullptr ? otherwise : std::strtoull(text, nullptr, 10);
}

// A kernel whose threads keep a few words, and each warp a kilobyte of shared memory, in two halves of 32 rows.
class MatrixProgram {
 public:
  explicit MatrixProgram(uint64_t seed) : random_(seed) {}

  std::string Text() {
    std::string text = absl::StrCat(
        ".version 8.0\n.target sm_80\n.address_size 64\n.shared .align 16 .b8 cells[2048];\n"
        ".visible .entry k(.param .u64 out) {\n  .reg .b32 %w<",
        kWords,
        ">, %r<9>, %row, %t; .reg .b64 %d, %e; .reg .pred %p;\n"
        "  mov.u32 %r0, %tid.x; and.b32 %r1, %r0, 31; ld.param.u64 %d, [out]; mad.wide.u32 %d, %r0, ",
        4 * kWords, ", %d;\n  mov.u32 %row, cells; shl.b32 %t, %r0, 4; add.u32 %row, %row, %t; and.b32 %t, %r0, 32; ",
        "shl.b32 %t, %t, 4; add.u32 %row, %row, %t;\n");
    for (uint32_t i = 0; i < kWords; ++i) {
      absl::StrAppend(&text, "  mad.lo.u32 %w", i, ", %r0, ", random_() | 1, ", ", random_(), ";\n");
      if (i % 2 == 0) absl::StrAppend(&text, "  mul.lo.u32 %w", i, ", %w", i, ", %w", i, ";\n");
    }
    for (const uint32_t half : {0u, 1u}) absl::StrAppend(&text, Store(half));
    for (uint32_t i = 0; i < kSteps; ++i) text += Step();
    absl::StrAppend(&text, "  cp.async.wait_all; bar.warp.sync 0xffffffff; ldmatrix.sync.aligned.m8n8.x4.shared.b16 ",
                    List(4), ", [%row];\n");
    for (uint32_t i = 0; i < kWords; ++i) absl::StrAppend(&text, "  st.global.u32 [%d+", 4 * i, "], %w", i, ";\n");
    return text + "  ret;\n}\n";
  }

 private:
  uint32_t Below(uint32_t limit) { return static_cast<uint32_t>(random_() % limit); }
  std::string Word() { return absl::StrCat("%w", Below(kWords)); }
  // Words next to one another, without a word twice.
  std::string List(uint32_t count) {
    const uint32_t first = Below(kWords - count + 1);
    std::vector<std::string> names;
    for (uint32_t i = 0; i < count; ++i) names.push_back(absl::StrCat("%w", first + i));
    return absl::StrCat("{", absl::StrJoin(names, ", "), "}");
  }
  std::string Store(uint32_t half) {
    return absl::StrCat("  st.shared.v4.u32 [%row+", 512 * half, "], ", List(4), "; bar.warp.sync 0xffffffff;\n");
  }

  std::string Copy() {
    const uint32_t bytes = 4u << Below(3);
    const std::string to = absl::StrCat("[%row+", 512 * Below(2) + bytes * Below(16 / bytes), "]");
    // From the thread's own words, which are 48 bytes.
    const std::string store = absl::StrCat("  st.global.v4.u32 [%d], ", List(4), "; ");
    const char* kind = bytes == 16 && Below(2) == 0 ? "cg" : "ca";
    const std::string copy = absl::StrCat("cp.async.", kind, ".shared.global ", to, ", [%d], ", bytes);
    switch (Below(4)) {
      case 0:
        return absl::StrCat(store, "and.b32 %t, ", Word(), ", ", bytes - 1, "; ", copy, ", %t;\n");
      case 1:
        return absl::StrCat(store, "setp.gt.s32 %p, ", Word(), ", 0; @%p ", copy, ";\n");
      case 2:
        return absl::StrCat(store, copy, ", ", Below(bytes + 1), ";\n");
      default:
        return absl::StrCat(store, copy, ";\n");
    }
  }

  std::string Step() {
    static constexpr const char* kTransposed[] = {"", ".trans"};
    switch (Below(10)) {
      case 0:
      case 1: {
        const uint32_t tiles = 1u << Below(3);
        return absl::StrCat("  ldmatrix.sync.aligned.m8n8.x", tiles, kTransposed[Below(2)], ".shared.b16 ", List(tiles),
                            ", [%row+", 512 * Below(2), "];\n");
      }
      case 2:
        return absl::StrCat("  mma.sync.aligned.m8n8k16.row.col.s32.s8.u8.s32 ", List(2), ", {", Word(), "}, {", Word(),
                            "}, ", List(2), ";\n");
      case 3:
        return absl::StrCat("  mma.sync.aligned.m16n8k32.row.col.satfinite.s32.u8.s8.s32 ", List(4), ", ", List(4),
                            ", ", List(2), ", ", List(4), ";\n");
      case 4:
        return absl::StrCat("  mma.sync.aligned.m16n8k16.row.col.f16.f16.f16.f16 ", List(2), ", ", List(4), ", ",
                            List(2), ", ", List(2), ";\n");
      case 5:
        return absl::StrCat("  movmatrix.sync.aligned.m8n8.trans.b16 ", Word(), ", ", Word(), ";\n");
      case 6:
        return Store(Below(2));
      case 7:
        return Copy() + (Below(2) == 0 ? "  cp.async.commit_group;\n" : "");
      case 8:
        return absl::StrCat("  cp.async.wait_group ", Below(3), "; bar.warp.sync 0xffffffff;\n");
      default:
        return absl::StrCat("  setp.lt.u32 %p, %r1, ", Below(32), "; @%p mad.lo.u32 ", Word(), ", ", Word(), ", ",
                            Word(), ", ", Word(), ";\n");
    }
  }

  std::mt19937_64 random_;
};

class RandomMatricesMachineTest : public CaptureTest {
 protected:
  void SetUp() override {
    if (const auto toolchain = machine::Toolchain::Find(); !toolchain.ok()) {
      GTEST_SKIP() << toolchain.status().message();
    }
    options_.plan = Path("plan");
    options_.compare_with_native = false;
  }

  // Of what the kernel has left.
  std::string Digest(const std::string& ptx) {
    const absl::StatusOr<CaptureSummary> summary =
        Capture(ptx,
                absl::StrCat("buffer { name: \"out\" type: U32 count: ", kThreads * kWords, " fill { zeros {} } }\n",
                             "launch { kernel: \"k\" block { x: ", kThreads, " } argument { buffer: \"out\" } }\n"),
                "ptx");
    EXPECT_TRUE(summary.ok()) << summary.status();
    std::string digest;
    for (const absl::string_view line : absl::StrSplit(Read(options_.plan + "/plan.txt"), '\n')) {
      const std::vector<std::string> words = absl::StrSplit(line, ' ');
      if (words[0] != "buffer") continue;
      for (const std::string& word : words) {
        if (word.size() == 64) digest = word;  // the last one: afterwards
      }
    }
    return digest;
  }
};

TEST_F(RandomMatricesMachineTest, EqualThePtx) {
  const uint64_t first = NumberFrom("HEDDLE_RANDOM_MACHINE_SEED", 1), count = NumberFrom("HEDDLE_RANDOM_MACHINE", 6);
  for (uint64_t seed = first; seed < first + count; ++seed) {
    const std::string ptx = MatrixProgram(seed).Text();
    options_.machine_code = false;
    const std::string expected = Digest(ptx);
    ASSERT_EQ(expected.size(), 64u) << ptx;
    options_.machine_code = true;
    for (const char* architecture : {"sm_80", "sm_90"}) {
      options_.machine_level.architecture = architecture;
      ASSERT_EQ(Digest(ptx), expected) << architecture << ", seed " << seed << ":\n" << ptx;
    }
  }
}

}  // namespace
}  // namespace heddle::tracegen
