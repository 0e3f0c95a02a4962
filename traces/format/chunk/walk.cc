#include "traces/format/chunk/walk.h"

namespace heddle::trace {

std::string WalkMessage(WalkStatus status) {
  switch (status) {
    case WalkStatus::kOk:
      return "no error";
    case WalkStatus::kOutOfDecisions:
      return "a block asks for a decision behind the last one";
    case WalkStatus::kLeftDecisions:
      return "the thread exits before its last decision";
    case WalkStatus::kBadDecision:
      return "a decision names a successor that does not exist";
    case WalkStatus::kTooDeep:
      return "more calls are pending than the format allows";
    case WalkStatus::kTooLong:
      return "more thread-instructions than a chunk may hold";
    case WalkStatus::kBadReturn:
      return "a return without a caller";
  }
  return "unknown";
}

}  // namespace heddle::trace
