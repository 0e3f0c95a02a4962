#include "tracegen/program/compiled/matrix_intrinsics.h"

#include <algorithm>
#include <optional>
#include <string>
#include <vector>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/InstIterator.h"
#include "tracegen/matrix/operation.h"
#include "tracegen/program/ptx_source/statement.h"

namespace heddle::tracegen {
namespace {

using Parts = std::vector<std::string>;

bool TakePart(Parts& parts, absl::string_view part) {
  const auto found = std::find(parts.begin(), parts.end(), part);
  if (found == parts.end()) return false;
  parts.erase(found);
  return true;
}

// The state space of the address, as a part of the opcode; the intrinsic's name ends with its number in LLVM.
std::string TakeSpace(Parts& parts) {
  uint32_t space = 0;
  if (parts.empty() || parts.back()[0] != 'p' || !absl::SimpleAtoi(parts.back().substr(1), &space)) return "";
  parts.pop_back();
  return space == 1 ? ".global" : space == 3 ? ".shared" : "";
}

// D, A, B and C of a product; the intrinsic names C and D of half precision, and A and B of other types.
std::string ProductTypes(const Parts& types) {
  if (types.size() == 2 && (types[0] == "f16" || types[0] == "f32")) {
    return absl::StrCat(types[0], ".f16.f16.", types[1]);
  }
  if (types.empty()) return "";
  const std::string& a = types[0];
  const std::string sum = a == "f64" ? "f64" : a == "bf16" || a == "tf32" ? "f32" : "s32";
  return absl::StrCat(sum, ".", a, ".", types.back(), ".", sum);
}

// The opcode of PTX for an intrinsic's name behind "llvm.nvvm.".
std::string MnemonicOf(absl::string_view name) {
  Parts parts = absl::StrSplit(name, '.');
  const std::string family = parts[0];
  parts.erase(parts.begin());
  if (family == "ldmatrix") {
    const std::string space = TakeSpace(parts);
    if (!TakePart(parts, "b16")) return "";
    return absl::StrCat("ldmatrix.", absl::StrJoin(parts, "."), space, ".b16");
  }
  const bool saturates = TakePart(parts, "satfinite");
  std::string bits;  // how bits are multiplied
  for (const char* operation : {"xor", "and"}) {
    if (TakePart(parts, operation)) bits = absl::StrCat(".", operation, ".popc");
  }
  TakePart(parts, "popc");
  const std::string limit = saturates ? ".satfinite" : "";
  if (family == "mma") {
    if (parts.size() < 4) return "";
    const std::string types = ProductTypes(Parts(parts.begin() + 3, parts.end()));
    return absl::StrCat("mma.sync.aligned.", parts[0], ".", parts[1], ".", parts[2], limit, ".", types, bits);
  }
  if (parts.size() < 4) return "";
  const std::string shape = parts[0];
  if (parts[1] == "mma") {
    const bool rounds = TakePart(parts, "rn");
    Parts types(parts.begin() + 4, parts.end());
    const bool halves = types.size() == 2;
    return absl::StrCat("wmma.mma", bits, ".sync.aligned.", parts[2], ".", parts[3], ".", shape, rounds ? ".rn" : "",
                        ".", halves ? absl::StrJoin(types, ".") : ProductTypes(types), limit);
  }
  const std::string space = TakeSpace(parts);
  TakePart(parts, "stride");
  if (parts.size() != 5) return "";
  return absl::StrCat("wmma.", parts[1], ".", parts[2], ".sync.aligned.", parts[3], ".", shape, space, ".", parts[4]);
}

class Statement {
 public:
  Statement(llvm::CallInst& call, const std::string& mnemonic, const MatrixOperation& operation)
      : call_(call), mnemonic_(mnemonic), operation_(operation), b_(&call) {}

  void Replace() {
    const std::vector<llvm::Type*> results = Results();
    std::vector<llvm::Type*> types;
    for (llvm::Type* type : results) {
      types.push_back(RegisterType(type));
      constraints_.push_back(absl::StrCat("=", std::string(1, CodeOf(types.back()))));
    }
    next_ = static_cast<uint32_t>(results.size());
    const std::string written = results.empty() ? "" : List(0, next_);
    const std::string text = absl::StrCat(mnemonic_, " ", Operands(written), ";");
    if (operation_.is_load() || operation_.is_store()) constraints_.emplace_back("~{memory}");
    llvm::Type* result = types.empty()       ? b_.getVoidTy()
                         : types.size() == 1 ? types[0]
                                             : llvm::StructType::get(b_.getContext(), types);
    llvm::CallInst* made = EmitStatement(b_, text, constraints_, result, values_);
    if (!results.empty()) call_.replaceAllUsesWith(Whole(made, results));
    call_.eraseFromParent();
  }

