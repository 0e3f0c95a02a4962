// Names that are no policies of this program, though a reader of the papers may ask for them.
#ifndef HEDDLE_TOOLS_INPUTS_POLICIES_ELSEWHERE_H_
#define HEDDLE_TOOLS_INPUTS_POLICIES_ELSEWHERE_H_

#include <string>
#include <string_view>

namespace heddle::tools {

// Where the thing is instead, or why it is not there; empty for a name that nothing is known about.
std::string PolicyElsewhere(std::string_view name);

}  // namespace heddle::tools

#endif  // HEDDLE_TOOLS_INPUTS_POLICIES_ELSEWHERE_H_
