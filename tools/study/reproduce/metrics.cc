#include "tools/study/reproduce/metrics.h"

#include <google/protobuf/descriptor.h>
#include <google/protobuf/message.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <optional>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "replay/seams/block_dispatcher.h"
#include "replay/seams/divergence_policy.h"
#include "replay/seams/fetch_policy.h"
#include "replay/seams/memory_policy.h"
#include "replay/seams/warp_scheduler.h"
#include "traces/base/suggest.h"

namespace heddle::tools::reproduce {
namespace {

using google::protobuf::Descriptor;
using google::protobuf::FieldDescriptor;
using google::protobuf::Message;
using google::protobuf::Reflection;
using result::v1::LaunchResult;
using result::v1::Result;

constexpr char kLaunchCount[] = "launch_count";
constexpr char kTransactions[] = "memory_instructions.transactions";
constexpr char kSizes[] = "issues_by_size.";
constexpr char kDivergence[] = "warp_progress.divergence.";
constexpr std::array<const char*, 6> kLimits = {"thread_instructions", "lane_activity_issues", "nrec_issues",
                                                "pdom_issues",         "optimal_issues",       "studied_instructions"};
constexpr std::array<const char*, 2> kResidency = {"blocks", "blocks_per_sm"};

// How the numbers of launches become one.
enum class Combine { kSum, kLargest, kMean };

struct Number {
  double value = 0;
  Combine combine = Combine::kSum;
};

absl::Status None(const std::string& path) { return absl::NotFoundError(absl::StrCat("no result has ", path)); }

template <typename Registry>
bool IsMaximum(const std::string& policy, const std::string& counter) {
  const auto entry = Registry::Get().entries().find(policy);
  if (entry == Registry::Get().entries().end()) return false;
  return std::ranges::any_of(entry->second.info.counters, [&](const replay::CounterSpec& spec) {
    return spec.name == counter && spec.combine == replay::CounterSpec::Combine::kMaximum;
  });
}

// `counter`: NAME_counter.KEY.
bool IsMaximum(const Result& result, const std::string& counter) {
  const size_t dot = counter.find('.');
  const std::string seam = counter.substr(0, dot);
  const std::string key = counter.substr(dot + 1);
  if (seam == "divergence_counter") return IsMaximum<replay::DivergenceRegistry>(result.divergence().name(), key);
  if (seam == "scheduler_counter") return IsMaximum<replay::SchedulerRegistry>(result.scheduler().name(), key);
  if (seam == "dispatch_counter") return IsMaximum<replay::DispatchRegistry>(result.dispatch().name(), key);
  if (seam == "memory_counter") return IsMaximum<replay::MemoryRegistry>(result.memory().name(), key);
  return IsMaximum<replay::FetchRegistry>(result.fetch().name(), key);
}

std::optional<Number> FromMap(const Message& message, const FieldDescriptor& field, const std::string& key) {
  const Reflection& reflection = *message.GetReflection();
  for (int i = 0; i < reflection.FieldSize(message, &field); ++i) {
    const Message& entry = reflection.GetRepeatedMessage(message, &field, i);
    const Descriptor& type = *entry.GetDescriptor();
    if (entry.GetReflection()->GetString(entry, type.FindFieldByNumber(1)) != key) continue;
    return Number{static_cast<double>(entry.GetReflection()->GetUInt64(entry, type.FindFieldByNumber(2)))};
  }
  return std::nullopt;
}

// A field of `message` by the rest of its path.
std::optional<Number> Field(const Message& message, const std::vector<std::string>& path, size_t at) {
  const FieldDescriptor* field = message.GetDescriptor()->FindFieldByName(path[at]);
  if (field == nullptr) return std::nullopt;
  const Reflection& reflection = *message.GetReflection();
  if (field->is_map()) {
    return at + 2 == path.size() ? FromMap(message, *field, path[at + 1]) : std::nullopt;
  }
  if (field->is_repeated() || (field->has_presence() && !reflection.HasField(message, field))) return std::nullopt;
  const bool last = at + 1 == path.size();
  switch (field->cpp_type()) {
    case FieldDescriptor::CPPTYPE_MESSAGE:
      return last ? std::nullopt : Field(reflection.GetMessage(message, field), path, at + 1);
    case FieldDescriptor::CPPTYPE_UINT64:
      return last ? std::optional(Number{static_cast<double>(reflection.GetUInt64(message, field))}) : std::nullopt;
    case FieldDescriptor::CPPTYPE_UINT32:
      return last ? std::optional(Number{static_cast<double>(reflection.GetUInt32(message, field))}) : std::nullopt;
    case FieldDescriptor::CPPTYPE_DOUBLE:
      return last ? std::optional(Number{reflection.GetDouble(message, field), Combine::kMean}) : std::nullopt;
    default:
      return std::nullopt;
  }
}

std::optional<uint64_t> Integer(std::string_view text) {
  uint64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return number;
}

// "3" or "1_to_8".
struct Sizes {
  uint64_t from = 0, to = 0;
};
std::optional<Sizes> ParseSizes(const std::string& text) {
  const std::vector<std::string> ends = absl::StrSplit(text, "_to_");
  if (ends.empty() || ends.size() > 2) return std::nullopt;
  const std::optional<uint64_t> from = Integer(ends.front());
  const std::optional<uint64_t> to = Integer(ends.back());
  if (!from.has_value() || !to.has_value() || *from == 0 || *from > *to) return std::nullopt;
  return Sizes{*from, *to};
}

std::optional<Number> OfDivergence(const LaunchResult& launch, const std::string& rest) {
  const std::vector<std::string> parts = absl::StrSplit(rest, '.');
  for (const auto& entry : launch.warp_progress().divergence()) {
    if (absl::StrCat(entry.above_per_cent()) != parts[0]) continue;
    if (parts[1] == "cycle_blocks") return Number{static_cast<double>(entry.cycle_blocks())};
    if (entry.has_instruction_blocks()) return Number{static_cast<double>(entry.instruction_blocks())};
  }
  return std::nullopt;
}

std::optional<Number> OfLaunch(const LaunchResult& launch, const std::string& path) {
  if (absl::StartsWith(path, kSizes)) {
    const std::optional<Sizes> sizes = ParseSizes(path.substr(sizeof(kSizes) - 1));
    double sum = 0;
    for (int i = 0; i < launch.issues_by_size_size(); ++i) {
      const uint64_t size = static_cast<uint64_t>(i) + 1;
      if (size >= sizes->from && size <= sizes->to) sum += static_cast<double>(launch.issues_by_size(i));
    }
    return Number{sum};
  }
  if (absl::StartsWith(path, kDivergence)) return OfDivergence(launch, path.substr(sizeof(kDivergence) - 1));
  if (path == kTransactions) {
    double sum = 0;
    for (const auto& entry : launch.memory_instructions().transactions()) sum += static_cast<double>(entry.count());
    return Number{sum};
  }
  const std::vector<std::string> parts = absl::StrSplit(path, '.');
  std::optional<Number> number = Field(launch, parts, 0);
  if (number.has_value() && (absl::StartsWith(path, "blocks_per_sm") || path == "registers_per_thread")) {
    number->combine = Combine::kLargest;
  }
  return number;
}

bool IsCounterOfPolicy(const std::string& path) { return absl::StrContains(path, "_counter."); }

// Whether LaunchResult, or a message in it, has a number there.
bool HasField(const Descriptor& message, const std::vector<std::string>& path, size_t at) {
  const FieldDescriptor* field = message.FindFieldByName(path[at]);
  if (field == nullptr) return false;
  const bool last = at + 1 == path.size();
  if (field->is_map()) return at + 2 == path.size();
  if (field->is_repeated()) return false;
  if (field->cpp_type() == FieldDescriptor::CPPTYPE_MESSAGE) {
    return !last && HasField(*field->message_type(), path, at + 1);
  }
  return last && field->cpp_type() != FieldDescriptor::CPPTYPE_STRING;
}

template <typename Names>
absl::Status OneOf(const std::string& path, const Names& names) {
  if (std::ranges::find(names, path) != names.end()) return absl::OkStatus();
  return absl::InvalidArgumentError(
      UnknownNameMessage("metric", path, std::vector<std::string>(names.begin(), names.end())));
}

}  // namespace

absl::StatusOr<double> MetricOf(const Result& result, const std::string& path) {
  if (path == kLaunchCount) return result.launch_size();
  const std::vector<std::string> parts = absl::StrSplit(path, '.');
  if (const std::optional<Number> total = Field(result.total(), parts, 0)) return total->value;
  double sum = 0;
  double largest = 0;
  double weights = 0;
  std::optional<Combine> combine;
  for (const LaunchResult& launch : result.launch()) {
    const std::optional<Number> number = OfLaunch(launch, path);
    if (!number.has_value()) continue;
    combine = number->combine;
    const double weight = number->combine == Combine::kMean ? static_cast<double>(launch.cycles()) : 1;
    sum += number->value * weight;
    weights += weight;
    largest = std::max(largest, number->value);
  }
  if (!combine.has_value()) return None(path);
  if (combine == Combine::kLargest || (IsCounterOfPolicy(path) && IsMaximum(result, path))) return largest;
  if (combine == Combine::kMean && weights == 0) return None(path);
  return combine == Combine::kMean ? sum / weights : sum;
}

absl::Status CheckMetric(const std::string& path, const claims::v1::Run& run) {
  if (run.has_limits()) return OneOf(path, kLimits);
  if (run.has_cost()) return OneOf(path, std::array<const char*, 1>{"bits"});
  if (run.has_residency()) return OneOf(path, kResidency);
  if (path == kLaunchCount || path == kTransactions) return absl::OkStatus();
  const auto unknown = [&path](const char* form) {
    return absl::InvalidArgumentError(absl::StrCat("metric ", path, ": expected ", form));
  };
  if (absl::StartsWith(path, kSizes)) {
    return ParseSizes(path.substr(sizeof(kSizes) - 1)).has_value() ? absl::OkStatus()
                                                                   : unknown("issues_by_size.N or .N_to_M, from 1");
  }
  if (absl::StartsWith(path, kDivergence)) {
    const std::vector<std::string> parts = absl::StrSplit(path.substr(sizeof(kDivergence) - 1), '.');
    const bool good = parts.size() == 2 && Integer(parts[0]).has_value() &&
                      (parts[1] == "cycle_blocks" || parts[1] == "instruction_blocks");
    return good ? absl::OkStatus() : unknown("warp_progress.divergence.P.cycle_blocks or .instruction_blocks");
  }
  const std::vector<std::string> parts = absl::StrSplit(path, '.');
  if (HasField(*result::v1::Totals::descriptor(), parts, 0) || HasField(*LaunchResult::descriptor(), parts, 0)) {
    return absl::OkStatus();
  }
  return unknown("a number of LaunchResult in proto/result.proto");
}

}  // namespace heddle::tools::reproduce
