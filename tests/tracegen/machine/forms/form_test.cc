#include "tracegen/machine/forms/form.h"

#include <gtest/gtest.h>

#include <bit>
#include <set>
#include <string>

#include "tracegen/machine/forms/pattern.h"

namespace heddle::tracegen::machine {
namespace {

TEST(MachineForms, RowsAreWhole) {
  std::set<std::string> seen;
  for (const Form& form : AllForms()) {
    EXPECT_FALSE(form.opcode.empty());
    EXPECT_FALSE(form.section.empty()) << form.opcode;
    EXPECT_NE(form.op, trace::v1::OP_UNKNOWN) << form.opcode;
    EXPECT_TRUE(
        seen.insert(std::string(form.opcode) + "|" + std::string(form.modifiers) + "|" + std::string(form.operands))
            .second)
        << form.opcode << " " << form.modifiers << " " << form.operands;
    for (const OperandPlace& place : OperandPlaces(form)) {
      EXPECT_NE(std::string_view("dspqmcSAaBbliwkx").find(place.kind), std::string_view::npos) << form.opcode;
      EXPECT_TRUE(std::has_single_bit(place.count) && place.count <= 16) << form.opcode;
      // What is not understood is said so.
      EXPECT_EQ(place.kind == 'x', form.meaning == Meaning::kNamed) << form.opcode;
    }
    EXPECT_EQ(FormsOf(form.opcode).front().opcode, form.opcode);
  }
  EXPECT_TRUE(FormsOf("NONE").empty());
}

TEST(MachineForms, AccessesHaveTheirRegisters) {
  EXPECT_EQ(RegistersOf(std::vector<std::string>{"E", "U8"}), 1);
  EXPECT_EQ(RegistersOf(std::vector<std::string>{"E", "64", "CONSTANT"}), 2);
  EXPECT_EQ(RegistersOf(std::vector<std::string>{"E", "ADD", "F64", "RN"}), 2);
  EXPECT_EQ(RegistersOf(std::vector<std::string>{"128"}), 4);
}

}  // namespace
}  // namespace heddle::tracegen::machine
