// BrokenRules: what a suite has to be like before anything of it is run.
#include <set>
#include <string>
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "tools/console/digest.h"
#include "tools/exchange/corpus/bag.h"
#include "tools/study/suite/inputs/generator.h"
#include "tools/study/suite/placeholders.h"
#include "tools/study/suite/suite_file.h"
#include "traces/base/printable.h"
#include "traces/format/program/kernel_pattern.h"

namespace heddle::tools::suite {
namespace {

namespace v1 = ::heddle::suite::v1;
using Texts = google::protobuf::RepeatedPtrField<std::string>;

bool IsName(const std::string& name) {
  if (name.empty() || name.size() > 100 || name[0] == '.') return false;
  for (const char c : name) {
    const bool fits =
        absl::ascii_isalnum(static_cast<unsigned char>(c)) || c == '.' || c == '_' || c == '-' || c == '+';
    if (!fits) return false;
  }
  return true;
}

bool IsOption(const std::string& option) {
  absl::string_view rest = option;
  if (rest == "--allow-bounds" || rest == "--lockstep") return true;
  uint64_t number = 0;
  return (absl::ConsumePrefix(&rest, "--resident-blocks=") || absl::ConsumePrefix(&rest, "--max-instructions=")) &&
         absl::SimpleAtoi(rest, &number) && number > 0;
}

// "A-B", as --launches takes it.
bool IsRange(const std::string& text) {
  absl::string_view rest = text;
  const size_t dash = rest.find('-');
  uint64_t first = 0;
  uint64_t last = 0;
  return dash != absl::string_view::npos && absl::SimpleAtoi(rest.substr(0, dash), &first) &&
         absl::SimpleAtoi(rest.substr(dash + 1), &last) && first <= last;
}

class Rules {
 public:
  explicit Rules(const v1::Suite& suite) : suite_(suite) {}

  std::vector<std::string> Broken() {
    if (!IsName(suite_.name())) Say("the suite", "needs a name of letters, digits, '.', '_', '-'");
    if (suite_.source().repository().empty()) Say("source", "needs `repository`");
    if (suite_.source().commit().empty()) Say("source", "needs `commit`");
    if (suite_.source().license().empty()) Say("source", "needs `license`");
    for (const v1::Data& data : suite_.data()) CheckData(data);
    if (suite_.program_size() == 0) Say("the suite", "has no program");
    for (const v1::Program& program : suite_.program()) {
      place_ = absl::StrCat("program ", Printable(program.name()));
      CheckProgram(program);
    }
    return std::move(broken_);
  }

 private:
  void Say(const std::string& place, absl::string_view what) { broken_.push_back(absl::StrCat(place, ": ", what)); }
  void Say(absl::string_view what) { Say(place_, what); }

  void CheckData(const v1::Data& data) {
    const std::string place = absl::StrCat("data ", Printable(data.name()));
    if (!data_.insert(data.name()).second) Say(place, "is there twice");
    if (const absl::Status path = corpus::CheckPath(data.name()); !path.ok()) Say(place, path.message());
    if (!data.sha256().empty() && !IsSha256(data.sha256())) Say(place, "`sha256` is no SHA-256");
    if (data.origin_case() == v1::Data::kGenerator) {
      const auto& wanted = data.generator();
      const auto settings =
          CompleteSettings(wanted.name(), InputSettings(wanted.parameter().begin(), wanted.parameter().end()));
      if (!settings.ok()) Say(place, settings.status().message());
    } else if (data.origin_case() == v1::Data::kFrom) {
      if (data.sha256().empty()) Say(place, "a file of the sources needs `sha256`");
      if (const absl::Status path = corpus::CheckPath(data.from()); !path.ok()) Say(place, path.message());
    } else {
      Say(place, "needs `from` or `generator`");
    }
  }

