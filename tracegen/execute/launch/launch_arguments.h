// Parameter memory, where kernels read their arguments.
#ifndef HEDDLE_TRACEGEN_EXECUTE_LAUNCH_LAUNCH_ARGUMENTS_H_
#define HEDDLE_TRACEGEN_EXECUTE_LAUNCH_LAUNCH_ARGUMENTS_H_

#include <string>
#include <vector>

#include "tracegen/instrument/instrument.h"

namespace heddle::tracegen {

// Puts the bytes of parameter memory where kernels read them: one pointer per parameter, for BlockRunner::Run.
std::vector<const void*> PlaceArguments(const InstrumentedKernel& kernel, const std::string& parameters);

}  // namespace heddle::tracegen

#endif  // HEDDLE_TRACEGEN_EXECUTE_LAUNCH_LAUNCH_ARGUMENTS_H_
