#include "tracegen/instrument/lower_matrix.h"

#include <cstddef>
#include <string_view>

#include "tracegen/matrix/lane_registers.h"
#include "tracegen/matrix/operation.h"
#include "tracegen/program/ptx_source/windows.h"

namespace heddle::tracegen {
namespace {

using llvm::Value;

class MatrixCall {
 public:
  MatrixCall(KernelPass& pass, llvm::CallInst& call) : pass_(pass), call_(call), b_(&call) {}

  void Lower() {
    llvm::StringRef name = call_.getCalledFunction()->getName();
    name.consume_front(kMatrixFunction);
    const MatrixOperation operation =
        ParseMatrixOperation(std::string_view(name.data(), name.size())).value_or(MatrixOperation{});
    FindLane();
    unsigned next = 0;
    if (operation.is_load() || operation.is_store()) {
      // The first argument is for the recording.
      Store(offsetof(LaneRegisters, address), b_.CreatePtrToInt(call_.getArgOperand(1), pass_.i64()));
      next = 2;
      if (operation.form == trace::MatrixForm::kFragments) {
        Store(offsetof(LaneRegisters, stride), call_.getArgOperand(next++));
      }
    }
    size_t offset = offsetof(LaneRegisters, words);
    for (; next < call_.arg_size(); ++next) {
      Value* value = call_.getArgOperand(next);
      Store(offset, value);
      offset += value->getType()->getIntegerBitWidth() / 8;
    }
    pass_.CallRuntime(b_, kMatrixOperationFunction, b_.getVoidTy(),
                      {KernelPass::Context(b_), b_.getInt32(pass_.AddSite(call_)), b_.getInt64(Encode(operation))});
    pass_.result->has_matrices = true;
    if (!call_.getType()->isVoidTy()) call_.replaceAllUsesWith(Results());
    call_.eraseFromParent();
  }

 private:
  // The registers of the running thread do not move while it waits.
  void FindLane() {
    Value* all = pass_.LoadField(b_, offsetof(ThreadContext, lane_registers), pass_.pointer());
    Value* thread = pass_.LoadField(b_, offsetof(ThreadContext, own.linear_tid), pass_.i32());
    Value* offset = b_.CreateMul(b_.CreateZExt(thread, pass_.i64()), b_.getInt64(sizeof(LaneRegisters)));
    lane_ = b_.CreatePtrAdd(all, offset);
  }

  Value* Place(size_t offset) { return b_.CreatePtrAdd(lane_, b_.getInt64(offset)); }
  void Store(size_t offset, Value* value) { b_.CreateStore(value, Place(offset)); }

  Value* Results() {
    size_t offset = offsetof(LaneRegisters, words);
    const auto next = [&](llvm::Type* type) {
      Value* value = b_.CreateLoad(type, Place(offset));
      offset += type->getIntegerBitWidth() / 8;
      return value;
    };
    auto* record = llvm::dyn_cast<llvm::StructType>(call_.getType());
    if (record == nullptr) return next(call_.getType());
    Value* whole = llvm::PoisonValue::get(record);
    for (unsigned i = 0; i < record->getNumElements(); ++i) {
      whole = b_.CreateInsertValue(whole, next(record->getElementType(i)), i);
    }
    return whole;
  }

  KernelPass& pass_;
  llvm::CallInst& call_;
  llvm::IRBuilder<> b_;
  Value* lane_ = nullptr;
};

}  // namespace

void LowerMatrixOperation(KernelPass& pass, llvm::CallInst& call) { MatrixCall(pass, call).Lower(); }

}  // namespace heddle::tracegen
