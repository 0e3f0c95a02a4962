// Protocol buffer messages as JSON for programs that read results.
#ifndef HEDDLE_TOOLS_CONSOLE_JSON_H_
#define HEDDLE_TOOLS_CONSOLE_JSON_H_

#include <google/protobuf/message.h>

#include <nlohmann/json.hpp>
#include <string>

namespace heddle::tools {

// Fields in the order of their declaration under their own (snake_case) names; integers of every width as numbers;
// enumerations by name; bytes in hexadecimal; maps as objects with ascending keys. Zeros and empty lists are present; a
// sub-message, an optional field or a member of a oneof that was not set is absent. (Protocol Buffers' own JSON writes
// 64-bit integers as strings and leaves zeros out.)
nlohmann::ordered_json ToJson(const google::protobuf::Message& message);

// `value` on one line without a line end. Bytes that are no UTF-8 are replaced, never refused.
std::string JsonLine(const nlohmann::ordered_json& value);

}  // namespace heddle::tools

#endif  // HEDDLE_TOOLS_CONSOLE_JSON_H_
