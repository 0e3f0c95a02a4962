#include "tracegen/program/link.h"

#include <algorithm>
#include <map>
#include <optional>
#include <unordered_map>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/IntrinsicsNVPTX.h"
#include "tracegen/ptx/inline_ptx.h"
#include "traces/base/status_macros.h"
#include "traces/format/program/operands.h"

namespace heddle::tracegen {
namespace {

namespace v1 = ::heddle::trace::v1;

constexpr unsigned kParameterSpace = 101;

uint32_t NumberOf(const llvm::Instruction& instruction) {
  const llvm::DebugLoc& location = instruction.getDebugLoc();
  return location ? location.getLine() : 0;
}

bool IsMemory(const FlowInstruction& instruction) {
  const v1::OpClass op = instruction.opcode.op;
  return op == v1::OP_LOAD || op == v1::OP_STORE || op == v1::OP_ATOMIC || op == v1::OP_TEXTURE;
}

bool AccessesMemory(const llvm::Instruction& instruction) {
  return MemoryOperandOf(instruction).pointer != nullptr || !InlineAccessesOf(instruction).empty();
}

// Addresses of a PTX function as base + constant, as far as single definitions tell.
class AddressResolver {
 public:
  explicit AddressResolver(const FlowFunction& flow) {
    for (const FlowNode& node : flow.nodes) {
      for (const FlowInstruction& instruction : node.instructions) {
        for (const std::string& name : instruction.dst) {
          auto [found, fresh] = definitions_.emplace(name, &instruction);
          if (!fresh) found->second = nullptr;
        }
      }
    }
  }

  PtxAddress Resolve(PtxAddress address) const {
    for (int steps = 0; steps < 64; ++steps) {
      auto found = definitions_.find(address.base);
      if (found == definitions_.end() || found->second == nullptr) break;
      const FlowInstruction& definition = *found->second;
      if (definition.src.size() != 1 || definition.dst.size() != 1) break;
      if (absl::StartsWith(definition.mnemonic, "add.s64") && definition.constant) {
        address.offset += *definition.constant;
      } else if (!absl::StartsWith(definition.mnemonic, "cvta") && !absl::StartsWith(definition.mnemonic, "mov.")) {
        break;
      }
      address.base = definition.src[0];
    }
    return address;
  }

 private:
  std::unordered_map<std::string, const FlowInstruction*> definitions_;
};

class Linker {
 public:
  Linker(const CanonicalModule& module, const llvm::Function& function, const FlowFunction& flow,
         const std::vector<const llvm::Instruction*>& by_number, FunctionLinks* links, std::set<uint32_t>* moved)
      : module_(module), function_(function), flow_(flow), by_number_(by_number), links_(*links), moved_(*moved) {}

  absl::Status Link() {
    for (size_t i = 0; i < flow_.nodes.size(); ++i) {
      const std::string& name = flow_.nodes[i].name;
      if (!name.empty() && !by_name_.emplace(name, static_cast<int>(i)).second) {
        return absl::InternalError(absl::StrCat(flow_.name, ": the PTX has block ", name, " twice"));
      }
    }
    for (const llvm::BasicBlock& block : function_) {
      auto found = by_name_.find(block.getName().str());
      if (found == by_name_.end()) return Lost(*block.getTerminator(), "the PTX has no block for this code");
      links_.nodes[&block] = found->second;
      BlockLink& link = links_.blocks[&block];
      const FlowNode& node = flow_.nodes[found->second];
      link.instructions = static_cast<uint32_t>(node.instructions.size());
      for (const FlowInstruction& instruction : node.instructions) {
        link.accesses += CountColumns(instruction, by_number_);
      }
    }
    for (const llvm::BasicBlock& block : function_) {
      HEDDLE_RETURN_IF_ERROR(LinkEdges(block));
    }
    LinkAccesses();
    return absl::OkStatus();
  }

 private:
  absl::Status Lost(const llvm::Instruction& instruction, absl::string_view what) const {
    return absl::InternalError(absl::StrCat(module_.Where(instruction), ": ", what, " (block ",
                                            instruction.getParent()->getName().str(), " of ", flow_.name, ")"));
  }

  // The named node that a way through edge code leads to; adds up what the way executes.
  int Follow(int node, EdgeLink* edge) const {
    for (size_t steps = 0; steps <= flow_.nodes.size() && node != kNoNode; ++steps) {
      const FlowNode& at = flow_.nodes[node];
      if (!at.name.empty()) return node;
      if (at.end != FlowEnd::kFallThrough) return kNoNode;
      edge->instructions += static_cast<uint32_t>(at.instructions.size());
      for (const FlowInstruction& instruction : at.instructions) {
        edge->accesses += CountColumns(instruction, by_number_);
      }
      node = at.next;
    }
    return kNoNode;
  }

