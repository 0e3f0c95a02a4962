#include "tools/study/sweep/folder.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "replay/seams/policy_origin.h"
#include "tools/console/digest.h"
#include "tools/console/json.h"
#include "tools/console/output.h"
#include "traces/base/sha256.h"
#include "traces/base/status_macros.h"

namespace heddle::tools::sweep {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;

constexpr absl::string_view kEnding = ".json";

// Adds the keys that have a file in the folder; a folder that is not there has none.
absl::Status AddKeys(const fs::path& folder, absl::flat_hash_set<std::string>& keys) {
  std::error_code error;
  fs::directory_iterator it(folder, error);
  if (error == std::errc::no_such_file_or_directory) return absl::OkStatus();
  for (const fs::directory_iterator end; !error && it != end; it.increment(error)) {
    const std::string name = it->path().filename().string();
    if (name.size() != 64 + kEnding.size() || !name.ends_with(".json")) continue;
    if (std::string key = name.substr(0, 64); IsSha256(key)) keys.insert(std::move(key));
  }
  if (!error) return absl::OkStatus();
  return absl::UnavailableError(absl::StrCat(folder.string(), ": cannot be read: ", error.message()));
}

absl::StatusOr<Plan> ReadPlan(const std::string& path) {
  absl::StatusOr<std::string> text = ReadWholeFile(path);
  if (!text.ok()) {
    return absl::NotFoundError(
        absl::StrCat(text.status().message(), "; `heddle sweep plan SPEC -o FOLDER` makes a sweep's folder"));
  }
  const auto refuse = [&path](const std::string& what) { return absl::DataLossError(absl::StrCat(path, ": ", what)); };
  const Json json = Json::parse(*text, nullptr, /*allow_exceptions=*/false);
  if (!json.is_object()) return refuse("is no JSON object; plan the sweep again");
  if (const Json schema = json.value("schema", Json()); schema != kPlanSchema) {
    return refuse(absl::StrCat("has schema ", schema.dump(), ", this program reads ", kPlanSchema));
  }
  Plan plan;
  try {  // the library throws on a missing member or a wrong type; we do not
    json.at("name").get_to(plan.name);
    json.at("description").get_to(plan.description);
    json.at("model_version").get_to(plan.model_version);
    json.at("design").get_to(plan.design);
    json.at("points").get_to(plan.points);
    json.at("points_digest").get_to(plan.points_digest);
    json.at("max_cycles").get_to(plan.settings.max_cycles);
    json.at("per_instruction").get_to(plan.settings.metrics.per_instruction);
    json.at("bins").get_to(plan.settings.metrics.bin_cycles);
    json.at("warp_phases").get_to(plan.settings.metrics.timeline_blocks);
    if (json.contains("registers")) json["registers"].get_to(plan.settings.registers);
    if (json.contains("launches")) {
      const auto rule = replay::LaunchRuleOf(json["launches"].get<std::string>());
      if (!rule.has_value()) return refuse("has launches that follow no rule of this program");
      plan.settings.launch_rule = *rule;
    }
    for (const Json& trace : json.at("traces")) {
      plan.traces.push_back({trace.at("name"), trace.at("path"), trace.at("digest"), trace.at("thread_instructions")});
    }
    if (json.contains("policy_libraries")) {
      for (const Json& library : json["policy_libraries"]) {
        plan.libraries.push_back({library.at("path"), library.at("digest")});
      }
    }
    for (const Json& parameter : json.at("parameters")) {
      plan.parameters.push_back({parameter.at("name"), parameter.at("levels")});
    }
    for (const Json& reason : json.at("left_out")) plan.left_out.emplace_back(reason.at("reason"), reason.at("points"));
  } catch (const Json::exception& exception) {
    return refuse(absl::StrCat("is no plan: ", exception.what()));
  }
  if (!IsSweepName(plan.name)) {
    return refuse(
        "its name is empty, or has other characters than letters, digits, '_', '-', '.'; plan the sweep again");
  }
  return plan;
}

}  // namespace

const PlannedTrace* Plan::FindTrace(std::string_view trace) const {
  for (const PlannedTrace& planned : traces) {
    if (planned.name == trace) return &planned;
  }
  return nullptr;
}

