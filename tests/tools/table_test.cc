// Numbers and tables as people see them.
#include "tools/heddle/table.h"

#include <gtest/gtest.h>

namespace heddle::tools {
namespace {

TEST(WithThousands, GroupsByThree) {
  EXPECT_EQ(WithThousands(0), "0");
  EXPECT_EQ(WithThousands(999), "999");
  EXPECT_EQ(WithThousands(1000), "1,000");
  EXPECT_EQ(WithThousands(123456), "123,456");
  EXPECT_EQ(WithThousands(18446744073709551615u), "18,446,744,073,709,551,615");
}

TEST(WithUnit, ChoosesTheLargestUnit) {
  EXPECT_EQ(WithUnit(0), "0 B");
  EXPECT_EQ(WithUnit(999), "999 B");
  EXPECT_EQ(WithUnit(1000), "1.00 kB");
  EXPECT_EQ(WithUnit(12345), "12.3 kB");
  EXPECT_EQ(WithUnit(999'960), "1.00 MB") << "never 1000.0 kB";
  EXPECT_EQ(WithUnit(18446744073709551615u), "18.4 EB");
}

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
  EXPECT_EQ(ShortKernelName(std::string(200, '<')), "<<");
  EXPECT_EQ(ShortKernelName(std::string(200, '>')).size(), 200u);
}

TEST(Table, AlignsTextLeftAndNumbersRight) {
  Table table({{"policy", Table::Align::kLeft}, {"cycles"}, {"note", Table::Align::kLeft}});
  table.AddRow({"pdom", "1,234", "x"});
  table.AddRow({"a_long_name", "7", ""});
  EXPECT_EQ(table.Text(2),
            "  policy       cycles  note\n"
            "  -----------  ------  ----\n"
            "  pdom          1,234  x\n"
            "  a_long_name       7\n");
}

}  // namespace
}  // namespace heddle::tools