  absl::Status LinkEdges(const llvm::BasicBlock& block) {
    const llvm::Instruction& terminator = *block.getTerminator();
    const FlowNode& node = flow_.nodes[links_.nodes[&block]];
    llvm::SmallVector<EdgeLink, 2> edges(terminator.getNumSuccessors());
    if (terminator.getNumSuccessors() == 0) {
      if (node.end != FlowEnd::kExit && node.end != FlowEnd::kReturn) {
        return Lost(terminator, "the PTX goes on where the program ends");
      }
      return absl::OkStatus();
    }
    EdgeLink ways[2];
    ways[0].decides = ways[1].decides = node.end == FlowEnd::kConditional;
    ways[1].decision = 1;
    if (node.end == FlowEnd::kExit || node.end == FlowEnd::kReturn) {
      // Behind an assertion failure nothing runs, whatever the IR says.
      links_.edges[&terminator] = std::move(edges);
      return absl::OkStatus();
    }
    const int fall = Follow(node.next, &ways[0]);
    const int taken = node.end == FlowEnd::kConditional ? Follow(node.taken, &ways[1]) : kNoNode;
    for (unsigned i = 0; i < terminator.getNumSuccessors(); ++i) {
      const int target = links_.nodes[terminator.getSuccessor(i)];
      if (target == fall) {
        edges[i] = ways[0];
      } else if (target == taken) {
        edges[i] = ways[1];
      } else {
        return Lost(terminator, "the PTX has no way for this branch");
      }
      if (edges[i].accesses != 0) return Lost(terminator, "the PTX accesses memory on the way of a branch");
    }
    if (node.end == FlowEnd::kConditional && terminator.getNumSuccessors() != 2) {
      return Lost(terminator, "the PTX branches where the program does not");
    }
    if (node.end != FlowEnd::kConditional && terminator.getNumSuccessors() != 1) {
      return Lost(terminator, "the PTX does not branch where the program does");
    }
    links_.edges[&terminator] = std::move(edges);
    return absl::OkStatus();
  }

  void LinkAccesses() {
    std::map<uint32_t, std::vector<FlowAccess>> groups;  // by IR number, in PTX order
    std::map<int, std::vector<FlowAccess>> strange;      // by node
    for (size_t n = 0; n < flow_.nodes.size(); ++n) {
      const FlowNode& node = flow_.nodes[n];
      uint32_t position = 0;
      for (size_t i = 0; i < node.instructions.size(); ++i) {
        const FlowInstruction& instruction = node.instructions[i];
        const uint32_t columns = CountColumns(instruction, by_number_);
        if (columns == 0) continue;
        const FlowAccess access{static_cast<int>(n), static_cast<uint32_t>(i), position, 0};
        position += columns;
        const llvm::Instruction* ir =
            AccessNamedBy(instruction.id < by_number_.size() ? by_number_[instruction.id] : nullptr);
        const bool is_access = ir != nullptr && (AccessesMemory(*ir) || instruction.collective != nullptr);
        if (!is_access || ir->getFunction() != &function_) {
          strange[access.node].push_back(access);
        } else if (links_.nodes[ir->getParent()] != access.node) {
          moved_.insert(NumberOf(*ir));
        } else {
          std::vector<FlowAccess>& group = groups[NumberOf(*ir)];
          for (uint32_t c = 0; c < columns; ++c) {
            group.push_back({access.node, access.instruction, access.position + c, 0});
          }
        }
      }
    }
    const AddressResolver resolver(flow_);
    for (auto& [number, group] : groups) {
      const llvm::Instruction* ir = by_number_[number];
      if (!Offsets(resolver, *ir, &group)) {
        moved_.insert(number);
        continue;
      }
      links_.accesses[ir] = llvm::SmallVector<FlowAccess, 2>(group.begin(), group.end());
    }
    // A PTX access that names no IR access was merged from several of its block, or was moved and lost its line: then
    // it is one of those that have no PTX. Or what uses its value has given it its own line: then the order tells.
    for (const auto& [n, accesses] : strange) {
      if (LinkInOrder(accesses)) continue;
      const size_t before = moved_.size();
      for (const auto& [block, node] : links_.nodes) {
        if (node == n) MoveUnlinked(*block);
      }
      if (moved_.size() != before) continue;
      for (const llvm::BasicBlock& block : function_) MoveUnlinked(block);
      if (moved_.size() == before) moved_.insert(0);
    }
  }

