#include "tracegen/program/ptx_source/function_lowering.h"

#include <algorithm>
#include <iterator>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "llvm/IR/InlineAsm.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/Intrinsics.h"
#include "llvm/IR/IntrinsicsNVPTX.h"
#include "llvm/Transforms/Utils/BasicBlockUtils.h"
#include "tracegen/program/lowered_module.h"
#include "tracegen/program/ptx_source/ptx_error.h"
#include "tracegen/program/ptx_source/signature.h"
#include "tracegen/program/ptx_source/statement.h"
#include "traces/base/status_macros.h"

namespace heddle::tracegen {
namespace {

using llvm::Value;
using ptx::StateSpace;
using Kind = ptx::Operand::Kind;

// Of the arguments of all calls of a function: each of their words is a variable.
constexpr uint64_t kMostParameterBytes = 1 << 20;

// Instructions that leave nothing behind: one thread runs at a time, and what it writes is seen at once.
bool DoesNothing(std::string_view op) {
  static constexpr std::string_view kNames[] = {"membar",    "fence",      "prefetch",      "prefetchu",
                                                "nanosleep", "pmevent",    "brkpt",         "applypriority",
                                                "discard",   "setmaxnreg", "griddepcontrol"};
  return std::find(std::begin(kNames), std::end(kNames), op) != std::end(kNames);
}

class Lowering {
 public:
  Lowering(const ModuleContext& in, uint32_t index, const Layout& layout, llvm::DISubprogram* scope,
           FunctionLinks* links)
      : in_(in),
        index_(index),
        source_(in.source.functions[index]),
        layout_(layout),
        function_(in.functions[index]),
        scope_(scope),
        links_(*links),
        entry_(llvm::BasicBlock::Create(in.module.getContext(), "entry", function_)),
        end_of_entry_(new llvm::UnreachableInst(in.module.getContext(), entry_)),
        b_(end_of_entry_),
        operands_(in, index, b_, end_of_entry_),
        in_memory_(SymbolsInMemory(source_)) {}

  absl::Status Run() {
    operands_.registers().ChooseTypes();
    HEDDLE_RETURN_IF_ERROR(MakeVariables());
    MakeBlocks();
    for (size_t i = 0; i < layout_.nodes.size(); ++i) {
      if (blocks_[i] != nullptr) HEDDLE_RETURN_IF_ERROR(Node(i));
    }
    // The entry leads to the first node; nothing else leads to it.
    llvm::BranchInst* branch = llvm::BranchInst::Create(blocks_[0], end_of_entry_->getIterator());
    branch->setDebugLoc(Location(0));
    end_of_entry_->eraseFromParent();
    links_.blocks[entry_] = BlockLink{};
    links_.edges[branch] = {EdgeLink{}};
    operands_.registers().Promote(*function_);
    return absl::OkStatus();
  }

 private:
  llvm::DebugLoc Location(uint32_t id) const {
    if (scope_ == nullptr) return llvm::DebugLoc();
    return llvm::DILocation::get(in_.module.getContext(), id, 0, scope_);
  }

  // Parameters, results and local memory.
  absl::Status MakeVariables() {
    llvm::LLVMContext& context = in_.module.getContext();
    uint64_t parameter_bytes = 0;
    for (const ptx::Variable& variable : source_.variables) {
      if (variable.space == StateSpace::kParam) parameter_bytes += variable.Bytes();
    }
    if (parameter_bytes > kMostParameterBytes) {
      return absl::ResourceExhaustedError(absl::StrCat("PTX line ", source_.line, ": ", parameter_bytes,
                                                       " bytes of arguments in one function; ", kMostParameterBytes,
                                                       " are supported"));
    }
    for (uint32_t i = 0; i < source_.parameters.size(); ++i) {
      HEDDLE_RETURN_IF_ERROR(MakeParameter(i));
    }
    for (uint32_t i = 0; i < source_.returns.size(); ++i) {
      const ptx::Variable& variable = source_.returns[i];
      if (variable.space == StateSpace::kReg) continue;
      HEDDLE_ASSIGN_OR_RETURN(llvm::Type * type, PassedType(context, variable));
      operands_.blocks[{ptx::SymbolKind::kReturn, i}] = ParameterBlock(operands_.registers(), type);
    }
    for (uint32_t i = 0; i < source_.variables.size(); ++i) {
      const ptx::Variable& variable = source_.variables[i];
      if (variable.space == StateSpace::kParam) {
        HEDDLE_ASSIGN_OR_RETURN(llvm::Type * type, PassedType(context, variable));
        operands_.blocks[{ptx::SymbolKind::kLocal, i}] = in_memory_.contains({ptx::SymbolKind::kLocal, i})
                                                             ? ParameterBlock(Memory(type, variable.Alignment()))
                                                             : ParameterBlock(operands_.registers(), type);
      } else if (variable.space == StateSpace::kLocal && variable.Bytes() > 0) {
        llvm::Type* type = llvm::ArrayType::get(b_.getInt8Ty(), variable.Bytes());
        operands_.locals[i] = b_.CreatePtrToInt(Memory(type, variable.Alignment()), b_.getInt64Ty());
      }
    }
    return absl::OkStatus();
  }

