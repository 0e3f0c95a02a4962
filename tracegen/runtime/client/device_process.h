// How an application finds and starts its device process.
#ifndef HEDDLE_TRACEGEN_RUNTIME_CLIENT_DEVICE_PROCESS_H_
#define HEDDLE_TRACEGEN_RUNTIME_CLIENT_DEVICE_PROCESS_H_

#include <string>
#include <vector>

#include "tracegen/runtime/protocol/device_types.h"

namespace heddle::device {

// Starts `heddle-capture --device`. The program is looked for in this order: the environment variable
// HEDDLE_DEVICE_PROGRAM, the `candidates`, the folder of the running program, PATH. It has no file of this process but
// its standard error and the socket, and is no child of this process, which may wait for all its children. `socket`
// gets this end of the socket, closed on exec. kNoDevice with a message if the program is not found or cannot be
// started.
Result StartDeviceProcess(const std::vector<std::string>& candidates, int* socket);

}  // namespace heddle::device

#endif  // HEDDLE_TRACEGEN_RUNTIME_CLIENT_DEVICE_PROCESS_H_
