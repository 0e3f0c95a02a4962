#include "tools/capture/capture_folder.h"

#include <fcntl.h>
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
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "tracegen/version.h"
#include "traces/format/copy.h"
#include "traces/format/link_target.h"
#include "traces/format/reader.h"
#include "traces/format/replaceable.h"
#include "traces/format/writer.h"

namespace heddle::tracegen {
namespace {

namespace fs = std::filesystem;

std::string ReadWhole(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  std::stringstream text;
  text << in.rdbuf();
  return text.str();
}

absl::Status Rename(const std::string& from, const std::string& to) {
  std::error_code error;
  fs::rename(from, trace::LinkTarget(to), error);
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
  auto writer = trace::TraceWriter::Create(output, header.header, options);
  if (!writer.ok()) return writer.status();
  trace::TraceCopier copier(**writer, false);
  std::vector<std::string> parts;
  size_t launches = 0;
  for (size_t i = 0; i < readers.size(); ++i) {
    if (absl::Status status = copier.Add(*readers[i], {}, header.source_file[i]); !status.ok()) return status;
    parts.push_back(absl::StrCat("launches from ", launches, " on are those of process ", i + 1));
    launches += readers[i]->launches().size();
  }
  trace::v1::Annotation annotation;
  annotation.set_key("heddle.merge");
  annotation.set_value(absl::StrJoin(parts, "; "));
  if (absl::Status status = (*writer)->AddAnnotation(annotation); !status.ok()) return status;
  return (*writer)->Finish();
}

}  // namespace

absl::StatusOr<std::unique_ptr<CaptureFolder>> CaptureFolder::Create(const std::string& output) {
  if (output.empty()) return absl::InvalidArgumentError("-o is empty: name the trace file to write");
  if (absl::Status status = trace::CheckReplaceable(output); !status.ok()) return status;
  std::error_code error;
  const fs::path place = fs::absolute(trace::LinkTarget(output), error);
  std::string path =
      (place.parent_path() / absl::StrCat(".", place.filename().string(), ".capture-", getpid())).string();
  if (mkdir(path.c_str(), 0700) != 0) {
    return absl::UnavailableError(absl::StrCat("cannot write beside ", place.string(), ": ", strerror(errno)));
  }
  return std::unique_ptr<CaptureFolder>(new CaptureFolder(std::move(path)));
}

CaptureFolder::~CaptureFolder() {
  std::error_code ignored;
  fs::remove_all(path_, ignored);
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
    auto reader = trace::TraceReader::Open(trace.trace);
    if (!reader.ok()) return reader.status();
    inputs.push_back(reader->get());
    readers.push_back(*std::move(reader));
  }
  absl::StatusOr<trace::MergedHeader> header = trace::MergeHeaders(inputs, kProducer);
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
    if (absl::Status status = Rename(trace.trace, files->back()); !status.ok()) return status;
  }
  return absl::OkStatus();
}

}  // namespace heddle::tracegen