  // Local memory of the function's own.
  llvm::AllocaInst* Memory(llvm::Type* type, uint64_t alignment) {
    llvm::AllocaInst* made = b_.CreateAlloca(type);
    made->setAlignment(llvm::Align(llvm::bit_ceil(std::max<uint64_t>(1, alignment))));
    return made;
  }

  absl::Status MakeParameter(uint32_t i) {
    const ptx::Variable& variable = source_.parameters[i];
    llvm::Argument* argument = function_->getArg(i);
    argument->setName(variable.name);
    ParameterBlock& block = operands_.blocks[{ptx::SymbolKind::kParameter, i}];
    if (source_.is_kernel) {
      if (argument->hasByValAttr()) {
        block = ParameterBlock(argument);
        return absl::OkStatus();
      }
      llvm::Type* type = b_.getIntNTy(static_cast<unsigned>(variable.Bytes() * 8));
      block = ParameterBlock(operands_.registers(), type);
      block.SetWhole(b_, AsType(b_, argument, type));
      return absl::OkStatus();
    }
    if (variable.space == StateSpace::kReg) {
      if (source_.RegisterOf(variable.register_number).vector > 1) {
        return absl::UnimplementedError(absl::StrCat("PTX line ", variable.line, ": parameter '", variable.name,
                                                     "', a vector register, is not supported; pass its elements"));
      }
      llvm::AllocaInst* to = operands_.registers().Of(variable.register_number);
      b_.CreateStore(AsType(b_, argument, to->getAllocatedType()), to);
      return absl::OkStatus();
    }
    llvm::Type* type = argument->getType();
    block = in_memory_.contains({ptx::SymbolKind::kParameter, i}) ? ParameterBlock(Memory(type, variable.Alignment()))
                                                                  : ParameterBlock(operands_.registers(), type);
    block.SetWhole(b_, argument);
    return absl::OkStatus();
  }

  // IR blocks for all nodes that control can come to.
  void MakeBlocks() {
    blocks_.assign(layout_.nodes.size(), nullptr);
    const std::vector<bool> reached = ReachedNodes(layout_.flow);
    for (size_t i = 0; i < blocks_.size(); ++i) {
      if (!reached[i]) continue;
      blocks_[i] = llvm::BasicBlock::Create(in_.module.getContext(), layout_.flow.nodes[i].name, function_);
    }
  }

  absl::Status Error(const LayoutStep& step, absl::string_view what) const {
    return PtxError(in_.source, source_, step.line, *step.instruction, what);
  }

  absl::Status Node(size_t i) {
    const FlowNode& flow = layout_.flow.nodes[i];
    const LayoutNode& node = layout_.nodes[i];
    node_ = static_cast<int>(i);
    position_ = 0;
    b_.SetInsertPoint(blocks_[i]);
    BlockLink link;
    link.instructions = static_cast<uint32_t>(flow.instructions.size());
    for (const LayoutStep& step : node.steps) {
      b_.SetCurrentDebugLocation(Location(step.id));
      operands_.SetGuard(step.instruction->guard && !node.under_guard ? operands_.Predicate(*step.instruction->guard)
                                                                      : nullptr);
      HEDDLE_RETURN_IF_ERROR(Step(step));
      operands_.SetGuard(nullptr);
    }
    link.accesses = position_;
    links_.nodes[blocks_[i]] = node_;
    links_.blocks[blocks_[i]] = link;
    return End(flow, node);
  }

  bool IsVectorRegister(const ptx::Operand& operand) const {
    return operand.kind == Kind::kRegister && operand.selector.empty() && source_.RegisterOf(operand.index).vector > 1;
  }

  // The instruction with its whole vector registers (.reg .v4) as vectors of their elements.
  ptx::Instruction WithElements(ptx::Instruction instruction) const {
    static constexpr std::string_view kSelectors[] = {"x", "y", "z", "w"};
    for (ptx::Operand& operand : instruction.operands) {
      if (!IsVectorRegister(operand)) continue;
      ptx::Operand vector;
      vector.kind = Kind::kVector;
      vector.line = operand.line;
      vector.written = operand.written;
      for (uint32_t i = 0; i < source_.RegisterOf(operand.index).vector && i < std::size(kSelectors); ++i) {
        vector.elements.push_back(operand);
        vector.elements.back().selector = kSelectors[i];
      }
      operand = std::move(vector);
    }
    return instruction;
  }

