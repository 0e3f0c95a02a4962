// The checks of our kernels accept right outputs and reject wrong ones, naming the first wrong element.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <exception>
#include <limits>
#include <list>
#include <string>
#include <vector>

#include "traces/kernels/check.h"

extern "C" {
decltype(heddle_check) heddle_check_bfs, heddle_check_bitonic_sort, heddle_check_black_scholes,
    heddle_check_long_threads, heddle_check_mandelbrot, heddle_check_matrix_multiply, heddle_check_nqueens,
    heddle_check_reduction, heddle_check_spmv, heddle_check_vector_add;
}

namespace heddle::kernels {
namespace {

using ::testing::HasSubstr;

// The buffers of a run, as capture would hand them over.
class KernelRun {
 public:
  explicit KernelRun(decltype(&heddle_check) check) : check_(check) {}

  // A buffer that the kernel does not change.
  template <typename T>
  KernelRun& Input(const char* name, const std::vector<T>& contents) {
    return Output(name, contents, contents);
  }

  template <typename T>
  KernelRun& Output(const char* name, const std::vector<T>& before, const std::vector<T>& after) {
    buffers_.push_back({name, after.size(), Bytes(before), Bytes(after)});
    return *this;
  }

  // The check's message, or "accepted".
  std::string Verdict() const {
    std::vector<heddle_buffer> buffers;
    for (const Stored& stored : buffers_) {
      buffers.push_back({stored.name, stored.count, stored.before.data(), stored.after.data()});
    }
    char message[200] = "";
    try {
      const int result = check_(buffers.data(), static_cast<int>(buffers.size()), message, sizeof(message));
      if (result == 0) return "accepted";
    } catch (const std::exception& thrown) {
      return thrown.what();
    }
    return *message == '\0' ? "rejected without a message" : message;
  }

 private:
  struct Stored {
    const char* name;
    uint64_t count;
    std::vector<char> before;
    std::vector<char> after;
  };

  template <typename T>
  static std::vector<char> Bytes(const std::vector<T>& contents) {
    const char* first = reinterpret_cast<const char*>(contents.data());
    return std::vector<char>(first, first + contents.size() * sizeof(T));
  }

