#include "tracegen/program/ptx_source/static_instruction.h"

#include <string_view>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "tracegen/program/device_calls.h"
#include "tracegen/program/prepare.h"
#include "tracegen/program/ptx_source/libdevice.h"
#include "tracegen/program/ptx_source/ptx_error.h"
#include "tracegen/ptx/collective.h"
#include "tracegen/ptx/opcode.h"
#include "traces/base/status_macros.h"

namespace heddle::tracegen {
namespace {

namespace v1 = ::heddle::trace::v1;
using ptx::Instruction;
using Kind = ptx::Operand::Kind;

absl::Status Error(const TextPlace& place, const Instruction& instruction, absl::string_view what) {
  return PtxError(place.module, place.function, place.line, instruction, what);
}

template <typename Visit>
void ForEachSpecial(const ptx::Operand& operand, const Visit& visit) {
  if (operand.kind == Kind::kSpecial) visit(operand.text);
  for (const ptx::Operand& element : operand.elements) ForEachSpecial(element, visit);
}

absl::Status ReadBarrier(const TextPlace& place, const Instruction& instruction, FlowInstruction* flow) {
  size_t numbers = 0;
  for (const ptx::Operand& operand : instruction.operands) {
    if (operand.written) continue;
    if (operand.kind == Kind::kRegister) {
      if (place.function.RegisterOf(operand.index).type.kind == ptx::TypeKind::kPredicate) continue;
      return Error(place, instruction, "barrier whose number or thread count is not a constant");
    }
    if (operand.kind != Kind::kInteger || numbers == 2) continue;
    (numbers++ == 0 ? flow->barrier_id : flow->barrier_threads) = static_cast<uint32_t>(operand.bits);
  }
  return absl::OkStatus();
}

// Arguments and results of a call that are registers (PTX before 2.0).
void AddCallRegisters(const TextPlace& place, const Instruction& call, FlowInstruction* flow) {
  for (const size_t list : {2u, 0u}) {
    ForEachRegister(call.operands[list], [&](const ptx::Operand& operand) {
      (operand.written ? flow->dst : flow->src).push_back(CanonicalName(place.function, operand.index));
    });
  }
}

}  // namespace

std::string CanonicalName(const ptx::Function& function, uint32_t number) {
  const ptx::Type& type = function.RegisterOf(number).type;
  const char* kind = type.kind == ptx::TypeKind::kPredicate ? "%p"
                     : type.bits == 128                     ? "%rq"
                     : type.bits == 64                      ? (type.name == "f64" ? "%fd" : "%rd")
                     : type.bits == 32                      ? (type.name == "f32" ? "%f" : "%r")
                     : type.bits == 16                      ? "%rs"
                                                            : "%rc";
  return absl::StrCat(kind, number);
}

std::optional<uint32_t> ParameterVariable(const Instruction& instruction) {
  const std::string_view op = instruction.opcode();
  if ((op != "ld" && op != "st") || instruction.Space() != ptx::StateSpace::kParam) return std::nullopt;
  const ptx::Operand& address = instruction.operands[op == "ld" ? 1 : 0];
  if (address.elements.empty() || address.elements[0].kind != Kind::kSymbol ||
      address.elements[0].symbol != ptx::SymbolKind::kLocal) {
    return std::nullopt;
  }
  return address.elements[0].index;
}

absl::StatusOr<FlowInstruction> StaticInstruction(const TextPlace& place, const Instruction& instruction) {
  const ptx::Function& function = place.function;
  FlowInstruction flow;
  flow.mnemonic = instruction.Mnemonic();
  flow.opcode = ClassifyOpcode(flow.mnemonic);
  if (flow.opcode.op == v1::OP_UNKNOWN) flow.opcode.op = instruction.form->op;
  if (flow.opcode.op == v1::OP_UNKNOWN) return Error(place, instruction, "PTX instruction that is not known");
  flow.id = place.id;
  flow.is_guarded = instruction.guard && instruction.opcode() != "bra";
  for (const ptx::Operand& operand : instruction.operands) {
    ForEachRegister(operand, [&](const ptx::Operand& at) {
      (at.written ? flow.dst : flow.src).push_back(CanonicalName(function, at.index));
    });
    ForEachSpecial(operand, [&](std::string_view name) {
      if (name == "%ctaid" || name.starts_with("%cluster")) flow.reads_block_index = true;
      if (name.starts_with("%clock") || name.starts_with("%globaltimer") || name == "%smid") flow.reads_clock = true;
    });
  }
  if (instruction.guard) {
    flow.src.push_back(CanonicalName(function, instruction.guard->index));
    // What stays in a result's register where the guard is false is read, too.
    for (const std::string& name : flow.dst) flow.src.push_back(name);
  }
  flow.collective = CollectiveOf(function, instruction);
  if (flow.opcode.op == v1::OP_ASYNC && flow.collective == nullptr) {
    return Error(place, instruction, "asynchronous instruction that a trace does not have in this form");
  }
  if (flow.opcode.op == v1::OP_BARRIER && flow.collective == nullptr) {
    HEDDLE_RETURN_IF_ERROR(ReadBarrier(place, instruction, &flow));
  }
  if (flow.opcode.space == v1::SPACE_PARAM && (flow.opcode.op == v1::OP_LOAD || flow.opcode.op == v1::OP_STORE) &&
      (!function.is_kernel || ParameterVariable(instruction))) {
    // Parameters of device functions are registers to any assembler.
    flow.opcode.op = v1::OP_MOVE;
    flow.opcode.space = v1::SPACE_NONE;
    flow.opcode.access_bytes = 0;
  }
  return flow;
}

FlowInstruction StaticCall(const TextPlace& place, const Instruction& call, const ptx::Function* callee) {
  FlowInstruction flow;
  flow.mnemonic = call.Mnemonic();
  flow.opcode = ClassifyOpcode(flow.mnemonic);
  flow.id = place.id;
  flow.is_guarded = call.guard.has_value();
  AddCallRegisters(place, call, &flow);
  if (callee == nullptr) flow.src.push_back(CanonicalName(place.function, call.operands[1].index));
  if (call.guard) flow.src.push_back(CanonicalName(place.function, call.guard->index));
  return flow;
}

absl::StatusOr<FlowInstruction> StaticLibraryCall(const TextPlace& place, const Instruction& call,
                                                  const ptx::Function& callee) {
  const std::string& name = callee.name;
  FlowInstruction flow;
  flow.mnemonic = absl::StrCat("call.", name);
  flow.opcode.has_result = false;
  flow.id = place.id;
  flow.is_guarded = call.guard.has_value();
  AddCallRegisters(place, call, &flow);
  if (IsFailureCall(name)) {
    flow.opcode.op = v1::OP_EXIT;
    flow.cannot_return = true;
    return flow;
  }
  std::optional<uint32_t> micro_ops = MathMicroOps(name);
  if (!micro_ops) micro_ops = SystemCallMicroOps(name);
  if (!micro_ops && !LibdeviceSignature(name).empty()) micro_ops = 1;
  if (!micro_ops) return Error(place, call, ExplainUndefined(name));
  flow.opcode.op = v1::OP_SFU;
  flow.opcode.micro_ops = *micro_ops;
  return flow;
}

FlowInstruction StaticReturn(const ptx::Function& function, uint32_t id) {
  FlowInstruction flow;
  flow.mnemonic = "ret";
  flow.opcode.op = function.is_kernel ? v1::OP_EXIT : v1::OP_RETURN;
  flow.opcode.has_result = false;
  flow.id = id;
  return flow;
}

}  // namespace heddle::tracegen
