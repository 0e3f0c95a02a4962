#include "tracegen/ptx/meaning/emission.h"

#include "llvm/IR/Intrinsics.h"
#include "llvm/IR/Module.h"

namespace heddle::tracegen::ptx {

using llvm::Value;

llvm::Type* Emission::TypeOf(const Type& type) const {
  if (type.name == "f32") return b.getFloatTy();
  if (type.name == "f64") return b.getDoubleTy();
  if (type.name == "f16") return b.getHalfTy();
  return b.getIntNTy(type.bits);
}

Value* Emission::Number(unsigned bits, uint64_t value) const {
  return llvm::ConstantInt::get(b.getIntNTy(bits), value);
}

Value* Emission::Extend(Value* value, unsigned bits, bool is_signed) const {
  llvm::Type* type = b.getIntNTy(bits);
  return is_signed ? b.CreateSExtOrTrunc(value, type) : b.CreateZExtOrTrunc(value, type);
}

Value* Emission::Intrinsic(const std::string& name, llvm::ArrayRef<Value*> arguments) const {
  const llvm::Intrinsic::ID id = llvm::Function::lookupIntrinsicID(name);
  if (id == llvm::Intrinsic::not_intrinsic || llvm::Intrinsic::isOverloaded(id)) return nullptr;
  llvm::Function* function = llvm::Intrinsic::getDeclaration(b.GetInsertBlock()->getModule(), id);
  if (function->arg_size() != arguments.size()) return nullptr;
  for (unsigned i = 0; i < arguments.size(); ++i) {
    if (function->getArg(i)->getType() != arguments[i]->getType()) return nullptr;
  }
  return b.CreateCall(function, arguments);
}

Value* Emission::Library(const std::string& name, llvm::Type* type, llvm::ArrayRef<Value*> arguments) const {
  llvm::SmallVector<llvm::Type*, 3> types(arguments.size(), type);
  llvm::FunctionCallee function =
      b.GetInsertBlock()->getModule()->getOrInsertFunction(name, llvm::FunctionType::get(type, types, false));
  return b.CreateCall(function, arguments);
}

Value* ShiftLeft(llvm::IRBuilder<>& b, Value* value, Value* count) {
  llvm::Type* type = value->getType();
  const unsigned width = type->getIntegerBitWidth();
  if (auto* known = llvm::dyn_cast<llvm::ConstantInt>(count)) {
    const uint64_t by = known->getZExtValue();
    return by < width ? b.CreateShl(value, llvm::ConstantInt::get(type, by)) : llvm::Constant::getNullValue(type);
  }
  Value* small = b.CreateICmpULT(count, llvm::ConstantInt::get(count->getType(), width));
  Value* safe = b.CreateSelect(small, count, llvm::Constant::getNullValue(count->getType()));
  Value* shifted = b.CreateShl(value, b.CreateZExtOrTrunc(safe, type));
  return b.CreateSelect(small, shifted, llvm::Constant::getNullValue(type));
}

Value* ShiftRight(llvm::IRBuilder<>& b, Value* value, Value* count, bool is_signed) {
  llvm::Type* type = value->getType();
  const unsigned width = type->getIntegerBitWidth();
  if (auto* known = llvm::dyn_cast<llvm::ConstantInt>(count)) {
    const uint64_t by = known->getZExtValue();
    if (is_signed) return b.CreateAShr(value, llvm::ConstantInt::get(type, std::min<uint64_t>(by, width - 1)));
    return by < width ? b.CreateLShr(value, llvm::ConstantInt::get(type, by)) : llvm::Constant::getNullValue(type);
  }
  Value* small = b.CreateICmpULT(count, llvm::ConstantInt::get(count->getType(), width));
  Value* most = llvm::ConstantInt::get(count->getType(), is_signed ? width - 1 : 0);
  Value* safe = b.CreateZExtOrTrunc(b.CreateSelect(small, count, most), type);
  if (is_signed) return b.CreateAShr(value, safe);
  return b.CreateSelect(small, b.CreateLShr(value, safe), llvm::Constant::getNullValue(type));
}

}  // namespace heddle::tracegen::ptx
