// Textures and surfaces (PTX ISA: Texture Instructions, Surface Instructions), as the intrinsics that stand for them.
#include <string>

#include "absl/strings/str_cat.h"
#include "llvm/IR/Intrinsics.h"
#include "tracegen/program/ptx_source/step_context.h"

namespace heddle::tracegen {
namespace {

using llvm::Value;
using Kind = ptx::Operand::Kind;

class Images {
 public:
  Images(StepContext& step, llvm::Instruction** access) : step_(step), b_(step.b), at_(step.at), access_(access) {}

  bool Run() {
    const std::string_view op = at_.opcode();
    if (op == "tex" || op == "tld4") return Fetch(op == "tld4");
    if (op == "suld") return Load();
    if (op == "sust") return Store();
    if (op == "txq" || op == "suq") return Query(op);
    return false;
  }

 private:
  // The handle that an operand names: a number, or the variable that holds it.
  Value* Handle(const ptx::Operand& operand) {
    if (operand.kind != Kind::kSymbol) return step_.operands.Read(operand, b_.getInt64Ty());
    const SymbolPlace place = step_.operands.Place(operand);
    return place.pointer == nullptr ? nullptr : b_.CreateLoad(b_.getInt64Ty(), place.pointer);
  }

  // "1d", "a2d", "cube": the geometry, as intrinsics write it.
  std::string Geometry() const {
    for (const char* name : {"1d", "2d", "3d", "cube"}) {
      if (at_.Has(name)) return name;
    }
    if (at_.Has("a1d")) return "1d.array";
    if (at_.Has("a2d")) return "2d.array";
    return at_.Has("acube") ? "cube.array" : "";
  }
  unsigned Coordinates() const {
    if (at_.Has("1d")) return 1;
    if (at_.Has("2d") || at_.Has("a1d")) return 2;
    return at_.Has("acube") ? 4 : 3;
  }

  void AddElements(const ptx::Operand& operand, llvm::Type* type, unsigned most,
                   llvm::SmallVectorImpl<Value*>& arguments) {
    if (operand.kind != Kind::kVector) {
      arguments.push_back(step_.operands.Read(operand, type));
      return;
    }
    for (unsigned i = 0; i < operand.elements.size() && i < most; ++i) {
      arguments.push_back(step_.operands.Read(operand.elements[i], type));
    }
  }

  void WriteAll(Value* result) {
    const ptx::Operand& to = at_.operands[0];
    const size_t count = to.kind == Kind::kVector ? to.elements.size() : 1;
    for (unsigned i = 0; i < count; ++i) {
      Value* part = result->getType()->isStructTy() ? b_.CreateExtractValue(result, i) : result;
      step_.operands.Write(to.kind == Kind::kVector ? to.elements[i] : to, part, false);
    }
  }

  // tex[.level|.grad].GEOMETRY.v4.RESULT.COORDINATE d, [handle, {coordinates}], more
  bool Fetch(bool gathers) {
    const std::string geometry = Geometry();
    const ptx::Operand& address = at_.operands[1];
    const ptx::Type result_type = at_.TypeAt(0), coordinate = at_.TypeAt(1);
    if (geometry.empty() || address.elements.size() != 2 || !coordinate.exists()) return false;
    llvm::SmallVector<Value*, 12> arguments;
    Value* handle = Handle(address.elements[0]);
    if (handle == nullptr) return false;
    arguments.push_back(handle);
    llvm::Type* number = coordinate.name == "f32" ? b_.getFloatTy() : static_cast<llvm::Type*>(b_.getInt32Ty());
    const ptx::Operand& place = address.elements[1];
    const bool array = geometry.find("array") != std::string::npos;
    for (unsigned i = 0; i < Coordinates(); ++i) {
      const ptx::Operand& element =
          place.kind == Kind::kVector && i < place.elements.size() ? place.elements[i] : place;
      arguments.push_back(step_.operands.Read(element, array && i == 0 ? b_.getInt32Ty() : number));
    }
    std::string name = absl::StrCat("llvm.nvvm.", std::string(at_.opcode()), ".unified.");
    if (gathers) {
      const char* component = at_.Has("r") ? "r" : at_.Has("g") ? "g" : at_.Has("b") ? "b" : "a";
      absl::StrAppend(&name, component, ".");
    }
    absl::StrAppend(&name, geometry, ".");
    if (at_.Has("level")) {
      absl::StrAppend(&name, "level.");
      arguments.push_back(step_.operands.Read(at_.operands[2], b_.getFloatTy()));
    } else if (at_.Has("grad")) {
      absl::StrAppend(&name, "grad.");
      const unsigned dimensions = geometry[0] == 'c' ? 3 : static_cast<unsigned>(geometry[0] - '0');
      AddElements(at_.operands[2], b_.getFloatTy(), dimensions, arguments);
      AddElements(at_.operands[3], b_.getFloatTy(), dimensions, arguments);
    } else if (at_.operands.size() > 2) {
      return false;  // offsets, depth comparison
    }
    absl::StrAppend(&name, "v4", std::string(result_type.name), ".", std::string(coordinate.name));
    Value* fetched = step_.e.Intrinsic(name, arguments);
    if (fetched == nullptr) return false;
    *access_ = llvm::cast<llvm::Instruction>(fetched);
    WriteAll(fetched);
    return true;
  }

