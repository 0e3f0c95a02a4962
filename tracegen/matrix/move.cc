#include "tracegen/matrix/move.h"

#include <cstring>

namespace heddle::tracegen {
namespace {

using Kind = MatrixOperation::Kind;
using Part = MatrixOperation::Part;

constexpr uint32_t kTileSide = 8;

// Of a load or a store: bytes between a place in memory and one in a register.
void MoveBytes(bool loads, uint64_t address, void* in_register, size_t count) {
  void* const memory = reinterpret_cast<void*>(address);
  if (loads) {
    std::memcpy(in_register, memory, count);
  } else {
    std::memcpy(memory, in_register, count);
  }
}

using Tile = uint16_t[kTileSide][kTileSide];

// What lane `lane` holds of a tile.
uint32_t HeldBy(const Tile& tile, uint32_t lane, bool transposed) {
  const uint32_t line = lane / 4, at = 2 * (lane % 4);
  const uint32_t low = transposed ? tile[at][line] : tile[line][at];
  const uint32_t high = transposed ? tile[at + 1][line] : tile[line][at + 1];
  return low | high << 16;
}

void Put(uint32_t held, uint32_t lane, bool transposed, Tile& tile) {
  const uint32_t line = lane / 4, at = 2 * (lane % 4);
  (transposed ? tile[at][line] : tile[line][at]) = static_cast<uint16_t>(held);
  (transposed ? tile[at + 1][line] : tile[line][at + 1]) = static_cast<uint16_t>(held >> 16);
}

}  // namespace

FragmentMove::FragmentMove(const MatrixOperation& operation)
    : operation_(operation), layout_(LayoutOf(operation, MatrixOperand::kA)) {
  // B is packed by columns, everything else by rows.
  const uint32_t length = operation.part == Part::kB ? operation.rows() : operation.columns();
  for (uint32_t lane = 0; lane < kWarp; ++lane) {
    for (uint32_t i = 0; i < layout_.distinct; ++i) {
      const uint32_t first = layout_.units[lane * layout_.registers + i] * layout_.elements;
      pieces_.push_back({static_cast<uint16_t>(first / length), static_cast<uint16_t>(first % length)});
    }
  }
}

void FragmentMove::Move(uint32_t present, LaneRegisters* lanes) const {
  for (uint32_t lane = 0; lane < kWarp; ++lane) {
    if ((present >> lane & 1) != 0) MoveLane(lane, lanes[lane]);
  }
}

template <typename Register>
void FragmentMove::MoveRegisters(const Piece* pieces, LaneRegisters& registers) const {
  const uint64_t bits = trace::MatrixElementBits(operation_.a);
  const uint64_t stride_bits = registers.stride * bits;
  auto* words = reinterpret_cast<char*>(registers.words);
  for (uint32_t i = 0; i < layout_.distinct; ++i, words += sizeof(Register)) {
    const uint64_t address = registers.address + (pieces[i].line * stride_bits + pieces[i].at * bits) / 8;
    MoveBytes(operation_.is_load(), address, words, sizeof(Register));
  }
}

void FragmentMove::MoveLane(uint32_t lane, LaneRegisters& registers) const {
  const bool loads = operation_.is_load();
  const bool side_by_side = (operation_.part == Part::kB) == operation_.by_columns;
  const bool is_wide = RegisterBits(operation_.a) == 64;
  const Piece* pieces = &pieces_[size_t{lane} * layout_.distinct];
  if (side_by_side && is_wide) {
    MoveRegisters<uint64_t>(pieces, registers);
  } else if (side_by_side) {
    MoveRegisters<uint32_t>(pieces, registers);
  } else {
    // Elements of less than a byte have one layout only.
    const uint64_t bytes = trace::MatrixElementBits(operation_.a) / 8;
    auto* words = reinterpret_cast<char*>(registers.words);
    for (uint32_t i = 0; i < layout_.distinct; ++i) {
      for (uint64_t e = 0; e < layout_.elements; ++e, words += bytes) {
        const uint64_t element = (pieces[i].at + e) * registers.stride + pieces[i].line;
        MoveBytes(loads, registers.address + element * bytes, words, bytes);
      }
    }
  }
  // Only half precision has registers that repeat others, of 32 bits each.
  for (uint32_t i = layout_.distinct; loads && i < layout_.registers; ++i) {
    registers.words[i] = registers.words[i - layout_.distinct];
  }
}

void MoveTiles(const MatrixOperation& operation, uint32_t present, LaneRegisters* lanes) {
  const bool loads = operation.kind == Kind::kLoadTiles;
  for (uint32_t t = 0; t < operation.tiles; ++t) {
    Tile tile = {};
    if (!loads) {
      for (uint32_t lane = 0; lane < kWarp; ++lane) Put(lanes[lane].words[t], lane, operation.transposed, tile);
    }
    for (uint32_t row = 0; row < kTileSide; ++row) {
      const uint32_t lane = kTileSide * t + row;
      if ((present >> lane & 1) != 0) MoveBytes(loads, lanes[lane].address, tile[row], sizeof(tile[row]));
    }
    if (!loads) continue;
    for (uint32_t lane = 0; lane < kWarp; ++lane) lanes[lane].words[t] = HeldBy(tile, lane, operation.transposed);
  }
}

void TransposeTile(LaneRegisters* lanes) {
  Tile tile = {};
  for (uint32_t lane = 0; lane < kWarp; ++lane) Put(lanes[lane].words[0], lane, /*transposed=*/false, tile);
  for (uint32_t lane = 0; lane < kWarp; ++lane) lanes[lane].words[0] = HeldBy(tile, lane, /*transposed=*/true);
}

}  // namespace heddle::tracegen
