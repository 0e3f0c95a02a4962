// Matrix instructions from PTX text and from asm statements: values against a scalar model, and what the trace has.
#include <random>

#include "tests/tracegen/execute/capture_fixture.h"
#include "tests/tracegen/matrix/product_kernel.h"

namespace heddle::tracegen {
namespace {

using trace::v1::Matrix;

// All forms in one kernel: form by form, and in it lane by lane, there are words to read and words to write.
class MatricesTest : public CaptureTest {
 protected:
  void Prepare() {
    std::mt19937 random(11);
    forms_ = AllProductForms();
    for (const ProductForm& form : forms_) {
      const LaneWords operands = RandomOperands(form, random);
      const LaneWords results = ScalarProduct(form, operands);
      for (const auto& lane : operands) in_.insert(in_.end(), lane.begin(), lane.end());
      for (const auto& lane : results) out_.insert(out_.end(), lane.begin(), lane.end());
    }
  }

  std::string Recipe() const {
    return absl::StrCat("target: \"sm_90\"\nbuffer { name: \"in\" type: U32 count: ", in_.size(), " fill { ",
                        Values(std::vector<double>(in_.begin(), in_.end())),
                        " } }\nbuffer { name: \"out\" type: U32 count: ", out_.size(),
                        " fill { zeros {} } }\nlaunch { kernel: \"k\" block { x: 32 } argument { buffer: \"in\" } "
                        "argument { buffer: \"out\" } }\ncheck { buffer: \"out\" expected { ",
                        Values(std::vector<double>(out_.begin(), out_.end())), " } }\n");
  }

  void ExpectAllInTrace() const {
    const trace::Program& program = reader_->programs()[0];
    EXPECT_TRUE(program.proto().uses_warp_operations());
    std::vector<std::string> found;
    for (uint32_t pc = 0; pc < program.instruction_count(); ++pc) {
      const trace::v1::Instruction& instruction = program.instruction(pc);
      if (!instruction.has_matrix()) continue;
      EXPECT_EQ(instruction.op(), trace::v1::OP_TENSOR);
      EXPECT_EQ(instruction.matrix().role(), Matrix::MULTIPLY);
      const ProductForm& form = forms_[std::min(found.size(), forms_.size() - 1)];
      EXPECT_EQ(instruction.matrix().k(), form.k);
      EXPECT_EQ(
          static_cast<uint32_t>(instruction.src_size()),
          instruction.matrix().a_registers() + instruction.matrix().b_registers() + instruction.matrix().c_registers());
      found.push_back(instruction.mnemonic());
    }
    std::vector<std::string> wanted;
    for (const ProductForm& form : forms_) wanted.push_back(form.mnemonic);
    EXPECT_EQ(found, wanted);
  }

