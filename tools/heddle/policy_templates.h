// The starting files that `heddle new-policy` writes.
#ifndef HEDDLE_TOOLS_HEDDLE_POLICY_TEMPLATES_H_
#define HEDDLE_TOOLS_HEDDLE_POLICY_TEMPLATES_H_

#include <string>

namespace heddle::tools {

// The text of the two files for a seam, with NAME for the policy's name and CLASS for its class.
const char* PolicyTemplate(const std::string& seam);  // null for an unknown seam
const char* PolicyTestTemplate();

}  // namespace heddle::tools

#endif  // HEDDLE_TOOLS_HEDDLE_POLICY_TEMPLATES_H_
