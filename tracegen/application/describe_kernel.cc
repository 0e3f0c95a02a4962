#include "tracegen/application/describe_kernel.h"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/IR/Constants.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/Module.h"
#include "tracegen/execute/launch/launch_limits.h"
#include "tracegen/execute/launch/live_blocks.h"
#include "tracegen/instrument/kernel_interface.h"
#include "tracegen/program/kernel_list.h"
#include "tracegen/program/static_program.h"

namespace heddle::tracegen {
namespace {

device::ParameterKind KindOf(ParameterKind kind) {
  switch (kind) {
    case ParameterKind::kScalar:
      return device::ParameterKind::kScalar;
    case ParameterKind::kGlobalPointer:
      return device::ParameterKind::kGlobalPointer;
    case ParameterKind::kConstantPointer:
      return device::ParameterKind::kConstantPointer;
    case ParameterKind::kSharedPointer:
      return device::ParameterKind::kSharedPointer;
    case ParameterKind::kByValue:
      return device::ParameterKind::kByValue;
  }
  return device::ParameterKind::kScalar;
}

// What clang notes about the arguments of an OpenCL kernel ("kernel_arg_type" and its like; one operand per argument).
std::string ArgumentText(const llvm::Function& kernel, const char* what, unsigned argument) {
  const llvm::MDNode* node = kernel.getMetadata(what);
  if (node == nullptr || argument >= node->getNumOperands()) return "";
  const auto* text = llvm::dyn_cast<llvm::MDString>(node->getOperand(argument));
  return text != nullptr ? text->getString().str() : "";
}

uint32_t ArgumentNumber(const llvm::Function& kernel, const char* what, unsigned argument) {
  const llvm::MDNode* node = kernel.getMetadata(what);
  if (node == nullptr || argument >= node->getNumOperands()) return 0;
  const auto* value = llvm::mdconst::dyn_extract_or_null<llvm::ConstantInt>(node->getOperand(argument));
  return value != nullptr ? static_cast<uint32_t>(value->getLimitedValue()) : 0;
}

void AddOpenClInfo(const llvm::Function& kernel, unsigned argument, device::ParameterInfo& info) {
  if (kernel.getMetadata("kernel_arg_type") == nullptr) return;
  if (std::string name = ArgumentText(kernel, "kernel_arg_name", argument); !name.empty()) info.name = name;
  info.type_name = ArgumentText(kernel, "kernel_arg_type", argument);
  info.address_space = ArgumentNumber(kernel, "kernel_arg_addr_space", argument);
  info.access_qualifier = ArgumentText(kernel, "kernel_arg_access_qual", argument);
  info.type_qualifiers = ArgumentText(kernel, "kernel_arg_type_qual", argument);
  const std::string base = ArgumentText(kernel, "kernel_arg_base_type", argument);
  if (base == "sampler_t") {
    info.kind = device::ParameterKind::kSampler;
  } else if (absl::StartsWith(base, "image") && absl::EndsWith(base, "_t")) {
    info.kind = device::ParameterKind::kImage;
  }
}

// The constants that an instruction names, within others too.
void AddConstants(const llvm::User& user, llvm::DenseSet<const llvm::Constant*>& constants) {
  for (const llvm::Use& operand : user.operands()) {
    const auto* constant = llvm::dyn_cast<llvm::Constant>(operand.get());
    if (constant == nullptr || llvm::isa<llvm::Function>(constant) || !constants.insert(constant).second) continue;
    if (!llvm::isa<llvm::GlobalVariable>(constant)) AddConstants(*constant, constants);
  }
}

}  // namespace

absl::StatusOr<device::KernelInfo> DescribeKernel(const llvm::Function& kernel) {
  device::KernelInfo info;
  info.name = kernel.getName().str();
  info.shown_name = BaseName(info.name);
  absl::StatusOr<std::vector<KernelParameter>> parameters = DescribeParameters(kernel);
  if (!parameters.ok()) {
    return absl::Status(parameters.status().code(),
                        absl::StrCat("kernel '", info.shown_name, "': ", parameters.status().message()));
  }
  for (const KernelParameter& parameter : *parameters) {
    device::ParameterInfo& entry = info.parameters.emplace_back();
    entry.name = parameter.name;
    entry.kind = KindOf(parameter.kind);
    entry.offset = parameter.offset;
    entry.bytes = parameter.bytes;
    entry.alignment = parameter.alignment;
    AddOpenClInfo(kernel, static_cast<unsigned>(info.parameters.size() - 1), entry);
    info.parameter_bytes = parameter.offset + parameter.bytes;
  }
  const KernelBounds bounds = DescribeBounds(kernel);
  info.max_threads = bounds.max_threads;
  std::copy(std::begin(bounds.required_block), std::end(bounds.required_block), info.required_block);
  std::copy(std::begin(bounds.cluster), std::end(bounds.cluster), info.cluster);
  info.max_cluster_blocks = bounds.max_cluster_blocks;
  if (bounds.required_block[0] != 0 && kernel.getMetadata("reqd_work_group_size") != nullptr) {
    info.attributes = absl::StrCat("reqd_work_group_size(", absl::StrJoin(bounds.required_block, ","), ")");
  }
  return info;
}

void DescribeBody(const llvm::Function& kernel, device::KernelInfo& info) {
  constexpr unsigned kConstantSpace = 4;
  // Our headers, and those of the vendor, which look for the driver's workspace.
  constexpr llvm::StringLiteral kGridBarriers[] = {"__heddle_resident_grid", "llvm.nvvm.read.ptx.sreg.envreg1",
                                                   "llvm.nvvm.read.ptx.sreg.envreg2"};
  bool meets_grid = false;
  bool uses_local = false;  // as InstrumentedKernel::uses_local
  llvm::DenseSet<const llvm::Function*> seen = {&kernel};
  llvm::DenseSet<const llvm::Constant*> constants;
  std::vector<const llvm::Function*> work = {&kernel};
  while (!work.empty()) {
    const llvm::Function& function = *work.back();
    work.pop_back();
    for (const llvm::Argument& argument : function.args()) {
      uses_local |= argument.hasByValAttr() && &function != &kernel;
    }
    for (const llvm::Instruction& instruction : llvm::instructions(function)) {
      uses_local |= llvm::isa<llvm::AllocaInst>(instruction);
      AddConstants(instruction, constants);
      const auto* call = llvm::dyn_cast<llvm::CallBase>(&instruction);
      const llvm::Function* callee = call != nullptr ? call->getCalledFunction() : nullptr;
      if (callee == nullptr) continue;
      meets_grid |= llvm::is_contained(kGridBarriers, callee->getName());
      if (!callee->isDeclaration() && seen.insert(callee).second) work.push_back(callee);
    }
  }
  info.constant_bytes = 0;
  for (const llvm::Constant* constant : constants) {
    const auto* variable = llvm::dyn_cast<llvm::GlobalVariable>(constant);
    if (variable == nullptr || variable->getAddressSpace() != kConstantSpace) continue;
    const llvm::DataLayout& layout = kernel.getParent()->getDataLayout();
    info.constant_bytes += static_cast<uint32_t>(layout.getTypeAllocSize(variable->getValueType()));
  }
  if (!meets_grid) return;
  info.live_threads = uses_local ? kMaxLiveThreadsWithLocal : kMaxLiveThreads;
  info.live_blocks = kMaxResidentBlocks;
}

}  // namespace heddle::tracegen
