// What machine instructions compute, at the edges of their operands: emitted over constants, and folded.
#include "tracegen/machine/meaning/meaning.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <optional>
#include <string>

#include "llvm/Analysis/ConstantFolding.h"
#include "llvm/IR/Constants.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/Module.h"

namespace heddle::tracegen::machine {
namespace {

// Registers by name: "R4", "P0", "UR6".
using State = std::map<std::string, uint32_t>;

// Reads constants, and leaves stores of what is written, each to a number of its own.
class ConstantState final : public StateAccess {
 public:
  ConstantState(llvm::IRBuilder<>& b, const State& state) : b_(b), state_(state) {}

  llvm::Value* Read(const Register& reg) override {
    const bool is_predicate = reg.file == RegisterFile::kPredicate || reg.file == RegisterFile::kUniformPredicate;
    llvm::Type* type = is_predicate ? b_.getInt1Ty() : b_.getInt32Ty();
    if (reg.is_constant) return llvm::ConstantInt::get(type, is_predicate ? 1 : 0);
    const auto found = state_.find(RegisterText(reg));
    EXPECT_NE(found, state_.end()) << RegisterText(reg);
    return llvm::ConstantInt::get(type, found == state_.end() ? 0 : found->second);
  }
  void Write(const Register& reg, llvm::Value* value) override {
    if (reg.is_constant) return;
    names_.push_back(RegisterText(reg));
    b_.CreateStore(value, llvm::ConstantPointerNull::get(b_.getPtrTy()), /*isVolatile=*/true);
  }
  llvm::Value* Constant(const Operand&, uint32_t) override { return nullptr; }
  llvm::Value* Special(std::string_view) override { return nullptr; }

  const std::vector<std::string>& names() const { return names_; }

