// taint_trace IN OUT TEXT: writes a trace again with TEXT in place of every text that somebody could have chosen:
// names, notes, files. What cannot be reached by a command that only reads is as it was; digest and seek table are
// right.
#include <google/protobuf/descriptor.h>
#include <google/protobuf/message.h>

#include <cstdio>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "tests/traces/forge.h"

namespace {

using google::protobuf::FieldDescriptor;
using google::protobuf::Message;

void Taint(Message& message, const std::string& text) {
  const google::protobuf::Reflection& reflection = *message.GetReflection();
  std::vector<const FieldDescriptor*> fields;
  reflection.ListFields(message, &fields);
  for (const FieldDescriptor* field : fields) {
    if (field->name() == "required_feature" || field->name() == "chunk") continue;
    if (field->type() == FieldDescriptor::TYPE_STRING) {
      if (!field->is_repeated()) {
        reflection.SetString(&message, field, text);
        continue;
      }
      for (int i = 0; i < reflection.FieldSize(message, field); ++i) {
        reflection.SetRepeatedString(&message, field, i, text + std::to_string(i));
      }
    } else if (field->cpp_type() == FieldDescriptor::CPPTYPE_MESSAGE) {
      if (!field->is_repeated()) {
        Taint(*reflection.MutableMessage(&message, field), text);
        continue;
      }
      for (int i = 0; i < reflection.FieldSize(message, field); ++i) {
        Taint(*reflection.MutableRepeatedMessage(&message, field, i), text);
      }
    }
  }
}

}  // namespace

int main(int argc, char** argv) {
  namespace testing = heddle::trace::testing;
  if (argc != 4) return 2;
  std::ifstream in(argv[1], std::ios::binary);
  const std::string file((std::istreambuf_iterator<char>(in)), std::istreambuf_iterator<char>());
  std::vector<heddle::trace::v1::Record> records = testing::RecordsOf(file);
  // Texts that the trace lacks are there, too.
  for (heddle::trace::v1::Record& record : records) {
    if (record.has_header()) record.mutable_header()->set_command_line("x");
    if (record.has_header()) (*record.mutable_header()->mutable_provenance())["key"] = "value";
    if (record.has_launch()) record.mutable_launch()->add_allocation()->set_name("x");
    if (record.has_program()) {
      record.mutable_program()->set_level(heddle::trace::v1::LEVEL_PTX_GIVEN);
      record.mutable_program()->set_producer("x");
      record.mutable_program()->set_isa_version("x");
      record.mutable_program()->set_target("x");
      record.mutable_program()->set_stand_in_for("x");
    }
    if (record.kind_case() == heddle::trace::v1::Record::KIND_NOT_SET) {
      std::fprintf(stderr, "%s: a frame is shared by several records\n", argv[1]);
      return 1;
    }
  }
  records.emplace_back().mutable_annotation()->set_key("heddle.capture.end");
  records.back().mutable_annotation()->set_value("x");
  heddle::trace::v1::Certificate& certificate = *records.emplace_back().mutable_certificate();
  certificate.set_runs(1);
  certificate.set_failure("x");
  certificate.add_race()->set_places(1);
  certificate.add_memory()->set_bytes(1);
  certificate.add_warp_wait()->set_count(1);
  certificate.add_outside_read()->set_count(1);
  for (heddle::trace::v1::Record& record : records) Taint(record, argv[3]);
  // The reader of notes looks for some by their keys.
  records.emplace_back().mutable_annotation()->set_key("heddle.capture.end");
  records.back().mutable_annotation()->set_value(argv[3]);
  std::ofstream out(argv[2], std::ios::binary);
  out << testing::AssembleFile(testing::WithIndex(std::move(records)));
  return out.good() ? 0 : 1;
}
