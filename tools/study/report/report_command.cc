// `heddle report`: results as a page, as figures, or as the data of both.
#include "tools/study/report/report_command.h"

#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <optional>
#include <system_error>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "tools/console/json.h"
#include "tools/console/output.h"
#include "tools/console/terminal.h"
#include "tools/inputs/result_files.h"
#include "tools/study/report/report_page.h"
#include "tools/study/report/study.h"
#include "tools/study/report/study_json.h"
#include "traces/base/suggest.h"

namespace heddle::tools {
namespace {

namespace fs = std::filesystem;

// A temporary file that goes away with the object.
class TemporaryFile {
 public:
  static absl::StatusOr<TemporaryFile> With(const std::string& text) {
    std::string path = (fs::temp_directory_path() / "heddle-report-XXXXXX").string();
    const int file = mkstemp(path.data());
    if (file < 0) return absl::UnavailableError(absl::StrCat(path, ": ", std::strerror(errno)));
    TemporaryFile temporary(path);
    size_t done = 0;
    while (done < text.size()) {
      const ssize_t written = write(file, text.data() + done, text.size() - done);
      if (written < 0 && errno == EINTR) continue;
      if (written < 0) {
        const std::string why = std::strerror(errno);
        close(file);
        return absl::UnavailableError(absl::StrCat(path, ": ", why));
      }
      done += static_cast<size_t>(written);
    }
    close(file);
    return temporary;
  }
  TemporaryFile(TemporaryFile&& other) noexcept : path_(std::move(other.path_)) { other.path_.clear(); }
  TemporaryFile& operator=(TemporaryFile&&) = delete;
  ~TemporaryFile() {
    if (!path_.empty()) unlink(path_.c_str());
  }
  const std::string& path() const { return path_; }

