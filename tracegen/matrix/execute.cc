#include "tracegen/matrix/execute.h"

#include <memory>

#include "absl/container/flat_hash_map.h"
#include "tracegen/matrix/move.h"
#include "tracegen/matrix/operation.h"
#include "tracegen/matrix/product.h"

namespace heddle::tracegen {
namespace {

using Kind = MatrixOperation::Kind;

// An operation with what can be prepared for it.
struct Prepared {
  explicit Prepared(uint64_t number) : code(number), operation(DecodeMatrixOperation(number)) {
    if (operation.kind == Kind::kMultiply) product = std::make_unique<MatrixProduct>(operation);
    if (operation.kind == Kind::kLoadFragment || operation.kind == Kind::kStoreFragment) {
      fragment = std::make_unique<FragmentMove>(operation);
    }
  }

  const uint64_t code;
  const MatrixOperation operation;
  std::unique_ptr<const MatrixProduct> product;
  std::unique_ptr<const FragmentMove> fragment;
};

const Prepared& PreparedFor(uint64_t code) {
  // A kernel has a few operations, and uses each of them thousands of times.
  thread_local auto& all = *new absl::flat_hash_map<uint64_t, std::unique_ptr<const Prepared>>();
  thread_local const Prepared* last = nullptr;
  if (last != nullptr && last->code == code) return *last;
  std::unique_ptr<const Prepared>& found = all[code];
  if (found == nullptr) found = std::make_unique<const Prepared>(code);
  last = found.get();
  return *last;
}

}  // namespace

void ExecuteMatrixOperation(uint64_t code, uint32_t present, LaneRegisters* lanes) {
  const Prepared& prepared = PreparedFor(code);
  if (present != ~uint32_t{0}) {
    for (uint32_t lane = 0; lane < kWarp; ++lane) {
      if ((present >> lane & 1) == 0) lanes[lane] = LaneRegisters{};
    }
  }
  switch (prepared.operation.kind) {
    case Kind::kMultiply:
      prepared.product->Multiply(lanes);
      return;
    case Kind::kLoadFragment:
    case Kind::kStoreFragment:
      prepared.fragment->Move(present, lanes);
      return;
    case Kind::kLoadTiles:
    case Kind::kStoreTiles:
      MoveTiles(prepared.operation, present, lanes);
      return;
    case Kind::kTranspose:
      TransposeTile(lanes);
      return;
  }
}

}  // namespace heddle::tracegen
