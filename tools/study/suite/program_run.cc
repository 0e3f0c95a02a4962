#include "tools/study/suite/program_run.h"

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <system_error>

#include "absl/strings/str_cat.h"
#include "tools/inputs/trace_file.h"
#include "tools/study/suite/compare.h"
#include "tools/study/sweep/folder.h"
#include "traces/base/printable.h"
#include "traces/base/sha256.h"
#include "traces/base/status_macros.h"
#include "traces/format/read/check.h"

namespace heddle::tools::suite {
namespace {

namespace fs = std::filesystem;
namespace v1 = ::heddle::suite::v1;

constexpr uint64_t kMostCompared = uint64_t{1} << 30;  // bytes of a file that is held in memory

const v1::Size* FindSize(const v1::Program& program, const std::string& name) {
  const auto size = std::ranges::find(program.size(), name, &v1::Size::name);
  return size == program.size().end() ? nullptr : &*size;
}

Placeholders ValuesOf(const SuiteContext& context, const Workplace& place, const v1::Size* size) {
  Placeholders values;
  values.Set("source", place.source());
  values.Set("reference", place.reference());
  values.Set("home", place.home());
  values.Set("data", context.data.folder());
  values.Set("toolkit", context.toolkit.folder);
  if (size != nullptr) {
    for (const v1::Variable& variable : size->variable()) values.Set(variable.name(), variable.value());
  }
  return values;
}

Workplace PlaceOf(const SuiteContext& context, const v1::Program& program) {
  return Workplace(absl::StrCat(context.output, "/programs/", program.name(), ".", context.size));
}

absl::StatusOr<std::string> ReadOutput(const std::string& path) {
  std::error_code error;
  if (!fs::is_regular_file(path, error)) {
    return absl::FailedPreconditionError(absl::StrCat(fs::path(path).filename().string(), " was not written"));
  }
  if (fs::file_size(path, error) > kMostCompared) {
    return absl::FailedPreconditionError(absl::StrCat(path, ": has more than a gigabyte"));
  }
  return sweep::ReadWholeFile(path);
}

// What a file is called that a program wrote or the sources have; the folder stays out of messages.
std::vector<std::string> Words(const google::protobuf::RepeatedPtrField<std::string>& words) {
  return {words.begin(), words.end()};
}

class Stopwatch {
 public:
  double seconds() const { return std::chrono::duration<double>(std::chrono::steady_clock::now() - start_).count(); }

