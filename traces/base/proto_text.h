// Reading messages that people wrote as text.
#ifndef HEDDLE_TRACES_BASE_PROTO_TEXT_H_
#define HEDDLE_TRACES_BASE_PROTO_TEXT_H_

#include <string>

#include "absl/status/status.h"

namespace google::protobuf {
class Message;
}

namespace heddle {

// Reads `text` into `message`. Otherwise InvalidArgument with the first error, "line 3, column 7: what"; for a field
// that there is not, the ones that there are.
absl::Status ParseProtoText(const std::string& text, google::protobuf::Message& message);

}  // namespace heddle

#endif  // HEDDLE_TRACES_BASE_PROTO_TEXT_H_