  // Volatile accesses of a block keep their order. Links those that nothing names to those of the IR that are not
  // linked, if these are as many, of the same kinds and sizes.
  bool LinkInOrder(const std::vector<FlowAccess>& accesses) {
    const llvm::BasicBlock* block = nullptr;
    for (const auto& [candidate, node] : links_.nodes) {
      if (node == accesses.front().node) block = candidate;
    }
    if (block == nullptr) return false;
    std::vector<const llvm::Instruction*> unlinked;
    for (const llvm::Instruction& instruction : *block) {
      if (AccessesMemory(instruction) && links_.accesses.count(&instruction) == 0) {
        unlinked.push_back(&instruction);
      }
    }
    if (unlinked.size() != accesses.size()) return false;
    for (size_t i = 0; i < accesses.size(); ++i) {
      const FlowInstruction& ptx = PtxOf(accesses[i]);
      const bool load = llvm::isa<llvm::LoadInst>(unlinked[i]);
      if (!ptx.opcode.is_volatile || !unlinked[i]->isVolatile() ||
          (!load && !llvm::isa<llvm::StoreInst>(unlinked[i])) ||
          ptx.opcode.op != (load ? trace::v1::OP_LOAD : trace::v1::OP_STORE) ||
          ptx.opcode.access_bytes != MemoryOperandOf(*unlinked[i]).bytes) {
        return false;
      }
    }
    for (size_t i = 0; i < accesses.size(); ++i) links_.accesses[unlinked[i]] = {accesses[i]};
    return true;
  }

  void MoveUnlinked(const llvm::BasicBlock& block) {
    for (const llvm::Instruction& instruction : block) {
      if (AccessesMemory(instruction) && links_.accesses.count(&instruction) == 0) {
        moved_.insert(NumberOf(instruction));
      }
    }
  }

  const FlowInstruction& PtxOf(const FlowAccess& access) const {
    return flow_.nodes[access.node].instructions[access.instruction];
  }

  // Whether the PTX has the accesses of an asm statement, one by one.
  bool AreThoseOf(const std::vector<InlineAccess>& statement, const std::vector<FlowAccess>& group) const {
    return std::equal(group.begin(), group.end(), statement.begin(), statement.end(),
                      [this](const FlowAccess& access, const InlineAccess& written) {
                        return written.is_image || PtxOf(access).opcode.access_bytes == written.bytes;
                      });
  }

  // Fills in offsets. False unless the PTX accesses together cover the IR access exactly.
  bool Offsets(const AddressResolver& resolver, const llvm::Instruction& ir, std::vector<FlowAccess>* group) const {
    if (const std::vector<InlineAccess> statement = InlineAccessesOf(ir); !statement.empty()) {
      return AreThoseOf(statement, *group);
    }
    // An intrinsic with several operands is one instruction.
    if (PtxOf(group->front()).collective != nullptr) {
      return group->size() == CountColumns(PtxOf(group->front()), by_number_);
    }
    const MemoryOperand operand = MemoryOperandOf(ir);
    auto bytes = [&](const FlowAccess& access) -> uint64_t { return PtxOf(access).opcode.access_bytes; };
    if (group->size() == 1) {
      return operand.is_image || bytes(group->front()) == operand.bytes ||
             (operand.is_vector && bytes(group->front()) > operand.bytes);
    }
    std::vector<std::pair<int64_t, uint64_t>> covered;
    std::string base;
    int64_t lowest = INT64_MAX;
    std::vector<int64_t> offsets;
    for (const FlowAccess& access : *group) {
      const PtxAddress address = resolver.Resolve(PtxOf(access).address);
      if (!offsets.empty() && address.base != base) return false;
      base = address.base;
      offsets.push_back(address.offset);
      lowest = std::min(lowest, address.offset);
      covered.emplace_back(address.offset, bytes(access));
    }
    std::sort(covered.begin(), covered.end());
    int64_t end = lowest;
    for (const auto& [at, size] : covered) {
      if (at != end) return false;
      end = at + static_cast<int64_t>(size);
    }
    if (static_cast<uint64_t>(end - lowest) != operand.bytes) return false;
    for (size_t i = 0; i < group->size(); ++i) (*group)[i].offset = static_cast<uint32_t>(offsets[i] - lowest);
    return true;
  }