 private:
  std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
};

}  // namespace

ProgramRun::ProgramRun(const SuiteContext& context, const v1::Program& program)
    : context_(context),
      program_(program),
      size_(FindSize(program, context.size)),
      steps_(context.toolkit, PlaceOf(context, program), ValuesOf(context, PlaceOf(context, program), size_),
             context.stop) {
  result_.set_program(program.name());
  result_.set_size(context.size);
}

ProcessLimits ProgramRun::Limits(bool builds) const {
  return LimitsOf(context_.suite.limits(), program_.limits(), builds);
}

std::string ProgramRun::TracePath() const {
  return absl::StrCat(context_.output, "/traces/", program_.name(), ".", context_.size, ".htrace");
}

v1::ProgramResult ProgramRun::End(const std::string& step, v1::State state, const absl::Status& why) {
  std::error_code error;
  fs::remove(TracePath(), error);
  result_.set_step(step);
  result_.set_state(absl::IsCancelled(why) ? v1::NOT_RUN : state);
  result_.set_reason(CutText(Printable(std::string(why.message())), 400));
  if (!steps_.last().empty()) {
    const fs::path log = steps_.place().errors(steps_.last());
    result_.set_log(log.lexically_relative(context_.output).string());
  }
  return result_;
}

// Of everything that decides what comes out.
std::string ProgramRun::Key(const std::string& data) const {
  Sha256 key;
  const auto add = [&](const std::string& text) {
    const uint64_t size = text.size();
    key.Update(&size, sizeof size);
    key.Update(text.data(), text.size());
  };
  v1::Program wanted = program_;
  wanted.clear_note();
  wanted.clear_launches();
  wanted.clear_size();
  *wanted.add_size() = *size_;
  for (const std::string& text :
       {wanted.SerializeAsString(), context_.suite.limits().SerializeAsString(), context_.programs_digest, data}) {
    add(text);
  }
  std::string text;
  for (const char byte : key.Finish()) absl::StrAppend(&text, absl::Hex(static_cast<uint8_t>(byte), absl::kZeroPad2));
  return text;
}

v1::ProgramResult ProgramRun::Prepare() {
  if (!program_.missing().empty()) {
    return End("suite", v1::SKIPPED, absl::UnavailableError(program_.missing()));
  }
  if (size_ == nullptr) {
    return End("suite", v1::SKIPPED, absl::NotFoundError(absl::StrCat("has no size ", context_.size)));
  }
  const std::pair<std::vector<std::string>, std::string> digests[] = {
      {Words(program_.path()), program_.sha256()}, {Words(program_.reference().path()), program_.reference().sha256()}};
  for (const auto& [paths, wanted] : digests) {
    const absl::StatusOr<std::string> there = context_.sources.Digest(paths);
    if (!there.ok()) return End("sources", v1::SKIPPED, there.status());
    if (!paths.empty() && *there != wanted) {
      return End("sources", v1::SKIPPED,
                 absl::DataLossError(absl::StrCat("the sources have digest ", there->substr(0, 12), ", the suite says ",
                                                  wanted.substr(0, 12))));
    }
  }
  std::string digests_of_data;
  for (const std::string& name : size_->data()) {
    const auto data = std::ranges::find(context_.suite.data(), name, &v1::Data::name);
    const absl::StatusOr<StoredData> stored = context_.data.Get(*data);
    if (!stored.ok()) return End("data", v1::SKIPPED, stored.status());
    absl::StrAppend(&digests_of_data, stored->sha256, " ", name, "\n");
  }
  result_.set_key(Key(digests_of_data));
  return result_;
}

absl::Status ProgramRun::PrepareCopy() {
  const Workplace& place = steps_.place();
  HEDDLE_RETURN_IF_ERROR(place.Empty());
  HEDDLE_RETURN_IF_ERROR(context_.sources.Copy(Words(program_.path()), place.source()));
  HEDDLE_RETURN_IF_ERROR(place.Add(program_.file(), place.source()));
  if (program_.has_reference()) {
    HEDDLE_RETURN_IF_ERROR(context_.sources.Copy(Words(program_.reference().path()), place.reference()));
    HEDDLE_RETURN_IF_ERROR(place.Add(program_.reference().file(), place.reference()));
  }
  for (const v1::Place& link : program_.place()) {
    if (std::ranges::find(size_->data(), link.data()) == size_->data().end()) continue;
    const std::string target = absl::StrCat(context_.data.folder(), "/", link.data());
    HEDDLE_RETURN_IF_ERROR(place.Link(place.source(), link.path(), target));
    if (program_.has_reference()) HEDDLE_RETURN_IF_ERROR(place.Link(place.reference(), link.path(), target));
  }
  return absl::OkStatus();
}

absl::Status ProgramRun::Build() {
  const Stopwatch watch;
  const absl::Status built = steps_.Build("build", steps_.place().source(), program_.build(), Limits(true));
  result_.set_build_seconds(watch.seconds());
  return built;
}

absl::Status ProgramRun::Record() {
  std::error_code error;
  fs::create_directories(fs::path(TracePath()).parent_path(), error);
  fs::remove(TracePath(), error);  // capture does not replace what is no trace
  std::vector<std::string> words = {context_.toolkit.heddle, "capture", "--quiet", "-o", TracePath()};
  for (const v1::Fault& fault : program_.fault()) {
    words.insert(words.end(), fault.option().begin(), fault.option().end());
    result_.add_passed_faults(fault.what());
  }
  if (!size_->kernels().empty()) words.insert(words.end(), {"--kernels", size_->kernels()});
  if (!size_->launch_numbers().empty()) words.insert(words.end(), {"--launches", size_->launch_numbers()});
  words.emplace_back("--");
  const auto ran =
      steps_.Run("run", steps_.place().source(), program_.run(), Limits(false), words, Words(size_->argument()));
  HEDDLE_RETURN_IF_ERROR(ran.status());
  result_.set_run_seconds(ran->seconds);
  result_.set_most_memory_megabytes(ran->most_memory / 1'000'000);
  return absl::OkStatus();
}

absl::Status ProgramRun::RunReference() {
  if (!program_.has_reference()) return absl::OkStatus();
  const v1::Reference& reference = program_.reference();
  const std::string copy = steps_.place().reference();
  HEDDLE_RETURN_IF_ERROR(steps_.Build("reference-build", copy, reference.build(), Limits(true)));
  const auto& arguments = size_->reference_argument_size() > 0 ? size_->reference_argument() : size_->argument();
  return steps_.Run("reference", copy, reference.run(), Limits(false), {}, Words(arguments)).status();
}

absl::StatusOr<std::string> ProgramRun::Given(const v1::Compare& compare) const {
  const Workplace& place = steps_.place();
  return ReadOutput(compare.file().empty() ? place.output("run") : absl::StrCat(place.source(), "/", compare.file()));
}

absl::StatusOr<std::string> ProgramRun::Right(const v1::Compare& compare) const {
  const Workplace& place = steps_.place();
  switch (compare.right_case()) {
    case v1::Compare::kSourceFile:
      return ReadOutput(absl::StrCat(place.source(), "/", compare.source_file()));
    case v1::Compare::kData:
      return ReadOutput(absl::StrCat(context_.data.folder(), "/", compare.data()));
    default:
      return ReadOutput(compare.reference_file() == "-"
                            ? place.output("reference")
                            : absl::StrCat(place.reference(), "/", compare.reference_file()));
  }
}

absl::Status ProgramRun::CheckOutput() {
  const v1::Check& check = program_.check();
  if (check.has_size() + check.lacks_size() > 0) {
    HEDDLE_ASSIGN_OR_RETURN(std::string printed, ReadOutput(steps_.place().output("run")));
    HEDDLE_ASSIGN_OR_RETURN(const std::string errors, ReadOutput(steps_.place().errors("run")));
    HEDDLE_RETURN_IF_ERROR(CheckLines(check, absl::StrCat(printed, "\n", errors)));
  }
  for (const v1::Compare& compare : check.compare()) {
    HEDDLE_ASSIGN_OR_RETURN(const std::string given, Given(compare));
    HEDDLE_ASSIGN_OR_RETURN(const std::string right, Right(compare));
    if (const absl::Status same = CompareContents(compare, given, right); !same.ok()) {
      return absl::Status(
          same.code(), absl::StrCat(compare.file().empty() ? "what it printed" : compare.file(), ": ", same.message()));
    }
  }
  return absl::OkStatus();
}

absl::Status ProgramRun::CheckTrace() {
  HEDDLE_ASSIGN_OR_RETURN(const auto reader, OpenTrace(TracePath()));
  HEDDLE_ASSIGN_OR_RETURN(const trace::CheckReport report, trace::CheckTrace(*reader));
  for (const trace::Finding& finding : report.findings) {
    if (finding.severity != trace::Finding::Severity::kError) continue;
    return absl::DataLossError(absl::StrCat(finding.rule, ": ", finding.place, ": ", finding.message));
  }
  uint64_t launches = 0;
  for ([[maybe_unused]] const trace::LaunchView& launch : reader->launches()) ++launches;
  if (launches == 0) return absl::FailedPreconditionError("no launch was recorded");
  std::error_code error;
  result_.set_trace(fs::path(TracePath()).lexically_relative(context_.output).string());
  result_.set_trace_digest(reader->digest());
  result_.set_trace_bytes(fs::file_size(TracePath(), error));
  result_.set_launches(launches);
  result_.set_thread_instructions(report.thread_instructions);
  return absl::OkStatus();
}

v1::ProgramResult ProgramRun::Run() {
  if (absl::Status copied = PrepareCopy(); !copied.ok()) return End("sources", v1::FAILED, copied);
  if (absl::Status built = Build(); !built.ok()) return End("build", v1::FAILED, built);
  if (absl::Status ran = Record(); !ran.ok()) return End("run", v1::FAILED, ran);
  const Stopwatch watch;
  if (absl::Status ran = RunReference(); !ran.ok()) return End("reference", v1::FAILED, ran);
  if (absl::Status right = CheckOutput(); !right.ok()) {
    return End("check", absl::IsFailedPrecondition(right) ? v1::WRONG : v1::FAILED, right);
  }
  if (absl::Status good = CheckTrace(); !good.ok()) return End("trace", v1::FAILED, good);
  result_.set_check_seconds(watch.seconds());
  const v1::Check& check = program_.check();
  const bool checked = check.has_size() + check.lacks_size() + check.compare_size() > 0;
  result_.set_state(checked ? v1::RIGHT : v1::UNCHECKED);
  result_.set_how(check.how());
  if (!checked) result_.set_reason(check.how().empty() ? "nothing says whether its output is right" : check.how());
  steps_.place().KeepLogs();
  return result_;
}

}  // namespace heddle::tools::suite
