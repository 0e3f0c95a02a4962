#include "tracegen/execute/launch/launch_arguments.h"

#include <cstring>

#include "tracegen/instrument/thread_context.h"

namespace heddle::tracegen {

std::vector<const void*> PlaceArguments(const InstrumentedKernel& kernel, const std::string& parameters) {
  auto* memory = reinterpret_cast<char*>(kParamBase);
  std::memcpy(memory, parameters.data(), parameters.size());  // NOLINT(bugprone-not-null-terminated-result): bytes
  std::vector<const void*> arguments;
  for (const KernelParameter& parameter : kernel.parameters) arguments.push_back(memory + parameter.offset);
  return arguments;
}

}  // namespace heddle::tracegen