Json PlanJson(const Plan& plan) {
  Json traces = Json::array();
  for (const PlannedTrace& trace : plan.traces) {
    traces.push_back({{"name", trace.name},
                      {"path", trace.path},
                      {"digest", trace.digest},
                      {"thread_instructions", trace.thread_instructions}});
  }
  Json libraries = Json::array();
  for (const PlannedLibrary& library : plan.libraries) {
    libraries.push_back({{"path", library.path}, {"digest", library.digest}});
  }
  Json parameters = Json::array();
  for (const PlannedParameter& parameter : plan.parameters) {
    parameters.push_back({{"name", parameter.name}, {"levels", parameter.levels}});
  }
  Json left_out = Json::array();
  for (const auto& [reason, points] : plan.left_out) left_out.push_back({{"reason", reason}, {"points", points}});
  Json json = {{"schema", kPlanSchema},
               {"name", plan.name},
               {"description", plan.description},
               {"model_version", plan.model_version},
               {"design", plan.design},
               {"points", plan.points},
               {"points_digest", plan.points_digest},
               {"max_cycles", plan.settings.max_cycles},
               {"per_instruction", plan.settings.metrics.per_instruction},
               {"bins", plan.settings.metrics.bin_cycles},
               {"warp_phases", plan.settings.metrics.timeline_blocks},
               {"traces", traces},
               {"policy_libraries", libraries},
               {"parameters", parameters},
               {"left_out", left_out}};
  if (!plan.settings.registers.empty()) json["registers"] = plan.settings.registers;
  if (plan.settings.launch_rule != replay::LaunchRule::kInOrder) {
    json["launches"] = std::string(replay::NameOf(plan.settings.launch_rule));
  }
  return json;
}

absl::StatusOr<SweepFolder> SweepFolder::Open(const std::string& path) {
  SweepFolder folder(path);
  HEDDLE_ASSIGN_OR_RETURN(Plan plan, ReadPlan(folder.PlanFile()));
  folder.plan_ = std::move(plan);
  return folder;
}

std::string SweepFolder::ResultFile(absl::string_view key) const {
  return absl::StrCat(path_, "/results/", key.substr(0, 2), "/", key, kEnding);
}

std::string SweepFolder::FailureFile(absl::string_view key) const {
  return absl::StrCat(path_, "/failed/", key, kEnding);
}

std::string SweepFolder::TracePath(const PlannedTrace& trace) const {
  return (fs::path(path_) / trace.path).lexically_normal().string();
}

std::vector<NamedLibrary> SweepFolder::Libraries() const {
  std::vector<NamedLibrary> libraries;
  for (const PlannedLibrary& library : plan_.libraries) {
    // One that is in the present folder keeps a slash.
    const fs::path path = (fs::path(path_) / library.path).lexically_normal();
    libraries.push_back({path.has_parent_path() ? path.string() : "./" + path.string(), library.digest});
  }
  return libraries;
}

std::string SweepFolder::MachineName(const Point& point) const {
  if (!point.machine.ends_with(".textproto")) return point.machine;
  return absl::StrCat(MachinesFolder(), "/", fs::path(point.machine).filename().string());
}

absl::StatusOr<std::vector<NumberedPoint>> SweepFolder::Points(const NumberRanges& numbers) const {
  HEDDLE_ASSIGN_OR_RETURN(const std::string text, ReadWholeFile(PointsFile()));
  if (HexSha256(text) != plan_.points_digest) {
    return absl::DataLossError(
        absl::StrCat(PointsFile(), ": is not the one that ", PlanFile(), " was written with; plan the sweep again"));
  }
  const uint64_t last = numbers.ranges().back().second;
  if (plan_.points == 0 || (last >= plan_.points && last != ~uint64_t{0})) {
    return absl::InvalidArgumentError(
        absl::StrCat("--points: there is no point ", last, ", the sweep has ", plan_.points, ", counted from 0"));
  }
  std::vector<NumberedPoint> points;
  uint64_t number = 0;
  for (size_t start = 0; start < text.size(); ++number) {
    size_t end = text.find('\n', start);
    if (end == std::string::npos) end = text.size();
    if (numbers.Holds(number)) {
      absl::StatusOr<Point> point = ParsePoint(std::string_view(text).substr(start, end - start));
      if (!point.ok()) {
        return absl::DataLossError(absl::StrCat(PointsFile(), ", line ", number + 1, ": ", point.status().message()));
      }
      points.push_back({number, *std::move(point)});
    }
    start = end + 1;
  }
  return points;
}

absl::Status SweepFolder::CheckNoLinksOut() const {
  std::vector<fs::path> folders = {fs::path(path_) / "results", fs::path(path_) / "failed"};
  std::error_code error;
  for (fs::directory_iterator it(folders[0], error), end; !error && it != end; it.increment(error)) {
    folders.push_back(it->path());
  }
  for (const fs::path& folder : folders) {
    if (!fs::is_symlink(folder, error) || IsInFolder(folder.string(), path_)) continue;
    return absl::FailedPreconditionError(
        absl::StrCat(folder.string(), ": is a link to ", fs::read_symlink(folder, error).string(),
                     ", out of the sweep's folder; ", "put a folder in its place, or let the sweep itself lie there"));
  }
  return absl::OkStatus();
}