  absl::Status Step(const LayoutStep& step) {
    if (std::any_of(step.instruction->operands.begin(), step.instruction->operands.end(),
                    [this](const ptx::Operand& operand) { return IsVectorRegister(operand); })) {
      const ptx::Instruction expanded = WithElements(*step.instruction);
      return Step(step, expanded);
    }
    return Step(step, *step.instruction);
  }

  absl::Status Step(const LayoutStep& step, const ptx::Instruction& at) {
    const std::string_view op = at.opcode();
    const bool for_code_generator = in_.purpose == LoweringPurpose::kCodeGenerator;
    if (op == "bra" || op == "brx" || op == "ret" || op == "exit" || op == "trap" ||
        (DoesNothing(op) && !for_code_generator)) {
      return absl::OkStatus();
    }
    operands_.failure.clear();
    ptx::Emission emission(b_, at, operands_);
    StepContext context{operands_, emission, at, b_};
    if (for_code_generator && BecomesStatement(at)) {
      const bool made = LowerAsStatement(context);
      if (!operands_.failure.empty()) return Error(step, operands_.failure);
      return made ? absl::OkStatus() : Error(step, "PTX instruction that is not supported in this form");
    }
    if (op == "call") {
      if (absl::Status status = LowerCall(context); !status.ok()) return Error(step, status.message());
      return operands_.failure.empty() ? absl::OkStatus() : Error(step, operands_.failure);
    }
    llvm::Instruction* access = nullptr;
    const bool known = LowerMove(context) || LowerMemory(context, &access) || LowerAtomic(context, &access) ||
                       LowerImageAccess(context, &access) || LowerAsynchronous(context, &access) ||
                       LowerMeeting(context) || LowerMatrix(context, &access) || EmitComputation(emission);
    if (!operands_.failure.empty()) return Error(step, operands_.failure);
    if (!known) return Error(step, "PTX instruction that is not supported in this form");
    return Link(step, access);
  }

  absl::Status Link(const LayoutStep& step, llvm::Instruction* access) {
    if (step.flow_index < 0) return absl::OkStatus();
    const FlowInstruction& flow =
        layout_.flow.nodes[static_cast<size_t>(node_)].instructions[static_cast<size_t>(step.flow_index)];
    static const auto& nobody = *new std::vector<const llvm::Instruction*>();
    const uint32_t columns = CountColumns(flow, nobody);
    if (columns == 0) return absl::OkStatus();
    if (access == nullptr) return Error(step, "a memory access that cannot be recorded");
    for (uint32_t i = 0; i < columns; ++i) {
      links_.accesses[access].push_back({node_, static_cast<uint32_t>(step.flow_index), position_++, 0});
    }
    return absl::OkStatus();
  }

  llvm::BasicBlock* BlockOf(int node) const { return blocks_[static_cast<size_t>(node)]; }

  absl::Status End(const FlowNode& flow, const LayoutNode& node) {
    const uint32_t id = flow.instructions.empty() ? 0 : flow.instructions.back().id;
    b_.SetCurrentDebugLocation(Location(id));
    const ptx::Instruction* last = node.steps.empty() ? nullptr : node.steps.back().instruction;
    switch (flow.end) {
      case FlowEnd::kFallThrough:
      case FlowEnd::kCall:
        if (flow.next == kNoNode) return absl::InternalError("PTX control flow leads nowhere");
        links_.edges[b_.CreateBr(BlockOf(flow.next))] = {EdgeLink{}};
        return absl::OkStatus();
      case FlowEnd::kConditional: {
        const ptx::Operand& guard = node.guard != nullptr ? *node.guard : *last->guard;
        Value* condition = operands_.Predicate(guard);
        EdgeLink fall, taken;
        fall.decides = taken.decides = true;
        taken.decision = 1;
        if (node.guard != nullptr) {
          links_.edges[b_.CreateCondBr(condition, BlockOf(flow.next), BlockOf(flow.taken))] = {fall, taken};
        } else {
          links_.edges[b_.CreateCondBr(condition, BlockOf(flow.taken), BlockOf(flow.next))] = {taken, fall};
        }
        return absl::OkStatus();
      }
      case FlowEnd::kWide:
        return WideBranch(flow, *last);
      case FlowEnd::kReturn:
        return Return();
      case FlowEnd::kExit:
        return Exit(last);
    }
    return absl::OkStatus();
  }

