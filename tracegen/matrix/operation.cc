#include "tracegen/matrix/operation.h"

#include <algorithm>
#include <array>
#include <iterator>
#include <utility>
#include <vector>

#include "absl/strings/numbers.h"
#include "absl/strings/str_split.h"
#include "absl/strings/string_view.h"

namespace heddle::tracegen {
namespace {

using Matrix = trace::v1::Matrix;
using Kind = MatrixOperation::Kind;
using Part = MatrixOperation::Part;
using Type = MatrixOperation::Type;

constexpr uint32_t kTileBytes = 16;  // of a row of a tile, whose address a thread hands in

constexpr std::array<std::pair<absl::string_view, Type>, 15> kTypes = {{{"b1", Matrix::B1},
                                                                        {"s4", Matrix::S4},
                                                                        {"u4", Matrix::U4},
                                                                        {"s8", Matrix::S8},
                                                                        {"u8", Matrix::U8},
                                                                        {"s32", Matrix::S32},
                                                                        {"e4m3", Matrix::E4M3},
                                                                        {"e5m2", Matrix::E5M2},
                                                                        {"f16", Matrix::F16},
                                                                        {"bf16", Matrix::BF16},
                                                                        {"tf32", Matrix::TF32},
                                                                        {"f32", Matrix::F32},
                                                                        {"f64", Matrix::F64},
                                                                        {"b8", Matrix::B8},
                                                                        {"b16", Matrix::B16}}};

// The modifiers of an instruction, sorted by what they say.
class Modifiers {
 public:
  // False if one is not known.
  bool Read(const std::vector<absl::string_view>& parts) {
    for (size_t i = 1; i < parts.size(); ++i) {
      if (!ReadOne(parts[i])) return false;
    }
    return true;
  }

  std::vector<Type> types;
  std::vector<bool> by_columns;
  uint16_t m = 0, n = 0, k = 0;
  bool has_shape = false;
  bool saturates = false, is_and = false, transposed = false;
  char role = 0;     // l, s, m of wmma
  char operand = 0;  // a, b, c, d of wmma
  uint8_t tiles = 0;

 private:
  bool ReadOne(absl::string_view part) {
    for (const auto& [name, type] : kTypes) {
      if (part == name) {
        types.push_back(type);
        return true;
      }
    }
    if (part == "row" || part == "col") {
      by_columns.push_back(part == "col");
      return true;
    }
    if (part == "a" || part == "b" || part == "c" || part == "d") {
      operand = part[0];
      return true;
    }
    if (part == "load" || part == "store" || part == "mma") {
      role = part[0];
      return true;
    }
    if (part == "x1" || part == "x2" || part == "x4") {
      tiles = static_cast<uint8_t>(part[1] - '0');
      return true;
    }
    if (part == "satfinite") return saturates = true;
    if (part == "and") return is_and = true;
    if (part == "trans") return transposed = true;
    if (part[0] == 'm' && ReadShape(part)) return true;
    return part == "sync" || part == "aligned" || part == "xor" || part == "popc" || part == "rn" || part == "global" ||
           part == "shared" || part == "shared::cta";
  }