  std::vector<ProductForm> forms_;
  std::vector<uint32_t> in_, out_;
};

TEST_F(MatricesTest, ProductsOfPtxText) {
  Prepare();
  const std::string header = ".version 8.4\n.target sm_90\n.address_size 64\n";
  Succeeds(ProductKernel(header, forms_), Recipe(), "ptx");
  ASSERT_NE(reader_, nullptr);
  ExpectAllInTrace();
}

TEST_F(MatricesTest, ProductsOfAsmStatements) {
  Prepare();
  std::string text = "__global__ void k(const unsigned* in, unsigned* out) {\n  const unsigned t = threadIdx.x;\n";
  size_t in = 0, out = 0;
  for (const ProductForm& form : forms_) {
    const WordCounts count = CountWords(form);
    const uint32_t read = count.a + count.b + count.c;
    absl::StrAppend(&text, "  {\n    const unsigned* p = in + ", in, " + t * ", read, ";\n    unsigned* q = out + ",
                    out, " + t * ", count.d, ";\n");
    const OperandList lists[] = {ListOf(form.d, count.d), ListOf(form.a, count.a), ListOf(form.b, count.b),
                                 ListOf(form.c, count.c)};
    std::string operands, results, inputs, stores;
    uint32_t next = 0, offset = 0;
    for (size_t l = 0; l < 4; ++l) {
      const char* type = lists[l].letter == 'r' ? "unsigned" : lists[l].letter == 'f' ? "float" : "double";
      std::vector<std::string> names;
      for (uint32_t i = 0; i < lists[l].count; ++i) {
        names.push_back(absl::StrCat("%", next++));
        if (l == 0) {
          absl::StrAppend(&text, "    ", type, " d", i, ";\n");
          absl::StrAppend(&results, i == 0 ? "" : ", ", "\"=", std::string(1, lists[l].letter), "\"(d", i, ")");
          absl::StrAppend(&stores, "    reinterpret_cast<", type, "*>(q)[", i, "] = d", i, ";\n");
        } else {
          absl::StrAppend(&inputs, inputs.empty() ? "" : ", ", "\"", std::string(1, lists[l].letter),
                          "\"(*reinterpret_cast<const ", type, "*>(p + ", offset, "))");
          offset += lists[l].letter == 'd' ? 2 : 1;
        }
      }
      absl::StrAppend(&operands, l == 0 ? " {" : ", {", absl::StrJoin(names, ", "), "}");
    }
    absl::StrAppend(&text, "    asm volatile(\"", form.mnemonic, operands, ";\" : ", results, " : ", inputs, ");\n",
                    stores, "  }\n");
    in += 32 * read;
    out += 32 * count.d;
  }
  text += "}\n";
  Succeeds(text, Recipe());
  ASSERT_NE(reader_, nullptr);
  ExpectAllInTrace();
}

// Shares of a fragment with rows that are 24 elements apart, and the rows of tiles.
TEST_F(MatricesTest, AddressesAreEachThreadsOwn) {
  Succeeds(R"(__global__ void k(int* out) {
  __shared__ __align__(32) unsigned short s[16 * 24];
  #pragma unroll
  for (int i = 0; i < 12; ++i) s[i * 32 + threadIdx.x] = i * 32 + threadIdx.x;
  __syncwarp();
  unsigned w[8], r;
  asm volatile("wmma.load.a.sync.aligned.row.m16n16k16.f16 {%0, %1, %2, %3, %4, %5, %6, %7}, [%8], 24;"
               : "=r"(w[0]), "=r"(w[1]), "=r"(w[2]), "=r"(w[3]), "=r"(w[4]), "=r"(w[5]), "=r"(w[6]), "=r"(w[7])
               : "l"(s) : "memory");
  unsigned sum = 0;
  for (int i = 0; i < 8; ++i) sum += w[i];
  asm volatile("ldmatrix.sync.aligned.m8n8.x1.trans.shared.b16 {%0}, [%1];" : "=r"(r)
               : "r"((unsigned)__cvta_generic_to_shared(s + 8 * (threadIdx.x % 8))) : "memory");
  out[threadIdx.x] = threadIdx.x < 1 ? (int)(r >> 16) : sum != 0 || threadIdx.x == 0 ? 1 : 2;
})",
           IntRecipe(1, 32, [] {
             std::vector<double> values(32, 1);
             values[0] = 8;  // element (1, 0) of the tile
             return values;
           }()));
  ASSERT_NE(reader_, nullptr);
  const trace::Program& program = reader_->programs()[0];
  std::vector<std::vector<uint64_t>> addresses = Addresses();
  size_t at_load = 0, at_tiles = 0, position = 0;
  for (const trace::Pc pc : program.accesses()) {
    const trace::v1::Instruction& instruction = program.instruction(pc);
    if (instruction.has_matrix()) {
      EXPECT_EQ(instruction.op(), trace::v1::OP_LOAD);
      EXPECT_EQ(instruction.matrix().role(), Matrix::LOAD);
      EXPECT_EQ(instruction.access_bytes(), 16u);
      (instruction.matrix().tiles() == 0 ? at_load : at_tiles) = position;
    }
    ++position;
  }
  ASSERT_EQ(addresses[0].size(), position);  // no loop is left
  for (uint32_t lane = 0; lane < 32; ++lane) {
    EXPECT_EQ(addresses[lane][at_load] - addresses[0][at_load], lane / 2 * 48 + lane % 2 * 16) << lane;
    EXPECT_EQ(addresses[lane][at_tiles] - addresses[0][at_tiles], lane % 8 * 16) << lane;
  }
}

