#include "tracegen/program/flow.h"

#include <map>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/strip.h"
#include "tracegen/program/prepare.h"
#include "tracegen/ptx/collective.h"
#include "traces/base/status_macros.h"

namespace heddle::tracegen {
namespace {

namespace v1 = ::heddle::trace::v1;

constexpr size_t kMostCallees = 255;  // a decision is recorded as one byte

void AppendRegisters(std::string_view operand, std::vector<std::string>* registers) {
  for (std::string_view name : RegistersOf(operand)) registers->emplace_back(name);
}

// Operands as LLVM prints them.
std::vector<WrittenOperand> WrittenOperands(const std::vector<std::string>& operands) {
  using Kind = WrittenOperand::Kind;
  std::vector<WrittenOperand> written;
  for (const std::string& operand : operands) {
    WrittenOperand& out = written.emplace_back();
    absl::string_view text = operand;
    int64_t value = 0;
    uint64_t bits = 0;
    if (absl::StartsWith(operand, "[")) {
      out.kind = Kind::kAddress;
    } else if (absl::StartsWith(operand, "%p")) {
      out.kind = Kind::kPredicate;
    } else if (absl::StartsWith(operand, "%r") || absl::StartsWith(operand, "%f")) {
      out.kind = Kind::kRegister;
    } else if (absl::SimpleAtoi(operand, &value)) {
      out = {Kind::kConstant, static_cast<uint64_t>(value)};
    } else if (absl::ConsumePrefix(&text, "0x") && absl::SimpleHexAtoi(text, &bits)) {
      out = {Kind::kConstant, bits};
    } else if (operand == "WARP_SZ") {
      out = {Kind::kConstant, 32};
    }
  }
  return written;
}

class Builder {
 public:
  Builder(const PtxFunction& function, const std::set<std::string>& defined, const IndirectCalls& indirect,
          uint32_t* failed_id)
      : function_(function), defined_(defined), indirect_(indirect), failed_id_(failed_id) {}

  absl::StatusOr<FlowFunction> Build() {
    result_.name = function_.name;
    result_.is_kernel = function_.is_kernel;
    result_.local_bytes = function_.local_bytes;
    for (size_t i = 0; i < function_.blocks.size(); ++i) {
      HEDDLE_RETURN_IF_ERROR(AddBlock(i));
    }
    if (open_) return absl::InternalError(absl::StrCat(function_.name, ": control runs off the end of the PTX"));
    for (const auto& [node, label] : targets_) {
      auto found = labels_.find(label);
      if (found == labels_.end()) return absl::InternalError(absl::StrCat(function_.name, ": no label ", label));
      FlowNode& from = result_.nodes[node];
      (from.end == FlowEnd::kConditional ? from.taken : from.next) = found->second;
    }
    return std::move(result_);
  }

 private:
  absl::Status Error(const PtxInstruction& instruction, absl::string_view what) {
    *failed_id_ = instruction.id;
    return absl::UnimplementedError(
        absl::StrCat(what, ": ", instruction.opcode, " ", absl::StrJoin(instruction.operands, ", ")));
  }

  int NewNode() {
    result_.nodes.emplace_back();
    return static_cast<int>(result_.nodes.size()) - 1;
  }

  // Ends the current node; what follows in the text is reached by falling through if `falls`.
  void Close(FlowEnd end, bool falls) {
    result_.nodes[current_].end = end;
    open_ = falls;
  }

  // What follows the end of a node within its printed block.
  void OpenRest() {
    const int rest = NewNode();
    result_.nodes[current_].next = rest;
    current_ = rest;
  }

  absl::Status AddBlock(size_t index) {
    const PtxRawBlock& block = function_.blocks[index];
    int node;
    if (open_ && after_call_) {
      node = current_;  // results of a call come behind it; they belong to the block that the canonical IR has there
    } else {
      node = NewNode();
      if (open_) result_.nodes[current_].next = node;
    }
    after_call_ = false;
    result_.nodes[node].name = block.name;
    if (!block.label.empty()) labels_[block.label] = node;
    current_ = node;
    open_ = true;
    const std::string next_label = index + 1 < function_.blocks.size() ? function_.blocks[index + 1].label : "";
    for (size_t i = 0; i < block.instructions.size() && open_; ++i) {
      const PtxInstruction& instruction = block.instructions[i];
      if (after_call_ && IsBranch(instruction)) after_call_ = false;
      absl::Status status;
      if (instruction.call_sequence >= 0) {
        status = AddCallSequence(block, &i);
      } else if (IsBranch(instruction)) {
        status = AddBranch(instruction, next_label, i + 1 == block.instructions.size());
      } else {
        status = AddPlain(instruction);
      }
      if (!status.ok()) return status;
    }
    return absl::OkStatus();
  }

  static bool IsBranch(const PtxInstruction& instruction) { return absl::StartsWith(instruction.opcode, "bra"); }