  decltype(&heddle_check) check_;
  std::list<Stored> buffers_;
};

std::string VectorAdd(const std::vector<float>& sum) {
  return KernelRun(heddle_check_vector_add)
      .Input<float>("a", {1, 2, 3})
      .Input<float>("b", {10, 20, 0.5f})
      .Output<float>("sum", {0, 0, 0}, sum)
      .Verdict();
}

TEST(VectorAddCheck, AcceptsExactSumsOnly) {
  EXPECT_EQ(VectorAdd({11, 22, 3.5f}), "accepted");
  EXPECT_EQ(VectorAdd({11, 22, 3.5000002f}), "sum[2] is 3.50000024, expected 3.5");
  EXPECT_EQ(VectorAdd({11, 0, 0}), "sum[1] is 0, expected 22");
}

TEST(VectorAddCheck, RejectsWhatIsNotANumber) {
  EXPECT_EQ(VectorAdd({std::nanf(""), 22, 3.5f}), "sum[0] is nan, expected 11");
}

TEST(VectorAddCheck, NamesAMissingBuffer) {
  EXPECT_EQ(KernelRun(heddle_check_vector_add).Input<float>("a", {1}).Input<float>("sum", {1}).Verdict(),
            "the recipe has no buffer 'b'");
}

TEST(VectorAddCheck, NamesABufferThatIsTooShort) {
  EXPECT_EQ(KernelRun(heddle_check_vector_add)
                .Input<float>("a", {1})
                .Input<float>("b", {10, 20})
                .Output<float>("sum", {0, 0}, {11, 22})
                .Verdict(),
            "buffer 'a' has no element 1");
}

std::string MatrixMultiply(const std::vector<float>& result, const std::vector<int32_t>& shape = {2, 3, 2}) {
  return KernelRun(heddle_check_matrix_multiply)
      .Input<float>("left", {1, 2, 3, 4, 5, 6})
      .Input<float>("right", {1, 0, 0, 1, 1, 1})
      .Output<float>("result", {0, 0, 0, 0}, result)
      .Input("shape", shape)
      .Verdict();
}

TEST(MatrixMultiplyCheck, AllowsForRoundingOnly) {
  EXPECT_EQ(MatrixMultiply({4, 5, 10, 11}), "accepted");
  EXPECT_EQ(MatrixMultiply({4, 5.0000005f, 10, 11}), "accepted");
  EXPECT_EQ(MatrixMultiply({4, 5.001f, 10, 11}), "result[1] is 5.00099993, expected 5");
  EXPECT_EQ(MatrixMultiply({4, 10, 5, 11}), "result[1] is 10, expected 5");
}

TEST(MatrixMultiplyCheck, RefusesAShapeThatIsNotTheBuffers) {
  EXPECT_THAT(MatrixMultiply({4, 5, 10, 11}, {3, 2, 2}), HasSubstr("shape"));
}

// 0 -> 1, 0 -> 2, 2 -> 3; node 4 is out of reach.
std::string Bfs(const std::vector<int32_t>& distance) {
  const int32_t unreached = std::numeric_limits<int32_t>::max();
  std::vector<int32_t> after = distance;
  for (int32_t& d : after) d = d < 0 ? unreached : d;
  return KernelRun(heddle_check_bfs)
      .Input<int32_t>("row_pointers", {0, 2, 2, 3, 3, 4})
      .Input<int32_t>("neighbours", {1, 2, 3, 0})
      .Output<int32_t>("distance", {0, 0, 0, 0, 0}, after)
      .Verdict();
}

TEST(BfsCheck, ComparesEveryDistance) {
  EXPECT_EQ(Bfs({0, 1, 1, 2, -1}), "accepted");
  EXPECT_EQ(Bfs({0, 1, 1, 3, -1}), "distance[3] is 3, expected 2");
  EXPECT_EQ(Bfs({0, 1, 1, -1, -1}), "distance[3] is 2147483647, expected 2") << "a recipe with too few levels";
  EXPECT_EQ(Bfs({0, 1, 1, 2, 1}), "distance[4] is 1, expected 2147483647");
}

TEST(NQueensCheck, CountsTheSolutionsOfEveryPrefix) {
  // The two solutions for four queens: columns 1 3 0 2 and 2 0 3 1.
  std::vector<uint32_t> solutions(64, 0);
  solutions[1 + 3 * 4 + 0 * 16] = 1;
  solutions[2 + 0 * 4 + 3 * 16] = 1;
  const std::vector<uint32_t> before(64, 0);
  EXPECT_EQ(KernelRun(heddle_check_nqueens).Output("solutions", before, solutions).Verdict(), "accepted");
  solutions[13] = 0;
  EXPECT_EQ(KernelRun(heddle_check_nqueens).Output("solutions", before, solutions).Verdict(),
            "solutions[13] is 0, expected 1");
  solutions[13] = 1;
  solutions[63] = 1;
  EXPECT_EQ(KernelRun(heddle_check_nqueens).Output("solutions", before, solutions).Verdict(),
            "solutions[63] is 1, expected 0");
  solutions.push_back(0);
  EXPECT_THAT(KernelRun(heddle_check_nqueens).Input("solutions", solutions).Verdict(), HasSubstr("queens^3"));
}

std::string BitonicSort(const std::vector<uint32_t>& after) {
  return KernelRun(heddle_check_bitonic_sort).Output<uint32_t>("values", {7, 4000000000u, 7, 0}, after).Verdict();
}

TEST(BitonicSortCheck, AcceptsTheSortedInputOnly) {
  EXPECT_EQ(BitonicSort({0, 7, 7, 4000000000u}), "accepted");
  EXPECT_EQ(BitonicSort({0, 7, 8, 4000000000u}), "values[2] is 8, expected 7") << "sorted, but another value";
  EXPECT_EQ(BitonicSort({7, 0, 7, 4000000000u}), "values[0] is 7, expected 0");
  EXPECT_EQ(BitonicSort({4000000000u, 7, 7, 0}), "values[0] is 4000000000, expected 0");
}

std::string BlackScholes(float call, float put) {
  return KernelRun(heddle_check_black_scholes)
      .Input<float>("stock", {100})
      .Input<float>("strike", {100})
      .Input<float>("years", {1})
      .Output<float>("call", {0}, {call})
      .Output<float>("put", {0}, {put})
      .Verdict();
}

// A call at the money for one year: 12.8216 at 2 % interest and 30 % volatility; the put follows from parity.
TEST(BlackScholesCheck, ComparesBothPrices) {
  const float call = 12.821581f;
  const float put = 10.841449f;
  EXPECT_EQ(BlackScholes(call, put), "accepted");
  EXPECT_THAT(BlackScholes(call + 0.001f, put), HasSubstr("call[0] is 12.82"));
  EXPECT_THAT(BlackScholes(call, put - 0.001f), HasSubstr("put[0] is 10.84"));
  EXPECT_THAT(BlackScholes(call, std::nanf("")), HasSubstr("put[0] is nan"));
}

std::string Reduction(const std::vector<uint32_t>& partial, uint32_t total) {
  return KernelRun(heddle_check_reduction)
      .Input<uint32_t>("values", {1, 2, 3, 4294967295u})
      .Output<uint32_t>("partial", {0, 0}, partial)
      .Output<uint32_t>("total", {0}, {total})
      .Verdict();
}

TEST(ReductionCheck, ComparesTheTotalAndTheBlocksSums) {
  EXPECT_EQ(Reduction({3, 2}, 5), "accepted") << "sums wrap around";
  EXPECT_EQ(Reduction({3, 2}, 6), "total[0] is 6, expected 5");
  EXPECT_EQ(Reduction({3, 3}, 5), "the sums of the blocks add up to 6, expected 5");
}

// Four points on the real axis: -2 and -1 stay for ever, 0 stays, 1 escapes after three steps.
std::string Mandelbrot(const std::vector<int32_t>& iterations, float width = 4) {
  return KernelRun(heddle_check_mandelbrot)
      .Input<float>("view", {-2, 0, 1, width, 1, 50})
      .Output<int32_t>("iterations", {-1, -1, -1, -1}, iterations)
      .Verdict();
}

TEST(MandelbrotCheck, ComparesEveryPixel) {
  EXPECT_EQ(Mandelbrot({50, 50, 50, 3}), "accepted");
  EXPECT_EQ(Mandelbrot({50, 50, 50, 4}), "iterations[3] is 4, expected 3");
  EXPECT_EQ(Mandelbrot({-1, 50, 50, 3}), "iterations[0] is -1, expected 50") << "never written";
}

TEST(MandelbrotCheck, RefusesAnotherNumberOfPixels) {
  EXPECT_EQ(Mandelbrot({50, 50, 50, 3}, 5), "iterations must be one per pixel");
}

std::string Spmv(const std::vector<float>& y) {
  return KernelRun(heddle_check_spmv)
      .Input<int32_t>("row_pointers", {0, 2, 2, 3})
      .Input<int32_t>("columns", {0, 2, 1})
      .Input<float>("values", {2, -3, 4})
      .Input<float>("x", {1, 10, 100})
      .Output<float>("y", {9, 9, 9}, y)
      .Verdict();
}

TEST(SpmvCheck, ComparesEveryRowEmptyOnesToo) {
  EXPECT_EQ(Spmv({-298, 0, 40}), "accepted");
  EXPECT_EQ(Spmv({-298, 9, 40}), "y[1] is 9, expected 0");
  EXPECT_EQ(Spmv({-298, 0, 40.01f}), "y[2] is 40.0099983, expected 40");
  EXPECT_EQ(Spmv({302, 0, 40}), "y[0] is 302, expected -298");
}

std::string LongThreads(const std::vector<uint32_t>& states) {
  return KernelRun(heddle_check_long_threads)
      .Output<uint32_t>("states", {0, 0}, states)
      .Input<uint32_t>("settings", {1})
      .Verdict();
}

// One step of the shifts 13, 17, 5 from 1 and from 2.
TEST(LongThreadsCheck, ComparesEveryState) {
  EXPECT_EQ(LongThreads({270369, 540738}), "accepted");
  EXPECT_EQ(LongThreads({270369, 540739}), "states[1] is 540739, expected 540738");
}

}  // namespace
}  // namespace heddle::kernels
