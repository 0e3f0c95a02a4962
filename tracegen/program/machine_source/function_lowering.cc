#include "tracegen/program/machine_source/function_lowering.h"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "llvm/IR/Constants.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/Intrinsics.h"
#include "llvm/IR/IntrinsicsNVPTX.h"
#include "tracegen/machine/meaning/meaning.h"
#include "tracegen/program/lowered_module.h"
#include "tracegen/program/machine_source/collective_text.h"
#include "tracegen/program/machine_source/function_shapes.h"
#include "tracegen/program/machine_source/machine_error.h"
#include "tracegen/program/machine_source/machine_state.h"
#include "tracegen/program/machine_source/machine_step.h"
#include "tracegen/program/operand_marker.h"
#include "traces/base/status_macros.h"

namespace heddle::tracegen {
namespace {

namespace v1 = ::heddle::trace::v1;
using llvm::Value;
using machine::Effect;
using machine::ProgramInstruction;
using machine::Register;

constexpr uint64_t kUpperHalf = ~uint64_t{0xffff'ffff};
constexpr uint64_t kStackAlignment = 16;
// On a card the program says how much that is (cudaLimitStackSize). Here it is half of a thread's local memory.
constexpr uint64_t kStackOfUnknownCalls = 256 << 10;

class Lowering {
 public:
  Lowering(const MachineContext& in, uint32_t index, const MachineLayout& layout, llvm::DISubprogram* scope,
           FunctionLinks* links)
      : in_(in),
        index_(index),
        source_(in.function(index)),
        layout_(layout),
        function_(in.functions[index]),
        scope_(scope),
        links_(*links),
        entry_(llvm::BasicBlock::Create(in.module.getContext(), "entry", function_)),
        end_of_entry_(new llvm::UnreachableInst(in.module.getContext(), entry_)),
        b_(end_of_entry_),
        state_(in, index, b_, end_of_entry_) {}

  absl::Status Run() {
    if (source_.is_kernel) {
      BeginKernel();
    } else {
      TakeRegisters();
    }
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
    state_.Promote(*function_);
    return absl::OkStatus();
  }

 private:
  llvm::DebugLoc Location(uint32_t id) const { return llvm::DILocation::get(in_.module.getContext(), id, 0, scope_); }

  // Local memory of the thread: the stack of the kernel and of all that it calls.
  void BeginKernel() {
    const machine::CodeSection& section = in_.SectionOf(index_);
    uint64_t wanted = std::max(section.stack_bytes, section.frame_bytes);
    if (in_.shapes[index_].calls_without_end) wanted += kStackOfUnknownCalls;
    const uint64_t bytes = (wanted + kStackAlignment - 1) / kStackAlignment * kStackAlignment;
    Value* window = b_.getInt64(0);
    Value* end = b_.getInt64(0);
    if (bytes != 0) {
      llvm::AllocaInst* stack = b_.CreateAlloca(llvm::ArrayType::get(b_.getInt8Ty(), bytes));
      stack->setAlignment(llvm::Align(kStackAlignment));
      Value* begin = b_.CreatePtrToInt(stack, b_.getInt64Ty());
      window = b_.CreateAnd(begin, kUpperHalf);
      end = b_.CreateAdd(begin, b_.getInt64(bytes));
    }
    state_.banks().SetLocalMemory(window, end);
    if (section.static_shared_bytes != 0) ReserveShared(section);
  }

  // Machine code knows places in shared memory, and no names. One variable holds them; it is named once, so that it is
  // there.
  void ReserveShared(const machine::CodeSection& section) {
    constexpr unsigned kSharedSpace = 3;
    llvm::Type* type = llvm::ArrayType::get(b_.getInt8Ty(), section.static_shared_bytes);
    auto* variable = new llvm::GlobalVariable(
        in_.module, type, /*isConstant=*/false, llvm::GlobalValue::ExternalLinkage, llvm::UndefValue::get(type),
        absl::StrCat("heddle.shared.", section.function), nullptr, llvm::GlobalValue::NotThreadLocal, kSharedSpace);
    variable->setAlignment(llvm::Align(kStackAlignment));
    b_.Insert(llvm::CastInst::Create(llvm::Instruction::PtrToInt, variable, b_.getInt32Ty()));
  }

  void TakeRegisters() {
    const FunctionShape& shape = in_.shapes[index_];
    state_.banks().SetLocalMemory(function_->getArg(0), nullptr);
    unsigned next = 1;
    for (const int64_t at : shape.words) state_.banks().SetParameterWord(at, function_->getArg(next++));
    for (const Register& reg : shape.passed) state_.Set(reg, function_->getArg(next++));
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

  absl::Status Node(size_t i) {
    const FlowNode& flow = layout_.flow.nodes[i];
    const MachineNode& node = layout_.nodes[i];
    node_ = static_cast<int>(i);
    position_ = 0;
    b_.SetInsertPoint(blocks_[i]);
    BlockLink link;
    link.instructions = static_cast<uint32_t>(flow.instructions.size());
    for (const MachineStep& step : node.steps) {
      b_.SetCurrentDebugLocation(Location(step.id));
      const bool chooses = step.instruction->is_guarded && !node.under_guard;
      state_.SetGuard(chooses ? state_.Predicate(*step.instruction->text.guard) : nullptr);
      HEDDLE_RETURN_IF_ERROR(Step(step));
      state_.SetGuard(nullptr);
    }
    link.accesses = position_;
    links_.nodes[blocks_[i]] = node_;
    links_.blocks[blocks_[i]] = link;
    return End(flow, node);
  }

  absl::Status Step(const MachineStep& step) {
    const machine::Instruction& at = step.instruction->text;
    const machine::OpcodeMeaning& meaning = *machine::MeaningOf(at);
    machine::Emission emission(b_, at, state_);
    emission.immediate = EncodedNumber(*step.instruction);
    MachineStepContext context{emission, *step.instruction, state_, b_};
    llvm::Instruction* access = nullptr;
    llvm::Instruction* const uniform = MarkUniform(step);
    switch (meaning.effect) {
      case Effect::kComputes:
        if (AsksWhatOthersHold(at)) {
          LowerMachineMeeting(context, &access);
        } else {
          meaning.emit(emission);
        }
        break;
      case Effect::kAccesses:
        if (step.instruction->op == v1::OP_ATOMIC) {
          LowerMachineAtomic(context, &access);
        } else if (IsMachineCopy(at)) {
          LowerMachineCopy(context, &access);
        } else if (IsMachineTransaction(at)) {
          LowerMachineTransaction(context, &access);
        } else {
          LowerMachineAccess(context, &access);
        }
        break;
      case Effect::kMeets:
        if (MatrixOperationOf(at)) {
          LowerMachineMatrix(context, &access);
        } else {
          LowerMachineMeeting(context, &access);
        }
        break;
      case Effect::kControls:
        Control(context);
        break;
      case Effect::kNothing:
        break;
    }
    if (!emission.failure.empty()) return Error(*step.instruction, emission.failure);
    return Link(step, access, uniform);
  }

  // Hands over what the step's uniform registers hold; null if it has none.
  llvm::Instruction* MarkUniform(const MachineStep& step) {
    if (step.uniform.empty()) return nullptr;
    std::vector<Value*> values;
    for (const Register& reg : step.uniform) values.push_back(state_.Read(reg));
    return MarkOperands(b_, values);
  }

  // Where the 128 bits of an instruction hold a number of 32 bits, as the assembler's own code shows.
  uint32_t EncodedNumber(const ProgramInstruction& instruction) const {
    return static_cast<uint32_t>(in_.SectionOf(index_).code[instruction.offset / machine::kInstructionBytes][0] >> 32);
  }

  absl::Status Error(const ProgramInstruction& instruction, absl::string_view what) const {
    return MachineError(source_, instruction, absl::StrCat("cannot be executed yet: ", what));
  }

  // `uniform`: what hands over the last operands, those of uniform registers.
  absl::Status Link(const MachineStep& step, llvm::Instruction* access, llvm::Instruction* uniform) {
    const FlowInstruction& flow = layout_.flow.nodes[static_cast<size_t>(node_)].instructions[step.flow_index];
    static const auto& nobody = *new std::vector<const llvm::Instruction*>();
    const uint32_t columns = CountColumns(flow, nobody);
    if (columns == 0) return absl::OkStatus();
    const uint32_t own = columns - static_cast<uint32_t>(step.uniform.size());
    if (own != 0 && access == nullptr) return Error(*step.instruction, "a memory access that cannot be recorded");
    for (uint32_t i = 0; i < columns; ++i) {
      links_.accesses[i < own ? access : uniform].push_back({node_, step.flow_index, position_++, 0});
    }
    return absl::OkStatus();
  }

  // What is left of control flow where the block ends is up to End.
  void Control(MachineStepContext& step) {
    const std::string_view op = step.e.at.opcode();
    if (op == "BSSY") {
      LowerBarrierSet(step, PlaceOf(step.instruction.convergence_block), in_.shapes[index_].meets);
    } else if (op == "BMOV") {
      LowerBarrierMove(step);
    } else if (op == "BSYNC" && in_.shapes[index_].meets) {
      LowerBarrierMeeting(step);
    } else if (op == "BREAK" && in_.shapes[index_].meets) {
      LowerBarrierBreak(step);
    } else if (op == "CALL" && step.instruction.op == v1::OP_CALL && IsCall()) {
      Call(step.e);
    }
  }

  uint64_t PlaceOf(uint32_t block) const {
    return in_.program().instructions[in_.program().blocks[block].first_instruction].offset;
  }

  bool IsCall() const { return layout_.flow.nodes[static_cast<size_t>(node_)].end == FlowEnd::kCall; }

  void Call(machine::Emission& e) {
    const FlowNode& node = layout_.flow.nodes[static_cast<size_t>(node_)];
    if (node.indirect) return CallPointer(e);
    uint32_t callee = 0;
    while (in_.function(callee).name != node.callees.at(0)) ++callee;
    Call(e, callee, in_.functions[callee]);
  }

  // The pointer is a place in the section, counted from the function that is named.
  void CallPointer(machine::Emission& e) {
    const std::vector<uint32_t> pointed = PointedFunctions(in_.program(), source_.section);
    const machine::Operand* label = e.Find('l');
    const machine::ProgramFunction* from = label != nullptr ? in_.program().Find(label->text) : nullptr;
    if (pointed.empty() || from == nullptr || !e.Has("REL")) {
      e.Fail("where a call through a pointer leads");
      return;
    }
    Value* place = b_.CreateAdd(e.In(0), b_.getInt32(static_cast<uint32_t>(from->offset)));
    Value* pointer = llvm::ConstantPointerNull::get(b_.getPtrTy());
    for (const uint32_t function : pointed) {
      Value* is_this = b_.CreateICmpEQ(place, b_.getInt32(static_cast<uint32_t>(in_.function(function).offset)));
      pointer = b_.CreateSelect(is_this, in_.functions[function], pointer);
    }
    Call(e, pointed[0], pointer);
  }

  // `target`: the function, or one that is called in the same way.
  void Call(machine::Emission& e, uint32_t callee, Value* target) {
    const FunctionShape& shape = in_.shapes[callee];
    std::vector<Value*> arguments = {state_.banks().local_window()};
    for (const int64_t at : shape.words) {
      Value* word = state_.banks().Word(0, at);
      arguments.push_back(word != nullptr ? word : e.Fail("a parameter of the kernel that the function reads"));
    }
    for (const Register& reg : shape.passed) arguments.push_back(state_.Read(reg));
    Value* results = b_.CreateCall(in_.functions[callee]->getFunctionType(), target, arguments);
    for (unsigned i = 0; i < shape.returned.size(); ++i) {
      state_.Set(shape.returned[i], b_.CreateExtractValue(results, i));
    }
  }

  llvm::BasicBlock* BlockOf(int node) const { return blocks_[static_cast<size_t>(node)]; }

  absl::Status End(const FlowNode& flow, const MachineNode& node) {
    const uint32_t id = flow.instructions.empty() ? 0 : flow.instructions.back().id;
    b_.SetCurrentDebugLocation(Location(id));
    const ProgramInstruction* last = node.steps.empty() ? nullptr : node.steps.back().instruction;
    switch (flow.end) {
      case FlowEnd::kFallThrough:
      case FlowEnd::kCall:
        if (flow.next == kNoNode) return absl::InternalError("control flow of machine code leads nowhere");
        links_.edges[b_.CreateBr(BlockOf(flow.next))] = {EdgeLink{}};
        return absl::OkStatus();
      case FlowEnd::kConditional:
        return Conditional(flow, node, last);
      case FlowEnd::kWide:
        return WideBranch(flow, node, *last);
      case FlowEnd::kReturn:
        return Return();
      case FlowEnd::kExit:
        Exit(*last);
        return absl::OkStatus();
    }
    return absl::OkStatus();
  }

  absl::Status Conditional(const FlowNode& flow, const MachineNode& node, const ProgramInstruction* last) {
    EdgeLink fall, taken;
    fall.decides = taken.decides = true;
    taken.decision = 1;
    if (node.guard != nullptr) {
      Value* condition = state_.Predicate(*node.guard);
      if (node.second_guard != nullptr) {
        condition = b_.CreateAnd(condition, state_.Predicate(*node.second_guard));
      }
      links_.edges[b_.CreateCondBr(condition, BlockOf(flow.next), BlockOf(flow.taken))] = {fall, taken};
      return absl::OkStatus();
    }
    machine::Emission emission(b_, last->text, state_);
    Value* condition = nullptr;
    if (last->text.Has("DIV") || last->text.Has("CONV")) {
      // Threads whose guard is false count as if they were not there.
      Value* counts = last->is_guarded ? state_.Predicate(*last->text.guard) : b_.getTrue();
      condition = LowerDiverged(emission, counts);
      if (last->text.Has("CONV")) condition = b_.CreateNot(condition);
    } else {
      condition = emission.InPredicate(0, true);
      if (last->is_guarded) condition = b_.CreateAnd(state_.Predicate(*last->text.guard), condition);
    }
    if (!emission.failure.empty()) return Error(*last, emission.failure);
    links_.edges[b_.CreateCondBr(condition, BlockOf(flow.taken), BlockOf(flow.next))] = {taken, fall};
    return absl::OkStatus();
  }

  // The default, which the machine does not have, is the first target's.
  absl::Status WideBranch(const FlowNode& flow, const MachineNode& node, const ProgramInstruction& last) {
    machine::Emission emission(b_, last.text, state_);
    Value* place = nullptr;
    if (last.text.opcode() == "BSYNC") {
      place = MeetingOffset(b_, state_.Read(emission.Find('b')->use.reg));
    } else if (last.text.opcode() == "BRX" && emission.Find('l')->kind == machine::Operand::Kind::kImmediate) {
      // Relative to the instruction behind it.
      const uint64_t base = last.offset + machine::kInstructionBytes + static_cast<uint64_t>(emission.Find('l')->value);
      place = b_.CreateAdd(emission.In(0), b_.getInt32(static_cast<uint32_t>(base)));
    }
    if (place == nullptr || !emission.failure.empty()) {
      return Error(last, emission.failure.empty() ? "where this leads" : emission.failure);
    }
    llvm::SwitchInst* choice =
        b_.CreateSwitch(place, BlockOf(flow.targets[0]), static_cast<unsigned>(flow.targets.size()));
    llvm::SmallVector<EdgeLink, 2> edges(1);
    edges[0].decides = true;
    for (size_t i = 0; i < flow.targets.size(); ++i) {
      choice->addCase(b_.getInt32(static_cast<uint32_t>(node.target_offsets[i])), BlockOf(flow.targets[i]));
      EdgeLink edge;
      edge.decides = true;
      edge.decision = static_cast<uint8_t>(i);
      edges.push_back(edge);
    }
    links_.edges[choice] = std::move(edges);
    return absl::OkStatus();
  }

  absl::Status Return() {
    if (function_->getReturnType()->isVoidTy()) {
      b_.CreateRetVoid();
      return absl::OkStatus();
    }
    Value* whole = llvm::PoisonValue::get(function_->getReturnType());
    const std::vector<Register>& returned = in_.shapes[index_].returned;
    for (unsigned i = 0; i < returned.size(); ++i) whole = b_.CreateInsertValue(whole, state_.Read(returned[i]), i);
    b_.CreateRet(whole);
    return absl::OkStatus();
  }

  void Exit(const ProgramInstruction& last) {
    if (last.text.opcode() == "EXIT") {
      if (source_.is_kernel) {
        b_.CreateRetVoid();
        return;
      }
      b_.CreateIntrinsic(llvm::Intrinsic::nvvm_exit, {}, {});
    } else {
      b_.CreateIntrinsic(llvm::Intrinsic::trap, {}, {});
    }
    b_.CreateUnreachable();
  }

  const MachineContext& in_;
  const uint32_t index_;
  const machine::ProgramFunction& source_;
  const MachineLayout& layout_;
  llvm::Function* function_;
  llvm::DISubprogram* scope_;
  FunctionLinks& links_;
  llvm::BasicBlock* entry_;
  llvm::Instruction* end_of_entry_;
  llvm::IRBuilder<> b_;
  MachineState state_;
  std::vector<llvm::BasicBlock*> blocks_;  // by node; null for what control cannot come to
  int node_ = kNoNode;
  uint32_t position_ = 0;  // of the next access among those of the node
};

}  // namespace

absl::Status LowerMachineFunction(const MachineContext& in, uint32_t index, const MachineLayout& layout,
                                  llvm::DISubprogram* scope, FunctionLinks* links) {
  return Lowering(in, index, layout, scope, links).Run();
}

}  // namespace heddle::tracegen