  absl::Status AddBranch(const PtxInstruction& instruction, const std::string& next_label, bool last) {
    if (instruction.operands.size() != 1) return Error(instruction, "unknown kind of branch");
    const std::string& label = instruction.operands[0];
    if (instruction.guard.empty() && label == next_label && last) return absl::OkStatus();
    FlowInstruction branch;
    branch.mnemonic = instruction.opcode;
    branch.opcode = ClassifyOpcode(instruction.opcode);
    branch.id = instruction.id;
    if (!instruction.guard.empty()) branch.src.push_back(instruction.guard);
    result_.nodes[current_].instructions.push_back(std::move(branch));
    targets_.emplace_back(current_, label);
    if (instruction.guard.empty()) {
      Close(FlowEnd::kFallThrough, false);
    } else {
      Close(FlowEnd::kConditional, true);
      if (!last) OpenRest();
    }
    return absl::OkStatus();
  }

  absl::Status AddPlain(const PtxInstruction& instruction) {
    FlowInstruction out;
    out.mnemonic = instruction.opcode;
    out.opcode = ClassifyOpcode(instruction.opcode);
    out.id = instruction.id;
    if (out.opcode.op == v1::OP_UNKNOWN) return Error(instruction, "PTX instruction that is not known");
    if (!instruction.guard.empty()) return Error(instruction, "predicated instruction");
    for (size_t i = 0; i < instruction.operands.size(); ++i) {
      const std::string& operand = instruction.operands[i];
      AppendRegisters(operand, i == 0 && out.opcode.has_result ? &out.dst : &out.src);
      if (absl::StartsWith(operand, "[")) out.address = ParseAddress(operand);
      if (absl::StartsWith(operand, "%ctaid") || absl::StartsWith(operand, "%cluster")) out.reads_block_index = true;
      if (absl::StartsWith(operand, "%clock") || absl::StartsWith(operand, "%globaltimer") ||
          absl::StartsWith(operand, "%smid")) {
        out.reads_clock = true;
      }
    }
    int64_t constant = 0;
    if (!instruction.operands.empty() && absl::SimpleAtoi(instruction.operands.back(), &constant)) {
      out.constant = constant;
    }
    if (MayBeCollective(out.mnemonic)) {
      out.collective = DescribeCollective(out.mnemonic, WrittenOperands(instruction.operands));
    }
    if (out.opcode.op == v1::OP_ASYNC && out.collective == nullptr) {
      return Error(instruction, "asynchronous instruction that a trace does not have in this form");
    }
    if (out.opcode.op == v1::OP_BARRIER) {
      if (out.collective == nullptr) HEDDLE_RETURN_IF_ERROR(ReadBarrier(instruction, &out));
    }
    const v1::OpClass op = out.opcode.op;
    const bool is_return = op == v1::OP_RETURN;
    if (is_return && function_.is_kernel) out.opcode.op = v1::OP_EXIT;
    // An `exit` that the program asks for is a thread's regular end; the compiler's stands behind what cannot return.
    out.cannot_return = op == v1::OP_EXIT && !(instruction.inline_assembly && instruction.opcode == "exit");
    if (out.opcode.op == v1::OP_LOAD || out.opcode.op == v1::OP_STORE) {
      // Parameters of a device function are registers to any assembler.
      const bool moves = out.opcode.space == v1::SPACE_PARAM && !function_.is_kernel;
      if (moves) {
        out.opcode.op = v1::OP_MOVE;
        out.opcode.space = v1::SPACE_NONE;
        out.opcode.access_bytes = 0;
      }
    }
    result_.nodes[current_].instructions.push_back(std::move(out));
    if (is_return) {
      Close(function_.is_kernel ? FlowEnd::kExit : FlowEnd::kReturn, false);
    } else if (op == v1::OP_EXIT) {
      Close(FlowEnd::kExit, false);
    }
    return absl::OkStatus();
  }

  absl::Status ReadBarrier(const PtxInstruction& instruction, FlowInstruction* out) {
    const size_t first = out->opcode.has_result ? 1 : 0;
    size_t numbers = 0;
    for (size_t i = first; i < instruction.operands.size(); ++i) {
      uint32_t number = 0;
      if (absl::StartsWith(instruction.operands[i], "%p")) continue;
      if (!absl::SimpleAtoi(instruction.operands[i], &number)) {
        return Error(instruction, "barrier whose number or thread count is not a constant");
      }
      (numbers++ == 0 ? out->barrier_id : out->barrier_threads) = number;
    }
    return absl::OkStatus();
  }

