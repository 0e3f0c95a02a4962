// The table of forms holds together.
#include "tracegen/ptx/forms/form.h"

#include <set>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tracegen/ptx/forms/pattern.h"
#include "tracegen/ptx/opcode.h"

namespace heddle::tracegen::ptx {
namespace {

namespace v1 = ::heddle::trace::v1;

TEST(Forms, EveryRowIsComplete) {
  EXPECT_GT(AllForms().size(), 250u);
  for (const Form& form : AllForms()) {
    EXPECT_FALSE(form.opcode.empty());
    EXPECT_FALSE(form.section.empty()) << form.opcode;
    // What can be executed has a class; what cannot may wait for one.
    if (form.meaning == Meaning::kKnown) {
      EXPECT_NE(form.op, v1::OP_UNKNOWN) << form.opcode << " " << form.modifiers;
    }
    for (const OperandPlace& place : OperandPlaces(form)) {
      EXPECT_NE(std::string_view("dsDSpPqrmiVvwalt").find(place.kind), std::string_view::npos) << form.operands;
    }
  }
}

TEST(Forms, RowsOfAnOpcodeAreTogether) {
  std::set<std::string_view> seen;
  std::string_view last;
  for (const Form& form : AllForms()) {
    if (form.opcode != last) {
      EXPECT_TRUE(seen.insert(form.opcode).second) << form.opcode;
    }
    last = form.opcode;
  }
  for (const std::string_view opcode : seen) EXPECT_FALSE(FormsOf(opcode).empty());
  EXPECT_TRUE(FormsOf("frobnicate").empty());
}

bool Matches(std::string_view opcode, const std::vector<std::string_view>& modifiers, bool any_order = false) {
  std::vector<std::string_view> known;
  for (const std::string_view modifier : modifiers) known.push_back(KnownModifier(modifier));
  for (const Form& form : FormsOf(opcode)) {
    if (MatchesModifiers(form, known, any_order)) return true;
  }
  return false;
}

TEST(Forms, ModifiersMatchInTheManualsOrder) {
  EXPECT_TRUE(Matches("add", {"rn", "ftz", "sat", "f32"}));
  EXPECT_FALSE(Matches("add", {"ftz", "rn", "f32"}));
  EXPECT_TRUE(Matches("add", {"ftz", "rn", "f32"}, true));
  EXPECT_FALSE(Matches("add", {"rn", "rn", "f32"}, true));
  EXPECT_FALSE(Matches("add", {"f32", "f32", "f32"}, true));
  EXPECT_TRUE(Matches("cvt", {"rn", "f32", "u8"}));
  EXPECT_FALSE(Matches("cvt", {"f32"}));
  EXPECT_TRUE(Matches("exit", {}));
  EXPECT_FALSE(Matches("exit", {"uni"}));
  EXPECT_EQ(KnownModifier("colour"), "");
}

// What the table says a known instruction is, and what the classes of opcodes say, is one thing.
TEST(Forms, ClassesAreThoseOfOpcodes) {
  for (const auto& [opcode, modifiers] :
       std::vector<std::pair<std::string, std::vector<std::string_view>>>{{"mov", {"u32"}},
                                                                          {"add", {"s32"}},
                                                                          {"mul", {"wide", "s32"}},
                                                                          {"rem", {"u32"}},
                                                                          {"fma", {"rn", "f64"}},
                                                                          {"div", {"rn", "f32"}},
                                                                          {"div", {"full", "f32"}},
                                                                          {"ex2", {"approx", "f32"}},
                                                                          {"selp", {"f64"}},
                                                                          {"setp", {"lt", "f64"}},
                                                                          {"shfl", {"sync", "down", "b32"}},
                                                                          {"red", {"global", "add", "u32"}},
                                                                          {"bar", {"warp", "sync"}},
                                                                          {"membar", {"gl"}},
                                                                          {"suld", {"b", "2d", "b32", "trap"}},
                                                                          {"trap", {}}}) {
    std::string mnemonic = opcode;
    std::vector<std::string_view> known;
    for (const std::string_view modifier : modifiers) {
      mnemonic += "." + std::string(modifier);
      known.push_back(KnownModifier(modifier));
    }
    for (const Form& form : FormsOf(opcode)) {
      if (MatchesModifiers(form, known, false)) {
        EXPECT_EQ(form.op, ClassifyOpcode(mnemonic).op) << mnemonic;
      }
    }
  }
}

}  // namespace
}  // namespace heddle::tracegen::ptx
