// Where each instruction of a section of code leads.
#ifndef HEDDLE_TRACEGEN_MACHINE_FLOW_CONTROL_FLOW_H_
#define HEDDLE_TRACEGEN_MACHINE_FLOW_CONTROL_FLOW_H_

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "proto/trace.pb.h"
#include "tracegen/machine/cubin/cubin.h"
#include "tracegen/machine/text/disassembly.h"

namespace heddle::tracegen::machine {

// A place in all code: section of the cubin, and index of the instruction in it.
struct CodePlace {
  uint32_t section = 0;
  uint32_t index = 0;

  auto operator<=>(const CodePlace&) const = default;
};

// What follows an instruction. Indices are of its own section.
struct Step {
  bool ends_block = false;
  trace::v1::Terminator terminator = trace::v1::FALL_THROUGH;
  std::vector<uint32_t> next;  // in the order of successors
  bool returns = false;        // the last successor leaves the function
  bool exits = false;          // the last successor ends the thread
  std::vector<CodePlace> callees;
  bool runs_out = false;      // it is the last one of its section, and goes on
  bool sets_barrier = false;  // BSSY: `meeting` is where the threads meet
  uint32_t meeting = 0;
};

// What names lead to: the functions of all sections.
using FunctionPlaces = std::map<std::string, CodePlace, std::less<>>;
absl::StatusOr<FunctionPlaces> PlacesOfFunctions(const Cubin& cubin);

// One step for each instruction of the section. Where a BSYNC goes on is left to LinkSyncs. Errors: as of BuildProgram.
absl::StatusOr<std::vector<Step>> FollowSection(const Cubin& cubin, uint32_t section, const CodeText& text,
                                                const FunctionPlaces& functions);

// Each BSYNC that `entry` leads to goes on where the BSSY that reaches it says; several of these make it a wide branch.
// Without one, such as in a function that restores a barrier of its caller, it goes on behind itself. What these steps
// were for another entry is overwritten.
void LinkSyncs(const CodeText& text, uint32_t entry, std::vector<Step>* steps);

// "function+0x40".
std::string PlaceText(const Cubin& cubin, uint32_t section, uint32_t index);

}  // namespace heddle::tracegen::machine

#endif  // HEDDLE_TRACEGEN_MACHINE_FLOW_CONTROL_FLOW_H_
