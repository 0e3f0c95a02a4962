#include "tracegen/machine/cubin/line_table.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

namespace heddle::tracegen::machine {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::Pair;

std::string Word(uint32_t value) {
  std::string bytes;
  for (int shift = 0; shift < 32; shift += 8) bytes += static_cast<char>(value >> shift);
  return bytes;
}

std::string Bytes(std::initializer_list<int> values) {
  std::string bytes;
  for (const int value : values) bytes += static_cast<char>(value);
  return bytes;
}

// A sequence of a line program: 0x00 comes from `line`, 0x20 from the line behind it; it ends at 0x40.
std::string Sequence(int line) {
  return Bytes({0, 9, 2, 0, 0, 0, 0, 0, 0, 0, 0}) +  // DW_LNE_set_address 0
         Bytes({3, line - 1, 1}) +                   // DW_LNS_advance_line from line 1, DW_LNS_copy
         Bytes({2, 0x20, 3, 1, 1}) +                 // DW_LNS_advance_pc, DW_LNS_advance_line, DW_LNS_copy
         Bytes({2, 0x20, 0, 1, 1});                  // DW_LNS_advance_pc, DW_LNE_end_sequence
}

// A table of DWARF 2 with these sequences, all of file a.cu.
std::string Table(const std::string& sequences) {
  // Instructions of 1 byte, statements, lines from -5 on in 14 steps, 9 standard opcodes with their operands.
  const std::string header = Bytes({1, 1, -5, 14, 10, 0, 1, 1, 1, 1, 0, 0, 0, 1}) + Bytes({0}) +  // no folders
                             Bytes({'a', '.', 'c', 'u', 0, 0, 0, 0, 0});                          // one file
  const std::string rest = Bytes({2, 0}) + Word(static_cast<uint32_t>(header.size())) + header + sequences;
  return Word(static_cast<uint32_t>(rest.size())) + rest;
}

TEST(LineTable, SequencesBelongToTheirRelocations) {
  // In the order of the offsets, whatever the order of the list.
  EXPECT_THAT(ReadLineTable(Table(Sequence(7) + Sequence(30)), {{80, 2, "helper", 0}, {40, 2, "walk", 0}}),
              ElementsAre(Pair("helper", ElementsAre(LineRow{0, "a.cu", 30}, LineRow{0x20, "a.cu", 31})),
                          Pair("walk", ElementsAre(LineRow{0, "a.cu", 7}, LineRow{0x20, "a.cu", 8}))));
}

TEST(LineTable, NothingIsGuessed) {
  const std::string table = Table(Sequence(7) + Sequence(30));
  EXPECT_THAT(ReadLineTable(table, {{40, 2, "walk", 0}}), IsEmpty());
  EXPECT_THAT(ReadLineTable(table.substr(0, table.size() - 4), {{40, 2, "walk", 0}, {80, 2, "helper", 0}}), IsEmpty());
  EXPECT_THAT(ReadLineTable("", {}), IsEmpty());
}

TEST(LineTable, DamagedOnesDoNoHarm) {
  const std::string table = Table(Sequence(7));
  for (size_t at = 0; at < table.size(); ++at) {
    for (const int value : {0, 1, 0x7f, 0x80, 0xff}) {
      std::string copy = table;
      copy[at] = static_cast<char>(value);
      EXPECT_LE(ReadLineTable(copy, {{40, 2, "walk", 0}}).size(), 1u);
    }
  }
}

}  // namespace
}  // namespace heddle::tracegen::machine
