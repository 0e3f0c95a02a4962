// LLVM's intrinsics of matrix instructions become statements of inline PTX.
#include "tracegen/program/compiled/matrix_intrinsics.h"

#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "llvm/AsmParser/Parser.h"
#include "llvm/IR/InlineAsm.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/LLVMContext.h"
#include "llvm/IR/Verifier.h"
#include "llvm/Support/SourceMgr.h"

namespace heddle::tracegen {
namespace {

using ::testing::ElementsAre;

// Text and constraints of the statements that a body has afterwards; calls of intrinsics that are left, too.
std::vector<std::string> Translated(const std::string& declarations, const std::string& body) {
  llvm::LLVMContext context;
  llvm::SMDiagnostic error;
  const std::unique_ptr<llvm::Module> module = llvm::parseAssemblyString(
      declarations + "\ndefine void @f(ptr %p, ptr addrspace(3) %s, i32 %i, <2 x half> %h, float %x, double %d) {\n" +
          body + "\n  ret void\n}\n",
      error, context);
  if (module == nullptr) return {error.getMessage().str()};
  TranslateMatrixIntrinsics(*module);
  EXPECT_FALSE(llvm::verifyModule(*module));
  std::vector<std::string> result;
  for (llvm::Instruction& instruction : llvm::instructions(*module->getFunction("f"))) {
    auto* call = llvm::dyn_cast<llvm::CallInst>(&instruction);
    if (call == nullptr) continue;
    if (call->isInlineAsm()) {
      const auto* assembly = llvm::cast<llvm::InlineAsm>(call->getCalledOperand());
      result.push_back(assembly->getAsmString() + " | " + assembly->getConstraintString());
      EXPECT_TRUE(call->isConvergent());
    } else {
      result.push_back(call->getCalledFunction()->getName().str());
    }
  }
  return result;
}

TEST(MatrixIntrinsicsTest, ProductsOfRegisters) {
  EXPECT_THAT(
      Translated(
          "declare { i32, i32 } @llvm.nvvm.mma.m8n8k16.row.col.satfinite.s8.u8(i32, i32, i32, i32)",
          "  %r = call { i32, i32 } @llvm.nvvm.mma.m8n8k16.row.col.satfinite.s8.u8(i32 %i, i32 %i, i32 %i, i32 %i)"),
      ElementsAre("mma.sync.aligned.m8n8k16.row.col.satfinite.s32.s8.u8.s32 {$0, $1}, {$2}, {$3}, {$4, $5}; | "
                  "=r,=r,r,r,r,r"));
  EXPECT_THAT(
      Translated(
          "declare { double, double } @llvm.nvvm.mma.m8n8k4.row.col.f64(double, double, double, double)",
          "  %r = call { double, double } @llvm.nvvm.mma.m8n8k4.row.col.f64(double %d, double %d, double %d, double "
          "%d)"),
      ElementsAre("mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64 {$0, $1}, {$2}, {$3}, {$4, $5}; | =d,=d,d,d,d,d"));
  EXPECT_THAT(
      Translated(
          "declare { <2 x half>, <2 x half> } @llvm.nvvm.mma.m16n8k8.row.col.f16.f16(<2 x half>, <2 x half>, <2 x "
          "half>, <2 x half>, <2 x half>)",
          "  %r = call { <2 x half>, <2 x half> } @llvm.nvvm.mma.m16n8k8.row.col.f16.f16(<2 x half> %h, <2 x half> "
          "%h, <2 x half> %h, <2 x half> %h, <2 x half> %h)\n  %e = extractvalue { <2 x half>, <2 x half> } %r, 1"),
      ElementsAre("mma.sync.aligned.m16n8k8.row.col.f16.f16.f16.f16 {$0, $1}, {$2, $3}, {$4}, {$5, $6}; | "
                  "=r,=r,r,r,r,r,r"));
  EXPECT_THAT(
      Translated(
          "declare { i32, i32 } @llvm.nvvm.mma.and.popc.m8n8k128.row.col.b1(i32, i32, i32, i32)",
          "  %r = call { i32, i32 } @llvm.nvvm.mma.and.popc.m8n8k128.row.col.b1(i32 %i, i32 %i, i32 %i, i32 %i)"),
      ElementsAre("mma.sync.aligned.m8n8k128.row.col.s32.b1.b1.s32.and.popc {$0, $1}, {$2}, {$3}, {$4, $5}; | "
                  "=r,=r,r,r,r,r"));
}

TEST(MatrixIntrinsicsTest, MovesAndFragments) {
  EXPECT_THAT(
      Translated("declare { i32, i32 } @llvm.nvvm.ldmatrix.sync.aligned.m8n8.x2.trans.b16.p3(ptr addrspace(3))",
                 "  %r = call { i32, i32 } @llvm.nvvm.ldmatrix.sync.aligned.m8n8.x2.trans.b16.p3(ptr addrspace(3) "
                 "%s)"),
      ElementsAre("ldmatrix.sync.aligned.m8n8.x2.trans.shared.b16 {$0, $1}, [$2]; | =r,=r,l,~{memory}"));
  EXPECT_THAT(Translated("declare double @llvm.nvvm.wmma.m8n8k4.load.a.row.stride.f64.p0(ptr, i32)",
                         "  %r = call double @llvm.nvvm.wmma.m8n8k4.load.a.row.stride.f64.p0(ptr %p, i32 %i)"),
              ElementsAre("wmma.load.a.sync.aligned.row.m8n8k4.f64 {$0}, [$1], $2; | =d,l,r,~{memory}"));
  EXPECT_THAT(Translated("declare void @llvm.nvvm.wmma.m8n8k32.store.d.col.s32.p0(ptr, i32, i32)",
                         "  call void @llvm.nvvm.wmma.m8n8k32.store.d.col.s32.p0(ptr %p, i32 %i, i32 %i)"),
              ElementsAre("wmma.store.d.sync.aligned.col.m8n8k32.s32 [$0], {$1, $2}; | l,r,r,~{memory}"));
}

// Double precision that rounds down, say. The refusal comes where the kernel is launched.
TEST(MatrixIntrinsicsTest, FormsThatAreNotExecutedStay) {
  EXPECT_THAT(
      Translated(
          "declare { double, double } @llvm.nvvm.wmma.m8n8k4.mma.col.col.rm.f64(double, double, double, double)",
          "  %r = call { double, double } @llvm.nvvm.wmma.m8n8k4.mma.col.col.rm.f64(double %d, double %d, double "
          "%d, double %d)"),
      ElementsAre("llvm.nvvm.wmma.m8n8k4.mma.col.col.rm.f64"));
}

}  // namespace
}  // namespace heddle::tracegen
