// Reading what visits to graphics cards measured (proto/hardware.proto).
#ifndef HEDDLE_TOOLS_INPUTS_HARDWARE_FILES_H_
#define HEDDLE_TOOLS_INPUTS_HARDWARE_FILES_H_

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "proto/hardware.pb.h"
#include "proto/machine.pb.h"

namespace heddle::tools {

// One visit, and the file that it is from.
struct HardwareVisit {
  std::string file;
  std::string digest;  // hexadecimal SHA-256 of the file as it lies there, packed or not
  hardware::v1::Visit visit;
};

// The files *.json and *.json.gz of a folder and below it, ascending, those of machines (*.hardware.json) left out, and
// a packed one beside the same file unpacked; or the file itself. NotFound for a path that is not there and for a
// folder without one.
absl::StatusOr<std::vector<std::string>> FindVisits(const std::string& path);

// Reads one visit and checks it: texts are printable, numbers finite and not negative, names there, launches and
// counters once. A file *.gz is unpacked, to at most 256 MB. Errors name the file and the field: NotFound if it cannot
// be read, InvalidArgument for everything else.
absl::StatusOr<HardwareVisit> ReadVisit(const std::string& file);

// MACHINE.hardware.json for MACHINE.textproto, or for a machine that is called by its name.
std::string MachineRecordFile(const std::string& machine);

// Hexadecimal SHA-256 of all values of a machine: another value of any field is another machine.
std::string MachineDigest(const machine::v1::Machine& machine);

// Reads and checks such a file. NotFound if it is not there.
absl::StatusOr<hardware::v1::MachineRecord> ReadMachineRecord(const std::string& file);

// Writes it, in lines, so that Git shows what changed.
absl::Status WriteMachineRecord(const std::string& file, const hardware::v1::MachineRecord& record);

}  // namespace heddle::tools

#endif  // HEDDLE_TOOLS_INPUTS_HARDWARE_FILES_H_