  // One call: argument stores, the call, result loads. Math becomes one instruction; the rest moves around a call.
  absl::Status AddCallSequence(const PtxRawBlock& block, size_t* index) {
    const int32_t sequence = block.instructions[*index].call_sequence;
    size_t end = *index;
    const PtxInstruction* call = nullptr;
    while (end < block.instructions.size() && block.instructions[end].call_sequence == sequence) {
      if (absl::StartsWith(block.instructions[end].opcode, "call")) call = &block.instructions[end];
      ++end;
    }
    if (call == nullptr) return Error(block.instructions[*index], "call sequence without a call");
    std::string callee;
    for (const std::string& operand : call->operands) {
      if (operand[0] != '(') {
        callee = operand;
        break;
      }
    }
    if (callee.empty()) return Error(*call, "call of nothing");
    const bool is_indirect = callee[0] == '%';
    std::vector<std::string> callees = {callee};
    if (is_indirect) {
      auto found = indirect_.find(call->id);
      if (found == indirect_.end() || found->second.empty()) {
        return Error(*call, "no function of the program whose address is taken fits this call through a pointer");
      }
      callees = found->second;
      if (callees.size() > kMostCallees) {
        return Error(*call, absl::StrCat("a call through a pointer that can lead to ", callees.size(),
                                         " functions; a trace tells ", kMostCallees, " apart"));
      }
    }
    const bool is_device = is_indirect || defined_.count(callee) > 0;
    FlowInstruction out;
    out.mnemonic = is_device ? call->opcode : absl::StrCat("call.", callee);
    out.id = call->id;
    out.opcode.has_result = false;
    for (size_t i = *index; i < end; ++i) {
      const PtxInstruction& part = block.instructions[i];
      if (&part == call) {
        if (!is_device) continue;
        out.opcode.op = v1::OP_CALL;
        if (is_indirect) AppendRegisters(callee, &out.src);
        result_.nodes[current_].instructions.push_back(out);
        result_.nodes[current_].callees = callees;
        result_.nodes[current_].indirect = is_indirect;
        Close(FlowEnd::kCall, true);
        OpenRest();
        after_call_ = true;
        continue;
      }
      const bool argument = absl::StartsWith(part.opcode, "st.param");
      const bool result = absl::StartsWith(part.opcode, "ld.param") && PassesThroughCall(part);
      if (!argument && !result) {
        HEDDLE_RETURN_IF_ERROR(AddPlain(part));
        continue;
      }
      if (!is_device) {
        for (size_t k = 0; k < part.operands.size(); ++k) {
          AppendRegisters(part.operands[k], result && k == 0 ? &out.dst : &out.src);
        }
        continue;
      }
      FlowInstruction move;
      move.mnemonic = part.opcode;
      move.opcode.op = v1::OP_MOVE;
      move.id = part.id;
      for (size_t k = 0; k < part.operands.size(); ++k) {
        AppendRegisters(part.operands[k], result && k == 0 ? &move.dst : &move.src);
      }
      result_.nodes[current_].instructions.push_back(std::move(move));
    }
    *index = end - 1;
    if (is_device) return absl::OkStatus();
    std::optional<uint32_t> micro_ops = MathMicroOps(callee);
    if (!micro_ops) micro_ops = SystemCallMicroOps(callee);
    if (micro_ops) {
      out.opcode.op = v1::OP_SFU;
      out.opcode.micro_ops = *micro_ops;
      result_.nodes[current_].instructions.push_back(std::move(out));
    } else if (IsFailureCall(callee)) {
      out.opcode.op = v1::OP_EXIT;
      out.cannot_return = true;
      result_.nodes[current_].instructions.push_back(std::move(out));
      Close(FlowEnd::kExit, false);
    } else {
      return Error(*call, "call of a function that is not known");
    }
    return absl::OkStatus();
  }

  // "[retval0+0]" is the result of a call; anything else is a parameter of the calling kernel itself.
  static bool PassesThroughCall(const PtxInstruction& part) {
    return part.operands.size() == 2 && absl::StartsWith(part.operands[1], "[retval");
  }

  const PtxFunction& function_;
  const std::set<std::string>& defined_;
  const IndirectCalls& indirect_;
  uint32_t* failed_id_;
  FlowFunction result_;
  std::map<std::string, int> labels_;
  std::vector<std::pair<int, std::string>> targets_;
  int current_ = kNoNode;
  bool open_ = false;        // control falls from `current_` into what follows
  bool after_call_ = false;  // `current_` began behind a call and has not met a branch
};

}  // namespace

int FlowFunction::Forward(int node) const {
  for (size_t steps = 0; steps <= nodes.size(); ++steps) {
    if (node == kNoNode || !nodes[node].instructions.empty()) return node;
    node = nodes[node].next;
  }
  return kNoNode;
}

absl::StatusOr<FlowFunction> BuildFlow(const PtxFunction& function, const std::set<std::string>& defined,
                                       const IndirectCalls& indirect, uint32_t* failed_id) {
  return Builder(function, defined, indirect, failed_id).Build();
}

}  // namespace heddle::tracegen
