// The register files of the reference core: banks that are read, and registers that are kept for reuse.
#ifndef HEDDLE_TESTS_REFERENCE_REFERENCE_REGISTER_FILE_H_
#define HEDDLE_TESTS_REFERENCE_REFERENCE_REGISTER_FILE_H_

#include <cstdint>
#include <map>
#include <set>
#include <utility>
#include <vector>

#include "proto/machine.pb.h"
#include "replay/seams/types.h"
#include "traces/format/program/program.h"

namespace heddle::replay {

// docs/reference/timing.md, section 3, "Register file", worked out anew for every instruction.
class ReferenceRegisterFile {
 public:
  ReferenceRegisterFile(const trace::Program& program, const machine::v1::RegisterFile& file)
      : program_(program), file_(file) {}

  // The cycles by which the instruction is late, and its port is held.
  Cycle Read(int port, uint32_t hw_warp, Pc pc, Cycle now);

 private:
  using Place = std::pair<uint32_t, uint32_t>;  // bank and operand
  struct Operand {
    uint32_t number = 0;
    uint32_t place = 0;
    bool keep = false;
  };
  std::vector<Operand> OperandsOf(Pc pc) const;

  const trace::Program& program_;
  const machine::v1::RegisterFile& file_;
  std::map<int, std::map<uint32_t, std::set<Cycle>>> reads_;            // by port and bank
  std::map<int, std::map<Place, std::pair<uint32_t, uint32_t>>> kept_;  // by port: hardware warp and register
};

}  // namespace heddle::replay

#endif  // HEDDLE_TESTS_REFERENCE_REFERENCE_REGISTER_FILE_H_
