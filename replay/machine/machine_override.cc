// `--set path=value`: one field of a machine by its path, through reflection, so that a new field needs nothing here.
//
// A path names fields, separated by dots; an entry of a list is LIST[INDEX], counted from 0 (the index after the last
// one adds an entry), or LIST[NAME] where the entries have an enumeration that tells them apart:
// core.units.timing[INT_DIV] is the entry of that operation, which is added if there is none.
#include <cmath>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "google/protobuf/descriptor.h"
#include "google/protobuf/message.h"
#include "replay/machine/machine.h"
#include "traces/base/status_macros.h"
#include "traces/base/suggest.h"

namespace heddle::replay {
namespace {

using google::protobuf::Descriptor;
using google::protobuf::EnumDescriptor;
using google::protobuf::EnumValueDescriptor;
using google::protobuf::FieldDescriptor;
using google::protobuf::Message;

std::vector<std::string> FieldNames(const Descriptor& message) {
  std::vector<std::string> names;
  for (int i = 0; i < message.field_count(); ++i) names.push_back(message.field(i)->name());
  return names;
}

bool IsChoice(const EnumValueDescriptor& value) { return !absl::EndsWith(value.name(), "_UNSPECIFIED"); }

std::vector<std::string> Choices(const EnumDescriptor& type) {
  std::vector<std::string> names;
  for (int i = 0; i < type.value_count(); ++i) {
    if (IsChoice(*type.value(i))) names.push_back(type.value(i)->name());
  }
  return names;
}

absl::Status WrongValue(const std::string& path, const std::string& value, const std::string& wanted) {
  return absl::InvalidArgumentError(absl::StrCat("--set ", path, "=", value, ": \"", value, "\" is not ", wanted));
}

// Hexadecimal with 0x, for masks.
template <typename Number, typename Setter>
absl::Status SetNumber(const std::string& path, const std::string& value, const std::string& wanted, Setter set) {
  Number number;
  const bool hexadecimal = absl::StartsWith(value, "0x");
  if (!(hexadecimal ? absl::SimpleHexAtoi(value, &number) : absl::SimpleAtoi(value, &number))) {
    return WrongValue(path, value, wanted);
  }
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
      if (!absl::SimpleAtod(value, &number) || !std::isfinite(number)) return WrongValue(path, value, "a number");
      reflection.SetDouble(&message, &field, number);
      return absl::OkStatus();
    }
    case FieldDescriptor::CPPTYPE_STRING:
      reflection.SetString(&message, &field, value);
      return absl::OkStatus();
    case FieldDescriptor::CPPTYPE_ENUM: {
      const EnumDescriptor& type = *field.enum_type();
      if (const auto* chosen = type.FindValueByName(value); chosen != nullptr && IsChoice(*chosen)) {
        reflection.SetEnum(&message, &field, chosen);
        return absl::OkStatus();
      }
      return WrongValue(path, value, absl::StrCat("one of ", absl::StrJoin(Choices(type), ", ")));
    }
    case FieldDescriptor::CPPTYPE_FLOAT:
    case FieldDescriptor::CPPTYPE_MESSAGE:
      break;
  }
  return absl::InvalidArgumentError(absl::StrCat("--set ", path, ": cannot be set from the command line"));
}

absl::Status WrongPath(const std::string& path, const std::string& what) {
  return absl::InvalidArgumentError(absl::StrCat("--set ", path, ": ", what));
}

// The field that tells the entries of a list apart by name: their first one, if it is an enumeration.
const FieldDescriptor* KeyOf(const Descriptor& entry) {
  const FieldDescriptor* first = entry.field_count() == 0 ? nullptr : entry.field(0);
  return first != nullptr && first->cpp_type() == FieldDescriptor::CPPTYPE_ENUM ? first : nullptr;
}

// The number of an entry of the list `field`; at most that of the one after the last.
absl::StatusOr<int> EntryIndex(const Message& message, const FieldDescriptor& field, const std::string& path,
                               const std::string& seen, uint32_t index) {
  const int size = message.GetReflection()->FieldSize(message, &field);
  if (index <= static_cast<uint32_t>(size)) return static_cast<int>(index);
  return WrongPath(path, absl::StrCat(seen, " has ", size, size == 1 ? " entry" : " entries", ", counted from 0: [",
                                      index, "] would leave a gap"));
}

// An entry of a list of numbers.
absl::Status SetListValue(Message& message, const FieldDescriptor& field, const std::string& path,
                          const std::string& seen, const std::string& key, const std::string& value) {
  uint32_t number = 0;
  if (!absl::SimpleAtoi(key, &number)) {
    return WrongPath(path, absl::StrCat(seen, "[", key, "]: the entries of this list have no names, give an index"));
  }
  HEDDLE_ASSIGN_OR_RETURN(const int index, EntryIndex(message, field, path, seen, number));
  if (field.cpp_type() != FieldDescriptor::CPPTYPE_UINT32) {
    return absl::InvalidArgumentError(absl::StrCat("--set ", path, ": cannot be set from the command line"));
  }
  return SetNumber<uint32_t>(path, value, "a whole number from 0 to 4294967295", [&](uint32_t entry) {
    const google::protobuf::Reflection& reflection = *message.GetReflection();
    if (index == reflection.FieldSize(message, &field)) {
      reflection.AddUInt32(&message, &field, entry);
    } else {
      reflection.SetRepeatedUInt32(&message, &field, index, entry);
    }
  });
}

