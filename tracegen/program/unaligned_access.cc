#include "tracegen/program/unaligned_access.h"

#include <cstdint>

#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/Instructions.h"

namespace heddle::tracegen {
namespace {

// An access of `bytes`, a power of two from 2 to 8, in pieces of the size that the alignment allows.
struct Pieces {
  llvm::IRBuilder<>& builder;
  llvm::Value* address;
  uint64_t bytes;
  llvm::Align alignment;
  bool is_volatile;

  llvm::Value* Address(uint64_t offset) {
    return offset == 0 ? address : builder.CreatePtrAdd(address, builder.getInt64(offset));
  }
  llvm::Value* Load() {
    llvm::Type* whole = builder.getIntNTy(bytes * 8);
    llvm::Type* part = builder.getIntNTy(alignment.value() * 8);
    llvm::Value* value = nullptr;
    for (uint64_t at = 0; at < bytes; at += alignment.value()) {
      llvm::Value* piece = builder.CreateAlignedLoad(part, Address(at), alignment, is_volatile);
      piece = builder.CreateShl(builder.CreateZExt(piece, whole), at * 8);
      value = value == nullptr ? piece : builder.CreateOr(value, piece);
    }
    return value;
  }
  void Store(llvm::Value* value) {
    llvm::Type* part = builder.getIntNTy(alignment.value() * 8);
    for (uint64_t at = 0; at < bytes; at += alignment.value()) {
      llvm::Value* piece = builder.CreateTrunc(builder.CreateLShr(value, at * 8), part);
      builder.CreateAlignedStore(piece, Address(at), alignment, is_volatile);
    }
  }
};

llvm::Value* FromBits(llvm::IRBuilder<>& builder, llvm::Value* bits, llvm::Type* type) {
  return type->isPointerTy() ? builder.CreateIntToPtr(bits, type) : builder.CreateBitCast(bits, type);
}

llvm::Value* ToBits(llvm::IRBuilder<>& builder, llvm::Value* value, uint64_t bytes) {
  llvm::Type* bits = builder.getIntNTy(bytes * 8);
  return value->getType()->isPointerTy() ? builder.CreatePtrToInt(value, bits) : builder.CreateBitCast(value, bits);
}

}  // namespace

bool ExpandUnalignedAccess(llvm::Instruction& access, const llvm::DataLayout& layout) {
  auto* load = llvm::dyn_cast<llvm::LoadInst>(&access);
  auto* store = llvm::dyn_cast<llvm::StoreInst>(&access);
  if ((load == nullptr || load->isAtomic()) && (store == nullptr || store->isAtomic())) return false;
  llvm::Type* type = llvm::getLoadStoreType(&access);
  auto* vector = llvm::dyn_cast<llvm::FixedVectorType>(type);
  llvm::Type* element = vector != nullptr ? vector->getElementType() : type;
  if (!element->isIntegerTy() && !element->isFloatingPointTy() && !element->isPointerTy()) return false;
  const uint64_t bits = layout.getTypeSizeInBits(element);
  const llvm::Align given = llvm::getLoadStoreAlignment(&access);
  if ((bits != 16 && bits != 32 && bits != 64) || given.value() * 8 >= bits) return false;

  llvm::IRBuilder<> builder(&access);
  llvm::Value* address = llvm::getLoadStorePointerOperand(&access);
  const uint64_t bytes = bits / 8;
  const unsigned elements = vector != nullptr ? vector->getNumElements() : 1;
  const bool is_volatile = load != nullptr ? load->isVolatile() : store->isVolatile();
  llvm::Value* whole = llvm::PoisonValue::get(type);
  for (unsigned i = 0; i < elements; ++i) {
    Pieces pieces = {builder, i == 0 ? address : builder.CreatePtrAdd(address, builder.getInt64(i * bytes)), bytes,
                     given, is_volatile};
    if (load != nullptr) {
      llvm::Value* value = FromBits(builder, pieces.Load(), element);
      whole = vector != nullptr ? builder.CreateInsertElement(whole, value, i) : value;
    } else {
      llvm::Value* value = store->getValueOperand();
      if (vector != nullptr) value = builder.CreateExtractElement(value, i);
      pieces.Store(ToBits(builder, value, bytes));
    }
  }
  if (load != nullptr) load->replaceAllUsesWith(whole);
  access.eraseFromParent();
  return true;
}

}  // namespace heddle::tracegen
