// Functions of a module whose text was its source: their flow, with the links of their IR to it.
#ifndef HEDDLE_TRACEGEN_PROGRAM_LINKED_FLOW_H_
#define HEDDLE_TRACEGEN_PROGRAM_LINKED_FLOW_H_

#include <cstdint>
#include <map>
#include <string>

#include "proto/trace.pb.h"
#include "tracegen/program/flow.h"
#include "tracegen/program/link.h"

namespace heddle::tracegen {

// A register of the architecture.
struct MachineRegister {
  trace::v1::RegisterFile file = trace::v1::FILE_GENERAL;
  uint8_t number = 0;
};

struct LinkedFlow {
  FlowFunction flow;
  FunctionLinks links;
  // Registers per thread of a kernel with all that it calls, as its assembler counted them; 0 = to be estimated.
  uint32_t registers = 0;
  // Of machine code: what each name of a register in the flow stands for.
  std::map<std::string, MachineRegister> machine_registers = {};
};

// Says in the trace which register of the architecture each number is.
inline void TellMachineRegisters(const LinkedFlow& linked, const std::map<std::string, uint32_t>& numbers,
                                 trace::v1::Function* out) {
  std::string& files = *out->mutable_register_file();
  std::string& places = *out->mutable_register_number();
  files.resize(numbers.size());
  places.resize(numbers.size());
  for (const auto& [name, at] : numbers) {
    const MachineRegister& reg = linked.machine_registers.at(name);
    files[at - 1] = static_cast<char>(reg.file);
    places[at - 1] = static_cast<char>(reg.number);
  }
}

struct LinkedFlows {
  trace::v1::CodeLevel level = trace::v1::LEVEL_PTX_GIVEN;
  std::map<std::string, LinkedFlow> functions;  // by name, all that have a body
};

}  // namespace heddle::tracegen

#endif  // HEDDLE_TRACEGEN_PROGRAM_LINKED_FLOW_H_
