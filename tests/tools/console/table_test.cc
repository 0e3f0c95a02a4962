// Numbers and tables as people see them.
#include "tools/console/table.h"

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

TEST(Table, CellsAreOneLineOfBoundedLength) {
  Table table({{"name", Table::Align::kLeft}, {"number"}});
  table.AddRow({"two\nlines\x1b[31m", "1"});
  table.AddRow({std::string(1000, 'k'), "2"});
  EXPECT_EQ(table.Text(), "name" + std::string(198, ' ') + "number\n" + std::string(200, '-') + "  ------\n" +
                              "two\\nlines\\u001b[31m" + std::string(200 - 20 + 7, ' ') + "1\n" +
                              std::string(197, 'k') + "...       2\n");
}

TEST(Table, IsBrokenToFitAWidth) {
  Table table({{"name", Table::Align::kLeft}, {"first"}, {"second"}, {"a very long title"}});
  table.AddRow({"a", "1", "22", "333"});
  EXPECT_EQ(table.TextWithin(20),
            "name  first  second\n"
            "----  -----  ------\n"
            "a         1      22\n"
            "\n"
            "name  a very long title\n"
            "----  -----------------\n"
            "a                   333\n");
  EXPECT_EQ(table.TextWithin(80), table.Text());
}

}  // namespace
}  // namespace heddle::tools