  void CheckPaths(const char* field, const Texts& paths, const std::string& sha256) {
    for (const std::string& path : paths) CheckPath(field, path);
    if (!paths.empty() && !IsSha256(sha256)) {
      Say(absl::StrCat(field, " needs `sha256`: `heddle suite check --source DIR` prints it"));
    }
  }
  void CheckPath(absl::string_view field, const std::string& path) {
    if (const absl::Status fits = corpus::CheckPath(path); !fits.ok()) Say(absl::StrCat(field, ": ", fits.message()));
  }
  void CheckPattern(absl::string_view field, const std::string& expression) {
    const auto pattern = trace::KernelPattern::Parse(expression);
    if (!pattern.ok()) Say(absl::StrCat(field, ": ", pattern.status().message()));
  }

  // Placeholders that are neither known nor variables of every size.
  void CheckText(absl::string_view field, const std::string& text) {
    const auto names = PlaceholdersOf(text);
    if (!names.ok()) return Say(absl::StrCat(field, ": ", names.status().message()));
    for (const std::string& name : *names) {
      if (Placeholders::IsKnown(name) || variables_.contains(name)) continue;
      Say(absl::StrCat(field, ": {", name, "} is neither a known placeholder nor a variable of every size"));
    }
  }
  void CheckCommand(const std::string& field, const v1::Command& command) {
    if (command.argument().empty() || command.argument(0).empty()) Say(absl::StrCat(field, " names no program"));
    if (!command.folder().empty()) CheckPath(absl::StrCat(field, ".folder"), command.folder());
    for (const std::string& argument : command.argument()) CheckText(field, argument);
    for (const v1::Variable& variable : command.environment()) {
      if (variable.name().empty() || absl::StrContains(variable.name(), '=')) Say(absl::StrCat(field, ".environment"));
      CheckText(field, variable.value());
    }
    CheckText(absl::StrCat(field, ".input"), command.input());
  }
  void CheckFiles(const google::protobuf::RepeatedPtrField<v1::File>& files) {
    for (const v1::File& file : files) {
      absl::string_view name = file.path();
      absl::ConsumePrefix(&name, "{home}/");
      CheckPath("file", std::string(name));
      if (file.contents_case() == v1::File::CONTENTS_NOT_SET) Say("file needs `text` or `copy_of`");
      if (file.contents_case() == v1::File::kCopyOf) CheckPath("file.copy_of", file.copy_of());
    }
  }

  void CheckSize(const v1::Program& program, const v1::Size& size) {
    if (!IsName(size.name())) Say("a size needs a name");
    if (size.name().starts_with("paper") && size.paper().empty()) {
      Say(absl::StrCat("size ", size.name(), ": needs `paper`, whose size it is"));
    }
    for (const std::string& name : size.data()) {
      if (!data_.contains(name)) Say(absl::StrCat("size ", size.name(), ": there is no data ", name));
    }
    for (const std::string& argument : size.argument()) CheckText("argument", argument);
    for (const std::string& argument : size.reference_argument()) CheckText("reference_argument", argument);
    CheckPattern("kernels", size.kernels());
    if (!size.launch_numbers().empty() && !IsRange(size.launch_numbers())) Say("launch_numbers is no A-B");
    uint64_t same = 0;
    for (const v1::Size& other : program.size()) same += other.name() == size.name() ? 1 : 0;
    if (same > 1) Say(absl::StrCat("size ", size.name(), ": is there twice"));
  }