// The entry `key` of the list `field`, added if need be. `seen` is the path up to the list.
absl::StatusOr<Message*> ListEntry(Message& message, const FieldDescriptor& field, const std::string& path,
                                   const std::string& seen, const std::string& key) {
  const google::protobuf::Reflection& reflection = *message.GetReflection();
  const int size = reflection.FieldSize(message, &field);
  if (uint32_t number = 0; absl::SimpleAtoi(key, &number)) {
    HEDDLE_ASSIGN_OR_RETURN(const int index, EntryIndex(message, field, path, seen, number));
    return index == size ? reflection.AddMessage(&message, &field)
                         : reflection.MutableRepeatedMessage(&message, &field, index);
  }
  const FieldDescriptor* key_field = KeyOf(*field.message_type());
  if (key_field == nullptr) {
    return WrongPath(path, absl::StrCat(seen, "[", key, "]: the entries of this list have no names, give an index"));
  }
  const EnumValueDescriptor* wanted = key_field->enum_type()->FindValueByName(key);
  if (wanted == nullptr || !IsChoice(*wanted)) {
    return WrongPath(path, UnknownNameMessage(absl::StrCat("entry of ", seen), key, Choices(*key_field->enum_type())));
  }
  for (int i = 0; i < size; ++i) {
    Message* entry = reflection.MutableRepeatedMessage(&message, &field, i);
    if (entry->GetReflection()->GetEnumValue(*entry, key_field) == wanted->number()) return entry;
  }
  Message* added = reflection.AddMessage(&message, &field);
  added->GetReflection()->SetEnum(added, key_field, wanted);
  return added;
}

// Setting a field of one alternative would silently throw away the other.
absl::Status CheckAlternative(const Message& message, const FieldDescriptor& field, const std::string& path,
                              const std::string& seen) {
  const auto* alternatives = field.real_containing_oneof();
  if (alternatives == nullptr) return absl::OkStatus();
  const FieldDescriptor* present = message.GetReflection()->GetOneofFieldDescriptor(message, alternatives);
  if (present == nullptr || present == &field) return absl::OkStatus();
  return WrongPath(path, absl::StrCat("the machine has ", present->name(), " in place of ", seen,
                                      "; choose a machine that has it, or write a machine file"));
}

absl::Status SetPath(machine::v1::Machine& machine, const std::string& path, const std::string& value) {
  Message* message = &machine;
  std::string seen;  // the part of the path that is understood
  const std::vector<std::string> words = absl::StrSplit(path, '.');
  for (size_t i = 0; i < words.size(); ++i) {
    const size_t bracket = words[i].find('[');
    const std::string name = words[i].substr(0, bracket);
    const FieldDescriptor* field = message->GetDescriptor()->FindFieldByName(name);
    if (field == nullptr) {
      return WrongPath(path, UnknownNameMessage(seen.empty() ? "field of a machine" : absl::StrCat("field of ", seen),
                                                name, FieldNames(*message->GetDescriptor())));
    }
    absl::StrAppend(&seen, seen.empty() ? "" : ".", name);
    HEDDLE_RETURN_IF_ERROR(CheckAlternative(*message, *field, path, seen));
    const bool last = i + 1 == words.size();
    const bool is_message = field->cpp_type() == FieldDescriptor::CPPTYPE_MESSAGE;
    if (field->is_repeated()) {
      const FieldDescriptor* key = is_message ? KeyOf(*field->message_type()) : nullptr;
      if (bracket == std::string::npos) {
        return WrongPath(path, absl::StrCat(seen, " is a list: name an entry, such as ", seen, "[",
                                            key == nullptr ? "0" : Choices(*key->enum_type()).front(), "]"));
      }
      if (words[i].back() != ']') return WrongPath(path, absl::StrCat(words[i], ": the bracket is not closed"));
      const std::string entry_key = words[i].substr(bracket + 1, words[i].size() - bracket - 2);
      if (!is_message && !last) return WrongPath(path, absl::StrCat(words[i], " is a value and has no fields"));
      if (!is_message) return SetListValue(*message, *field, path, seen, entry_key, value);
      if (last) {
        return WrongPath(path, absl::StrCat(seen, "[", entry_key, "] is a group of fields: ",
                                            absl::StrJoin(FieldNames(*field->message_type()), ", ")));
      }
      HEDDLE_ASSIGN_OR_RETURN(Message * entry, ListEntry(*message, *field, path, seen, entry_key));
      message = entry;
      absl::StrAppend(&seen, "[", entry_key, "]");
      continue;
    }
    if (bracket != std::string::npos) return WrongPath(path, absl::StrCat(seen, " is not a list"));
    if (last && is_message) {
      return WrongPath(
          path, absl::StrCat(seen, " is a group of fields: ", absl::StrJoin(FieldNames(*field->message_type()), ", ")));
    }
    if (!last && !is_message) return WrongPath(path, absl::StrCat(seen, " is a value and has no fields"));
    if (last) return SetField(*message, *field, path, value);
    message = message->GetReflection()->MutableMessage(message, field);
  }
  return absl::InternalError("--set: empty path");
}

}  // namespace

absl::Status Override(machine::v1::Machine& machine, std::string_view assignment_text) {
  const std::string assignment(assignment_text);
  const size_t equals = assignment.find('=');
  if (equals == std::string::npos || equals == 0) {
    return absl::InvalidArgumentError(
        absl::StrCat("--set \"", assignment, "\": must be path=value, such as core.schedulers=2"));
  }
  machine::v1::Machine changed = machine;  // so that an error changes nothing
  absl::Status status = SetPath(changed, assignment.substr(0, equals), assignment.substr(equals + 1));
  if (status.ok()) machine = std::move(changed);
  return status;
}

}  // namespace heddle::replay
