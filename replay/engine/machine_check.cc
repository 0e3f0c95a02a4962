// What makes a machine possible.
#include <cstdint>

#include "replay/engine/check_range.h"
#include "replay/engine/machine.h"
#include "replay/engine/machine_check_core.h"
#include "replay/engine/machine_check_memory.h"

namespace heddle::replay {
namespace {

// Keeps every counter far from overflow; no real machine comes near.
constexpr uint64_t kMaxSms = 1024;

}  // namespace

absl::Status CheckMachine(const machine::v1::Machine& machine) {
  if (machine.name().empty()) return absl::InvalidArgumentError("name: must not be empty");
  if (absl::Status status = CheckRange("sms", machine.sms(), 1, kMaxSms); !status.ok()) return status;
  if (absl::Status status = CheckCore(machine.core()); !status.ok()) return status;
  return CheckMemory(machine);
}

}  // namespace heddle::replay