absl::StatusOr<absl::flat_hash_set<std::string>> SweepFolder::Results() const {
  constexpr char kDigits[] = "0123456789abcdef";
  absl::flat_hash_set<std::string> keys;
  std::error_code error;
  if (!fs::exists(path_ + "/results", error) && !error) return keys;
  for (int i = 0; i < 256; ++i) {
    const std::string name = {kDigits[i >> 4], kDigits[i & 15]};
    HEDDLE_RETURN_IF_ERROR(AddKeys(fs::path(path_) / "results" / name, keys));
  }
  return keys;
}

absl::StatusOr<absl::flat_hash_set<std::string>> SweepFolder::Failures() const {
  absl::flat_hash_set<std::string> keys;
  HEDDLE_RETURN_IF_ERROR(AddKeys(fs::path(path_) / "failed", keys));
  return keys;
}

absl::StatusOr<std::string> SweepFolder::FailureReason(absl::string_view key) const {
  const std::string path = FailureFile(key);
  HEDDLE_ASSIGN_OR_RETURN(const std::string text, ReadWholeFile(path));
  const Json json = Json::parse(text, nullptr, /*allow_exceptions=*/false);
  if (!json.is_object() || !json.contains("reason") || !json["reason"].is_string()) {
    return absl::DataLossError(absl::StrCat(path, ": is no record of a failure"));
  }
  return json["reason"].get<std::string>();
}

bool IsSweepName(std::string_view name) {
  return !name.empty() && std::ranges::all_of(name, [](unsigned char c) {
    return absl::ascii_isalnum(c) || c == '_' || c == '-' || c == '.';
  });
}

std::string PathFrom(const std::string& folder, const std::string& path) {
  std::error_code error;
  const fs::path absolute = fs::absolute(path, error).lexically_normal();
  const std::string relative = absolute.lexically_relative(fs::absolute(folder, error).lexically_normal()).string();
  return relative.empty() ? absolute.string() : relative;
}

std::vector<PlannedLibrary> LoadedLibraries(const std::string& folder) {
  std::vector<PlannedLibrary> libraries;
  for (const replay::PolicyLibrary& library : replay::LoadedPolicyLibraries()) {
    libraries.push_back({PathFrom(folder, library.code->path()), library.code->digest()});
  }
  return libraries;
}

absl::StatusOr<std::string> ReadWholeFile(const std::string& path) {
  const auto failed = [&path](int error) {
    return absl::NotFoundError(absl::StrCat(path, ": cannot be read: ", strerror(error)));
  };
  const int file = open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (file < 0) return failed(errno);
  std::string text;
  const off_t size = lseek(file, 0, SEEK_END);
  if (size > 0) {
    text.reserve(static_cast<size_t>(size) + 1);
    lseek(file, 0, SEEK_SET);
  }
  char buffer[1 << 16];
  while (true) {
    const ssize_t got = read(file, buffer, sizeof(buffer));
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) {
      const int error = errno;
      close(file);
      return failed(error);
    }
    if (got == 0) break;
    text.append(buffer, static_cast<size_t>(got));
  }
  close(file);
  return text;
}

absl::Status WriteDurably(const std::string& path, const std::string& temporary, std::string_view text) {
  const auto failed = [&](const char* what, int error) {
    unlink(temporary.c_str());
    return absl::UnavailableError(absl::StrCat(path, ": ", what, ": ", strerror(error), "; nothing was written"));
  };
  const std::string folder = fs::path(path).parent_path().string();
  std::error_code made;
  fs::create_directories(folder, made);
  if (made) return absl::UnavailableError(absl::StrCat(folder, ": cannot create the folder: ", made.message()));
  const int file = open(temporary.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
  if (file < 0) return absl::UnavailableError(absl::StrCat(path, ": cannot create the file: ", strerror(errno)));
  for (size_t done = 0; done < text.size();) {
    const ssize_t written = write(file, text.data() + done, text.size() - done);
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) {
      const int error = errno;
      close(file);
      return failed("cannot write", error);
    }
    done += static_cast<size_t>(written);
  }
  if (fsync(file) != 0) {
    const int error = errno;
    close(file);
    return failed("cannot write", error);
  }
  if (close(file) != 0) return failed("cannot write", errno);
  if (rename(temporary.c_str(), path.c_str()) != 0) return failed("cannot rename the finished file", errno);
  // The name is there already; that it also outlives a power failure takes the folder's own flush.
  if (const int parent = open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC); parent >= 0) {
    fsync(parent);
    close(parent);
  }
  return absl::OkStatus();
}

}  // namespace heddle::tools::sweep
