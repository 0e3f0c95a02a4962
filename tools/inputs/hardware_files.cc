#include "tools/inputs/hardware_files.h"

#include <google/protobuf/descriptor.h>
#include <google/protobuf/io/coded_stream.h>
#include <google/protobuf/io/zero_copy_stream_impl_lite.h>
#include <google/protobuf/util/json_util.h>

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <set>
#include <sstream>
#include <string_view>
#include <system_error>
#include <utility>

#include "absl/strings/escaping.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "replay/machine/machine.h"
#include "tools/console/digest.h"
#include "tools/console/json.h"
#include "tools/console/output.h"
#include "tools/inputs/packed_file.h"
#include "traces/base/printable.h"
#include "traces/base/sha256.h"
#include "traces/base/status_macros.h"
#include "traces/format/program/printable_records.h"

namespace heddle::tools {
namespace {

namespace fs = std::filesystem;
namespace v1 = hardware::v1;
using google::protobuf::FieldDescriptor;
using google::protobuf::Message;
using google::protobuf::Reflection;

constexpr uint32_t kHardwareSchema = 1;
constexpr uintmax_t kMostBytes = uintmax_t{64} << 20;  // of a file: a visit of hundreds of kernels takes a few
constexpr uint64_t kMostUnpackedBytes = uint64_t{256} << 20;
constexpr char kVisitEnding[] = ".json";
constexpr char kRecordEnding[] = ".hardware.json";
constexpr char kPackedEnding[] = ".gz";

absl::Status Refuse(const std::string& what) { return absl::InvalidArgumentError(what); }

absl::StatusOr<std::string> ReadText(const std::string& path) {
  std::error_code error;
  if (fs::is_directory(path, error)) return Refuse(absl::StrCat(path, ": is a folder"));
  const uintmax_t bytes = fs::file_size(path, error);
  if (!error && bytes > kMostBytes) {
    return Refuse(absl::StrCat(path, ": has ", bytes, " bytes, more than the ", kMostBytes, " that are read"));
  }
  errno = 0;
  std::ifstream file(path, std::ios::binary);
  std::ostringstream text;
  if (file) text << file.rdbuf();
  if (!file) return absl::NotFoundError(absl::StrCat(path, ": cannot be read: ", std::strerror(errno)));
  return std::move(text).str();
}

// The first field that holds a number which is not finite, or a negative one where `negative` is false; else empty.
std::string WrongNumber(const Message& message, bool negative) {
  const Reflection& reflection = *message.GetReflection();
  std::vector<const FieldDescriptor*> fields;
  reflection.ListFields(message, &fields);
  const auto wrong = [negative](double value) { return !std::isfinite(value) || (!negative && value < 0); };
  for (const FieldDescriptor* field : fields) {
    const std::string& name = field->full_name();
    const int count = field->is_repeated() ? reflection.FieldSize(message, field) : 0;
    if (field->cpp_type() == FieldDescriptor::CPPTYPE_DOUBLE) {
      for (int i = 0; i < count; ++i) {
        if (wrong(reflection.GetRepeatedDouble(message, field, i))) return name;
      }
      if (!field->is_repeated() && wrong(reflection.GetDouble(message, field))) return name;
    } else if (field->cpp_type() == FieldDescriptor::CPPTYPE_MESSAGE) {
      for (int i = 0; i < count; ++i) {
        const std::string inner = WrongNumber(reflection.GetRepeatedMessage(message, field, i), negative);
        if (!inner.empty()) return inner;
      }
      if (field->is_repeated()) continue;
      const std::string inner = WrongNumber(reflection.GetMessage(message, field), negative);
      if (!inner.empty()) return inner;
    }
  }
  return "";
}

// Into `message`, from text that anybody may have written.
absl::Status Parse(const std::string& text, const char* what, bool negative, Message& message) {
  const auto parsed = google::protobuf::util::JsonStringToMessage(text, &message);
  if (!parsed.ok()) {
    const std::string why(parsed.message().data(), parsed.message().size());
    return Refuse(absl::StrCat("is not ", what,
                               " (proto/hardware.proto): ", CutText(Printable(why.substr(0, why.find('\n'))), 200)));
  }
  trace::MakePrintable(message);
  if (const std::string field = WrongNumber(message, negative); !field.empty()) {
    return Refuse(absl::StrCat(field, " has a number that is ", negative ? "" : "negative or ",
                               "not finite; what was not measured has to be left out"));
  }
  return absl::OkStatus();
}

absl::Status CheckSchema(uint32_t schema) {
  if (schema == kHardwareSchema) return absl::OkStatus();
  return Refuse(absl::StrCat("has schema ", schema, ", this heddle reads schema ", kHardwareSchema));
}

std::string Called(const v1::Kernel& kernel) {
  return absl::StrCat("kernel ", kernel.workload(), kernel.size().empty() ? "" : "-", kernel.size());
}

absl::Status CheckLaunch(const v1::Launch& launch) {
  std::set<std::string> counters;
  for (const v1::Counter& counter : launch.counter()) {
    if (counter.name().empty()) return Refuse("has a counter without a name");
    if (!counters.insert(counter.name()).second) return Refuse(absl::StrCat("has ", counter.name(), " twice"));
  }
  return absl::OkStatus();
}

absl::Status CheckKernel(const v1::Kernel& kernel) {
  if (kernel.workload().empty()) return Refuse("a kernel has no workload");
  if (kernel.source() == v1::CODE_SOURCE_UNSPECIFIED) return Refuse(absl::StrCat(Called(kernel), " has no source"));
  if (!kernel.trace_digest().empty() && !IsSha256(kernel.trace_digest())) {
    return Refuse(absl::StrCat(Called(kernel), ": trace_digest is no SHA-256"));
  }
  std::set<uint32_t> launches;
  for (const v1::Launch& launch : kernel.launch()) {
    if (!launches.insert(launch.launch()).second) {
      return Refuse(absl::StrCat(Called(kernel), " has launch ", launch.launch(), " twice"));
    }
    if (const absl::Status status = CheckLaunch(launch); !status.ok()) {
      return Refuse(absl::StrCat(Called(kernel), ": launch ", launch.launch(), " ", status.message()));
    }
  }
  return absl::OkStatus();
}

absl::Status CheckErrors(const v1::Errors& errors) {
  constexpr int kMostPrograms = 10'000;  // every one is left out once
  constexpr double kMostLogRatio = 20;   // a factor of 500 million
  if (errors.program_size() > kMostPrograms) {
    return Refuse(absl::StrCat("has errors of more than ", kMostPrograms, " kernels"));
  }
  for (const v1::ProgramError& program : errors.program()) {
    if (program.workload().empty()) return Refuse("has the error of a kernel without a name");
    if (std::abs(program.log_ratio()) > kMostLogRatio) {
      return Refuse(absl::StrCat("the log_ratio of ", program.workload(), " is beyond ", kMostLogRatio));
    }
  }
  return absl::OkStatus();
}

absl::Status CheckVisit(const v1::Visit& visit) {
  HEDDLE_RETURN_IF_ERROR(CheckSchema(visit.schema()));
  if (visit.card().name().empty()) return Refuse("names no card");
  std::set<std::pair<std::string, v1::CodeSource>> kernels;
  for (const v1::Kernel& kernel : visit.kernel()) {
    HEDDLE_RETURN_IF_ERROR(CheckKernel(kernel));
    if (!kernels.emplace(Called(kernel), kernel.source()).second) {
      return Refuse(absl::StrCat("has ", Called(kernel), " twice from one source"));
    }
  }
  for (const v1::Benchmark& benchmark : visit.benchmark()) {
    if (benchmark.name().empty()) return Refuse("has a benchmark without a name");
  }
  return absl::OkStatus();
}

// Whether a file is named like a visit, packed or not.
bool IsNamedVisit(std::string_view file) {
  if (file.ends_with(kPackedEnding)) file.remove_suffix(sizeof(kPackedEnding) - 1);
  return file.ends_with(kVisitEnding) && !file.ends_with(kRecordEnding);
}

absl::Status ParseVisit(const std::string& file, const std::string& bytes, v1::Visit& visit) {
  const bool packed = absl::EndsWith(file, kPackedEnding);
  std::string unpacked;
  if (packed) {
    HEDDLE_ASSIGN_OR_RETURN(unpacked, Unpack(bytes, kMostUnpackedBytes));
  }
  HEDDLE_RETURN_IF_ERROR(
      Parse(packed ? unpacked : bytes, "what a visit to a card measured", /*negative=*/false, visit));
  return CheckVisit(visit);
}

}  // namespace

absl::StatusOr<std::vector<std::string>> FindVisits(const std::string& path) {
  std::error_code error;
  if (!fs::exists(path, error)) return absl::NotFoundError(absl::StrCat(path, ": no such file or folder"));
  if (!fs::is_directory(path, error)) return std::vector<std::string>{path};
  std::vector<std::string> files;
  for (auto it = fs::recursive_directory_iterator(path, error); !error && it != fs::recursive_directory_iterator();
       it.increment(error)) {
    const std::string file = it->path().string();
    if (it->is_regular_file() && IsNamedVisit(file)) files.push_back(file);
  }
  if (error) return absl::NotFoundError(absl::StrCat(path, ": ", error.message()));
  if (files.empty()) {
    return absl::NotFoundError(absl::StrCat(
        path,
        ": no visit to a card is here, a file CARD/DATE.json or CARD/DATE.json.gz; `tools/hardware/visit` makes one"));
  }
  std::ranges::sort(files);
  // A visit writes its results twice: the packed one is the same.
  const std::set<std::string> all(files.begin(), files.end());
  std::erase_if(files, [&](const std::string& file) {
    return absl::EndsWith(file, kPackedEnding) && all.contains(file.substr(0, file.size() - sizeof(kPackedEnding) + 1));
  });
  return files;
}

absl::StatusOr<HardwareVisit> ReadVisit(const std::string& file) {
  HEDDLE_ASSIGN_OR_RETURN(const std::string bytes, ReadText(file));
  HardwareVisit visit;
  visit.file = file;
  Sha256 digest;
  digest.Update(bytes.data(), bytes.size());
  visit.digest = absl::BytesToHexString(digest.Finish());
  const absl::Status status = ParseVisit(file, bytes, visit.visit);
  if (!status.ok()) return absl::Status(status.code(), absl::StrCat(file, ": ", status.message()));
  return visit;
}

std::string MachineRecordFile(const std::string& machine) {
  constexpr char kEnding[] = ".textproto";
  const std::string stem = absl::EndsWith(machine, kEnding) ? machine.substr(0, machine.size() - sizeof(kEnding) + 1)
                                                            : absl::StrCat(replay::MachinesDirectory(), "/", machine);
  return absl::StrCat(stem, kRecordEnding);
}

std::string MachineDigest(const machine::v1::Machine& machine) {
  std::string bytes;
  {
    google::protobuf::io::StringOutputStream stream(&bytes);
    google::protobuf::io::CodedOutputStream coded(&stream);
    coded.SetSerializationDeterministic(true);
    machine.SerializeToCodedStream(&coded);
  }
  Sha256 digest;
  digest.Update(bytes.data(), bytes.size());
  return absl::BytesToHexString(digest.Finish());
}

absl::StatusOr<v1::MachineRecord> ReadMachineRecord(const std::string& file) {
  HEDDLE_ASSIGN_OR_RETURN(const std::string text, ReadText(file));
  v1::MachineRecord record;
  absl::Status status = Parse(text, "what is known of a machine and a card", /*negative=*/true, record);
  if (status.ok()) status = CheckSchema(record.schema());
  if (status.ok()) status = CheckErrors(record.errors());
  if (!status.ok()) return absl::Status(status.code(), absl::StrCat(file, ": ", status.message()));
  return record;
}

absl::Status WriteMachineRecord(const std::string& file, const v1::MachineRecord& record) {
  HEDDLE_ASSIGN_OR_RETURN(OutputFile output, OutputFile::Create(file));
  HEDDLE_RETURN_IF_ERROR(output.Write(ToJson(record).dump(2, ' ', false, nlohmann::json::error_handler_t::replace)));
  HEDDLE_RETURN_IF_ERROR(output.Write("\n"));
  return output.Commit();
}

}  // namespace heddle::tools
