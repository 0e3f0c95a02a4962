#include "tracegen/program/machine_source/collective_text.h"

#include <string_view>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "tracegen/machine/forms/pattern.h"
#include "tracegen/ptx/collective.h"

namespace heddle::tracegen {
namespace {

namespace v1 = ::heddle::trace::v1;
using machine::Instruction;
using machine::Operand;
using machine::Register;
using Kind = WrittenOperand::Kind;

// How the disassembler writes the shapes of products.
constexpr std::pair<std::string_view, const char*> kShapes[] = {
    {"884", "m8n8k4"},   {"8x8x4", "m8n8k4"},   {"16x8x4", "m16n8k4"}, {"16x8x8", "m16n8k8"},   {"16x8x16", "m16n8k16"},
    {"1684", "m16n8k4"}, {"1688", "m16n8k8"},   {"16816", "m16n8k16"}, {"8816", "m8n8k16"},     {"16832", "m16n8k32"},
    {"8832", "m8n8k32"}, {"16864", "m16n8k64"}, {"88128", "m8n8k128"}, {"168128", "m16n8k128"}, {"168256", "m16n8k256"},
};

const char* ShapeOf(const Instruction& product) {
  for (const auto& [written, shape] : kShapes) {
    if (!product.modifiers.empty() && product.modifiers[0] == written) return shape;
  }
  return "";
}

std::string PtxOfProduct(const Instruction& product) {
  const std::string begin = absl::StrCat("mma.sync.aligned.", ShapeOf(product), ".row.col.");
  const std::string_view opcode = product.opcode();
  if (opcode == "HMMA") {
    const char* sum = product.Has("F32") ? "f32" : "f16";
    const char* input = product.Has("BF16") ? "bf16" : product.Has("TF32") ? "tf32" : "f16";
    return absl::StrCat(begin, sum, ".", input, ".", input, ".", sum);
  }
  if (opcode == "DMMA") return begin + "f64.f64.f64.f64";
  if (opcode == "IMMA") {
    return absl::StrCat(begin, product.Has("SAT") ? "satfinite." : "", "s32.",
                        absl::AsciiStrToLower(product.modifiers.at(1)), ".",
                        absl::AsciiStrToLower(product.modifiers.at(2)), ".s32");
  }
  return absl::StrCat(begin, "s32.b1.b1.s32.", product.Has("AND") ? "and" : "xor", ".popc");
}

std::string PtxOfTiles(const Instruction& move) {
  const char* tiles = move.Has("4") ? "x4" : move.Has("2") ? "x2" : "x1";
  return absl::StrCat(move.opcode() == "LDSM" ? "ldmatrix" : "stmatrix", ".sync.aligned.m8n8.", tiles,
                      move.Has("MT88") ? ".trans" : "", ".shared.b16");
}

// The operand that fills a place of this kind, counted from 0; null if it is left out.
const Operand* Find(const Instruction& at, char kind, size_t k) {
  const auto places = machine::OperandPlaces(*at.form);
  for (size_t i = 0; i < at.operands.size(); ++i) {
    if (places[at.places[i]].kind == kind && k-- == 0) return &at.operands[i];
  }
  return nullptr;
}

std::shared_ptr<const v1::Instruction> DescribeProduct(const Instruction& product, const MatrixOperation& operation) {
  v1::Instruction described = *DescribeCollective(PtxOfMatrix(product), {});
  const MatrixWords words = WordsOf(operation);
  const auto read = [&](size_t operand, uint32_t count) {
    const Operand* at = Find(product, 's', operand);
    return at != nullptr && at->kind == Operand::Kind::kRegister && !at->use.reg.is_constant ? count : 0;
  };
  described.mutable_matrix()->set_a_registers(read(0, words.a));
  described.mutable_matrix()->set_b_registers(read(1, words.b));
  described.mutable_matrix()->set_c_registers(read(2, words.c));
  return std::make_shared<v1::Instruction>(std::move(described));
}

std::shared_ptr<const v1::Instruction> DescribeTransaction(const std::string& ptx, const Instruction& at) {
  std::vector<WrittenOperand> written = {{Kind::kAddress}};
  if (at.opcode() == "SYNCS" && (at.Has("ARRIVE") || at.Has("PHASECHK"))) {
    written.insert(written.begin(), WrittenOperand{Kind::kRegister});
  }
  if (at.opcode() == "SYNCS" && !at.Has("A1T0") && !at.Has("CCTL")) written.push_back({Kind::kRegister});
  return DescribeCollective(ptx, written);
}

std::shared_ptr<const v1::Instruction> DescribeCopy(const Instruction& copy) {
  std::vector<WrittenOperand> written = {
      {Kind::kAddress}, {Kind::kAddress}, {Kind::kConstant, uint64_t{CopyBytes(copy)}}};
  if (ReadsNothing(copy)) {
    written.push_back({Kind::kConstant, 0});
  } else if (ReadsSomeBytes(copy)) {
    written.push_back({Kind::kRegister});
  }
  return DescribeCollective(copy.Has("BYPASS") ? "cp.async.cg.shared.global" : "cp.async.ca.shared.global", written);
}

}  // namespace

std::string PtxOfMatrix(const Instruction& instruction) {
  const std::string_view opcode = instruction.opcode();
  if (opcode == "HMMA" || opcode == "DMMA" || opcode == "IMMA" || opcode == "BMMA") return PtxOfProduct(instruction);
  if (opcode == "LDSM" || opcode == "STSM") return PtxOfTiles(instruction);
  return opcode == "MOVM" ? "movmatrix.sync.aligned.m8n8.trans.b16" : "";
}

std::optional<MatrixOperation> MatrixOperationOf(const Instruction& instruction) {
  return ParseMatrixOperation(PtxOfMatrix(instruction));
}

MatrixWords WordsOf(const MatrixOperation& operation) {
  const trace::MatrixRegisters registers = RegistersOf(operation);
  const auto words = [](uint32_t count, MatrixOperation::Type type) { return count * RegisterBits(type) / 32; };
  return {words(registers.a, operation.a), words(registers.b, operation.b), words(registers.c, operation.c),
          words(registers.d, operation.d)};
}

bool IsMachineCopy(const Instruction& instruction) {
  const std::string_view opcode = instruction.opcode();
  return opcode == "LDGSTS" || opcode == "LDGDEPBAR" || opcode == "DEPBAR";
}

CopyAddresses AddressesOf(const Instruction& copy) {
  const Operand& first = copy.operands.front();
  if (first.second) return {&first.address, &*first.second};
  const Operand* second = Find(copy, 'm', 1);
  return {&first.address, second != nullptr ? &second->address : nullptr};
}

uint32_t CopyBytes(const Instruction& copy) { return 4u * machine::RegistersOf(copy.modifiers); }

bool ReadsSomeBytes(const Instruction& copy) {
  const Operand* condition = Find(copy, 'q', 0);
  return copy.Has("ZFILL") || (condition != nullptr && (!condition->use.reg.is_constant || condition->use.sign != 0));
}

bool ReadsNothing(const Instruction& copy) {
  const Operand* condition = Find(copy, 'q', 0);
  return condition != nullptr && condition->use.reg.is_constant && condition->use.sign == '!';
}

uint32_t PendingGroups(const Instruction& wait) { return static_cast<uint32_t>(wait.operands.at(1).value); }

bool IsMachineTransaction(const Instruction& instruction) {
  return instruction.opcode() == "SYNCS" || instruction.opcode() == "ARRIVES";
}

std::string PtxOfTransaction(const Instruction& instruction) {
  if (instruction.opcode() == "ARRIVES" && instruction.Has("ARVCNT")) {
    return "cp.async.mbarrier.arrive.noinc.shared.b64";
  }
  if (instruction.opcode() != "SYNCS") return "";
  if (instruction.Has("EXCH")) return "mbarrier.init.shared.b64";
  if (instruction.Has("CCTL")) return "mbarrier.inval.shared.b64";
  if (instruction.Has("PHASECHK")) return "mbarrier.test_wait.parity.shared.b64";
  if (!instruction.Has("ARRIVE")) return "";
  return instruction.Has("OPTOUT") ? "mbarrier.arrive_drop.shared.b64" : "mbarrier.arrive.shared.b64";
}

std::shared_ptr<const v1::Instruction> DescribeMachineCollective(const machine::ProgramInstruction& instruction) {
  const Instruction& text = instruction.text;
  if (const std::optional<MatrixOperation> operation = MatrixOperationOf(text)) {
    if (operation->kind == MatrixOperation::Kind::kMultiply) return DescribeProduct(text, *operation);
    return DescribeCollective(PtxOfMatrix(text), {});
  }
  if (instruction.op != v1::OP_ASYNC) return nullptr;
  if (const std::string ptx = PtxOfTransaction(text); !ptx.empty()) return DescribeTransaction(ptx, text);
  if (text.opcode() == "LDGSTS") return DescribeCopy(text);
  if (text.opcode() == "LDGDEPBAR") return DescribeCollective("cp.async.commit_group", {});
  const WrittenOperand groups[] = {{Kind::kConstant, PendingGroups(text)}};
  return DescribeCollective("cp.async.wait_group", groups);
}

std::vector<Register> ProductSources(const Instruction& product) {
  std::vector<Register> registers;
  const std::optional<MatrixOperation> operation = MatrixOperationOf(product);
  if (!operation) return registers;
  const MatrixWords words = WordsOf(*operation);
  const uint32_t counts[] = {words.a, words.b, words.c};
  for (size_t operand = 0; operand < 3; ++operand) {
    const Operand* at = Find(product, 's', operand);
    if (at == nullptr || at->kind != Operand::Kind::kRegister || at->use.reg.is_constant) continue;
    for (uint32_t i = 0; i < counts[operand]; ++i) {
      registers.push_back({at->use.reg.file, static_cast<uint8_t>(at->use.reg.number + i), false});
    }
  }
  return registers;
}

}  // namespace heddle::tracegen
