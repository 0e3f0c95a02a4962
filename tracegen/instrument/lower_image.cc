#include "tracegen/instrument/lower_image.h"

#include <cstddef>
#include <optional>
#include <string_view>

#include "tracegen/instrument/image_operation.h"

namespace heddle::tracegen {
namespace {

using llvm::Value;

size_t ValueOffset(unsigned i) { return offsetof(ThreadContext, image_values) + i * sizeof(uint64_t); }

// Any scalar as 64 bits, the upper ones zero, and back.
Value* ToBits(KernelPass& pass, llvm::IRBuilder<>& builder, Value* value) {
  if (value->getType()->isFloatTy()) value = builder.CreateBitCast(value, pass.i32());
  return builder.CreateZExtOrTrunc(value, pass.i64());
}
Value* FromBits(KernelPass& pass, llvm::IRBuilder<>& builder, Value* bits, llvm::Type* type) {
  if (!type->isFloatTy()) return builder.CreateTrunc(bits, type);
  return builder.CreateBitCast(builder.CreateTrunc(bits, pass.i32()), type);
}

}  // namespace

Value* LowerImage(KernelPass& pass, llvm::IRBuilder<>& builder, llvm::CallInst& call, llvm::StringRef name) {
  const std::string_view text(name.data(), name.size());
  auto site = [&] { return builder.getInt32(pass.AddSite(call)); };
  if (name.starts_with("texsurf.handle")) {
    // A texture reference is a variable that holds the address of what is bound to it.
    return builder.CreateLoad(call.getType(), call.getArgOperand(call.arg_size() - 1));
  }
  if (const std::optional<ImageQuery> query = ParseImageQuery(text)) {
    return pass.CallRuntime(
        builder, kImageQueryFunction, pass.i32(),
        {KernelPass::Context(builder), site(), call.getArgOperand(0), builder.getInt32(static_cast<uint32_t>(*query))});
  }
  const std::optional<ImageOperation> operation = ParseImageOperation(text);
  if (!operation) return nullptr;
  for (unsigned i = 0; i < call.arg_size(); ++i) {
    pass.StoreField(builder, ValueOffset(i), ToBits(pass, builder, call.getArgOperand(i)));
  }
  Value* nothing = pass.CallRuntime(builder, kImageFunction, builder.getVoidTy(),
                                    {KernelPass::Context(builder), site(), builder.getInt32(operation->Encode())});
  if (call.getType()->isVoidTy()) return nothing;
  auto result = [&](unsigned i, llvm::Type* type) {
    return FromBits(pass, builder, pass.LoadField(builder, ValueOffset(i), pass.i64()), type);
  };
  auto* record = llvm::dyn_cast<llvm::StructType>(call.getType());
  if (record == nullptr) return result(0, call.getType());
  Value* whole = llvm::PoisonValue::get(record);
  for (unsigned i = 0; i < record->getNumElements(); ++i) {
    whole = builder.CreateInsertValue(whole, result(i, record->getElementType(i)), i);
  }
  return whole;
}

}  // namespace heddle::tracegen
