#include "tracegen/runtime/client/stand_in.h"

#include <utility>

namespace heddle::device {
namespace {

thread_local const char* current = nullptr;

}  // namespace

const char* StandInFunction() { return current != nullptr ? current : ""; }

}  // namespace heddle::device

const char* heddleStandIn(const char* function) { return std::exchange(heddle::device::current, function); }
