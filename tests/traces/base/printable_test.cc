// Texts as they may be shown, and as traces may have them.
#include "traces/base/printable.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "tests/traces/forge.h"
#include "tests/traces/program_builder.h"
#include "traces/format/limits.h"
#include "traces/format/program/printable_records.h"
#include "traces/format/read/check.h"
#include "traces/format/read/reader.h"
#include "traces/format/write/writer.h"

namespace heddle::trace {
namespace {

using ::testing::HasSubstr;

// Sets a terminal's title, changes its colour, begins a new line, turns the writing direction; C1 as UTF-8.
constexpr char kEvil[] = "\x1b]0;owned\x07\x1b[31m\nx\t\xc2\x9b\xe2\x80\xae\x7f";
constexpr char kShown[] = "\\u001b]0;owned\\u0007\\u001b[31m\\nx\\t\\u009b\\u202e\\u007f";

TEST(Printable, EscapesWhatActsInsteadOfBeingSeen) {
  EXPECT_EQ(Printable(kEvil), kShown);
  EXPECT_FALSE(IsPrintable(kEvil));
  EXPECT_TRUE(IsPrintable(kShown));
  EXPECT_EQ(PrintableText("a\n\tb\rc"), "a\n\tb\\rc");
  EXPECT_FALSE(IsPrintable("a\nb"));
  EXPECT_TRUE(IsPrintableText("a\nb\t"));
  EXPECT_FALSE(IsPrintableText("a\nb\r"));
  EXPECT_EQ(Printable("\xef\xbf\xbf\xe2\x80\xa8"), "\\uffff\\u2028");  // no character of XML; a line separator
}

TEST(Printable, LeavesOtherTextsAsTheyAre) {
  for (const std::string text : {"", "void f<int>(int*)",
                                 "gr\xc3\xbc\xc3\x9f"
                                 "e \xe2\x88\x91 \xf0\x9f\x98\x80"}) {
    EXPECT_EQ(Printable(text), text);
    EXPECT_TRUE(IsPrintable(text));
  }
  // Wherever in a long text it stands, one character is found.
  for (size_t at = 0; at < 200; ++at) {
    std::string text(200, 'a');
    text[at] = '\x1b';
    EXPECT_FALSE(IsPrintableText(text)) << at;
    EXPECT_EQ(Printable(text).size(), 205u) << at;
  }
}

TEST(Printable, ShowsBytesThatAreNoUtf8) {
  // Alone, cut off, longer than need be, a half of a pair, beyond the last one.
  EXPECT_EQ(Printable("\x9b"), "\\x9b");
  EXPECT_EQ(Printable("ab\xe2\x88"), "ab\\xe2\\x88");
  EXPECT_EQ(Printable("\xc0\x9b"), "\\xc0\\x9b");
  EXPECT_EQ(Printable("\xe0\x82\x9b"), "\\xe0\\x82\\x9b");
  EXPECT_EQ(Printable("\xed\xa0\x80"), "\\xed\\xa0\\x80");
  EXPECT_EQ(Printable("\xf4\x90\x80\x80"), "\\xf4\\x90\\x80\\x80");
}

TEST(CutText, EndsBetweenCharacters) {
  EXPECT_EQ(CutText("abcdef", 6), "abcdef");
  EXPECT_EQ(CutText("abcdefg", 6), "abc...");
  EXPECT_EQ(CutText("a\xe2\x88\x91"
                    "bcdef",
                    6),
            "a...");
  EXPECT_EQ(CutText("abcdef", 2), "..");
}

// A small trace of which `change` has changed the records: header, program, launch, chunk, LaunchEnd, annotation.
std::string TraceWith(const std::function<void(std::vector<v1::Record>&)>& change) {
  testing::TemporaryFile file("texts");
  auto writer = TraceWriter::Create(file.path(), testing::MakeHeader());
  EXPECT_TRUE((*writer)->AddProgram(testing::ProgramBuilder("kernel").Block("a").Alu().Exit().Build()).ok());
  v1::Launch launch = testing::MakeLaunch(0, 1, 1);
  v1::Allocation& allocation = *launch.add_allocation();
  allocation.set_base(0x8000);
  allocation.set_bytes(64);
  EXPECT_EQ((*writer)->BeginLaunch(launch), absl::OkStatus());
  EXPECT_EQ((*writer)->AddBlock(0, std::vector<ThreadRecord>(1), TraceWriter::kNoExpectation), absl::OkStatus());
  EXPECT_EQ((*writer)->EndLaunch(), absl::OkStatus());
  v1::Annotation annotation;
  annotation.set_key("key");
  annotation.set_value("first line\n\tsecond line");
  EXPECT_EQ((*writer)->AddAnnotation(annotation), absl::OkStatus());
  EXPECT_EQ((*writer)->Finish(), absl::OkStatus());
  std::vector<v1::Record> records = testing::RecordsOf(testing::ReadFile(file.path()));
  change(records);
  return testing::AssembleFile(testing::WithIndex(std::move(records)));
}

absl::StatusOr<std::unique_ptr<TraceReader>> Open(const std::function<void(std::vector<v1::Record>&)>& change) {
  return TraceReader::Open(FromMemory(TraceWith(change)), "texts");
}

TEST(TextsOfTraces, AreReadPrintableAndCheckRefusesOthers) {
  const auto reader = Open([](auto& records) {
    records[0].mutable_header()->add_source_file(kEvil);
    records[0].mutable_header()->set_command_line("a\nb\x1b");
    records[1].mutable_program()->set_name(kEvil);
    records[1].mutable_program()->mutable_function(0)->set_name(kEvil);
    records[1].mutable_program()->mutable_instruction(0)->set_mnemonic(kEvil);
    records[2].mutable_launch()->mutable_allocation(0)->set_name(kEvil);
    records[5].mutable_annotation()->set_key(kEvil);
  });
  ASSERT_TRUE(reader.ok()) << reader.status();
  EXPECT_EQ((*reader)->header().source_file(0), kShown);
  EXPECT_EQ((*reader)->header().command_line(), "a\nb\\u001b");
  const v1::KernelProgram& program = (*reader)->programs()[0].proto();
  EXPECT_EQ(program.name(), kShown);
  EXPECT_EQ(program.function(0).name(), kShown);
  EXPECT_EQ(program.instruction(0).mnemonic(), kShown);
  EXPECT_EQ((*reader)->launches()[0].launch.allocation(0).name(), kShown);
  EXPECT_EQ((*reader)->annotations()[0].key(), kShown);
  v1::Record record;
  ASSERT_EQ((*reader)->ReadRecord(5, record), absl::OkStatus());
  EXPECT_EQ(record.annotation().key(), kShown);

  const auto report = CheckTrace(**reader);
  ASSERT_TRUE(report.ok()) << report.status();
  EXPECT_FALSE(report->ok());
  ASSERT_EQ(report->findings.size(), 1u);
  EXPECT_EQ(report->findings[0].rule, "text");
  EXPECT_EQ(report->findings[0].count, 7u);
  EXPECT_THAT(report->findings[0].message, HasSubstr("frame 0, FileHeader.source_file is \"\\u001b]0;owned"));
  EXPECT_TRUE(IsPrintable(report->findings[0].message));
}

TEST(TextsOfTraces, LinesOfNotesAreNoFault) {
  const auto reader = Open([](auto&) {});
  ASSERT_TRUE(reader.ok()) << reader.status();
  EXPECT_EQ((*reader)->annotations()[0].value(), "first line\n\tsecond line");
  EXPECT_EQ((*reader)->unprintable_texts(), 0u);
  EXPECT_TRUE(CheckTrace(**reader)->findings.empty());
}

TEST(TextsOfTraces, BeyondTheLimitsAreRefused) {
  EXPECT_TRUE(Open([](auto& records) {
                records[1].mutable_program()->set_name(std::string(kMaxNameBytes, 'k'));
                records[5].mutable_annotation()->set_value(std::string(kMaxNoteBytes, 'n'));
              }).ok());
  const auto name =
      Open([](auto& records) { records[1].mutable_program()->set_name(std::string(kMaxNameBytes + 1, 'k')); });
  EXPECT_THAT(std::string(name.status().message()), HasSubstr("frame 1, KernelProgram: KernelProgram.name is longer"));
  const auto note =
      Open([](auto& records) { records[5].mutable_annotation()->set_value(std::string(kMaxNoteBytes + 1, 'n')); });
  EXPECT_THAT(std::string(note.status().message()), HasSubstr("Annotation.value is longer"));
}

TEST(TextsOfTraces, TheNameOfTheFileIsShownPrintable) {
  const auto reader = TraceReader::Open(FromMemory(TraceWith([](auto&) {})), kEvil);
  ASSERT_TRUE(reader.ok());
  EXPECT_EQ((*reader)->name(), kShown);
  const auto refused = TraceReader::Open(FromMemory("no trace"), kEvil);
  EXPECT_TRUE(IsPrintable(std::string(refused.status().message()))) << refused.status();
}

TEST(TextsOfTraces, TheWriterMakesThemFit) {
  testing::TemporaryFile file("texts");
  v1::FileHeader header = testing::MakeHeader();
  header.add_source_file(kEvil);
  auto writer = TraceWriter::Create(file.path(), header);
  v1::KernelProgram program = testing::ProgramBuilder(kEvil).Block("a").Alu().Exit().Build();
  program.mutable_function(0)->set_name(std::string(kMaxNameBytes + 1, 'f'));
  const auto added = (*writer)->AddProgram(program);
  ASSERT_TRUE(added.ok());
  EXPECT_EQ((*added)->name(), kShown);
  v1::Launch launch = testing::MakeLaunch(0, 1, 1);
  launch.add_allocation()->set_name(kEvil);
  ASSERT_EQ((*writer)->BeginLaunch(launch), absl::OkStatus());
  ASSERT_EQ((*writer)->AddBlock(0, std::vector<ThreadRecord>(1), TraceWriter::kNoExpectation), absl::OkStatus());
  ASSERT_EQ((*writer)->EndLaunch(), absl::OkStatus());
  v1::Annotation annotation;
  annotation.set_key(kEvil);
  annotation.set_value(std::string(kMaxNoteBytes + 1, 'v'));
  ASSERT_EQ((*writer)->AddAnnotation(annotation), absl::OkStatus());
  ASSERT_EQ((*writer)->Finish(), absl::OkStatus());
  const auto reader = TraceReader::Open(file.path());
  ASSERT_TRUE(reader.ok()) << reader.status();
  EXPECT_EQ((*reader)->unprintable_texts(), 0u);
  EXPECT_EQ((*reader)->programs()[0].proto().function(0).name(), std::string(kMaxNameBytes - 3, 'f') + "...");
  EXPECT_EQ((*reader)->annotations()[0].value().size(), kMaxNoteBytes);
  EXPECT_TRUE(CheckTrace(**reader)->ok());
}

TEST(Addresses, AllocationsAndTransfersThatWrapAroundAreRefused) {
  const auto allocation = Open([](auto& records) {
    records[2].mutable_launch()->mutable_allocation(0)->set_base(~uint64_t{0});
    records[2].mutable_launch()->mutable_allocation(0)->set_bytes(~uint64_t{0});
  });
  EXPECT_THAT(std::string(allocation.status().message()), HasSubstr("an allocation wraps around"));
  EXPECT_TRUE(Open([](auto& records) {  // up to the very last byte
                records[2].mutable_launch()->mutable_allocation(0)->set_base(~uint64_t{0} - 63);
              })
                  .ok());
  const auto transfer = Open([](auto& records) {
    records[5].mutable_transfer()->set_address(16);
    records[5].mutable_transfer()->set_bytes(~uint64_t{0});
  });
  EXPECT_THAT(std::string(transfer.status().message()), HasSubstr("the transfer wraps around"));
}

}  // namespace
}  // namespace heddle::trace
