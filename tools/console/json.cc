#include "tools/console/json.h"

#include <google/protobuf/descriptor.h>

#include <map>

namespace heddle::tools {
namespace {

using google::protobuf::FieldDescriptor;
using google::protobuf::Message;
using google::protobuf::Reflection;
using Json = nlohmann::ordered_json;

std::string Hexadecimal(const std::string& bytes) {
  constexpr char kDigits[] = "0123456789abcdef";
  std::string text;
  for (const unsigned char byte : bytes) {
    text += kDigits[byte >> 4];
    text += kDigits[byte & 15];
  }
  return text;
}

std::string EnumName(const FieldDescriptor& field, int number) {
  const auto* value = field.enum_type()->FindValueByNumber(number);
  return value != nullptr ? value->name() : std::to_string(number);
}

Json Singular(const Message& message, const FieldDescriptor& field) {
  const Reflection& reflection = *message.GetReflection();
  switch (field.cpp_type()) {
    case FieldDescriptor::CPPTYPE_INT32:
      return reflection.GetInt32(message, &field);
    case FieldDescriptor::CPPTYPE_INT64:
      return reflection.GetInt64(message, &field);
    case FieldDescriptor::CPPTYPE_UINT32:
      return reflection.GetUInt32(message, &field);
    case FieldDescriptor::CPPTYPE_UINT64:
      return reflection.GetUInt64(message, &field);
    case FieldDescriptor::CPPTYPE_DOUBLE:
      return reflection.GetDouble(message, &field);
    case FieldDescriptor::CPPTYPE_FLOAT:
      return reflection.GetFloat(message, &field);
    case FieldDescriptor::CPPTYPE_BOOL:
      return reflection.GetBool(message, &field);
    case FieldDescriptor::CPPTYPE_ENUM:
      return EnumName(field, reflection.GetEnumValue(message, &field));
    case FieldDescriptor::CPPTYPE_STRING: {
      const std::string text = reflection.GetString(message, &field);
      return field.type() == FieldDescriptor::TYPE_BYTES ? Hexadecimal(text) : text;
    }
    case FieldDescriptor::CPPTYPE_MESSAGE:
      return ToJson(reflection.GetMessage(message, &field));
  }
  return nullptr;
}

Json Repeated(const Message& message, const FieldDescriptor& field, int index) {
  const Reflection& reflection = *message.GetReflection();
  switch (field.cpp_type()) {
    case FieldDescriptor::CPPTYPE_INT32:
      return reflection.GetRepeatedInt32(message, &field, index);
    case FieldDescriptor::CPPTYPE_INT64:
      return reflection.GetRepeatedInt64(message, &field, index);
    case FieldDescriptor::CPPTYPE_UINT32:
      return reflection.GetRepeatedUInt32(message, &field, index);
    case FieldDescriptor::CPPTYPE_UINT64:
      return reflection.GetRepeatedUInt64(message, &field, index);
    case FieldDescriptor::CPPTYPE_DOUBLE:
      return reflection.GetRepeatedDouble(message, &field, index);
    case FieldDescriptor::CPPTYPE_FLOAT:
      return reflection.GetRepeatedFloat(message, &field, index);
    case FieldDescriptor::CPPTYPE_BOOL:
      return reflection.GetRepeatedBool(message, &field, index);
    case FieldDescriptor::CPPTYPE_ENUM:
      return EnumName(field, reflection.GetRepeatedEnumValue(message, &field, index));
    case FieldDescriptor::CPPTYPE_STRING: {
      const std::string text = reflection.GetRepeatedString(message, &field, index);
      return field.type() == FieldDescriptor::TYPE_BYTES ? Hexadecimal(text) : text;
    }
    case FieldDescriptor::CPPTYPE_MESSAGE:
      return ToJson(reflection.GetRepeatedMessage(message, &field, index));
  }
  return nullptr;
}

// Entries of a map come in no order; keys become text, as JSON has no others.
Json Map(const Message& message, const FieldDescriptor& field) {
  const Reflection& reflection = *message.GetReflection();
  const FieldDescriptor& key = *field.message_type()->map_key();
  const FieldDescriptor& value = *field.message_type()->map_value();
  std::map<std::string, Json> sorted;
  for (int i = 0; i < reflection.FieldSize(message, &field); ++i) {
    const Message& entry = reflection.GetRepeatedMessage(message, &field, i);
    const Json name = Singular(entry, key);
    sorted[name.is_string() ? name.get<std::string>() : name.dump()] = Singular(entry, value);
  }
  Json object = Json::object();
  for (auto& [name, entry] : sorted) object[name] = std::move(entry);
  return object;
}

}  // namespace

Json ToJson(const Message& message) {
  Json object = Json::object();
  const google::protobuf::Descriptor& type = *message.GetDescriptor();
  for (int i = 0; i < type.field_count(); ++i) {
    const FieldDescriptor& field = *type.field(i);
    if (field.is_map()) {
      object[field.name()] = Map(message, field);
    } else if (field.is_repeated()) {
      Json list = Json::array();
      for (int k = 0; k < message.GetReflection()->FieldSize(message, &field); ++k) {
        list.push_back(Repeated(message, field, k));
      }
      object[field.name()] = std::move(list);
    } else if (!field.has_presence() || message.GetReflection()->HasField(message, &field)) {
      object[field.name()] = Singular(message, field);
    }
  }
  return object;
}

std::string JsonLine(const Json& value) { return value.dump(-1, ' ', false, Json::error_handler_t::replace); }

}  // namespace heddle::tools
