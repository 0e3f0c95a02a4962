// Matrix instructions as machine code: every form that the user's assembler makes of PTX must compute what the scalar
// model says, to the bit. Without a toolkit, or without nvdisasm, all of it is skipped by name.
#include <algorithm>
#include <cstdlib>

#include "tests/tracegen/execute/capture_fixture.h"
#include "tests/tracegen/matrix/product_kernel.h"
#include "tracegen/machine/toolchain/toolchain.h"
#include "tracegen/matrix/operation.h"

namespace heddle::tracegen {
namespace {

using trace::v1::Matrix;

bool IsQuads(const ProductForm& form) { return form.a == "f16" && form.k == 4; }
bool IsFp8(const ProductForm& form) { return form.a == "e4m3" || form.a == "e5m2"; }

// Whether the assembler takes the form for an architecture, as the PTX manual says.
bool Exists(const ProductForm& form, int architecture) {
  if (IsQuads(form)) return architecture != 75 && (form.c == "f16" || form.d == "f32");
  if (IsFp8(form) || (form.a == "f64" && form.m == 16)) return architecture >= 89;
  if (architecture >= 80) return true;
  if (form.a == "f16") return form.k == 8;
  return form.m == 8 && form.a != "f64" && !form.bits_by_and;
}

// Whether it is one instruction there. Others are made of several.
bool IsOneInstruction(const ProductForm& form, int architecture) {
  const bool is_nibble = form.a == "s4" || form.a == "u4";
  const bool is_xor = form.a == "b1" && !form.bits_by_and;
  return !IsQuads(form) && !(architecture == 90 && (IsFp8(form) || is_nibble || is_xor));
}

// Without how many registers hold it, which machine code counts in words.
std::string TextOf(Matrix matrix) {
  matrix.clear_a_registers();
  matrix.clear_b_registers();
  matrix.clear_c_registers();
  return matrix.ShortDebugString();
}

class MatricesMachineTest : public CaptureTest {
 protected:
  static constexpr size_t kAtOnce = 16;  // products of a kernel

  void SetUp() override {
    if (const auto toolchain = machine::Toolchain::Find(); !toolchain.ok()) {
      GTEST_SKIP() << toolchain.status().message();
    }
    options_.machine_code = true;
  }

  // One form of `step` that there are.
  void Products(int architecture, size_t step = 1) {
    options_.machine_level.architecture = absl::StrCat("sm_", architecture);
    std::vector<ProductForm> forms;
    size_t there = 0;
    for (const ProductForm& form : AllProductForms()) {
      if (Exists(form, architecture) && there++ % step == 0) forms.push_back(form);
    }
    ASSERT_GT(forms.size(), 10u);
    std::mt19937 random(11);
    for (size_t first = 0; first < forms.size(); first += kAtOnce) {
      Products(architecture, random,
               {forms.begin() + static_cast<ptrdiff_t>(first),
                forms.begin() + static_cast<ptrdiff_t>(std::min(first + kAtOnce, forms.size()))});
    }
  }

  void Products(int architecture, std::mt19937& random, const std::vector<ProductForm>& forms) {
    std::vector<double> in, out;
    for (const ProductForm& form : forms) {
      // What several instructions make may round in another order.
      const LaneWords operands =
          IsOneInstruction(form, architecture) ? RandomOperands(form, random) : WholeOperands(form, random);
      for (const auto& lane : operands) in.insert(in.end(), lane.begin(), lane.end());
      for (const auto& lane : ScalarProduct(form, operands)) out.insert(out.end(), lane.begin(), lane.end());
    }
    SCOPED_TRACE(absl::StrCat("sm_", architecture, ", from ", forms[0].mnemonic, " to ", forms.back().mnemonic));
    const std::string header = absl::StrCat(".version 8.7\n.target sm_", architecture, "\n.address_size 64\n");
    reader_ = nullptr;
    Succeeds(ProductKernel(header, forms),
             absl::StrCat("buffer { name: \"in\" type: U32 count: ", in.size(), " fill { ", Values(in),
                          " } }\nbuffer { name: \"out\" type: U32 count: ", out.size(),
                          " fill { zeros {} } }\nlaunch { kernel: \"k\" block { x: 32 } argument { buffer: \"in\" } ",
                          "argument { buffer: \"out\" } }\ncheck { buffer: \"out\" expected { ", Values(out), " } }\n"),
             "ptx");
    if (reader_ != nullptr) ExpectInTrace(architecture, forms);
  }

  void ExpectInTrace(int architecture, const std::vector<ProductForm>& forms) const {
    const trace::Program& program = reader_->programs()[0];
    std::vector<std::string> found, wanted;
    for (uint32_t pc = 0; pc < program.instruction_count(); ++pc) {
      const trace::v1::Instruction& instruction = program.instruction(pc);
      if (!instruction.has_matrix()) continue;
      EXPECT_EQ(instruction.op(), trace::v1::OP_TENSOR);
      EXPECT_GE(
          static_cast<uint32_t>(instruction.src_size()),
          instruction.matrix().a_registers() + instruction.matrix().b_registers() + instruction.matrix().c_registers());
      found.push_back(TextOf(instruction.matrix()));
    }
    bool all_are_one = true;
    for (const ProductForm& form : forms) {
      all_are_one &= IsOneInstruction(form, architecture);
      wanted.push_back(TextOf(ParseMatrixOperation(form.mnemonic)->Describe()));
    }
    // The assembler may put them into another order.
    if (all_are_one) {
      EXPECT_THAT(found, ::testing::UnorderedElementsAreArray(wanted));
    }
  }
};

TEST_F(MatricesMachineTest, ProductsOfSm75) { Products(75); }
TEST_F(MatricesMachineTest, ProductsOfSm80) { Products(80); }
// They are those of sm_80.
TEST_F(MatricesMachineTest, ProductsOfSm86) { Products(86, 5); }
TEST_F(MatricesMachineTest, ProductsOfSm90) { Products(90); }

}  // namespace
}  // namespace heddle::tracegen
