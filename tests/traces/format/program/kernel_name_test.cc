// Names of kernels as tables and messages show them.
#include "traces/format/program/kernel_name.h"

#include <gtest/gtest.h>

namespace heddle::trace {
namespace {

TEST(ShortKernelName, DropsTheParameterListOnly) {
  EXPECT_EQ(ShortKernelName("bfs_level(int const*, int)"), "bfs_level");
  EXPECT_EQ(ShortKernelName("mandelbrot"), "mandelbrot");
  EXPECT_EQ(ShortKernelName("(anonymous namespace)::kernel(void (*)(int))"), "(anonymous namespace)::kernel");
  EXPECT_EQ(ShortKernelName("odd)"), "odd)");
  EXPECT_EQ(ShortKernelName("(odd)"), "(odd)");
  EXPECT_EQ(ShortKernelName(""), "");
}

TEST(ShortKernelName, DropsTheReturnTypeOfTemplateInstances) {
  EXPECT_EQ(ShortKernelName("void reduce<256u, (unsigned int)1>(float const*, float*)"),
            "reduce<256u, (unsigned int)1>");
  EXPECT_EQ(ShortKernelName("std::enable_if<true, void>::type (anonymous namespace)::k<int>(int*)"),
            "(anonymous namespace)::k<int>");
  EXPECT_EQ(ShortKernelName("odd >"), "odd >");
}

TEST(ShortKernelName, TellsArgumentsOfLongTemplatesBriefly) {
  const std::string space = "a_library::with_a_version_1_2_3_in_its_namespace::";
  EXPECT_EQ(ShortKernelName("void " + space + "sort<" + space + "policy_<int, unsigned int>::of_8, " + space +
                            "key const*, int>(int*)"),
            space + "sort<policy_<...>::of_8, k...>");
  EXPECT_EQ(ShortKernelName("void sort<" + space + "policy<int, " + space + "none, unsigned int>, int>(int*)"),
            "sort<policy<...>, int>");
  const std::string long_name = space + space + "kernel";
  EXPECT_EQ(ShortKernelName("void " + long_name + "<int>(int*)"), long_name + "<...>");
  EXPECT_EQ(ShortKernelName(long_name + "(int*)"), long_name);
}

TEST(ShortKernelName, TextThatIsNoName) {
  const std::string cut = ShortKernelName(std::string(60'000, 'k'));
  EXPECT_EQ(cut.size(), 160u);
  EXPECT_TRUE(cut.ends_with("kkk...")) << cut;
  EXPECT_EQ(ShortKernelName(std::string(200, '<')), "<<");
  EXPECT_EQ(ShortKernelName(std::string(200, '>')).size(), 160u);
}

TEST(BriefKernelName, IsTheNameItselfWhereThatIsShort) {
  EXPECT_EQ(BriefKernelName("void reduce<256u>(float const*, float*)"), "void reduce<256u>(float const*, float*)");
  const std::string parameters = "(" + std::string(100, 'x') + "*)";
  EXPECT_EQ(BriefKernelName("void reduce<256u>" + parameters), "reduce<256u>");
}

}  // namespace
}  // namespace heddle::trace
