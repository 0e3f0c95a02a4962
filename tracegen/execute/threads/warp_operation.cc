#include "tracegen/execute/threads/warp_operation.h"

#include <algorithm>

namespace heddle::tracegen {
namespace {

constexpr uint64_t kPredicate = uint64_t{1} << 32;

// Source lane of a shuffle, and whether it is in range.
struct ShuffleSource {
  uint32_t lane = 0;
  bool in_range = false;
};
ShuffleSource SourceLane(WarpOperation operation, uint32_t lane, uint32_t b, uint32_t c) {
  uint32_t offset = b & 31;
  uint32_t clamp = c & 31;
  uint32_t segment = c >> 8 & 31;
  uint32_t highest = (lane & segment) | (clamp & ~segment);
  uint32_t lowest = lane & segment;
  int source = 0;
  bool in_range = false;
  switch (operation) {
    case WarpOperation::kShuffleUp:
      source = static_cast<int>(lane) - static_cast<int>(offset);
      in_range = source >= static_cast<int>(highest);
      break;
    case WarpOperation::kShuffleDown:
      source = static_cast<int>(lane + offset);
      in_range = source <= static_cast<int>(highest);
      break;
    case WarpOperation::kShuffleButterfly:
      source = static_cast<int>(lane ^ offset);
      in_range = source <= static_cast<int>(highest);
      break;
    default:
      source = static_cast<int>(lowest | (offset & ~segment));
      in_range = source <= static_cast<int>(highest);
      break;
  }
  return {in_range ? static_cast<uint32_t>(source) : lane, in_range};
}

bool IsShuffle(WarpOperation operation) {
  return operation >= WarpOperation::kShuffleUp && operation <= WarpOperation::kShuffleIndex;
}

uint32_t Reduce(WarpOperation operation, uint32_t a, uint32_t b) {
  switch (operation) {
    case WarpOperation::kReduceAdd:
      return a + b;
    case WarpOperation::kReduceMin:
      return static_cast<uint32_t>(std::min(static_cast<int32_t>(a), static_cast<int32_t>(b)));
    case WarpOperation::kReduceMax:
      return static_cast<uint32_t>(std::max(static_cast<int32_t>(a), static_cast<int32_t>(b)));
    case WarpOperation::kReduceUnsignedMin:
      return std::min(a, b);
    case WarpOperation::kReduceUnsignedMax:
      return std::max(a, b);
    case WarpOperation::kReduceAnd:
      return a & b;
    case WarpOperation::kReduceOr:
      return a | b;
    default:
      return a ^ b;
  }
}

}  // namespace

const char* NameOf(WarpOperation operation) {
  if (IsShuffle(operation)) return "shuffle";
  switch (operation) {
    case WarpOperation::kSync:
      return "syncwarp";
    case WarpOperation::kMeet:
      return "convergence barrier";
    case WarpOperation::kDiverged:
    case WarpOperation::kDiffers:
      return "branch of a warp";
    case WarpOperation::kVoteAll:
    case WarpOperation::kVoteAny:
    case WarpOperation::kVoteUniform:
    case WarpOperation::kBallot:
      return "vote";
    case WarpOperation::kMatchAny:
    case WarpOperation::kMatchAll:
      return "match";
    case WarpOperation::kActiveMask:
      return "activemask";
    case WarpOperation::kMatrix:
      return "matrix instruction";
    default:
      return "warp reduction";
  }
}

void ComputeWarpOperation(WarpOperation operation, uint32_t lanes, const LaneOperands* operands, uint64_t* results) {
  const auto for_each = [lanes](auto&& function) {
    for (uint32_t rest = lanes; rest != 0; rest &= rest - 1) function(static_cast<uint32_t>(__builtin_ctz(rest)));
  };
  const auto first = static_cast<uint32_t>(__builtin_ctz(lanes));
  uint32_t votes = 0;
  bool equal = true;
  auto reduced = static_cast<uint32_t>(operands[first].value);
  for_each([&](uint32_t lane) {
    if (operands[lane].value != 0) votes |= 1u << lane;
    equal = equal && operands[lane].value == operands[first].value;
    if (lane != first) reduced = Reduce(operation, reduced, static_cast<uint32_t>(operands[lane].value));
  });
  for_each([&](uint32_t lane) {
    uint64_t& result = results[lane];
    switch (operation) {
      case WarpOperation::kSync:
      case WarpOperation::kMeet:
        result = 0;
        break;
      case WarpOperation::kDiverged:
        result = (operands[lane].b & ~votes) != 0;
        break;
      case WarpOperation::kDiffers:
        result = operands[lane].value != operands[first].value;
        break;
      case WarpOperation::kVoteAll:
        result = votes == lanes;
        break;
      case WarpOperation::kVoteAny:
        result = votes != 0;
        break;
      case WarpOperation::kVoteUniform:
        result = votes == 0 || votes == lanes;
        break;
      case WarpOperation::kBallot:
        result = votes;
        break;
      case WarpOperation::kActiveMask:
        result = lanes;
        break;
      case WarpOperation::kMatchAny: {
        uint32_t same = 0;
        for_each([&](uint32_t other) { same |= (operands[other].value == operands[lane].value ? 1u : 0u) << other; });
        result = same;
        break;
      }
      case WarpOperation::kMatchAll:
        result = equal ? kPredicate | lanes : 0;
        break;
      default:
        if (IsShuffle(operation)) {
          const ShuffleSource source = SourceLane(operation, lane, operands[lane].b, operands[lane].c);
          // A lane that does not take part has no value to give. What then comes is undefined; programs that add it up,
          // such as the reductions of the vendor's samples, count on 0.
          const uint64_t value = lanes >> source.lane & 1 ? operands[source.lane].value & 0xffffffff : 0;
          result = value | (source.in_range ? kPredicate : 0);
        } else {
          result = reduced;
        }
        break;
    }
  });
}

}  // namespace heddle::tracegen