 private:
  explicit TemporaryFile(std::string path) : path_(std::move(path)) {}
  std::string path_;
};

// The folder of the Python package: of the build tree, or where `cmake --install` puts it.
absl::StatusOr<std::string> PythonFolder() {
  std::error_code error;
  const fs::path here = fs::read_symlink("/proc/self/exe", error).parent_path();
  for (const char* folder : {"../python", "../share/heddle/python"}) {
    const fs::path candidate = (here / folder).lexically_normal();
    if (fs::exists(candidate / "heddle" / "figures.py", error)) return candidate.string();
  }
  return absl::FailedPreconditionError(absl::StrCat(
      "--figure: the Python package `heddle` is neither in ", (here / "../python").lexically_normal().string(),
      " nor in ", (here / "../share/heddle/python").lexically_normal().string(), "; build heddle again"));
}

// Runs Python's part, which prints its own errors.
int DrawFigure(const ReportArguments& arguments, const std::string& data) {
  const absl::StatusOr<std::string> folder = PythonFolder();
  if (!folder.ok()) return ReportError(kFailed, folder.status());
  const absl::StatusOr<TemporaryFile> file = TemporaryFile::With(data);
  if (!file.ok()) return ReportError(kFailed, file.status());
  const std::string path = getenv("PYTHONPATH") == nullptr ? *folder : absl::StrCat(*folder, ":", getenv("PYTHONPATH"));
  const pid_t child = fork();
  if (child < 0) return ReportError(kFailed, absl::StrCat("cannot start python3: ", std::strerror(errno)));
  if (child == 0) {
    setenv("PYTHONPATH", path.c_str(), 1);
    // Debian's packages belong to its own Python, which need not be the first on the path.
    for (const char* python : {"/usr/bin/python3", "python3"}) {
      execlp(python, python, "-m", "heddle.figures", arguments.figure.c_str(), file->path().c_str(),
             arguments.output.c_str(), nullptr);
    }
    _exit(127);
  }
  int status = 0;
  while (waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  if (WIFEXITED(status) && WEXITSTATUS(status) == 127) {
    return ReportError(kFailed, "--figure: python3 was not found; install python3-matplotlib");
  }
  return WIFEXITED(status) ? WEXITSTATUS(status) : kFailed;
}

absl::Status CheckArguments(const ReportArguments& arguments) {
  if (!arguments.figure.empty()) {
    const std::vector<std::string> names = FigureNames();
    if (std::find(names.begin(), names.end(), arguments.figure) == names.end()) {
      return absl::InvalidArgumentError(UnknownNameMessage("figure", arguments.figure, names));
    }
    const std::string ending = fs::path(arguments.output).extension().string();
    if (ending != ".pdf" && ending != ".svg" && ending != ".png") {
      return absl::InvalidArgumentError("--figure: needs -o FILE with the ending .pdf, .svg or .png");
    }
    if (arguments.json) return absl::InvalidArgumentError("--figure and --json: one of them");
  } else if (!arguments.json && arguments.output.empty()) {
    return absl::InvalidArgumentError("-o: needs a file for the page, such as report.html");
  }
  for (const std::string& folder : arguments.sources) {
    std::error_code error;
    if (!fs::is_directory(folder, error))
      return absl::InvalidArgumentError(absl::StrCat("--source ", folder, ": no such folder"));
  }
  return absl::OkStatus();
}

std::string Title(const ReportArguments& arguments, const Study& study) {
  if (!arguments.title.empty()) return arguments.title;
  const auto count = [](size_t number, const char* word) {
    return absl::StrCat(number, " ", word, number == 1 ? "" : "s");
  };
  return absl::StrCat("Heddle: ", count(study.kernels.size(), "kernel"), ", ", count(study.runs.size(), "run"));
}

}  // namespace

std::vector<std::string> FigureNames() { return {"heatmap", "speedup", "stalls", "threads", "sizes", "roofline"}; }

int ReportCommand(const ReportArguments& arguments) {
  if (const absl::Status status = CheckArguments(arguments); !status.ok()) return ReportError(kWrongUsage, status);
  const absl::StatusOr<ResultFiles> found = FindResults(arguments.results);
  if (!found.ok()) return ReportError(absl::IsNotFound(found.status()) ? kWrongUsage : kFailed, found.status());
  if (!arguments.output.empty() && arguments.output != "-") {
    const absl::Status status = CheckNotAnInput("-o", arguments.output, found->files, "one of the results");
    if (!status.ok()) return ReportError(kWrongUsage, status);
  }
  const absl::StatusOr<std::vector<result::v1::Result>> results = ReadResultFiles(found->files);
  if (!results.ok()) return ReportError(absl::IsNotFound(results.status()) ? kWrongUsage : kFailed, results.status());
  const absl::StatusOr<Study> study = MakeStudy(*results);
  if (!study.ok()) return ReportError(kFailed, study.status());
  for (const std::string& note : found->notes) Note(note);
  if (study->duplicates != 0) {
    Note(absl::StrCat(study->duplicates, study->duplicates == 1 ? " result is" : " results are",
                      " there more than once and shown once"));
  }
  nlohmann::ordered_json data = StudyJson(*study, arguments.sources);
  data["title"] = Title(arguments, *study);
  const std::string text = JsonLine(data);
  if (!arguments.figure.empty()) return DrawFigure(arguments, text);

  std::string content = text + "\n";
  if (!arguments.json) {
    absl::StatusOr<std::string> page = ReportPage(ReportTemplate(), text, Title(arguments, *study));
    if (!page.ok()) return ReportError(kFailed, page.status());
    content = *std::move(page);
  }
  absl::Status written;
  if (arguments.output.empty() || arguments.output == "-") {
    written = WriteStandardOutput(content);
  } else {
    absl::StatusOr<OutputFile> file = OutputFile::Create(arguments.output);
    if (!file.ok()) return ReportError(absl::IsInvalidArgument(file.status()) ? kWrongUsage : kFailed, file.status());
    written = file->Write(content);
    if (written.ok()) written = file->Commit();
  }
  return written.ok() ? kSuccess : ReportError(kFailed, written);
}

}  // namespace heddle::tools
