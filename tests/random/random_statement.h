// The statements of a random structured kernel, and their translation to basic blocks.
#ifndef HEDDLE_TESTS_RANDOM_RANDOM_STATEMENT_H_
#define HEDDLE_TESTS_RANDOM_RANDOM_STATEMENT_H_

#include <cstdint>
#include <vector>

#include "proto/trace.pb.h"

namespace heddle::replay {

// How threads decide at a statement.
struct Decider {
  enum class Kind : uint8_t {
    kUniform,     // a hash of the block: all its threads alike
    kRandom,      // a hash of thread and occurrence
    kThreshold,   // threads below `parameter`
    kParity,      // odd threads
    kWarpParity,  // threads of odd groups of `parameter`
  } kind = Kind::kUniform;
  uint32_t parameter = 0;
  uint32_t per_cent = 50;  // kRandom
};

struct Statement {
  enum class Kind : uint8_t {
    kStraight,  // `count` instructions
    kBarrier,
    kGuarded,    // `count` accesses under one guard, then maybe an exit; the decider says 0 where it holds
    kIf,         // body 0, and body 1 if there are two
    kDoWhile,    // body 0, at least once, at most `count` times
    kWhile,      // body 0, at most `count` times
    kSwitch,     // one body of many
    kCall,       // one callee, or one of many (indirect)
    kRecursion,  // calls the own function if the decider says so and the depth allows
    kBreak,      // leaves the innermost loop
    kExit,
  } kind = Kind::kStraight;
  uint32_t id = 0;  // unique in the kernel
  uint32_t count = 0;
  uint32_t barrier_id = 0;
  uint32_t barrier_threads = 0;
  bool exits = false;  // kGuarded
  Decider decider;
  std::vector<std::vector<Statement>> bodies;
  std::vector<uint32_t> callees;  // function indices

  // Filled in by Translate: where the bodies begin, the loop's test, and what follows.
  std::vector<uint32_t> body_block;
  uint32_t test_block = 0;
  uint32_t next_block = 0;
};

struct KernelSource {
  std::vector<std::vector<Statement>> functions;  // 0 is the kernel
};

// Translates `source` to a program and notes the blocks in the statements. `seed` draws the kinds of instructions;
// `memory` allows accesses, `uniform_values` operands that are values of uniform registers. Post-dominators come from a
// naive set computation of this file's own.
trace::v1::KernelProgram Translate(KernelSource& source, uint64_t seed, bool memory, bool uniform_values = false);

}  // namespace heddle::replay

#endif  // HEDDLE_TESTS_RANDOM_RANDOM_STATEMENT_H_
