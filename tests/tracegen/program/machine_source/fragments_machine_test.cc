// Programs with fragments (wmma) as machine code. How a fragment lies in registers is the machine's own affair, so what
// counts is the product in memory: it must be that of the matrices, from PTX and from what the user's assembler makes
// of it. Without a toolkit, or without nvdisasm, all of it is skipped by name.
#include <bit>
#include <random>

#include "tests/tracegen/execute/capture_fixture.h"
#include "tracegen/machine/toolchain/toolchain.h"
#include "tracegen/matrix/operation.h"

namespace heddle::tracegen {
namespace {

struct FragmentForm {
  std::string shape;
  uint32_t m = 0, n = 0, k = 0;
  std::string input, sum;
  int architecture = 80;  // the first that has it
};

const FragmentForm kForms[] = {
    {"m16n16k16", 16, 16, 16, "f16", "f32", 75}, {"m16n16k16", 16, 16, 16, "f16", "f16", 75},
    {"m32n8k16", 32, 8, 16, "f16", "f32", 75},   {"m32n8k16", 32, 8, 16, "f16", "f16", 75},
    {"m8n32k16", 8, 32, 16, "f16", "f32", 75},   {"m8n32k16", 8, 32, 16, "f16", "f16", 75},
    {"m16n16k16", 16, 16, 16, "bf16", "f32"},    {"m32n8k16", 32, 8, 16, "bf16", "f32"},
    {"m8n32k16", 8, 32, 16, "bf16", "f32"},      {"m16n16k8", 16, 16, 8, "tf32", "f32"},
    {"m8n8k4", 8, 8, 4, "f64", "f64"},           {"m16n16k16", 16, 16, 16, "s8", "s32", 75},
    {"m32n8k16", 32, 8, 16, "u8", "s32", 75},    {"m8n32k16", 8, 32, 16, "s8", "s32", 75},
    {"m8n8k32", 8, 8, 32, "s4", "s32", 75},      {"m8n8k32", 8, 8, 32, "u4", "s32", 75},
    {"m8n8k128", 8, 8, 128, "b1", "s32", 75},
};

uint32_t BitsOf(const std::string& type) {
  if (type == "b1") return 1;
  if (type == "s4" || type == "u4") return 4;
  if (type == "s8" || type == "u8") return 8;
  return type == "f16" || type == "bf16" ? 16 : type == "f64" ? 64 : 32;
}

// A whole number of small size in its type.
uint64_t Encoded(const std::string& type, int value) {
  if (type == "f64") return std::bit_cast<uint64_t>(static_cast<double>(value));
  const auto single = std::bit_cast<uint32_t>(static_cast<float>(value));
  if (type == "f32" || type == "tf32") return single;
  if (type == "bf16") return single >> 16;
  if (type == "f16") return value == 0 ? 0 : (single >> 16 & 0x8000) | ((single >> 13 & 0x3ffff) - (112 << 10));
  const uint64_t all = (uint64_t{1} << BitsOf(type)) - 1;
  return static_cast<uint64_t>(static_cast<int64_t>(value)) & all;
}

// A matrix of whole numbers, and how it lies in memory.
struct Numbers {
  uint32_t rows = 0, columns = 0;
  bool by_columns = false;
  std::vector<int> all;  // by rows

  int& At(uint32_t i, uint32_t j) { return all[i * columns + j]; }
  std::vector<double> Words(const std::string& type) {
    const uint32_t bits = BitsOf(type);
    std::vector<double> words;
    uint64_t packed = 0;
    uint32_t used = 0;
    for (uint32_t at = 0; at < rows * columns; ++at) {
      const int value = by_columns ? At(at % rows, at / rows) : At(at / columns, at % columns);
      packed |= Encoded(type, value) << used;
      used += bits;
      if (used < 32) continue;
      words.push_back(static_cast<double>(static_cast<uint32_t>(packed)));
      if (bits == 64) words.push_back(static_cast<double>(static_cast<uint32_t>(packed >> 32)));
      packed = used = 0;
    }
    return words;
  }
};

class FragmentsMachineTest : public CaptureTest {
 protected:
  void SetUp() override {
    if (const auto toolchain = machine::Toolchain::Find(); !toolchain.ok()) {
      GTEST_SKIP() << toolchain.status().message();
    }
  }

  Numbers Random(uint32_t rows, uint32_t columns, bool by_columns, const std::string& type) {
    Numbers numbers{rows, columns, by_columns, std::vector<int>(size_t{rows} * columns)};
    const bool is_unsigned = type[0] == 'u' || type[0] == 'b';
    for (int& one : numbers.all) {
      one = type == "b1" ? static_cast<int>(random_() % 2) : static_cast<int>(random_() % 7) - (is_unsigned ? 0 : 3);
    }
    return numbers;
  }

  static std::string Buffer(const char* name, const std::vector<double>& words) {
    return absl::StrCat("buffer { name: \"", name, "\" type: U32 count: ", words.size(), " fill { ", Values(words),
                        " } }\n");
  }

  // `{%f0, %f1}`, from register `first` of its kind on.
  static std::string List(const std::string& type, uint32_t first, uint32_t count) {
    const char letter = type == "f64" ? 'd' : type == "f32" ? 'f' : 'r';
    std::vector<std::string> names;
    for (uint32_t i = 0; i < count; ++i) names.push_back(absl::StrFormat("%%%c%d", letter, first + i));
    return absl::StrCat("{", absl::StrJoin(names, ", "), "}");
  }

