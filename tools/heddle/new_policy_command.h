// `heddle new-policy`: a starting file for a policy of one's own.
#ifndef HEDDLE_TOOLS_HEDDLE_NEW_POLICY_COMMAND_H_
#define HEDDLE_TOOLS_HEDDLE_NEW_POLICY_COMMAND_H_

#include <string>

namespace heddle::tools {

// Writes FOLDER/NAME.cc, a policy of the seam ("divergence", "scheduler", "fetch", "dispatch") that works as it is, and
// FOLDER/NAME_test.cc. Files that exist are not overwritten, names that are taken are refused. Prints what it wrote and
// complaints itself and returns the exit status.
int NewPolicyCommand(const std::string& seam, const std::string& name, const std::string& folder);

// The text of the two files for a seam, with NAME for the policy's name and CLASS for its class.
const char* PolicyTemplate(const std::string& seam);  // null for an unknown seam
const char* PolicyTestTemplate();

}  // namespace heddle::tools

#endif  // HEDDLE_TOOLS_HEDDLE_NEW_POLICY_COMMAND_H_