 private:
  std::vector<llvm::Type*> Results() const {
    llvm::Type* type = call_.getType();
    if (type->isVoidTy()) return {};
    if (auto* record = llvm::dyn_cast<llvm::StructType>(type)) return record->elements().vec();
    return {type};
  }

  // Pairs of halves are words.
  llvm::Type* RegisterType(llvm::Type* type) { return type->isVectorTy() ? b_.getInt32Ty() : type; }
  static char CodeOf(const llvm::Type* type) {
    if (type->isFloatTy()) return 'f';
    if (type->isDoubleTy()) return 'd';
    return type->isIntegerTy(64) ? 'l' : 'r';
  }

  std::string List(uint32_t first, uint32_t count) const {
    std::vector<std::string> names;
    for (uint32_t i = 0; i < count; ++i) names.push_back(absl::StrCat("$", first + i));
    return absl::StrCat("{", absl::StrJoin(names, ", "), "}");
  }

  void Add(llvm::Value* value) {
    if (value->getType()->isPointerTy()) value = b_.CreatePtrToInt(value, b_.getInt64Ty());
    value = b_.CreateBitCast(value, RegisterType(value->getType()));
    constraints_.emplace_back(1, CodeOf(value->getType()));
    values_.push_back(value);
  }

  std::string AddList(unsigned& argument, uint32_t count) {
    const std::string list = List(next_, count);
    for (uint32_t i = 0; i < count; ++i) Add(call_.getArgOperand(argument++));
    next_ += count;
    return list;
  }

  std::string Operands(const std::string& written) {
    const trace::MatrixRegisters registers = RegistersOf(operation_);
    unsigned argument = 0;
    if (operation_.kind == MatrixOperation::Kind::kMultiply) {
      std::string text = written;
      for (const uint32_t count : {registers.a, registers.b, registers.c}) {
        absl::StrAppend(&text, ", ", AddList(argument, count));
      }
      return text;
    }
    Add(call_.getArgOperand(argument++));
    const std::string address = absl::StrCat("[$", next_++, "]");
    std::string text = operation_.is_load() ? absl::StrCat(written, ", ", address)
                                            : absl::StrCat(address, ", ", AddList(argument, registers.a));
    if (argument == call_.arg_size()) return text;
    Add(call_.getArgOperand(argument));
    return absl::StrCat(text, ", $", next_++);
  }

  llvm::Value* Whole(llvm::Value* made, const std::vector<llvm::Type*>& results) {
    if (!call_.getType()->isStructTy()) return b_.CreateBitCast(made, call_.getType());
    llvm::Value* whole = llvm::PoisonValue::get(call_.getType());
    for (unsigned i = 0; i < results.size(); ++i) {
      llvm::Value* part = results.size() == 1 ? made : b_.CreateExtractValue(made, i);
      whole = b_.CreateInsertValue(whole, b_.CreateBitCast(part, results[i]), i);
    }
    return whole;
  }

  llvm::CallInst& call_;
  const std::string mnemonic_;
  const MatrixOperation operation_;
  llvm::IRBuilder<> b_;
  uint32_t next_ = 0;  // number of the next operand
  std::vector<llvm::Value*> values_;
  std::vector<std::string> constraints_;
};

// Registers and addresses that the intrinsic has.
bool HasOperandsOf(const llvm::CallInst& call, const MatrixOperation& operation) {
  const bool moves = operation.is_load() || operation.is_store();
  const unsigned registers = RegistersRead(operation) + (moves ? 1 : 0);
  return call.arg_size() == registers || (moves && call.arg_size() == registers + 1);
}

}  // namespace

void TranslateMatrixIntrinsics(llvm::Module& module) {
  std::vector<llvm::CallInst*> calls;
  for (llvm::Function& function : module) {
    for (llvm::Instruction& instruction : llvm::instructions(function)) {
      auto* call = llvm::dyn_cast<llvm::CallInst>(&instruction);
      if (call != nullptr && call->getCalledFunction() != nullptr) calls.push_back(call);
    }
  }
  for (llvm::CallInst* call : calls) {
    llvm::StringRef name = call->getCalledFunction()->getName();
    if (!name.consume_front("llvm.nvvm.")) continue;
    if (!name.starts_with("wmma.") && !name.starts_with("mma.") && !name.starts_with("ldmatrix.")) continue;
    const std::string mnemonic = MnemonicOf({name.data(), name.size()});
    const std::optional<MatrixOperation> operation = ParseMatrixOperation(mnemonic);
    if (operation && HasOperandsOf(*call, *operation)) Statement(*call, mnemonic, *operation).Replace();
  }
}

}  // namespace heddle::tracegen
