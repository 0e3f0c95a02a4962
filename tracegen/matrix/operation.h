// A matrix instruction of a warp: what its text says.
#ifndef HEDDLE_TRACEGEN_MATRIX_OPERATION_H_
#define HEDDLE_TRACEGEN_MATRIX_OPERATION_H_

#include <cstdint>
#include <optional>
#include <string_view>

#include "proto/trace.pb.h"
#include "traces/format/program/matrix_shapes.h"

namespace heddle::tracegen {

inline constexpr uint32_t kWarp = trace::kMatrixThreads;  // threads that hold the elements of an operand

struct MatrixOperation {
  using Type = trace::v1::Matrix::Type;
  enum class Kind : uint8_t {
    kMultiply,
    kLoadFragment,   // wmma.load
    kStoreFragment,  // wmma.store
    kLoadTiles,      // ldmatrix
    kStoreTiles,     // stmatrix
    kTranspose,      // movmatrix
  };
  enum class Part : uint8_t { kA, kB, kSum };

  Kind kind = Kind::kMultiply;
  trace::MatrixForm form = trace::MatrixForm::kRegisters;
  uint16_t m = 0;
  uint16_t n = 0;
  uint16_t k = 0;
  // kMultiply: types of the operands; elsewhere `a` is the type of what is moved.
  Type a = trace::v1::Matrix::TYPE_UNSPECIFIED;
  Type b = trace::v1::Matrix::TYPE_UNSPECIFIED;
  Type c = trace::v1::Matrix::TYPE_UNSPECIFIED;
  Type d = trace::v1::Matrix::TYPE_UNSPECIFIED;
  bool a_by_columns = false;  // kMultiply: of the two layouts that the text names
  bool b_by_columns = false;
  bool saturates = false;    // sums of whole numbers stop at the ends of their range
  bool bits_by_and = false;  // B1: ones of A and B, not of A xor B, are counted
  Part part = Part::kA;      // of a fragment
  bool by_columns = false;   // of a fragment: its layout in memory
  uint8_t tiles = 1;
  bool transposed = false;  // of tiles

  bool operator==(const MatrixOperation&) const = default;

  bool is_load() const { return kind == Kind::kLoadFragment || kind == Kind::kLoadTiles; }
  bool is_store() const { return kind == Kind::kStoreFragment || kind == Kind::kStoreTiles; }
  // Rows and columns of a fragment's matrix.
  uint32_t rows() const { return part == Part::kB ? k : m; }
  uint32_t columns() const { return part == Part::kA ? k : n; }
  // Elements of a line of a fragment's matrix as it lies in memory: a row, or a column.
  uint32_t line() const { return by_columns ? rows() : columns(); }
  // Bytes that each thread moves between memory and registers in a load or store. The threads of a warp have equal
  // shares of a fragment's matrix, one behind the other, and each within one line.
  uint32_t share_bytes() const;
  // Of a fragment: shares that a line has. That of lane l is in line l / shares_of_line(), share l % shares_of_line().
  uint32_t shares_of_line() const;
  // What the static program says of it; counts of registers are those of the instruction set.
  trace::v1::Matrix Describe() const;
};

// Registers of each thread, by operand: of 64 bits for F64, else of 32.
trace::MatrixRegisters RegistersOf(const MatrixOperation& operation);
// Of those, what the instruction reads and writes.
uint32_t RegistersRead(const MatrixOperation& operation);
uint32_t RegistersWritten(const MatrixOperation& operation);
// Bits of a register of the operand with elements of this type.
uint32_t RegisterBits(MatrixOperation::Type type);

// Reads an opcode with its modifiers, such as "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32". Nothing for other
// opcodes, for shapes and types that no device has, and for forms that are not executed: block scales, rounding of
// double precision other than to nearest, sparse matrices, and tiles that are no 8 by 8 elements of 16 bits.
std::optional<MatrixOperation> ParseMatrixOperation(std::string_view mnemonic);
// False, at little cost, for opcodes of which it reads nothing.
bool MayBeMatrixOperation(std::string_view mnemonic);

// The operation as a number, and back: generated code hands it over.
uint64_t Encode(const MatrixOperation& operation);
MatrixOperation DecodeMatrixOperation(uint64_t code);

}  // namespace heddle::tracegen

#endif  // HEDDLE_TRACEGEN_MATRIX_OPERATION_H_
