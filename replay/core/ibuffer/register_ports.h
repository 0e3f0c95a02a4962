// Ports through which instructions of fixed latency read general registers, and the cache before them.
#ifndef HEDDLE_REPLAY_CORE_IBUFFER_REGISTER_PORTS_H_
#define HEDDLE_REPLAY_CORE_IBUFFER_REGISTER_PORTS_H_

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "proto/machine.pb.h"
#include "replay/seams/types.h"
#include "traces/format/program/program.h"

namespace heddle::replay {

// Which general registers each instruction reads in its fixed time: worked out once per launch. An instruction of
// machine code has a fixed latency if it is none of memory and raises no barrier for its result.
class RegisterReads {
 public:
  struct Operand {
    uint8_t number = 0;  // of the architecture
    uint8_t place = 0;   // among the operands: 0 to 2
    bool keep = false;   // marked for reuse
  };

  // Nothing is read if the machine has no register file.
  RegisterReads(const trace::Program& program, const machine::v1::Core& core);

  const machine::v1::RegisterFile& file() const { return file_; }
  // Whether some instruction reads anything.
  bool any() const { return !operands_.empty(); }
  // Each register once.
  std::span<const Operand> of(Pc pc) const {
    return std::span(operands_).subspan(first_[pc], first_[pc + 1] - first_[pc]);
  }

 private:
  void Add(const trace::v1::Function& function, const trace::v1::Instruction& instruction);

  const machine::v1::RegisterFile file_;
  std::vector<uint32_t> first_;  // by PC, and one more
  std::vector<Operand> operands_;
};

// The register files of one SM: one for each issue port, as the port's warps lie there.
class RegisterPorts {
 public:
  RegisterPorts(const RegisterReads& reads, int ports);

  // The port issues the instruction at `pc` for this hardware warp in cycle `now`. Returns for how many cycles more
  // than usual it reads its operands: so long it holds the port.
  Cycle Read(int port, uint32_t hw_warp, Pc pc, Cycle now);

 private:
  static constexpr size_t kPlaces = 3;
  struct Kept {
    uint32_t hw_warp = 0;
    uint8_t number = 0;
    bool valid = false;
  };
  struct Bank {
    Cycle free = 0;  // the first cycle in which nothing is read
    std::array<Kept, kPlaces> kept;
  };

  Bank& BankOf(int port, uint8_t number) {
    return banks_[static_cast<size_t>(port) * banks_of_port_ + number % banks_of_port_];
  }

  const RegisterReads& reads_;
  const uint32_t banks_of_port_;
  const uint32_t usual_;  // cycles
  const bool cached_;
  std::vector<Bank> banks_;  // by port and number
};

}  // namespace heddle::replay

#endif  // HEDDLE_REPLAY_CORE_IBUFFER_REGISTER_PORTS_H_