  std::string Elements() const {
    const uint32_t count = at_.VectorSize();
    return absl::StrCat(count > 1 ? absl::StrCat("v", count) : "", "i", at_.LastType().bits);
  }
  std::string Bounds() const { return at_.Has("clamp") ? "clamp" : at_.Has("zero") ? "zero" : "trap"; }

  // suld.b.GEOMETRY.v4.b32.CLAMP d, [handle, {coordinates}]
  bool Load() {
    llvm::SmallVector<Value*, 8> arguments;
    if (!Place(at_.operands[1], arguments)) return false;
    Value* loaded =
        step_.e.Intrinsic(absl::StrCat("llvm.nvvm.suld.", Geometry(), ".", Elements(), ".", Bounds()), arguments);
    if (loaded == nullptr) return false;
    *access_ = llvm::cast<llvm::Instruction>(loaded);
    WriteAll(loaded);
    return true;
  }

  bool Store() {
    llvm::SmallVector<Value*, 8> arguments;
    if (!Place(at_.operands[0], arguments)) return false;
    // Bytes are stored from registers of 16 bits.
    AddElements(at_.operands[1], b_.getIntNTy(std::max<unsigned>(16, at_.LastType().bits)), 4, arguments);
    Value* stored = step_.e.Intrinsic(
        absl::StrCat("llvm.nvvm.sust.", at_.Has("p") ? "p." : "b.", Geometry(), ".", Elements(), ".", Bounds()),
        arguments);
    if (stored == nullptr) return false;
    *access_ = llvm::cast<llvm::Instruction>(stored);
    return true;
  }

  bool Place(const ptx::Operand& address, llvm::SmallVectorImpl<Value*>& arguments) {
    if (Geometry().empty() || address.elements.size() != 2) return false;
    Value* handle = Handle(address.elements[0]);
    if (handle == nullptr) return false;
    arguments.push_back(handle);
    AddElements(address.elements[1], b_.getInt32Ty(), Coordinates(), arguments);
    return true;
  }

  bool Query(std::string_view op) {
    for (const char* what : {"width", "height", "depth", "channel_data_type", "channel_order", "array_size",
                             "num_samples", "num_mipmap_levels"}) {
      if (!at_.Has(what)) continue;
      std::string name = absl::StrCat("llvm.nvvm.", std::string(op), ".", what);
      std::replace(name.begin(), name.end(), '_', '.');
      Value* handle = at_.operands[1].elements.empty() ? nullptr : Handle(at_.operands[1].elements[0]);
      if (handle == nullptr) return false;
      Value* result = step_.e.Intrinsic(name, {handle});
      if (result == nullptr) return false;
      step_.operands.Write(at_.operands[0], result, false);
      return true;
    }
    return false;
  }

  StepContext& step_;
  llvm::IRBuilder<>& b_;
  const ptx::Instruction& at_;
  llvm::Instruction** access_;
};

}  // namespace

bool LowerImageAccess(StepContext& step, llvm::Instruction** access) { return Images(step, access).Run(); }

}  // namespace heddle::tracegen