  const CanonicalModule& module_;
  const llvm::Function& function_;
  const FlowFunction& flow_;
  const std::vector<const llvm::Instruction*>& by_number_;
  FunctionLinks& links_;
  std::set<uint32_t>& moved_;
  std::unordered_map<std::string, int> by_name_;
};

}  // namespace

bool IsImageAccess(llvm::StringRef intrinsic) {
  return intrinsic.consume_front("llvm.nvvm.") && (intrinsic.starts_with("tex.") || intrinsic.starts_with("tld4.") ||
                                                   intrinsic.starts_with("suld.") || intrinsic.starts_with("sust."));
}

MemoryOperand MemoryOperandOf(const llvm::Instruction& instruction) {
  MemoryOperand operand;
  llvm::Type* type = nullptr;
  if (auto* load = llvm::dyn_cast<llvm::LoadInst>(&instruction)) {
    operand.pointer = load->getPointerOperand();
    type = load->getType();
  } else if (auto* store = llvm::dyn_cast<llvm::StoreInst>(&instruction)) {
    operand.pointer = store->getPointerOperand();
    type = store->getValueOperand()->getType();
  } else if (auto* update = llvm::dyn_cast<llvm::AtomicRMWInst>(&instruction)) {
    operand.pointer = update->getPointerOperand();
    type = update->getType();
  } else if (auto* exchange = llvm::dyn_cast<llvm::AtomicCmpXchgInst>(&instruction)) {
    operand.pointer = exchange->getPointerOperand();
    type = exchange->getNewValOperand()->getType();
  } else if (auto* intrinsic = llvm::dyn_cast<llvm::IntrinsicInst>(&instruction)) {
    const llvm::StringRef name = intrinsic->getCalledFunction()->getName();
    if (IsImageAccess(name)) {
      operand.pointer = intrinsic->getArgOperand(0);
      operand.is_image = true;
      return operand;
    }
    if (name.starts_with("llvm.nvvm.atomic.") || name.starts_with("llvm.nvvm.ldg.") ||
        name.starts_with("llvm.nvvm.ldu.")) {
      operand.pointer = intrinsic->getArgOperand(0);
      type = intrinsic->getType();
    }
  }
  if (operand.pointer == nullptr) return operand;
  if (operand.pointer->getType()->getPointerAddressSpace() == kParameterSpace) return MemoryOperand();
  operand.bytes = instruction.getModule()->getDataLayout().getTypeStoreSize(type);
  operand.is_vector = type->isVectorTy();
  return operand;
}

const llvm::Instruction* AccessNamedBy(const llvm::Instruction* named) {
  if (named == nullptr) return nullptr;
  const unsigned opcode = named->getOpcode();
  if (opcode != llvm::Instruction::ZExt && opcode != llvm::Instruction::SExt && opcode != llvm::Instruction::Trunc &&
      opcode != llvm::Instruction::And && opcode != llvm::Instruction::BitCast) {
    return named;
  }
  const llvm::Instruction* load = nullptr;
  for (const llvm::Value* operand : named->operands()) {
    const auto* candidate = llvm::dyn_cast<llvm::LoadInst>(operand);
    if (candidate == nullptr || candidate->getParent() != named->getParent()) continue;
    if (load != nullptr) return named;  // of two loads, no telling which
    load = candidate;
  }
  return load != nullptr ? load : named;
}

std::vector<const llvm::Instruction*> InstructionsByNumber(const llvm::Module& module) {
  std::vector<const llvm::Instruction*> result(1, nullptr);
  for (const llvm::Function& function : module) {
    for (const llvm::Instruction& instruction : llvm::instructions(function)) {
      const uint32_t number = NumberOf(instruction);
      if (number >= result.size()) result.resize(number + 1, nullptr);
      result[number] = &instruction;
    }
  }
  result[0] = nullptr;
  return result;
}

uint32_t CountColumns(const FlowInstruction& instruction, const std::vector<const llvm::Instruction*>& by_number) {
  if (instruction.collective != nullptr && instruction.collective->operand_size() > 0) {
    return trace::CountColumns(*instruction.collective);
  }
  if (!IsMemory(instruction) || instruction.opcode.space == v1::SPACE_PARAM) return 0;
  if (instruction.id == 0 || instruction.id >= by_number.size()) return 1;
  const auto* call = llvm::dyn_cast_or_null<llvm::CallInst>(by_number[instruction.id]);
  return call == nullptr || llvm::isa<llvm::IntrinsicInst>(call) || call->isInlineAsm() ? 1 : 0;
}

absl::Status LinkFunction(const CanonicalModule& module, const llvm::Function& function, const FlowFunction& flow,
                          const std::vector<const llvm::Instruction*>& by_number, FunctionLinks* links,
                          std::set<uint32_t>* moved) {
  return Linker(module, function, flow, by_number, links, moved).Link();
}

}  // namespace heddle::tracegen