  // m16n8k16, or m8n8.
  bool ReadShape(absl::string_view part) {
    const size_t to_n = part.find('n');
    if (has_shape || to_n == absl::string_view::npos) return false;
    const size_t to_k = part.find('k');
    uint32_t rows = 0, columns = 0, depth = 0;
    if (!absl::SimpleAtoi(part.substr(1, to_n - 1), &rows)) return false;
    if (!absl::SimpleAtoi(part.substr(to_n + 1, to_k == absl::string_view::npos ? to_k : to_k - to_n - 1), &columns)) {
      return false;
    }
    if (to_k != absl::string_view::npos && !absl::SimpleAtoi(part.substr(to_k + 1), &depth)) return false;
    if (rows > 64 || columns > 256 || depth > 256) return false;
    m = static_cast<uint16_t>(rows);
    n = static_cast<uint16_t>(columns);
    k = static_cast<uint16_t>(depth);
    return has_shape = true;
  }
};

bool SetTypes(const Modifiers& text, MatrixOperation* operation) {
  const std::vector<Type>& types = text.types;
  if (types.size() == 4) {
    operation->d = types[0];
    operation->a = types[1];
    operation->b = types[2];
    operation->c = types[3];
    return true;
  }
  // wmma in half precision names the types of the sums alone.
  if (types.size() != 2 || operation->form != trace::MatrixForm::kFragments) return false;
  operation->d = types[0];
  operation->c = types[1];
  operation->a = operation->b = Matrix::F16;
  return true;
}

bool Complete(absl::string_view opcode, const Modifiers& text, MatrixOperation* operation) {
  operation->m = text.m;
  operation->n = text.n;
  operation->k = text.k;
  if (opcode == "mma" || (opcode == "wmma" && text.role == 'm')) {
    operation->form = opcode == "mma" ? trace::MatrixForm::kRegisters : trace::MatrixForm::kFragments;
    operation->saturates = text.saturates;
    operation->bits_by_and = text.is_and;
    if (text.by_columns.size() != 2) return false;
    operation->a_by_columns = text.by_columns[0];
    operation->b_by_columns = text.by_columns[1];
    return SetTypes(text, operation);
  }
  if (text.types.size() != 1) return false;
  operation->a = text.types[0];
  if (opcode == "wmma") {
    operation->form = trace::MatrixForm::kFragments;
    operation->kind = text.role == 'l' ? Kind::kLoadFragment : Kind::kStoreFragment;
    operation->part = text.operand == 'a' ? Part::kA : text.operand == 'b' ? Part::kB : Part::kSum;
    if (text.by_columns.size() != 1 || text.operand == 0 || text.role == 0) return false;
    operation->by_columns = text.by_columns[0];
    return true;
  }
  operation->transposed = text.transposed;
  operation->tiles = text.tiles;
  if (opcode == "movmatrix") {
    operation->kind = Kind::kTranspose;
    operation->tiles = 1;
    return text.transposed;
  }
  operation->kind = opcode == "ldmatrix" ? Kind::kLoadTiles : Kind::kStoreTiles;
  return text.tiles != 0;
}

// Numbers that are packed one behind the other.
class Packer {
 public:
  void Add(uint64_t value, unsigned bits) {
    code_ |= value << used_;
    used_ += bits;
  }
  uint64_t code() const { return code_; }

 private:
  uint64_t code_ = 0;
  unsigned used_ = 0;
};
class Unpacker {
 public:
  explicit Unpacker(uint64_t code) : code_(code) {}
  uint32_t Take(unsigned bits) {
    const auto value = static_cast<uint32_t>(code_ & ((uint64_t{1} << bits) - 1));
    code_ >>= bits;
    return value;
  }
  bool TakeFlag() { return Take(1) != 0; }