  void CheckCompare(const v1::Program& program, const v1::Compare& compare) {
    if (compare.right_case() == v1::Compare::RIGHT_NOT_SET) {
      return Say("compare needs `reference_file`, `source_file` or `data`");
    }
    const bool printed = compare.reference_file() == "-";
    for (const std::string* path : {&compare.file(), &compare.reference_file(), &compare.source_file()}) {
      if (!path->empty() && !(printed && path == &compare.reference_file())) CheckPath("compare", *path);
    }
    if (compare.right_case() == v1::Compare::kReferenceFile && !program.has_reference()) {
      Say("compare has `reference_file`, and the program no `reference`");
    }
    if (compare.right_case() == v1::Compare::kData && !data_.contains(compare.data())) {
      Say(absl::StrCat("compare: there is no data ", compare.data()));
    }
    CheckPattern("compare.lines", compare.lines());
    CheckPattern("compare.without", compare.without());
    CheckPattern("compare.reference_lines", compare.reference_lines());
    const auto is_part = [](double number) { return number >= 0 && number <= 1; };
    if (!(compare.absolute() >= 0) || !is_part(compare.relative()) || !is_part(compare.differing())) {
      Say("compare: `absolute` is at least 0, `relative` and `differing` are from 0 to 1");
    }
  }

  // Names that stand for something in every size.
  static std::set<std::string> VariablesOf(const v1::Program& program) {
    std::set<std::string> all;
    for (int i = 0; i < program.size_size(); ++i) {
      std::set<std::string> here;
      for (const v1::Variable& variable : program.size(i).variable()) {
        if (i == 0 || all.contains(variable.name())) here.insert(variable.name());
      }
      all = here;
    }
    return all;
  }

  void CheckProgram(const v1::Program& program) {
    if (!IsName(program.name())) Say("needs a name of letters, digits, '.', '_', '-', '+'");
    if (!programs_.insert(program.name()).second) Say("is there twice");
    if (!program.missing().empty()) return;
    variables_ = VariablesOf(program);
    if (program.path().empty()) Say("needs `path`, what is copied of the sources");
    CheckPaths("path", program.path(), program.sha256());
    CheckFiles(program.file());
    for (const v1::Command& command : program.build()) CheckCommand("build", command);
    CheckCommand("run", program.run());
    if (program.has_reference()) {
      CheckPaths("reference.path", program.reference().path(), program.reference().sha256());
      CheckFiles(program.reference().file());
      for (const v1::Command& command : program.reference().build()) CheckCommand("reference.build", command);
      CheckCommand("reference.run", program.reference().run());
    }
    for (const v1::Place& place : program.place()) {
      CheckPath("place", place.path());
      if (!data_.contains(place.data())) Say(absl::StrCat("place: there is no data ", place.data()));
    }
    const v1::Check& check = program.check();
    for (const std::string& expression : check.has()) CheckPattern("check.has", expression);
    for (const std::string& expression : check.lacks()) CheckPattern("check.lacks", expression);
    for (const v1::Compare& compare : check.compare()) CheckCompare(program, compare);
    if (check.has_size() + check.lacks_size() + check.compare_size() > 0 && check.how().empty()) {
      Say("check needs `how`, in words");
    }
    CheckFaults(program);
    if (program.size().empty()) Say("has no size");
    for (const v1::Size& size : program.size()) CheckSize(program, size);
    for (const v1::Launches& launches : program.launches()) {
      if (launches.paper().empty() || launches.row().empty()) Say("launches need `paper` and `row`");
      CheckPattern("launches.kernels", launches.kernels());
    }
  }

  void CheckFaults(const v1::Program& program) {
    for (const v1::Fault& fault : program.fault()) {
      if (fault.what().empty()) Say("fault needs `what`");
      for (const std::string& option : fault.option()) {
        if (IsOption(option)) continue;
        Say(absl::StrCat("fault: ", option,
                         " is none of --allow-bounds, --lockstep, --resident-blocks=N, --max-instructions=N"));
      }
    }
  }

  const v1::Suite& suite_;
  std::vector<std::string> broken_;
  std::string place_;
  std::set<std::string> data_;
  std::set<std::string> programs_;
  std::set<std::string> variables_;
};

}  // namespace

std::vector<std::string> BrokenRules(const v1::Suite& suite) { return Rules(suite).Broken(); }

}  // namespace heddle::tools::suite
