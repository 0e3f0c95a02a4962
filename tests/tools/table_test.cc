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
