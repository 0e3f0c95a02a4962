// `--set path=value`: one field of a machine by its path, through reflection, so that a new field needs nothing here.
#include <string>
#include <string_view>
#include <vector>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "google/protobuf/descriptor.h"
#include "google/protobuf/message.h"
#include "replay/engine/machine.h"
#include "replay/engine/suggest.h"

namespace heddle::replay {
namespace {

using google::protobuf::EnumDescriptor;
using google::protobuf::FieldDescriptor;
using google::protobuf::Message;

std::vector<std::string> FieldNames(const Message& message) {
  std::vector<std::string> names;
  for (int i = 0; i < message.GetDescriptor()->field_count(); ++i) {
    names.push_back(message.GetDescriptor()->field(i)->name());
  }
  return names;
}

absl::Status WrongValue(const std::string& path, const std::string& value, const std::string& wanted) {
  return absl::InvalidArgumentError(absl::StrCat("--set ", path, "=", value, ": \"", value, "\" is not ", wanted));
}

template <typename Number, typename Setter>
absl::Status SetNumber(const std::string& path, const std::string& value, const std::string& wanted, Setter set) {
  Number number;
  if (!absl::SimpleAtoi(value, &number)) return WrongValue(path, value, wanted);
  set(number);
  return absl::OkStatus();
}

absl::Status SetField(Message& message, const FieldDescriptor& field, const std::string& path,
                      const std::string& value) {
  const google::protobuf::Reflection& reflection = *message.GetReflection();
  switch (field.cpp_type()) {
    case FieldDescriptor::CPPTYPE_UINT32:
      return SetNumber<uint32_t>(path, value, "a whole number from 0 to 4294967295",
                                 [&](uint32_t number) { reflection.SetUInt32(&message, &field, number); });
    case FieldDescriptor::CPPTYPE_UINT64:
      return SetNumber<uint64_t>(path, value, "a whole number from 0 to 18446744073709551615",
                                 [&](uint64_t number) { reflection.SetUInt64(&message, &field, number); });
    case FieldDescriptor::CPPTYPE_INT32:
      return SetNumber<int32_t>(path, value, "a whole number",
                                [&](int32_t number) { reflection.SetInt32(&message, &field, number); });
    case FieldDescriptor::CPPTYPE_INT64:
      return SetNumber<int64_t>(path, value, "a whole number",
                                [&](int64_t number) { reflection.SetInt64(&message, &field, number); });
    case FieldDescriptor::CPPTYPE_BOOL: {
      if (value != "true" && value != "false") return WrongValue(path, value, "true or false");
      reflection.SetBool(&message, &field, value == "true");
      return absl::OkStatus();
    }
    case FieldDescriptor::CPPTYPE_DOUBLE: {
      double number;
      if (!absl::SimpleAtod(value, &number) || !(number - number == 0)) return WrongValue(path, value, "a number");
      reflection.SetDouble(&message, &field, number);
      return absl::OkStatus();
    }
    case FieldDescriptor::CPPTYPE_STRING:
      reflection.SetString(&message, &field, value);
      return absl::OkStatus();
    case FieldDescriptor::CPPTYPE_ENUM: {
      const EnumDescriptor& type = *field.enum_type();
      if (const auto* chosen = type.FindValueByName(value); chosen != nullptr && chosen->number() != 0) {
        reflection.SetEnum(&message, &field, chosen);
        return absl::OkStatus();
      }
      std::vector<std::string> names;
      for (int i = 0; i < type.value_count(); ++i) {
        if (type.value(i)->number() != 0) names.push_back(type.value(i)->name());  // 0 means not given
      }
      return WrongValue(path, value, absl::StrCat("one of ", absl::StrJoin(names, ", ")));
    }
    case FieldDescriptor::CPPTYPE_FLOAT:
    case FieldDescriptor::CPPTYPE_MESSAGE:
      break;
  }
  return absl::InvalidArgumentError(absl::StrCat("--set ", path, ": cannot be set from the command line"));
}

}  // namespace

absl::Status Override(machine::v1::Machine& machine, std::string_view assignment_text) {
  const std::string assignment(assignment_text);
  const size_t equals = assignment.find('=');
  if (equals == std::string::npos || equals == 0) {
    return absl::InvalidArgumentError(
        absl::StrCat("--set \"", assignment, "\": must be path=value, such as core.schedulers=2"));
  }
  const std::string path = assignment.substr(0, equals);
  const std::string value = assignment.substr(equals + 1);

  const std::vector<std::string> words = absl::StrSplit(path, '.');
  Message* message = &machine;
  std::string seen;  // the part of the path that is understood
  for (size_t i = 0; i < words.size(); ++i) {
    const FieldDescriptor* field = message->GetDescriptor()->FindFieldByName(words[i]);
    if (field == nullptr) {
      return absl::InvalidArgumentError(
          absl::StrCat("--set ", path, ": ",
                       UnknownNameMessage(seen.empty() ? "field of a machine" : absl::StrCat("field of ", seen),
                                          words[i], FieldNames(*message))));
    }
    absl::StrAppend(&seen, seen.empty() ? "" : ".", words[i]);
    if (field->is_repeated()) {
      return absl::InvalidArgumentError(absl::StrCat(
          "--set ", path, ": ", seen, " is a list: write it in a machine file and give that to --machine"));
    }
    const bool last = i + 1 == words.size();
    const bool is_message = field->cpp_type() == FieldDescriptor::CPPTYPE_MESSAGE;
    if (last && is_message) {
      const Message& inner = message->GetReflection()->GetMessage(*message, field);
      return absl::InvalidArgumentError(
          absl::StrCat("--set ", path, ": ", seen, " is a group of fields: ", absl::StrJoin(FieldNames(inner), ", ")));
    }
    if (!last && !is_message) {
      return absl::InvalidArgumentError(absl::StrCat("--set ", path, ": ", seen, " is a value and has no fields"));
    }
    if (last) return SetField(*message, *field, path, value);
    message = message->GetReflection()->MutableMessage(message, field);
  }
  return absl::InternalError("--set: empty path");
}

}  // namespace heddle::replay
