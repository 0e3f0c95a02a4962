// Memory hierarchies in which everything is scarce.
#ifndef HEDDLE_TESTS_CONFORMANCE_SMALL_HIERARCHY_H_
#define HEDDLE_TESTS_CONFORMANCE_SMALL_HIERARCHY_H_

#include <cstdint>

#include "proto/machine.pb.h"
#include "tests/conformance/random_case.h"

namespace heddle::replay {

// Gives a machine a hierarchy drawn from `seed` whose caches, MSHRs, queues and buffers are the smallest that are legal
// or little more, with every way to allocate, to write, to merge and to share a port. CheckMachine accepts it.
void SetSmallHierarchy(uint64_t seed, machine::v1::Machine& machine);

// A random case of either front end on a machine with such a hierarchy, which has a data cache.
RandomCase MakeCacheCase(uint64_t seed);

}  // namespace heddle::replay

#endif  // HEDDLE_TESTS_CONFORMANCE_SMALL_HIERARCHY_H_
