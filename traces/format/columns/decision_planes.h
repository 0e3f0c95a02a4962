// Two-way decisions of all paths of a chunk, by their number in the path (proto/trace.proto, PathTable.decision_planes)
// instead of path after path. Where neighbouring threads run a loop for different elements, each of its decisions
// repeats from thread to thread, which shows in a plane and not in a path.
#ifndef HEDDLE_TRACES_FORMAT_COLUMNS_DECISION_PLANES_H_
#define HEDDLE_TRACES_FORMAT_COLUMNS_DECISION_PLANES_H_

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace heddle::trace {

// `counts` has the two-way decisions of each path. Bits stand least significant first.

// Bytes of all paths, each of which starts on a byte; and of all planes, likewise.
uint64_t PathBytes(std::span<const uint32_t> counts);
uint64_t PlaneBytes(std::span<const uint32_t> counts);

// From paths to planes and back. `bits` and `planes` have the bytes that the two functions above tell.
std::string PlanesOf(std::span<const uint32_t> counts, std::string_view bits);
std::string PathsOf(std::span<const uint32_t> counts, std::string_view planes);

// True if planes take so much less than `bits`, both compressed by themselves, that a chunk should have them.
bool PlanesPay(std::span<const uint32_t> counts, std::string_view bits);

}  // namespace heddle::trace

#endif  // HEDDLE_TRACES_FORMAT_COLUMNS_DECISION_PLANES_H_