// Clang's own functions, by way of LLVM's intrinsics.
TEST_F(MatricesTest, BuiltInFunctionsOfTheCompiler) {
  std::vector<double> expected;
  for (int i = 0; i < 16; ++i) {
    // A has i + 1 in all of row i, B has 1 everywhere, C is 0.
    for (int j = 0; j < 16; ++j) expected.push_back(16 * (i + 1));
  }
  Succeeds(R"(#include <cuda_fp16.h>
__global__ void k(float* out) {
  __shared__ __align__(32) __half a[256], b[256];
  #pragma unroll
  for (int i = 0; i < 8; ++i) {
    const int at = i * 32 + threadIdx.x;
    a[at] = __float2half(at / 16 + 1.0f);
    b[at] = __float2half(1.0f);
  }
  __syncthreads();
  int fa[8], fb[8];
  float c[8] = {}, d[8];
  __hmma_m16n16k16_ld_a(fa, (const int*)a, 16, 0);
  __hmma_m16n16k16_ld_b(fb, (const int*)b, 16, 1);
  __hmma_m16n16k16_mma_f32f32(d, fa, fb, c, 1, 0);
  __hmma_m16n16k16_st_c_f32(out, d, 16, 0);
})",
           absl::StrCat("target: \"sm_70\"\nbuffer { name: \"out\" type: F32 count: 256 fill { zeros {} } }\n"
                        "launch { kernel: \"k\" block { x: 32 } argument { buffer: \"out\" } }\n"
                        "check { buffer: \"out\" expected { ",
                        Values(expected), " } }\n"));
  ASSERT_NE(reader_, nullptr);
  std::vector<std::string> found;
  const trace::Program& program = reader_->programs()[0];
  for (uint32_t pc = 0; pc < program.instruction_count(); ++pc) {
    if (program.instruction(pc).has_matrix()) found.push_back(program.instruction(pc).mnemonic());
  }
  EXPECT_THAT(found, ::testing::ElementsAre("wmma.load.a.sync.aligned.row.m16n16k16.f16",
                                            "wmma.load.b.sync.aligned.col.m16n16k16.f16",
                                            "wmma.mma.sync.aligned.row.col.m16n16k16.f32.f32",
                                            "wmma.store.d.sync.aligned.row.m16n16k16.f32"));
}

// A loop that polls memory is not taken to wait for others while it stores fragments.
TEST_F(MatricesTest, StoresAreProgressOfALoopThatPolls) {
  Succeeds(R"(__global__ void k(int* out) {
  volatile int* flag = out;
  while (flag[0] < 5) {
    int c, d;
    asm volatile("wmma.load.c.sync.aligned.row.m8n8k32.s32 {%0, %1}, [%2], 8;" : "=r"(c), "=r"(d) : "l"(out) : "memory");
    ++c;
    ++d;
    asm volatile("wmma.store.d.sync.aligned.row.m8n8k32.s32 [%0], {%1, %2}, 8;" : : "l"(out), "r"(c), "r"(d) : "memory");
  }
})",
           IntRecipe(1, 32, std::vector<double>(64, 5)));
}

// Threads of a warp that do not all come to the instruction wait for ever; those that have exited are not waited for.
TEST_F(MatricesTest, ThreadsThatAreMissing) {
  const std::string product =
      "  unsigned a = 0x01010101; int c = 1, d = 0;\n"
      "  asm volatile(\"mma.sync.aligned.m8n8k16.row.col.s32.s8.s8.s32 {%0, %1}, {%2}, {%2}, {%0, %1};\"\n"
      "               : \"+r\"(c), \"+r\"(d) : \"r\"(a));\n";
  Fails("__global__ void k(int* out) {\n  if (threadIdx.x < 16) {\n" + product + "    out[threadIdx.x] = c;\n  }\n" +
            "  __syncthreads();\n}\n",
        IntRecipe(1, 32, std::vector<double>(32, 0)), {"matrix instruction", "kernel.cu:4"});
  std::vector<double> expected(32, 0);
  for (size_t t = 0; t < 16; ++t) expected[t] = t % 4 < 2 ? 17 : 1;  // columns 4 to 7 of B belong to absent threads
  Succeeds(
      "__global__ void k(int* out) {\n  if (threadIdx.x >= 16) return;\n" + product + "  out[threadIdx.x] = c;\n}\n",
      IntRecipe(1, 32, expected));
}

}  // namespace
}  // namespace heddle::tracegen
