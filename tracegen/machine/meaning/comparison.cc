#include "tracegen/machine/meaning/comparison.h"

namespace heddle::tracegen::machine {
namespace {

struct Comparison {
  std::string_view modifier;
  llvm::CmpInst::Predicate predicate;
};
// With U at the end they hold of numbers that cannot be compared, too.
constexpr Comparison kComparisons[] = {
    {"F", llvm::CmpInst::FCMP_FALSE}, {"LT", llvm::CmpInst::FCMP_OLT},  {"EQ", llvm::CmpInst::FCMP_OEQ},
    {"LE", llvm::CmpInst::FCMP_OLE},  {"GT", llvm::CmpInst::FCMP_OGT},  {"NE", llvm::CmpInst::FCMP_ONE},
    {"GE", llvm::CmpInst::FCMP_OGE},  {"NUM", llvm::CmpInst::FCMP_ORD}, {"NAN", llvm::CmpInst::FCMP_UNO},
    {"LTU", llvm::CmpInst::FCMP_ULT}, {"EQU", llvm::CmpInst::FCMP_UEQ}, {"LEU", llvm::CmpInst::FCMP_ULE},
    {"GTU", llvm::CmpInst::FCMP_UGT}, {"NEU", llvm::CmpInst::FCMP_UNE}, {"GEU", llvm::CmpInst::FCMP_UGE},
    {"T", llvm::CmpInst::FCMP_TRUE},
};

}  // namespace

llvm::Value* ComparedFloats(Emission& e, llvm::Value* a, llvm::Value* c) {
  for (const Comparison& comparison : kComparisons) {
    if (e.Has(comparison.modifier)) return e.b.CreateFCmp(comparison.predicate, a, c);
  }
  return e.Fail("this comparison", 1);
}

llvm::Value* Combined(Emission& e, llvm::Value* result, llvm::Value* other) {
  if (e.Has("AND")) return e.b.CreateAnd(result, other);
  if (e.Has("OR")) return e.b.CreateOr(result, other);
  return e.b.CreateXor(result, other);
}

}  // namespace heddle::tracegen::machine