 private:
  uint64_t code_;
};

}  // namespace

trace::v1::Matrix MatrixOperation::Describe() const {
  Matrix matrix;
  matrix.set_role(kind == Kind::kMultiply ? Matrix::MULTIPLY
                  : is_load()             ? Matrix::LOAD
                  : is_store()            ? Matrix::STORE
                                          : Matrix::MOVE);
  matrix.set_m(m);
  matrix.set_n(n);
  matrix.set_k(k);
  matrix.set_a(a);
  matrix.set_b(b);
  matrix.set_c(c);
  matrix.set_d(d);
  // Of a fragment: whether its columns, not its rows, lie one behind the other in memory.
  matrix.set_transposed(transposed || by_columns);
  if (kind == Kind::kLoadTiles || kind == Kind::kStoreTiles) matrix.set_tiles(tiles);
  if (kind != Kind::kMultiply) return matrix;
  const trace::MatrixRegisters registers = RegistersOf(*this);
  matrix.set_a_registers(registers.a);
  matrix.set_b_registers(registers.b);
  matrix.set_c_registers(registers.c);
  return matrix;
}

uint32_t MatrixOperation::share_bytes() const {
  if (kind == Kind::kLoadTiles || kind == Kind::kStoreTiles) return kTileBytes;
  return rows() * columns() * trace::MatrixElementBits(a) / 8 / kWarp;
}

uint32_t MatrixOperation::shares_of_line() const { return line() * trace::MatrixElementBits(a) / 8 / share_bytes(); }

uint32_t RegisterBits(MatrixOperation::Type type) { return type == Matrix::F64 ? 64 : 32; }

trace::MatrixRegisters RegistersOf(const MatrixOperation& operation) {
  trace::MatrixRegisters registers;
  switch (operation.kind) {
    case Kind::kMultiply: {
      Matrix product;
      product.set_m(operation.m);
      product.set_n(operation.n);
      product.set_k(operation.k);
      product.set_a(operation.a);
      product.set_b(operation.b);
      product.set_c(operation.c);
      product.set_d(operation.d);
      return trace::RegistersOfProduct(operation.form, product).value_or(registers);
    }
    case Kind::kLoadFragment:
    case Kind::kStoreFragment: {
      Matrix move;
      move.set_m(operation.m);
      move.set_n(operation.n);
      move.set_k(operation.k);
      move.set_a(operation.a);
      const trace::MatrixRegisters all = trace::RegistersOfFragment(move).value_or(registers);
      registers.a = operation.part == Part::kA ? all.a : operation.part == Part::kB ? all.b : all.c;
      registers.d = registers.a;
      return registers;
    }
    default:
      registers.a = registers.d = operation.tiles;
      return registers;
  }
}

uint32_t RegistersRead(const MatrixOperation& operation) {
  const trace::MatrixRegisters registers = RegistersOf(operation);
  if (operation.kind == Kind::kMultiply) {
    return registers.a + registers.b + registers.c;
  }
  return operation.is_load() ? 0 : registers.a;
}

uint32_t RegistersWritten(const MatrixOperation& operation) {
  return operation.is_store() ? 0 : RegistersOf(operation).d;
}

bool MayBeMatrixOperation(std::string_view mnemonic) {
  constexpr std::string_view kOpcodes[] = {"mma.", "wmma.", "ldmatrix.", "stmatrix.", "movmatrix."};
  return std::any_of(std::begin(kOpcodes), std::end(kOpcodes),
                     [mnemonic](std::string_view opcode) { return mnemonic.starts_with(opcode); });
}

std::optional<MatrixOperation> ParseMatrixOperation(std::string_view mnemonic) {
  if (!MayBeMatrixOperation(mnemonic)) return std::nullopt;
  const std::vector<absl::string_view> parts =
      absl::StrSplit(absl::string_view(mnemonic.data(), mnemonic.size()), '.', absl::SkipEmpty());
  const absl::string_view opcode = parts[0];
  Modifiers text;
  MatrixOperation operation;
  if (!text.Read(parts) || !text.has_shape || !Complete(opcode, text, &operation)) return std::nullopt;
  const bool whole_numbers = operation.kind == Kind::kMultiply && operation.d == Matrix::S32;
  if (operation.saturates && (!whole_numbers || operation.a == Matrix::B1)) return std::nullopt;
  if (!trace::IsMatrixInstruction(operation.Describe())) return std::nullopt;
  const trace::MatrixRegisters registers = RegistersOf(operation);
  if (registers.a == 0 && registers.d == 0) return std::nullopt;  // an operand that has no such type
  // Only products of half precision in quads take both layouts; rows of A and columns of B are what is left.
  const bool any_layout =
      operation.form == trace::MatrixForm::kFragments || (operation.a == Matrix::F16 && operation.k == 4);
  if (operation.kind == Kind::kMultiply && !any_layout && (operation.a_by_columns || !operation.b_by_columns)) {
    return std::nullopt;
  }
  // So have fragments of elements that are less than a byte.
  const bool in_bits = operation.kind == Kind::kLoadFragment && trace::MatrixElementBits(operation.a) < 8;
  if (in_bits && operation.by_columns != (operation.part == Part::kB)) return std::nullopt;
  return operation;
}

uint64_t Encode(const MatrixOperation& operation) {
  Packer packer;
  packer.Add(static_cast<uint64_t>(operation.kind), 3);
  packer.Add(static_cast<uint64_t>(operation.form), 1);
  packer.Add(operation.m, 7);
  packer.Add(operation.n, 9);
  packer.Add(operation.k, 9);
  for (const Type type : {operation.a, operation.b, operation.c, operation.d}) {
    packer.Add(static_cast<uint64_t>(type), 4);
  }
  for (const bool flag : {operation.a_by_columns, operation.b_by_columns, operation.saturates, operation.bits_by_and,
                          operation.by_columns, operation.transposed}) {
    packer.Add(flag ? 1 : 0, 1);
  }
  packer.Add(static_cast<uint64_t>(operation.part), 2);
  packer.Add(operation.tiles, 3);
  return packer.code();
}

MatrixOperation DecodeMatrixOperation(uint64_t code) {
  Unpacker unpacker(code);
  MatrixOperation operation;
  operation.kind = static_cast<Kind>(unpacker.Take(3));
  operation.form = static_cast<trace::MatrixForm>(unpacker.Take(1));
  operation.m = static_cast<uint16_t>(unpacker.Take(7));
  operation.n = static_cast<uint16_t>(unpacker.Take(9));
  operation.k = static_cast<uint16_t>(unpacker.Take(9));
  for (Type* type : {&operation.a, &operation.b, &operation.c, &operation.d}) {
    *type = static_cast<Type>(unpacker.Take(4));
  }
  for (bool* flag : {&operation.a_by_columns, &operation.b_by_columns, &operation.saturates, &operation.bits_by_and,
                     &operation.by_columns, &operation.transposed}) {
    *flag = unpacker.TakeFlag();
  }
  operation.part = static_cast<Part>(unpacker.Take(2));
  operation.tiles = static_cast<uint8_t>(unpacker.Take(3));
  return operation;
}

}  // namespace heddle::tracegen
