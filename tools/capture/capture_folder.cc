#include "tools/capture/capture_folder.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <system_error>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "tracegen/version.h"
#include "traces/base/link_target.h"
#include "traces/base/status_macros.h"
#include "traces/format/container/replaceable.h"
#include "traces/format/edit/copy.h"
#include "traces/format/read/reader.h"
#include "traces/format/write/writer.h"

namespace heddle::tracegen {
namespace {

namespace fs = std::filesystem;

std::string ReadWhole(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  std::stringstream text;
  text << in.rdbuf();
  return text.str();
}

// Locked by the capture that a folder belongs to.
constexpr char kOwner[] = "/owner";
constexpr char kInfix[] = ".capture-";

// Whether somebody holds the lock of a file; not if there is no such file.
bool IsLocked(const std::string& path) {
  const int file = open(path.c_str(), O_RDWR | O_CLOEXEC | O_NOFOLLOW);
  if (file < 0) return false;
  const bool locked = flock(file, LOCK_EX | LOCK_NB) != 0;
  close(file);
  return locked;
}

// Whether a capture's folder is used: by the capture, or by a device process, which locks the file of its number.
bool IsUsed(const fs::path& folder, pid_t capture) {
  std::error_code error;
  const bool has_owner = fs::exists(folder.string() + kOwner, error);
  // Just made, or by a capture that did not lock it yet.
  if (!has_owner && (kill(capture, 0) == 0 || errno != ESRCH)) return true;
  if (has_owner && IsLocked(folder.string() + kOwner)) return true;
  for (int number = 1; fs::exists(folder / absl::StrCat(number), error); ++number) {
    if (IsLocked((folder / absl::StrCat(number)).string())) return true;
  }
  return false;
}

absl::Status Rename(const std::string& from, const std::string& to) {
  std::error_code error;
  fs::rename(from, LinkTarget(to), error);
  if (!error) return absl::OkStatus();
  return absl::UnavailableError(absl::StrCat("cannot complete ", to, ": ", error.message()));
}

// The next name in a row that costs nobody a file.
std::string NextName(const std::string& prefix, int* number) {
  std::string name;
  do {
    name = absl::StrCat(prefix, ++*number);
  } while (!trace::CheckReplaceable(name).ok());
  return name;
}

absl::Status Merge(const std::vector<std::unique_ptr<trace::TraceReader>>& readers, const trace::MergedHeader& header,
                   const std::string& output, const trace::WriterOptions& options) {
  HEDDLE_ASSIGN_OR_RETURN(auto writer, trace::TraceWriter::Create(output, header.header, options));
  trace::TraceCopier copier(*writer, false);
  std::vector<std::string> parts;
  size_t launches = 0;
  for (size_t i = 0; i < readers.size(); ++i) {
    HEDDLE_RETURN_IF_ERROR(copier.Add(*readers[i], {}, header.source_file[i]));
    parts.push_back(absl::StrCat("launches from ", launches, " on are those of process ", i + 1));
    launches += readers[i]->launches().size();
  }
  trace::v1::Annotation annotation;
  annotation.set_key("heddle.merge");
  annotation.set_value(absl::StrJoin(parts, "; "));
  HEDDLE_RETURN_IF_ERROR(writer->AddAnnotation(annotation));
  return writer->Finish();
}

}  // namespace

absl::StatusOr<std::unique_ptr<CaptureFolder>> CaptureFolder::Create(const std::string& output) {
  if (output.empty()) return absl::InvalidArgumentError("-o is empty: name the trace file to write");
  HEDDLE_RETURN_IF_ERROR(trace::CheckReplaceable(output));
  std::error_code error;
  const fs::path place = fs::absolute(LinkTarget(output), error);
  std::string path = (place.parent_path() / absl::StrCat(".", place.filename().string(), kInfix, getpid())).string();
  if (mkdir(path.c_str(), 0700) != 0) {
    return absl::UnavailableError(absl::StrCat("cannot write beside ", place.string(), ": ", strerror(errno)));
  }
  // It gets its name when it is locked: until then others go by the process.
  const std::string unnamed = absl::StrCat(path, "/owner.new");
  const int owner = open(unnamed.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600);
  if (owner >= 0 && flock(owner, LOCK_EX | LOCK_NB) == 0) rename(unnamed.c_str(), absl::StrCat(path, kOwner).c_str());
  return std::unique_ptr<CaptureFolder>(new CaptureFolder(std::move(path), owner));
}

CaptureFolder::~CaptureFolder() {
  std::error_code ignored;
  if (owner_ >= 0) close(owner_);
  fs::remove_all(path_, ignored);
}

std::vector<std::string> RemoveStaleFolders(const std::string& output) {
  std::error_code error;
  const fs::path place = fs::absolute(LinkTarget(output), error);
  std::vector<std::string> removed;
  std::vector<std::string> left;
  for (fs::directory_iterator it(place.parent_path(), error), end; !error && it != end; it.increment(error)) {
    const std::string name = it->path().filename().string();
    const size_t infix = name.rfind(kInfix);
    pid_t capture = 0;
    std::error_code unknown;
    if (!absl::StartsWith(name, ".") || infix == std::string::npos ||
        !absl::SimpleAtoi(name.substr(infix + sizeof(kInfix) - 1), &capture) || capture <= 0 ||
        it->is_symlink(unknown) || !it->is_directory(unknown) || IsUsed(it->path(), capture)) {
      continue;
    }
    const bool is_ours =
        name.substr(1, infix - 1) == place.filename().string() && fs::exists(it->path().string() + kOwner, unknown);
    if (is_ours && fs::remove_all(it->path(), unknown) > 0 && !unknown) {
      removed.push_back(name);
    } else {
      left.push_back(name);
    }
  }
  std::vector<std::string> sentences;
  if (!removed.empty()) {
    sentences.push_back(absl::StrCat("removed what a capture had left that was killed: ", removed.front(),
                                     removed.size() == 1 ? "" : absl::StrCat(" and ", removed.size() - 1, " more")));
  }
  if (!left.empty()) {
    const bool one = left.size() == 1;
    sentences.push_back(absl::StrCat(
        left.front(), one ? "" : absl::StrCat(" and ", left.size() - 1, " more"), " beside ", place.filename().string(),
        one ? " is what a killed capture of another trace has left"
            : " are what killed captures of other traces have left",
        ": remove ", one ? "it" : "them", ", or keep what is whole with `heddle trace repack --recover`"));
  }
  return sentences;
}

std::vector<ProcessTrace> CaptureFolder::Collect() const {
  std::vector<ProcessTrace> traces;
  for (int number = 1;; ++number) {
    const std::string place = absl::StrCat(path_, "/", number);
    const int file = open(place.c_str(), O_RDONLY | O_CLOEXEC);
    if (file < 0) return traces;
    while (flock(file, LOCK_EX) != 0 && errno == EINTR) {
    }
    close(file);
    ProcessTrace& trace = traces.emplace_back();
    if (absl::StatusOr<CaptureOutcome> outcome = DecodeOutcome(ReadWhole(place + ".outcome")); outcome.ok()) {
      trace.outcome = *std::move(outcome);
      trace.finished = true;
    }
    std::error_code error;
    if (trace.finished && trace.outcome.complete && fs::exists(place + ".htrace", error)) {
      trace.trace = place + ".htrace";
    }
    for (const fs::directory_entry& entry : fs::directory_iterator(path_, error)) {
      const std::string name = entry.path().filename().string();
      if (absl::StartsWith(name, absl::StrCat(number, ".htrace.tmp-")) ||
          name == absl::StrCat(number, ".htrace.partial")) {
        trace.incomplete = entry.path().string();
      }
    }
  }
}

absl::Status PlaceTraces(const std::vector<ProcessTrace>& traces, const std::string& output, int zstd_level,
                         unsigned threads, std::vector<std::string>* files) {
  files->assign(1, output);
  if (traces.size() == 1) return Rename(traces.front().trace, output);
  std::vector<std::unique_ptr<trace::TraceReader>> readers;
  std::vector<const trace::TraceReader*> inputs;
  for (const ProcessTrace& trace : traces) {
    HEDDLE_ASSIGN_OR_RETURN(auto reader, trace::TraceReader::Open(trace.trace));
    inputs.push_back(reader.get());
    readers.push_back(std::move(reader));
  }
  absl::StatusOr<trace::MergedHeader> header = trace::MergeHeaders(inputs, Producer());
  if (header.ok()) {
    trace::WriterOptions options;
    options.zstd_level = zstd_level;
    options.threads = threads;
    return Merge(readers, *header, output, options);
  }
  files->clear();
  int number = 0;
  for (const ProcessTrace& trace : traces) {
    files->push_back(NextName(absl::StrCat(output, "."), &number));
    HEDDLE_RETURN_IF_ERROR(Rename(trace.trace, files->back()));
  }
  return absl::OkStatus();
}

}  // namespace heddle::tracegen
