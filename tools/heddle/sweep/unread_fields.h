// Settings of a study that change nothing, because the machine does not read the field.
#ifndef HEDDLE_TOOLS_HEDDLE_SWEEP_UNREAD_FIELDS_H_
#define HEDDLE_TOOLS_HEDDLE_SWEEP_UNREAD_FIELDS_H_

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "proto/machine.pb.h"

namespace heddle::tools::sweep {

class UnreadFields {
 public:
  // A machine to which all of these assignments have been applied.
  void Add(const std::string& name, const machine::v1::Machine& machine, const std::vector<std::string>& assignments);

  // One sentence for each assignment that changes nothing on a machine, whatever else is set with it; by machine.
  std::vector<std::string> Notes() const;

 private:
  // By machine and assignment: why nothing changes; empty if something does in one of the settings.
  std::map<std::pair<std::string, std::string>, std::string> why_;
};

}  // namespace heddle::tools::sweep

#endif  // HEDDLE_TOOLS_HEDDLE_SWEEP_UNREAD_FIELDS_H_
