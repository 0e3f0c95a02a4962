#include "tracegen/instrument/kernel_interface.h"

#include <algorithm>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "llvm/IR/Constants.h"
#include "llvm/IR/Metadata.h"
#include "llvm/IR/Module.h"
#include "tracegen/program/static_program.h"

namespace heddle::tracegen {
namespace {

uint64_t NumberAt(const llvm::MDNode& node, unsigned operand) {
  auto* value = llvm::mdconst::dyn_extract_or_null<llvm::ConstantInt>(node.getOperand(operand));
  return value != nullptr ? value->getLimitedValue() : 0;
}

uint32_t Number32At(const llvm::MDNode& node, unsigned operand) {
  return static_cast<uint32_t>(std::min<uint64_t>(NumberAt(node, operand), ~uint32_t{0}));
}

ParameterKind KindOfPointer(unsigned address_space) {
  switch (address_space) {
    case 3:
      return ParameterKind::kSharedPointer;
    case 4:
      return ParameterKind::kConstantPointer;
    default:
      return ParameterKind::kGlobalPointer;
  }
}

}  // namespace

absl::StatusOr<std::vector<KernelParameter>> DescribeParameters(const llvm::Function& kernel) {
  const llvm::DataLayout& layout = kernel.getParent()->getDataLayout();
  std::vector<KernelParameter> parameters;
  uint32_t end = 0;
  for (const llvm::Argument& argument : kernel.args()) {
    KernelParameter parameter;
    parameter.name = argument.getName().str();
    parameter.any_argument =
        argument.getParent()->getAttributes().hasParamAttr(argument.getArgNo(), kAnyArgumentAttribute);
    llvm::Type* type = argument.getType();
    if (argument.hasByValAttr()) {
      parameter.kind = ParameterKind::kByValue;
      type = argument.getParamByValType();
    } else if (type->isPointerTy()) {
      parameter.kind = KindOfPointer(type->getPointerAddressSpace());
    } else if (type->isFloatingPointTy()) {
      parameter.floating_point = true;
    } else if (!type->isIntegerTy() && !type->isVectorTy() && !type->isStructTy() && !type->isArrayTy()) {
      return absl::UnimplementedError(
          absl::StrCat("parameter ", argument.getArgNo() + 1, " is of a kind that is not supported"));
    }
    parameter.bytes = static_cast<uint32_t>(layout.getTypeAllocSize(type));
    parameter.alignment = static_cast<uint32_t>(layout.getABITypeAlign(type).value());
    if (argument.getParamAlign()) {
      parameter.alignment = std::max(parameter.alignment, static_cast<uint32_t>(argument.getParamAlign()->value()));
    }
    parameter.offset = (end + parameter.alignment - 1) / parameter.alignment * parameter.alignment;
    end = parameter.offset + parameter.bytes;
    parameters.push_back(std::move(parameter));
  }
  return parameters;
}

KernelBounds DescribeBounds(const llvm::Function& kernel) {
  KernelBounds bounds;
  uint64_t most[3] = {};
  uint32_t* required = bounds.required_block;
  if (auto* node = kernel.getMetadata("reqd_work_group_size"); node != nullptr) {
    for (unsigned i = 0; i < 3 && i < node->getNumOperands(); ++i) {
      required[i] = static_cast<uint32_t>(NumberAt(*node, i));
    }
  }
  if (const llvm::NamedMDNode* list = kernel.getParent()->getNamedMetadata("nvvm.annotations")) {
    for (const llvm::MDNode* node : list->operands()) {
      if (node->getNumOperands() < 3 ||
          llvm::mdconst::dyn_extract_or_null<llvm::Function>(node->getOperand(0)) != &kernel) {
        continue;
      }
      for (unsigned i = 1; i + 1 < node->getNumOperands(); i += 2) {
        auto* key = llvm::dyn_cast<llvm::MDString>(node->getOperand(i));
        if (key == nullptr || key->getString().empty()) continue;
        if (key->getString() == "maxclusterrank") bounds.max_cluster_blocks = Number32At(*node, i + 1);
        const unsigned dimension = static_cast<unsigned>(key->getString().back() - 'x');
        const llvm::StringRef name = key->getString().drop_back();
        if (dimension > 2) continue;
        if (name == "maxntid") most[dimension] = NumberAt(*node, i + 1);
        if (name == "reqntid") required[dimension] = static_cast<uint32_t>(NumberAt(*node, i + 1));
        if (name == "cluster_dim_") bounds.cluster[dimension] = std::max(1u, Number32At(*node, i + 1));
      }
    }
  }
  if (most[0] + most[1] + most[2] != 0) {
    uint64_t product = 1;
    for (uint64_t bound : most) product = std::min<uint64_t>(product * std::max<uint64_t>(1, bound), 1u << 20);
    bounds.max_threads = static_cast<uint32_t>(product);
  }
  if (required[0] + required[1] + required[2] != 0) {
    for (int i = 0; i < 3; ++i) required[i] = std::max(1u, required[i]);
  }
  return bounds;
}

}  // namespace heddle::tracegen