  // The default, which PTX does not have, is the first target's.
  absl::Status WideBranch(const FlowNode& flow, const ptx::Instruction& branch) {
    Value* number = operands_.Read(branch.operands[0], b_.getInt32Ty());
    llvm::SwitchInst* choice =
        b_.CreateSwitch(number, BlockOf(flow.targets[0]), static_cast<unsigned>(flow.targets.size()));
    llvm::SmallVector<EdgeLink, 2> edges(1);
    edges[0].decides = true;
    for (size_t i = 0; i < flow.targets.size(); ++i) {
      choice->addCase(b_.getInt32(static_cast<uint32_t>(i)), BlockOf(flow.targets[i]));
      EdgeLink edge;
      edge.decides = true;
      edge.decision = static_cast<uint8_t>(i);
      edges.push_back(edge);
    }
    links_.edges[choice] = std::move(edges);
    return absl::OkStatus();
  }

  absl::Status Return() {
    llvm::Type* type = function_->getReturnType();
    if (type->isVoidTy()) {
      b_.CreateRetVoid();
      return absl::OkStatus();
    }
    auto* record = llvm::dyn_cast<llvm::StructType>(type);
    Value* whole = record != nullptr ? llvm::PoisonValue::get(type) : nullptr;
    for (uint32_t i = 0; i < source_.returns.size(); ++i) {
      const ptx::Variable& variable = source_.returns[i];
      llvm::Type* part_type = record != nullptr ? record->getElementType(i) : type;
      Value* part = nullptr;
      if (variable.space == StateSpace::kReg) {
        llvm::AllocaInst* from = operands_.registers().Of(variable.register_number);
        part = AsType(b_, b_.CreateLoad(from->getAllocatedType(), from), part_type);
      } else {
        part = operands_.blocks[{ptx::SymbolKind::kReturn, i}].Whole(b_, part_type);
      }
      whole = record != nullptr ? b_.CreateInsertValue(whole, part, i) : part;
    }
    b_.CreateRet(whole);
    return absl::OkStatus();
  }

  absl::Status Exit(const ptx::Instruction* last) {
    const std::string_view op = last == nullptr ? "ret" : last->opcode();
    if (source_.is_kernel && (op == "ret" || op == "exit")) {
      b_.CreateRetVoid();
      return absl::OkStatus();
    }
    if (in_.purpose == LoweringPurpose::kCodeGenerator && (op == "exit" || op == "trap")) {
      llvm::FunctionType* type = llvm::FunctionType::get(b_.getVoidTy(), false);
      b_.CreateCall(type, llvm::InlineAsm::get(type, absl::StrCat(std::string(op), ";"), "", /*hasSideEffects=*/true));
    } else {
      if (op == "exit") b_.CreateIntrinsic(llvm::Intrinsic::nvvm_exit, {}, {});
      if (op == "trap") b_.CreateIntrinsic(llvm::Intrinsic::trap, {}, {});
    }
    b_.CreateUnreachable();
    return absl::OkStatus();
  }

  const ModuleContext& in_;
  const uint32_t index_;
  const ptx::Function& source_;
  const Layout& layout_;
  llvm::Function* function_;
  llvm::DISubprogram* scope_;
  FunctionLinks& links_;
  llvm::BasicBlock* entry_;
  llvm::Instruction* end_of_entry_;
  llvm::IRBuilder<> b_;
  FunctionOperands operands_;
  const SymbolSet in_memory_;
  std::vector<llvm::BasicBlock*> blocks_;  // by node; null for what control cannot come to
  int node_ = kNoNode;
  uint32_t position_ = 0;  // of the next access among those of the node
};

}  // namespace

SymbolSet SymbolsInMemory(const ptx::Function& function) {
  SymbolSet symbols;
  const auto add = [&](const ptx::Operand& operand) {
    if (operand.kind == Kind::kSymbol) symbols.emplace(operand.symbol, operand.index);
  };
  for (const ptx::Statement& statement : function.body) {
    const ptx::Instruction* instruction = statement.instruction();
    if (instruction == nullptr || instruction->opcode() == "call") continue;
    const bool moves =
        (instruction->opcode() == "ld" || instruction->opcode() == "st") && instruction->Space() == StateSpace::kParam;
    for (const ptx::Operand& operand : instruction->operands) {
      add(operand);
      if (operand.kind == Kind::kAddress && moves) continue;
      for (const ptx::Operand& element : operand.elements) add(element);
    }
  }
  return symbols;
}

absl::Status LowerFunction(const ModuleContext& in, uint32_t index, const Layout& layout, llvm::DISubprogram* scope,
                           FunctionLinks* links) {
  return Lowering(in, index, layout, scope, links).Run();
}

}  // namespace heddle::tracegen
