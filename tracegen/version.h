// What traces are signed with.
#ifndef HEDDLE_TRACEGEN_VERSION_H_
#define HEDDLE_TRACEGEN_VERSION_H_

#include <string>

namespace heddle::tracegen {

// Name and version of this program, for TraceHeader::producer: "heddle 1.2.3".
std::string Producer();

}  // namespace heddle::tracegen

#endif  // HEDDLE_TRACEGEN_VERSION_H_
