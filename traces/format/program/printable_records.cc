#include "traces/format/program/printable_records.h"

#include <google/protobuf/descriptor.h>
#include <google/protobuf/descriptor.pb.h>

#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <vector>

#include "absl/strings/str_cat.h"
#include "proto/result.pb.h"
#include "proto/trace.pb.h"
#include "traces/base/printable.h"
#include "traces/format/limits.h"

namespace heddle::trace {
namespace {

using google::protobuf::Descriptor;
using google::protobuf::FieldDescriptor;
using google::protobuf::Message;
using google::protobuf::Reflection;

// The fields of a type that are texts, or messages that have some. Programs have as many messages as instructions: they
// are looked for once.
struct TextFields {
  struct Text {
    const FieldDescriptor* field;
    bool is_note;  // free text, which may have several lines
  };
  struct Inner {
    const FieldDescriptor* field;
    const TextFields* fields;
  };
  std::vector<Text> texts;
  std::vector<Inner> inner;
  bool empty() const { return texts.empty() && inner.empty(); }
};

bool IsNote(const FieldDescriptor& field) {
  if (field.containing_type()->options().map_entry()) return field.name() == "value";
  for (const FieldDescriptor* note : {v1::Annotation::descriptor()->FindFieldByName("value"),
                                      v1::FileHeader::descriptor()->FindFieldByName("command_line"),
                                      v1::Certificate::descriptor()->FindFieldByName("failure"),
                                      result::v1::Result::descriptor()->FindFieldByName("note")}) {
    if (&field == note) return true;
  }
  return false;
}

// Our messages do not contain themselves.
const TextFields& FieldsOf(const Descriptor& type) {
  static auto& known = *new std::map<const Descriptor*, std::unique_ptr<TextFields>>;
  std::unique_ptr<TextFields>& fields = known[&type];
  if (fields != nullptr) return *fields;
  fields = std::make_unique<TextFields>();
  for (int i = 0; i < type.field_count(); ++i) {
    const FieldDescriptor& field = *type.field(i);
    if (field.type() == FieldDescriptor::TYPE_STRING) {
      fields->texts.push_back({&field, IsNote(field)});
    } else if (field.cpp_type() == FieldDescriptor::CPPTYPE_MESSAGE &&
               field.message_type() != v1::BlockChunk::descriptor()) {
      if (const TextFields& inner = FieldsOf(*field.message_type()); !inner.empty()) {
        fields->inner.push_back({&field, &inner});
      }
    }
  }
  return *fields;
}

const TextFields& TextFieldsOf(const Descriptor& type) {
  static std::mutex mutex;
  const std::lock_guard<std::mutex> lock(mutex);
  return FieldsOf(type);
}

// Calls `look(field, text)` for each text, and replaces the text by what that returns, if anything.
template <typename Look>
void ForEachText(Message& message, const TextFields& fields, const Look& look) {
  const Reflection& reflection = *message.GetReflection();
  std::string scratch;
  for (const TextFields::Text& text : fields.texts) {
    if (!text.field->is_repeated()) {
      std::optional<std::string> now = look(text, reflection.GetStringReference(message, text.field, &scratch));
      if (now.has_value()) reflection.SetString(&message, text.field, *std::move(now));
      continue;
    }
    for (int i = 0; i < reflection.FieldSize(message, text.field); ++i) {
      std::optional<std::string> now =
          look(text, reflection.GetRepeatedStringReference(message, text.field, i, &scratch));
      if (now.has_value()) reflection.SetRepeatedString(&message, text.field, i, *std::move(now));
    }
  }
  for (const TextFields::Inner& inner : fields.inner) {
    if (inner.field->is_repeated()) {
      for (int i = 0; i < reflection.FieldSize(message, inner.field); ++i) {
        ForEachText(*reflection.MutableRepeatedMessage(&message, inner.field, i), *inner.fields, look);
      }
    } else if (reflection.HasField(message, inner.field)) {
      ForEachText(*reflection.MutableMessage(&message, inner.field), *inner.fields, look);
    }
  }
}

size_t MostBytes(bool is_note) { return is_note ? kMaxNoteBytes : kMaxNameBytes; }

std::string NameOf(const FieldDescriptor& field) {
  return absl::StrCat(field.containing_type()->name(), ".", field.name());
}

}  // namespace

TextReport MakePrintable(Message& message) {
  constexpr size_t kMostShown = 60;
  TextReport report;
  ForEachText(message, TextFieldsOf(*message.GetDescriptor()),
              [&report](const TextFields::Text& field, const std::string& text) -> std::optional<std::string> {
                const size_t most = MostBytes(field.is_note);
                const bool is_long = text.size() > most;
                if (is_long && report.too_long.empty()) report.too_long = NameOf(*field.field);
                if (field.is_note ? IsPrintableText(text) : IsPrintable(text)) return std::nullopt;
                // An escape is six times as long as what it stands for.
                const std::string cut = is_long ? CutText(text, most) : "";
                const std::string& kept = is_long ? cut : text;
                std::string now = field.is_note ? PrintableText(kept) : Printable(kept);
                if (now.size() > text.size()) report.grown += now.size() - text.size();
                if (report.changed++ == 0) {
                  report.first =
                      absl::StrCat(NameOf(*field.field), " is \"", CutText(Printable(now), kMostShown), "\"");
                }
                return now;
              });
  return report;
}

void CutTexts(Message& message) {
  ForEachText(message, TextFieldsOf(*message.GetDescriptor()),
              [](const TextFields::Text& field, const std::string& text) -> std::optional<std::string> {
                const size_t most = MostBytes(field.is_note);
                if (text.size() <= most) return std::nullopt;
                return CutText(text, most);
              });
}

}  // namespace heddle::trace
