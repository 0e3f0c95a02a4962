// Multiplications and additions round as often in the execution as in the PTX.
#include "tests/tracegen/execute/capture_fixture.h"

namespace heddle::tracegen {
namespace {

// (1 + 2^-12)^2 - (1 + 2^-11) is 2^-24 exactly; rounding the product first gives 0.
constexpr double kOnce = 5.9604644775390625e-8;
constexpr double kRounded = 1.00048828125;  // the product, rounded
// Of doubles: (1 + 2^-30)^2 - (1 + 2^-29).
constexpr double kOnceDouble = 8.673617379884035e-19;

class ContractionTest : public CaptureTest {
 protected:
  // `k(const T* in, T* out)` reads `in` and must leave `expected` in out.
  void Gives(const std::string& source, const std::vector<double>& in, const std::vector<double>& expected,
             const std::string& type = "F32", const std::string& extension = "cu") {
    Succeeds(source,
             absl::StrCat("buffer { name: \"in\" type: ", type, " count: ", in.size(), " fill { ", Values(in), " } }\n",
                          "buffer { name: \"out\" type: ", type, " count: ", expected.size(), " fill { zeros {} } }\n",
                          "launch { kernel: \"k\" grid { x: 1 } block { x: 1 } argument { buffer: \"in\" } argument { ",
                          "buffer: \"out\" } }\ncheck { buffer: \"out\" expected { ", Values(expected), " } }\n"),
             extension);
  }
  // How many instructions of the last program have a mnemonic that starts with `prefix`.
  int Starting(const std::string& prefix) const {
    int count = 0;
    for (const trace::Program& program : reader_->programs()) {
      for (uint32_t pc = 0; pc < program.instruction_count(); ++pc) {
        count += program.instruction(pc).mnemonic().rfind(prefix, 0) == 0;
      }
    }
    return count;
  }
};

const std::vector<double> kInputs = {1.000244140625, 1.000244140625, -1.00048828125, 1.00048828125};

TEST_F(ContractionTest, AProductThatIsAlsoStoredIsFusedToo) {
  Gives("__global__ void k(const float* in, float* out) { float p = in[0] * in[1]; out[0] = p + in[2]; out[1] = p; }",
        kInputs, {kOnce, kRounded});
  EXPECT_EQ(Starting("fma.rn.f32"), 1);
  EXPECT_EQ(Starting("mul.rn.f32"), 1);
}

TEST_F(ContractionTest, AProductOfTwoSumsIsFusedTwice) {
  Gives(
      "__global__ void k(const float* in, float* out) {\n"
      "  float p = in[0] * in[1]; out[0] = p + in[2]; out[1] = p - in[3]; out[2] = in[3] - p; }",
      kInputs, {kOnce, kOnce, -kOnce});
  EXPECT_EQ(Starting("fma.rn.f32"), 3);
  EXPECT_EQ(Starting("mul.rn.f32"), 0);
}

TEST_F(ContractionTest, ANegatedProductIsFused) {
  Gives("__global__ void k(const float* in, float* out) { float p = in[0] * in[1]; out[0] = -p - in[2]; }", kInputs,
        {-kOnce});
  EXPECT_EQ(Starting("fma.rn.f32"), 1);
}

TEST_F(ContractionTest, OfTwoProductsTheOneThatIsUsedElsewhereIsRounded) {
  // The first is stored, so the second goes into the fused operation.
  Gives(
      "__global__ void k(const float* in, float* out) {\n"
      "  float p = in[3] * in[4], q = in[0] * in[1]; out[0] = p + q; out[1] = p; }",
      {1.000244140625, 1.000244140625, 0, -1.00048828125, 1}, {kOnce, -kRounded});
  EXPECT_EQ(Starting("fma.rn.f32"), 1);
}

TEST_F(ContractionTest, AProductOfAnotherBlockIsRounded) {
  Gives(
      "__global__ void k(const float* in, float* out) {\n"
      "  float p = in[0] * in[1], r = 1; out[1] = p;\n"
      "  if (in[3] > 0) { __syncthreads(); r = p + in[2]; } out[0] = r; }",
      kInputs, {0, kRounded});
  EXPECT_EQ(Starting("fma.rn.f32"), 0);
}

TEST_F(ContractionTest, ABranchThatNeedsTheRoundingGoesTheSameWay) {
  Gives(
      "__global__ void k(const float* in, float* out) {\n"
      "  float p = in[0] * in[0], d = p + in[2]; out[1] = p; int n = 0;\n"
      "  while (d != 0.0f && n < 1000) { d *= 0.5f; ++n; }\n  out[0] = n; }",
      kInputs, {126, kRounded});
}

TEST_F(ContractionTest, RoundingsThatTheProgramAsksForStay) {
  Gives(
      "__global__ void k(const float* in, float* out) {\n"
      "  float p = __fmul_rn(in[0], in[1]); out[0] = p + in[2]; out[1] = fmaf(in[0], in[1], in[2]); }",
      kInputs, {0, kOnce});
}

TEST_F(ContractionTest, DoublePrecision) {
  Gives(
      "__global__ void k(const double* in, double* out) {\n"
      "  double p = in[0] * in[1]; out[0] = p + in[2]; out[1] = p; }",
      {1.0000000009313226, 1.0000000009313226, -1.0000000018626451}, {kOnceDouble, 1.0000000018626451}, "F64");
  EXPECT_EQ(Starting("fma.rn.f64"), 1);
}

// FP_CONTRACT of OpenCL C: within an expression, not across statements.
TEST_F(ContractionTest, OpenClFusesWithinAnExpression) {
  Gives(
      "__kernel void k(__global const float* in, __global float* out) {\n"
      "  out[0] = in[0] * in[1] + in[2]; float p = in[0] * in[1]; out[1] = p + in[2];\n"
      "  vstore2(vload2(0, in) * in[1] + in[2], 1, out); }",
      kInputs, {kOnce, 0, kOnce, kOnce}, "F32", "cl");
}

TEST_F(ContractionTest, NothingIsFusedWhereTheSourceForbidsIt) {
  Gives(
      "#pragma OPENCL FP_CONTRACT OFF\n"
      "__kernel void k(__global const float* in, __global float* out) { out[0] = in[0] * in[1] + in[2]; }",
      kInputs, {0}, "F32", "cl");
}

}  // namespace
}  // namespace heddle::tracegen