  // As machine code of these architectures, where there is the form; 0: as PTX.
  void Try(const FragmentForm& form, bool a_by_columns, bool b_by_columns, const std::vector<int>& architectures) {
    const char* const a_layout = a_by_columns ? "col" : "row";
    const char* const b_layout = b_by_columns ? "col" : "row";
    const std::string bits = form.input == "b1" ? ".xor.popc" : "";
    const bool is_half = form.input == "f16";
    const std::string product =
        absl::StrCat("wmma.mma", bits, ".sync.aligned.", a_layout, ".", b_layout, ".", form.shape, ".", form.sum,
                     is_half ? "" : absl::StrCat(".", form.input, ".", form.input), ".", form.sum);
    SCOPED_TRACE(product);
    const auto operation = ParseMatrixOperation(product);
    ASSERT_TRUE(operation.has_value());
    const trace::MatrixRegisters count = RegistersOf(*operation);
    Numbers a = Random(form.m, form.k, a_by_columns, form.input);
    Numbers b = Random(form.k, form.n, b_by_columns, form.input);
    Numbers c = Random(form.m, form.n, false, form.sum);
    Numbers d = c;
    d.by_columns = true;
    for (uint32_t i = 0; i < form.m; ++i) {
      for (uint32_t j = 0; j < form.n; ++j) {
        for (uint32_t k = 0; k < form.k; ++k) {
          d.At(i, j) += form.input == "b1" ? a.At(i, k) ^ b.At(k, j) : a.At(i, k) * b.At(k, j);
        }
      }
    }
    const std::string loads =
        absl::StrCat("wmma.load.a.sync.aligned.", a_layout, ".", form.shape, ".global.", form.input, " ",
                     List(form.input, 0, count.a), ", [%x0], ", a_by_columns ? form.m : form.k, ";\n",  //
                     "wmma.load.b.sync.aligned.", b_layout, ".", form.shape, ".global.", form.input, " ",
                     List(form.input, 20, count.b), ", [%x1], ", b_by_columns ? form.k : form.n, ";\n",  //
                     "wmma.load.c.sync.aligned.row.", form.shape, ".global.", form.sum, " ",
                     List(form.sum, 40, count.c), ", [%x2], ", form.n, ";\n");
    const std::string body =
        absl::StrCat(loads, product, " ", List(form.sum, 60, count.d), ", ", List(form.input, 0, count.a), ", ",
                     List(form.input, 20, count.b), ", ", List(form.sum, 40, count.c), ";\n",
                     // Through shared memory, and by columns.
                     "wmma.store.d.sync.aligned.col.", form.shape, ".shared.", form.sum, " [cells], ",
                     List(form.sum, 60, count.d), ", ", form.m, ";\nbar.sync 0;\n");
    std::vector<double> out = d.Words(form.sum);
    const std::string rest = absl::StrCat(
        "mov.u32 %r90, %tid.x;\nL: setp.ge.u32 %p, %r90, ", out.size(),
        "; @%p bra E; shl.b32 %r91, %r90, 2; mov.u32 %r92, cells; add.u32 %r92, %r92, %r91; ld.shared.u32 %r93, ",
        "[%r92]; mul.wide.u32 %x4, %r90, 4; add.u64 %x4, %x4, %x3; st.global.u32 [%x4], %r93; add.u32 %r90, %r90, 32; ",
        "bra L;\nE: ret;\n}\n");
    const std::string recipe =
        absl::StrCat(Buffer("a", a.Words(form.input)), Buffer("b", b.Words(form.input)), Buffer("c", c.Words(form.sum)),
                     "buffer { name: \"out\" type: U32 count: ", out.size(), " fill { zeros {} } }\n",
                     "launch { kernel: \"k\" block { x: 32 } argument { buffer: \"a\" } argument { buffer: \"b\" } ",
                     "argument { buffer: \"c\" } argument { buffer: \"out\" } }\ncheck { buffer: \"out\" expected { ",
                     Values(out), " } }\n");
    for (const int architecture : architectures) {
      if (architecture != 0 && architecture < form.architecture) continue;
      SCOPED_TRACE(architecture == 0 ? "PTX" : absl::StrCat("sm_", architecture));
      options_.machine_code = architecture != 0;
      options_.machine_level.architecture = absl::StrCat("sm_", architecture);
      Succeeds(absl::StrCat(".version 8.0\n.target sm_", form.architecture,
                            "\n.address_size 64\n.shared .align 32 .b8 cells[4096];\n.visible .entry k(.param .u64 a, ",
                            ".param .u64 b, .param .u64 c, .param .u64 out) {\n.reg .b32 %r<99>; .reg .f32 %f<99>; ",
                            ".reg .f64 %d<99>; .reg .b64 %x<9>; .reg .pred %p;\nld.param.u64 %x0, [a]; ld.param.u64 ",
                            "%x1, [b]; ld.param.u64 %x2, [c]; ld.param.u64 %x3, [out];\n", body, rest),
               recipe, "ptx");
    }
  }

  std::mt19937 random_{5};
};

TEST_F(FragmentsMachineTest, ProductsOfAllShapes) {
  for (const FragmentForm& form : kForms) Try(form, false, true, {0, 75, 80, 90});
}

// Elements that are less than a byte have one layout only.
TEST_F(FragmentsMachineTest, OtherLayouts) {
  bool which = false;
  for (const FragmentForm& form : kForms) {
    if (BitsOf(form.input) < 8) continue;
    Try(form, true, which, {80, 90});
    which = !which;
  }
}

}  // namespace
}  // namespace heddle::tracegen
