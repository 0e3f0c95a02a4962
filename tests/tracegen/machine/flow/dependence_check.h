// Whether control bits keep the dependences of the code: a decoder that misreads them breaks this.
#ifndef HEDDLE_TESTS_TRACEGEN_MACHINE_FLOW_DEPENDENCE_CHECK_H_
#define HEDDLE_TESTS_TRACEGEN_MACHINE_FLOW_DEPENDENCE_CHECK_H_

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "tracegen/machine/flow/program.h"

namespace heddle::tracegen::machine {

struct DependenceReport {
  uint64_t variable_checked = 0;  // reads and writes behind a result of variable latency
  uint64_t fixed_checked = 0;     // reads behind a result of fixed latency in the same block
  std::vector<std::string> violations;
  // Fewest cycles between a result of fixed latency and a read of it, by opcode of the producer.
  std::map<std::string, uint32_t> fewest_cycles;
};

// The rules, along every path within a function:
//  * who reads or overwrites a register that an instruction of variable latency writes waits for its write barrier;
//  * who overwrites a general register that such an instruction reads late waits for its read barrier (predicates and
//    uniform registers are read when it issues);
//  * an instruction of variable latency without a barrier is covered by the next one of its unit that sets one
//    (accesses to shared memory and others apart), and units keep the order of their own reads and writes;
//  * who reads a register that an instruction of fixed latency writes, in the same block, comes at least 4 cycles
//    later; of a uniform register at least 2, and on sm_90 if one of the two is an IMAD.WIDE at least 2.
// Calls end what is known. `report` adds up.
void CheckDependences(const MachineProgram& program, DependenceReport* report);

}  // namespace heddle::tracegen::machine

#endif  // HEDDLE_TESTS_TRACEGEN_MACHINE_FLOW_DEPENDENCE_CHECK_H_
