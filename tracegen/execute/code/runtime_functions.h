// The functions that generated code calls.
#ifndef HEDDLE_TRACEGEN_EXECUTE_CODE_RUNTIME_FUNCTIONS_H_
#define HEDDLE_TRACEGEN_EXECUTE_CODE_RUNTIME_FUNCTIONS_H_

#include <string>
#include <utility>
#include <vector>

namespace heddle::tracegen {

// Names and addresses; thread_context.h says what each takes.
const std::vector<std::pair<std::string, void*>>& RuntimeFunctions();

}  // namespace heddle::tracegen

#endif  // HEDDLE_TRACEGEN_EXECUTE_CODE_RUNTIME_FUNCTIONS_H_
