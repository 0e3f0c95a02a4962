#include "traces/base/proto_text.h"

#include <google/protobuf/descriptor.h>
#include <google/protobuf/io/tokenizer.h>
#include <google/protobuf/message.h>
#include <google/protobuf/text_format.h>

#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "traces/base/suggest.h"

namespace heddle {
namespace {

using google::protobuf::Descriptor;
using google::protobuf::DescriptorPool;

// The parser says: Message type "a.b.C" has no field named "x". Adds what the message does have.
std::string ExplainUnknownField(const DescriptorPool& pool, const std::string& message) {
  const std::vector<std::string> parts = absl::StrSplit(message, '"');
  if (parts.size() != 5 || parts[2] != " has no field named ") return message;
  const Descriptor* type = pool.FindMessageTypeByName(parts[1]);
  if (type == nullptr) return message;
  std::vector<std::string> names;
  for (int i = 0; i < type->field_count(); ++i) names.push_back(type->field(i)->name());
  return UnknownNameMessage(absl::StrCat("field of ", type->name()), parts[3], names);
}

class FirstError final : public google::protobuf::io::ErrorCollector {
 public:
  explicit FirstError(const DescriptorPool& pool) : pool_(pool) {}

  void AddError(int line, google::protobuf::io::ColumnNumber column, const std::string& message) override {
    if (!text_.empty()) return;
    const std::string what = ExplainUnknownField(pool_, message);
    text_ = line < 0 ? what : absl::StrCat("line ", line + 1, ", column ", column + 1, ": ", what);
  }
  void AddWarning(int, google::protobuf::io::ColumnNumber, const std::string&) override {}
  const std::string& text() const { return text_; }

 private:
  const DescriptorPool& pool_;
  std::string text_;
};

}  // namespace

absl::Status ParseProtoText(const std::string& text, google::protobuf::Message& message) {
  FirstError errors(*message.GetDescriptor()->file()->pool());
  google::protobuf::TextFormat::Parser parser;
  parser.RecordErrorsTo(&errors);
  if (parser.ParseFromString(text, &message)) return absl::OkStatus();
  return absl::InvalidArgumentError(errors.text());
}

}  // namespace heddle
