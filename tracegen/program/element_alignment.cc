#include "tracegen/program/element_alignment.h"

#include <algorithm>
#include <cstdint>

#include "llvm/ADT/MapVector.h"
#include "llvm/Analysis/ValueTracking.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/Operator.h"
#include "llvm/Transforms/Utils/Local.h"
#include "tracegen/program/address_space.h"

namespace heddle::tracegen {
namespace {

constexpr unsigned kMostZeros = 32;  // of an address, from its lowest bit
constexpr int kMostSteps = 64;       // from an address to its variable; code that is never run may go in circles

// Whether the tag says that a member of a structure is accessed. What was copied as part of a whole structure has the
// tag of its own type.
bool IsMember(const llvm::Instruction& access) {
  const llvm::MDNode* tag = access.getMetadata(llvm::LLVMContext::MD_tbaa);
  return tag != nullptr && tag->getNumOperands() >= 3 && llvm::isa_and_nonnull<llvm::MDNode>(tag->getOperand(0)) &&
         tag->getOperand(0) != tag->getOperand(1);
}

// What is certain whatever the types say: the place of a variable of the program, of an element of an aligned array.
llvm::Align CertainAlignment(llvm::Value* pointer, const llvm::DataLayout& layout) {
  llvm::Align kept(uint64_t{1} << 32);
  llvm::Value* at = pointer;
  for (int steps = 0; steps < kMostSteps; ++steps) {
    if (auto* cast = llvm::dyn_cast<llvm::AddrSpaceCastOperator>(at)) {
      at = cast->getPointerOperand();
    } else if (auto* element = llvm::dyn_cast<llvm::GEPOperator>(at)) {
      kept = std::min(kept, element->getMaxPreservedAlignment(layout));
      at = element->getPointerOperand();
    } else {
      return std::min(kept, llvm::getKnownAlignment(at, layout));
    }
  }
  return llvm::Align();
}

// What an element's offset from its variable leaves of the variable's alignment, by the known zeros of its indices.
llvm::Align OffsetAlignment(llvm::GEPOperator& element, const llvm::DataLayout& layout) {
  const unsigned bits = layout.getIndexTypeSizeInBits(element.getType());
  llvm::MapVector<llvm::Value*, llvm::APInt> variable;
  llvm::APInt constant(bits, 0);
  if (!element.collectOffset(layout, bits, variable, constant)) return llvm::Align();
  unsigned zeros = std::min(constant.countr_zero(), kMostZeros);
  for (const auto& [index, scale] : variable) {
    zeros = std::min(zeros, scale.countr_zero() + llvm::computeKnownBits(index, layout).countMinTrailingZeros());
  }
  return llvm::Align(uint64_t{1} << zeros);
}

// The alignment of what an address begins with. Dynamic shared memory begins at a multiple of 16 (DynamicSharedStart),
// whatever its array's elements are.
llvm::Align BaseAlignment(llvm::Value* base, const llvm::DataLayout& layout) {
  const llvm::Align known = llvm::getKnownAlignment(base, layout);
  const auto* variable = llvm::dyn_cast<llvm::GlobalVariable>(base);
  if (variable == nullptr || variable->getAddressSpace() != kSharedSpace || !variable->isDeclaration()) return known;
  return std::max(known, llvm::Align(16));
}

// The alignment of a place, through all casts between address spaces.
llvm::Align PlaceAlignment(llvm::Value* pointer, const llvm::DataLayout& layout) {
  llvm::Align kept(uint64_t{1} << kMostZeros);
  llvm::Value* at = pointer;
  for (int steps = 0; steps < kMostSteps; ++steps) {
    if (auto* cast = llvm::dyn_cast<llvm::AddrSpaceCastOperator>(at)) {
      at = cast->getPointerOperand();
    } else if (auto* element = llvm::dyn_cast<llvm::GEPOperator>(at)) {
      kept = std::min(kept, OffsetAlignment(*element, layout));
      at = element->getPointerOperand();
    } else {
      return std::min(kept, BaseAlignment(at, layout));
    }
  }
  return llvm::Align();
}

}  // namespace

void LowerMemberAlignment(llvm::Module& module) {
  const llvm::DataLayout& layout = module.getDataLayout();
  for (llvm::Function& function : module) {
    // Without optimisation accesses have no tags, and whole structures are copied by intrinsics.
    const bool all = function.hasFnAttribute(llvm::Attribute::OptimizeNone);
    for (llvm::Instruction& instruction : llvm::instructions(function)) {
      auto* load = llvm::dyn_cast<llvm::LoadInst>(&instruction);
      auto* store = llvm::dyn_cast<llvm::StoreInst>(&instruction);
      if ((load == nullptr && store == nullptr) || !(all || IsMember(instruction))) continue;
      const uint64_t bytes = layout.getTypeStoreSize(llvm::getLoadStoreType(&instruction));
      const llvm::Align align = std::max(llvm::Align(llvm::PowerOf2Ceil(bytes)),
                                         CertainAlignment(llvm::getLoadStorePointerOperand(&instruction), layout));
      if (llvm::getLoadStoreAlignment(&instruction) <= align) continue;
      load != nullptr ? load->setAlignment(align) : store->setAlignment(align);
    }
  }
}

void RaiseCopyAlignment(llvm::Module& module) {
  const llvm::DataLayout& layout = module.getDataLayout();
  for (llvm::Function& function : module) {
    for (llvm::Instruction& instruction : llvm::instructions(function)) {
      auto* copy = llvm::dyn_cast<llvm::MemIntrinsic>(&instruction);
      if (copy == nullptr) continue;
      copy->setDestAlignment(std::max(copy->getDestAlign().valueOrOne(), PlaceAlignment(copy->getRawDest(), layout)));
      auto* transfer = llvm::dyn_cast<llvm::MemTransferInst>(copy);
      if (transfer == nullptr) continue;
      transfer->setSourceAlignment(
          std::max(transfer->getSourceAlign().valueOrOne(), PlaceAlignment(transfer->getRawSource(), layout)));
    }
  }
}

}  // namespace heddle::tracegen
