#include "tools/exchange/gpgpusim/machine_text.h"

#include <google/protobuf/descriptor.h>
#include <google/protobuf/message.h>
#include <google/protobuf/text_format.h>

#include <algorithm>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"

namespace heddle::tools {
namespace {

using google::protobuf::FieldDescriptor;
using google::protobuf::Message;
using google::protobuf::TextFormat;

constexpr size_t kCommentColumn = 32;

class Printer {
 public:
  explicit Printer(const std::map<std::string, std::string>& sources) : sources_(sources) {}

  void Print(const Message& message, const std::string& prefix, int depth) {
    const google::protobuf::Descriptor& type = *message.GetDescriptor();
    const google::protobuf::Reflection& reflection = *message.GetReflection();
    for (int i = 0; i < type.field_count(); ++i) {
      const FieldDescriptor& field = *type.field(i);
      const std::string path = absl::StrCat(prefix, field.name());
      if (field.is_repeated() && field.cpp_type() != FieldDescriptor::CPPTYPE_MESSAGE) {
        for (int entry = 0; entry < reflection.FieldSize(message, &field); ++entry) {
          Line(depth, absl::StrCat(field.name(), ": ", Value(message, field, entry)),
               absl::StrCat(path, "[", entry, "]"));
        }
      } else if (field.is_repeated()) {
        for (int entry = 0; entry < reflection.FieldSize(message, &field); ++entry) {
          const Message& inner = reflection.GetRepeatedMessage(message, &field, entry);
          Line(depth, absl::StrCat(field.name(), " { ", OneLine(inner), " }"),
               absl::StrCat(path, "[", EntryName(inner, entry), "]"));
        }
      } else if (field.cpp_type() == FieldDescriptor::CPPTYPE_MESSAGE) {
        if (!reflection.HasField(message, &field)) continue;
        Line(depth, absl::StrCat(field.name(), " {"), path);
        Print(reflection.GetMessage(message, &field), absl::StrCat(path, "."), depth + 1);
        Line(depth, "}", "");
      } else if (reflection.HasField(message, &field) || sources_.contains(path)) {
        Line(depth, absl::StrCat(field.name(), ": ", Value(message, field)), path);
      }
    }
  }

  std::string text() && { return std::move(text_); }

 private:
  // Of a list, its entry `index`.
  static std::string Value(const Message& message, const FieldDescriptor& field, int index = -1) {
    std::string value;
    TextFormat::PrintFieldValueToString(message, &field, index, &value);
    return value;
  }

  // As in a path of --set: by name where the first field is an enumeration.
  static std::string EntryName(const Message& entry, int index) {
    const FieldDescriptor* first = entry.GetDescriptor()->field(0);
    if (first->cpp_type() != FieldDescriptor::CPPTYPE_ENUM) return absl::StrCat(index);
    return entry.GetReflection()->GetEnum(entry, first)->name();
  }

  // All fields of an entry of a list, which has values, lists of them, and lists of such entries.
  static std::string OneLine(const Message& message) {
    std::string text;
    const google::protobuf::Descriptor& type = *message.GetDescriptor();
    for (int i = 0; i < type.field_count(); ++i) {
      const FieldDescriptor& field = *type.field(i);
      const int entries = field.is_repeated() ? message.GetReflection()->FieldSize(message, &field) : 0;
      for (int entry = 0; entry < entries; ++entry) {
        if (field.cpp_type() != FieldDescriptor::CPPTYPE_MESSAGE) {
          absl::StrAppend(&text, text.empty() ? "" : " ", field.name(), ": ", Value(message, field, entry));
          continue;
        }
        const Message& inner = message.GetReflection()->GetRepeatedMessage(message, &field, entry);
        absl::StrAppend(&text, text.empty() ? "" : " ", field.name(), " { ", OneLine(inner), " }");
      }
      if (field.is_repeated()) continue;
      absl::StrAppend(&text, text.empty() ? "" : " ", field.name(), ": ", Value(message, field));
    }
    return text;
  }

  void Line(int depth, const std::string& what, const std::string& path) {
    std::string line = std::string(static_cast<size_t>(depth) * 2, ' ') + what;
    if (const auto source = sources_.find(path); source != sources_.end()) {
      line.resize(std::max(line.size() + 2, kCommentColumn), ' ');
      absl::StrAppend(&line, "# ", source->second);
    }
    absl::StrAppend(&text_, line, "\n");
  }

  const std::map<std::string, std::string>& sources_;
  std::string text_;
};

}  // namespace

std::string MachineText(const machine::v1::Machine& machine, const std::map<std::string, std::string>& sources) {
  Printer printer(sources);
  printer.Print(machine, "", 0);
  return std::move(printer).text();
}

}  // namespace heddle::tools