 private:
  llvm::IRBuilder<>& b_;
  const State& state_;
  std::vector<std::string> names_;
};

struct Outcome {
  State written;
  std::string failure;
};

Outcome Execute(const std::string& line, const State& state) {
  const absl::StatusOr<Instruction> at = ParseInstruction(line);
  EXPECT_TRUE(at.ok()) << at.status();
  if (!at.ok()) return {};
  const OpcodeMeaning* meaning = MeaningOf(*at);
  if (meaning == nullptr || meaning->emit == nullptr) return {{}, "no meaning"};
  llvm::LLVMContext context;
  llvm::Module module("test", context);
  auto* function = llvm::Function::Create(llvm::FunctionType::get(llvm::Type::getVoidTy(context), false),
                                          llvm::GlobalValue::ExternalLinkage, "f", module);
  llvm::BasicBlock* block = llvm::BasicBlock::Create(context, "", function);
  llvm::IRBuilder<> b(block);
  ConstantState access(b, state);
  Emission emission(b, *at, access);
  meaning->emit(emission);
  for (llvm::Instruction& instruction : llvm::make_early_inc_range(*block)) {
    if (llvm::Constant* folded = llvm::ConstantFoldInstruction(&instruction, module.getDataLayout())) {
      instruction.replaceAllUsesWith(folded);
      instruction.eraseFromParent();
    }
  }
  Outcome outcome;
  outcome.failure = emission.failure;
  size_t next = 0;
  for (const llvm::Instruction& instruction : *block) {
    const auto* store = llvm::dyn_cast<llvm::StoreInst>(&instruction);
    if (store == nullptr) continue;
    const auto* number = llvm::dyn_cast<llvm::ConstantInt>(store->getValueOperand());
    EXPECT_TRUE(number != nullptr || !outcome.failure.empty()) << line << " does not fold";
    if (number != nullptr) outcome.written[access.names()[next]] = static_cast<uint32_t>(number->getZExtValue());
    ++next;
  }
  return outcome;
}

// The value that one instruction leaves in R0.
uint32_t R0(const std::string& line, const State& state = {}) {
  const Outcome outcome = Execute(line, state);
  EXPECT_EQ(outcome.failure, "") << line;
  const auto found = outcome.written.find("R0");
  EXPECT_NE(found, outcome.written.end()) << line;
  return found == outcome.written.end() ? 0 : found->second;
}

TEST(IntegerMeaning, SumsCarry) {
  const State ones = {{"R1", 0xffffffff}, {"R2", 1}, {"P1", 1}, {"P2", 0}};
  EXPECT_EQ(R0("IADD3 R0, R1, R2, R2", ones), 1u);
  EXPECT_EQ(Execute("IADD3 R0, P0, R1, R2, RZ", ones).written, (State{{"R0", 0}, {"P0", 1}}));
  EXPECT_EQ(Execute("IADD3 R0, P0, R2, R2, RZ", ones).written, (State{{"R0", 2}, {"P0", 0}}));
  EXPECT_EQ(R0("IADD3.X R0, R1, R2, RZ, P1, !PT", ones), 1u);
  EXPECT_EQ(R0("IADD3.X R0, R1, R2, RZ, P2, !PT", ones), 0u);
  // Three numbers can carry twice.
  EXPECT_EQ(Execute("IADD3 R0, P0, P3, R1, R1, R1", ones).written, (State{{"R0", 0xfffffffd}, {"P0", 1}, {"P3", 1}}));
  EXPECT_EQ(Execute("IADD3 R0, P0, P3, R1, R1, RZ", ones).written, (State{{"R0", 0xfffffffe}, {"P0", 1}, {"P3", 0}}));
}

TEST(IntegerMeaning, DifferencesCarryUnlessTheyBorrow) {
  const State state = {{"R1", 5}, {"R2", 7}, {"R3", 0}, {"P1", 1}};
  EXPECT_EQ(Execute("IADD3 R0, P0, R2, -R1, RZ", state).written, (State{{"R0", 2}, {"P0", 1}}));
  EXPECT_EQ(Execute("IADD3 R0, P0, R1, -R2, RZ", state).written, (State{{"R0", 0xfffffffe}, {"P0", 0}}));
  EXPECT_EQ(Execute("IADD3 R0, P0, R1, -R3, RZ", state).written, (State{{"R0", 5}, {"P0", 1}}));
  EXPECT_EQ(R0("IADD3.X R0, R2, ~R1, RZ, P1, !PT", state), 2u);
}

TEST(IntegerMeaning, ProductsHaveAllBits) {
  const State state = {{"R1", 0xffffffff}, {"R2", 0xffffffff}, {"R4", 1},
                       {"R5", 0},          {"R6", 0xffffffff}, {"R7", 0xffffffff}};
  EXPECT_EQ(R0("IMAD R0, R1, R2, R4", state), 2u);
  EXPECT_EQ(Execute("IMAD.WIDE R8, R1, R2, R4", state).written, (State{{"R8", 2}, {"R9", 0}}));
  EXPECT_EQ(Execute("IMAD.WIDE.U32 R8, R1, R2, R4", state).written, (State{{"R8", 2}, {"R9", 0xfffffffe}}));
  EXPECT_EQ(Execute("IMAD.WIDE.U32 R8, P0, R1, R4, R6", state).written,
            (State{{"R8", 0xfffffffe}, {"R9", 0}, {"P0", 1}}));
  EXPECT_EQ(R0("IMAD.HI.U32 R0, R1, R2, RZ", state), 0xfffffffeu);
  EXPECT_EQ(R0("IMAD.HI R0, R1, R2, RZ", state), 0u);
}

TEST(IntegerMeaning, ComparisonsGoOnFromLowerHalves) {
  const State state = {{"R1", 0x80000000}, {"R2", 1}, {"P1", 1}, {"P2", 0}};
  const auto holds = [&](const std::string& comparison, const std::string& rest) {
    return Execute("ISETP." + comparison + " P0, PT, " + rest, state).written.at("P0") == 1;
  };
  EXPECT_TRUE(holds("LT.AND", "R1, R2, PT"));
  EXPECT_FALSE(holds("LT.U32.AND", "R1, R2, PT"));
  EXPECT_FALSE(holds("LT.AND", "R1, R2, P2"));
  EXPECT_TRUE(holds("GE.U32.OR", "R2, R1, P1"));
  EXPECT_TRUE(holds("EQ.XOR", "R2, R1, P1"));
  EXPECT_TRUE(holds("GE.AND.EX", "R1, R1, PT, P1"));
  EXPECT_FALSE(holds("GE.AND.EX", "R1, R1, PT, P2"));
  EXPECT_FALSE(holds("GT.AND.EX", "R1, R2, PT, P1"));
  EXPECT_TRUE(holds("NE.AND.EX", "R1, R1, PT, P1"));
  EXPECT_FALSE(holds("EQ.AND.EX", "R1, R1, PT, P2"));
  EXPECT_EQ(Execute("ISETP.LT.AND P0, P3, R1, R2, P1", state).written, (State{{"P0", 1}, {"P3", 0}}));
}

TEST(IntegerMeaning, AddressesAreScaled) {
  const State state = {{"R1", 0x80000001}, {"R2", 10}, {"R3", 0x7}, {"P1", 1}};
  EXPECT_EQ(R0("LEA R0, R1, R2, 0x2", state), 14u);
  EXPECT_EQ(Execute("LEA R0, P0, R1, R1, 0x0", state).written, (State{{"R0", 2}, {"P0", 1}}));
  // The upper half of {R3, R1} << 4.
  EXPECT_EQ(R0("LEA.HI R0, R1, R2, R3, 0x4", state), 0x78u + 10);
  EXPECT_EQ(R0("LEA.HI.X R0, R1, R2, R3, 0x4, P1", state), 0x78u + 11);
  EXPECT_EQ(R0("LEA.HI.SX32 R0, R1, R2, 0x4", state), 0xfffffff8u + 10);
}

TEST(IntegerMeaning, ExtremesAndDistances) {
  const State state = {{"R1", 0x80000000}, {"R2", 1}, {"R3", 100}};
  EXPECT_EQ(R0("IMNMX R0, R1, R2, PT", state), 0x80000000u);
  EXPECT_EQ(R0("IMNMX R0, R1, R2, !PT", state), 1u);
  EXPECT_EQ(R0("IMNMX.U32 R0, R1, R2, PT", state), 1u);
  EXPECT_EQ(R0("IABS R0, R1", state), 0x80000000u);
  EXPECT_EQ(R0("VABSDIFF R0, R1, R2, R3", state), 0x80000001u + 100);
  EXPECT_EQ(R0("VABSDIFF.U32 R0, R2, R1, RZ", state), 0x7fffffffu);
  EXPECT_EQ(R0("IDP.4A.S8.S8 R0, R1, R1, R3", {{"R1", 0xff010203}, {"R3", 1}}), 16u);
  EXPECT_EQ(R0("IDP.4A.U8.S8 R0, R1, R1, RZ", {{"R1", 0xff000000}}), static_cast<uint32_t>(255 * -1));
}

TEST(IntegerMeaning, PairsInAWord) {
  const State state = {{"R1", 0x7fff8000}, {"R2", 0x00010001}, {"R3", 0xfffe0005}, {"P1", 1}};
  EXPECT_EQ(R0("VIADD R0, R1, -R2", state), 0x7ffe7fffu);
  EXPECT_EQ(R0("VIADD.16x2 R0, R1, R2", state), 0x80008001u);
  EXPECT_EQ(R0("VIMNMX R0, R2, R3, PT", state), 0xfffe0005u);
  EXPECT_EQ(R0("VIMNMX.U32 R0, R2, R3, P1", state), 0x00010001u);
  EXPECT_EQ(R0("VIMNMX.S16x2 R0, R2, R3, PT", state), 0xfffe0001u);
  EXPECT_EQ(R0("VIMNMX.U16x2 R0, R2, R3, !PT", state), 0xfffe0005u);
  EXPECT_EQ(R0("VIMNMX.S16x2.RELU R0, R2, R3, PT", state), 0x00000001u);
  EXPECT_EQ(Execute("VIMNMX.S16x2 R0, P0, P2, R2, R3, PT", state).written,
            (State{{"R0", 0xfffe0001}, {"P0", 1}, {"P2", 0}}));
  EXPECT_EQ(R0("VIMNMX3 R0, R1, R2, R3, PT", state), 0xfffe0005u);
  EXPECT_EQ(R0("VIMNMX3.U32 R0, R1, R2, R3, !PT", state), 0xfffe0005u);
  EXPECT_EQ(R0("VIADDMNMX R0, R1, R2, R3, !PT", state), 0xfffe0005u);
  EXPECT_EQ(R0("VIADDMNMX.U32 R0, R1, R2, R3, PT", state), 0x80008001u);
  EXPECT_EQ(R0("VIADDMNMX.S16x2.RELU R0, R1, R2, R3, !PT", state), 0x00000005u);
  EXPECT_EQ(R0("VABSDIFF4.U8.ACC R0, R1, R2, R3", state), 0xfffe0005u + 0x7f + 0xfe + 0x80 + 1);
}

TEST(BitMeaning, ShiftsStopAtTheWidth) {
  const State state = {{"R1", 0x80000001}, {"R2", 0xc0000000}, {"R3", 32}, {"R4", 64}, {"R5", 33}, {"R6", 200}};
  EXPECT_EQ(R0("SHF.L.U32 R0, R1, 0x1, RZ", state), 2u);
  EXPECT_EQ(R0("SHF.L.U32 R0, R1, R3, RZ", state), 0u);
  EXPECT_EQ(R0("SHF.L.W.U32 R0, R1, R5, RZ", state), 2u);
  EXPECT_EQ(R0("SHF.L.U32.HI R0, R1, 0x1, R2", state), 0x80000001u);
  EXPECT_EQ(R0("SHF.L.U64.HI R0, R1, R5, R2", state), 2u);
  EXPECT_EQ(R0("SHF.R.U32.HI R0, RZ, 0x4, R1", state), 0x08000000u);
  EXPECT_EQ(R0("SHF.R.U32.HI R0, RZ, R6, R1", state), 0u);
  EXPECT_EQ(R0("SHF.R.S32.HI R0, RZ, R6, R1", state), 0xffffffffu);
  EXPECT_EQ(R0("SHF.R.U64 R0, R1, R5, R2", state), 0x60000000u);
  EXPECT_EQ(R0("SHF.R.U64 R0, R1, R4, R2", state), 0u);
  EXPECT_EQ(R0("SHF.R.S64 R0, R1, R6, R2", state), 0xffffffffu);
}

TEST(BitMeaning, LogicIsATable) {
  const State state = {{"R1", 0xf0f0f0f0}, {"R2", 0xcccccccc}, {"R3", 0xaaaaaaaa}, {"P1", 1}, {"P2", 0}};
  EXPECT_EQ(R0("LOP3.LUT R0, R1, R2, R3, 0x96, !PT", state), 0xf0f0f0f0u ^ 0xcccccccc ^ 0xaaaaaaaa);
  EXPECT_EQ(R0("LOP3.LUT R0, R1, R2, R3, 0xca, !PT", state), 0xcacacacau);
  EXPECT_EQ(R0("LOP3.LUT R0, R1, ~R2, RZ, 0xc0, !PT", state), 0xf0f0f0f0u & ~0xccccccccu);
  EXPECT_EQ(Execute("LOP3.LUT P0, RZ, R1, R2, RZ, 0xc0, !PT", state).written, (State{{"P0", 1}}));
  EXPECT_EQ(Execute("LOP3.LUT P0, RZ, R1, RZ, RZ, 0xc0, !PT", state).written, (State{{"P0", 0}}));
  EXPECT_EQ(Execute("PLOP3.LUT P0, P3, P1, P2, PT, 0x80, 0x20", state).written, (State{{"P0", 0}, {"P3", 1}}));
  // The sign of a register, of either file, is a predicate.
  EXPECT_EQ(
      Execute("PLOP3.LUT P0, P3, R1.SIGN, UR4.SIGN, PT, 0x80, 0x20", {{"R1", 0x80000000}, {"UR4", 0x7fffffff}}).written,
      (State{{"P0", 0}, {"P3", 1}}));
  // With a predicate that can hold: as lop3.or, or as lop3.and.
  EXPECT_EQ(Execute("LOP3.LUT P0, RZ, R1, RZ, RZ, 0xc0, P1", state).written, (State{{"P0", 1}}));
  EXPECT_EQ(Execute("LOP3.LUT P0, RZ, R1, RZ, RZ, 0xc0, P2", state).written, (State{{"P0", 0}}));
  EXPECT_EQ(Execute("LOP3.LUT.PAND P0, R0, R1, R2, RZ, 0xc0, P1", state).written,
            (State{{"P0", 1}, {"R0", 0xc0c0c0c0}}));
  EXPECT_EQ(Execute("LOP3.LUT.PAND P0, RZ, R1, R2, RZ, 0xc0, P2", state).written, (State{{"P0", 0}}));
}

TEST(BitMeaning, MasksAndCounts) {
  const State state = {{"R1", 4}, {"R2", 8}, {"R3", 40}, {"R4", 0x8f}, {"R5", 0}, {"R6", 0xfffffff0}};
  EXPECT_EQ(R0("BMSK R0, R1, R2", state), 0xff0u);
  EXPECT_EQ(R0("BMSK R0, R1, R3", state), 0xfffffff0u);
  EXPECT_EQ(R0("BMSK R0, R3, R2", state), 0u);
  EXPECT_EQ(R0("SGXT R0, R4, 0x8", state), 0xffffff8fu);
  EXPECT_EQ(R0("SGXT.U32 R0, R4, 0x7", state), 0xfu);
  EXPECT_EQ(R0("SGXT R0, R4, RZ", state), 0u);
  EXPECT_EQ(R0("SGXT R0, R4, R3", state), 0x8fu);
  EXPECT_EQ(R0("FLO.U32 R0, R4", state), 7u);
  EXPECT_EQ(R0("FLO.U32.SH R0, R4", state), 24u);
  EXPECT_EQ(R0("FLO.U32 R0, R5", state), ~0u);
  EXPECT_EQ(R0("FLO R0, R6", state), 3u);
  EXPECT_EQ(R0("POPC R0, R6", state), 28u);
  EXPECT_EQ(R0("POPC R0, ~R6", state), 4u);
  EXPECT_EQ(R0("BREV R0, R4", state), 0xf1000000u);
}

TEST(MoveMeaning, PredicatesAsBits) {
  const State state = {{"R1", 0xffffff05}, {"P0", 1}, {"P1", 0}, {"P2", 1}, {"P3", 0}, {"P4", 0}, {"P5", 0}, {"P6", 1}};
  EXPECT_EQ(R0("P2R R0, PR, RZ, 0x7f", state), 0x45u);
  EXPECT_EQ(R0("P2R R0, PR, R1, 0x3", state), 0xffffff05u);
  EXPECT_EQ(Execute("R2P PR, R1, 0x7", state).written, (State{{"P0", 1}, {"P1", 0}, {"P2", 1}}));
  EXPECT_EQ(Execute("R2P PR, R1.B1, 0x3", {{"R1", 0x200}}).written, (State{{"P0", 0}, {"P1", 1}}));
  EXPECT_EQ(R0("SEL R0, R1, RZ, !P0", state), 0u);
}

TEST(FloatMeaning, BitsAndComparisons) {
  const State state = {{"R1", 0x3f800000}, {"R2", 0x7fc00000}, {"R3", 0x00000001}, {"P1", 1}};
  EXPECT_EQ(R0("FADD R0, R1, 2", state), 0x40400000u);
  EXPECT_EQ(R0("FADD R0, -|R1|, RZ", state), 0xbf800000u);
  EXPECT_EQ(R0("FMUL.D2 R0, R1, R1", state), 0x3f000000u);
  EXPECT_EQ(R0("FFMA R0, R1, R1, -R1", state), 0u);
  EXPECT_EQ(R0("FSEL R0, -R1, R2, P1", state), 0xbf800000u);
  EXPECT_EQ(R0("FADD.FTZ R0, R3, RZ", state), 0u);
  EXPECT_EQ(Execute("FSETP.LT.AND P0, P3, R1, R2, PT", state).written, (State{{"P0", 0}, {"P3", 1}}));
  EXPECT_EQ(Execute("FSETP.GEU.AND P0, PT, R1, R2, PT", state).written, (State{{"P0", 1}}));
  EXPECT_EQ(Execute("FSETP.NEU.FTZ.AND P0, PT, R3, RZ, PT", state).written, (State{{"P0", 0}}));
  EXPECT_EQ(R0("I2F R0, R1", {{"R1", 0xffffffff}}), 0xbf800000u);
  EXPECT_EQ(R0("I2F.U8 R0, R1.B1", {{"R1", 0x200}}), 0x40000000u);
  EXPECT_EQ(Execute("DADD R8, R2, R2", {{"R2", 0}, {"R3", 0x3ff00000}}).written,
            (State{{"R8", 0}, {"R9", 0x40000000}}));
}

TEST(FloatMeaning, HalvesAndWhatIsNoNumber) {
  const State state = {{"R1", 0x3c00bc00}, {"R2", 0x00018001}, {"R3", 0x7e003c00}, {"R4", 0xff800000}, {"P1", 1}};
  EXPECT_EQ(R0("HSET2.BF.LT.AND R0, R1, R3, PT", state), 0x00003c00u);
  EXPECT_EQ(R0("HSET2.GEU.AND R0, R1, R3, P1", state), 0xffff0000u);
  EXPECT_EQ(Execute("HSETP2.NE.AND P0, P2, R2, RZ, PT", state).written, (State{{"P0", 1}, {"P2", 1}}));
  EXPECT_EQ(Execute("HSETP2.NE.FTZ.AND P0, P2, R2, RZ, PT", state).written, (State{{"P0", 0}, {"P2", 0}}));
  EXPECT_EQ(R0("HMNMX2.XORSIGN R0, |R1|, |R2|, !PT", state), 0x3c003c00u);
  EXPECT_EQ(R0("FMNMX.XORSIGN R0, |R4|, |R1|, PT", state), 0xbc00bc00u ^ 0x80000000u ^ 0x80000000u);
  EXPECT_EQ(R0("F2I.S32.F16.TRUNC.NTZ R0, R1", state), 0xffffffffu);
  EXPECT_EQ(R0("F2I.S16.F16.NTZ R0, R3.H1", state), 0u);
  EXPECT_EQ(R0("F2I.U32.TRUNC.NTZ R0, R4", state), 0u);
  EXPECT_EQ(R0("I2F.F16.S8 R0, R1.B3", state), 0x5380u);
  EXPECT_EQ(R0("FRND.F16.CEIL R0, R2.H1", state), 0x3c00u);
  EXPECT_EQ(R0("F2FP.RELU.MERGE_C R0, R4, RZ", state), 0u);
}

TEST(FloatMeaning, ExtremesOfThreeHalves) {
  // 1 and -2, 0 and what is no number, -1 and infinity; the upper halves come first.
  const State state = {{"R1", 0xc0003c00}, {"R2", 0x7e000000}, {"R3", 0x7c00bc00}, {"P1", 0}};
  EXPECT_EQ(R0("VHMNMX R0, R1, R2, R3, PT", state), 0xc000bc00u);
  EXPECT_EQ(R0("VHMNMX R0, R1, R2, R3, !PT", state), 0x7c003c00u);
  EXPECT_EQ(R0("VHMNMX R0, R1, R2, R3, P1", state), 0x7c003c00u);
  const uint32_t with_nan = R0("VHMNMX.NAN R0, R1, R2, R3, PT", state);
  EXPECT_GT(with_nan >> 16 & 0x7fff, 0x7c00u);  // no number
  EXPECT_EQ(with_nan & 0xffff, 0xbc00u);
  // Signs, parts and pairs of numbers.
  EXPECT_EQ(R0("VHMNMX R0, R1.H0_H0, -R1.H1_H1, |R3|.H0_H0, !PT", state), 0x40004000u);
  EXPECT_EQ(R0("VHMNMX R0, R1, 3, -4, R3, PT", state), 0xc000c400u);
  EXPECT_EQ(R0("VHMNMX R0, R1, R3, RZ.H0_H0, PT", state), 0xc000bc00u);
  // A number that is subnormal becomes zero; minus zero is the smaller one.
  EXPECT_EQ(R0("VHMNMX.FTZ R0, R4, R5, R5, PT", {{"R4", 0x00018001}, {"R5", 0x00010001}}), 0x00008000u);
  EXPECT_EQ(R0("VHMNMX R0, R4, R5, R5, PT", {{"R4", 0x00018001}, {"R5", 0x00010001}}), 0x00018001u);
  // 1 and -1 with 2 and -2 as bfloat16.
  EXPECT_EQ(R0("VHMNMX.BF16_V2 R0, R4, R5, R4, !PT", {{"R4", 0x3f80bf80}, {"R5", 0x4000c000}}), 0x4000bf80u);
  EXPECT_NE(Execute("VHMNMX R0, R1, 1, R2, R3, PT", state).failure, "");
}

TEST(Meanings, WhatIsNotKnownIsRefused) {
  EXPECT_EQ(Execute("IADD3 R0, R1.B1, RZ, RZ", {{"R1", 1}}).failure, "the part of a register");
  EXPECT_EQ(MeaningOf(*ParseInstruction("PREEXIT")), nullptr);
  // What of a NaN the assembler has not been seen to ask for.
  EXPECT_EQ(Execute("F2I.TRUNC R0, R1", {{"R1", 0x3f800000}}).failure, "what this makes of a NaN");
  EXPECT_EQ(Execute("F2I.S64.TRUNC R0, R2", {{"R2", 0x3f800000}}).failure, "");
  EXPECT_EQ(Execute("F2FP.MERGE_C R0, R1, R1", {{"R1", 0x3f800000}}).failure, "a pair of which a part stays");
  EXPECT_EQ(Execute("F2IP.U8.F32.TRUNC.NTZ R0, R1, R1, RZ", {{"R1", 0x3f800000}}).failure, "several integers");
  EXPECT_EQ(Execute("VIMNMX R0, P0, PT, R1, R1, PT", {{"R1", 1}}).failure, "these predicates");
  EXPECT_EQ(Execute("VABSDIFF4.U8 R0, R1, R1, RZ", {{"R1", 1}}).failure, "differences that stay apart");
}

TEST(Meanings, EachOpcodeHasOneRowWithAForm) {
  std::map<std::string, int> rows;
  for (const OpcodeMeaning& row : AllMeanings()) {
    EXPECT_EQ(++rows[std::string(row.opcode)], 1) << row.opcode;
    EXPECT_FALSE(FormsOf(row.opcode).empty()) << row.opcode;
    EXPECT_EQ(row.effect == Effect::kComputes, row.emit != nullptr) << row.opcode;
    EXPECT_FALSE(row.what.empty() || row.source.empty()) << row.opcode;
  }
}

}  // namespace
}  // namespace heddle::tracegen::machine
