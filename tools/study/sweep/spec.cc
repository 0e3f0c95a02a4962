#include "tools/study/sweep/spec.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <set>
#include <sstream>

#include "absl/strings/str_cat.h"
#include "tools/study/sweep/folder.h"
#include "traces/base/proto_text.h"
#include "traces/base/status_macros.h"
#include "traces/base/suggest.h"

namespace heddle::tools::sweep {
namespace {

namespace fs = std::filesystem;
namespace proto = heddle::sweep::v1;

absl::Status Refuse(const std::string& what) { return absl::InvalidArgumentError(what); }

// Texts go into lines of scripts and tables.
absl::Status CheckText(const std::string& what, const std::string& text) {
  if (std::ranges::any_of(text, [](unsigned char c) { return c < ' ' || c == 127; })) {
    return Refuse(absl::StrCat(what, ": holds a control character"));
  }
  return absl::OkStatus();
}

template <typename List>
absl::Status CheckList(const std::string& what, const List& list) {
  std::set<std::string> seen;
  for (const std::string& entry : list) {
    if (entry.empty()) return Refuse(absl::StrCat(what, ": an empty text"));
    HEDDLE_RETURN_IF_ERROR(CheckText(what, entry));
    if (!seen.insert(entry).second) return Refuse(absl::StrCat(what, ": \"", entry, "\" is given twice"));
  }
  return absl::OkStatus();
}

absl::Status AddRange(const proto::Range& range, std::vector<ParameterLevel>& levels, const std::string& name) {
  if ((range.step() != 0) == (range.factor() != 0)) return Refuse("a range takes one of step and factor");
  if (range.step() < 0) return Refuse(absl::StrCat("the range's step is ", range.step(), ": give one above 0"));
  if (range.factor() != 0 && (range.factor() < 2 || range.from() < 1)) {
    return Refuse("a range with a factor starts at 1 or above and has a factor of 2 or above");
  }
  if (range.from() > range.to()) {
    return Refuse(absl::StrCat("the range from ", range.from(), " to ", range.to(), " is empty"));
  }
  for (int64_t value = range.from();;) {
    levels.push_back({absl::StrCat(value), {absl::StrCat(name, "=", value)}});
    if (levels.size() > kMostPoints) return Refuse("the range has more values than a sweep may have points");
    int64_t next = 0;
    const bool overflow = range.step() != 0 ? __builtin_add_overflow(value, range.step(), &next)
                                            : __builtin_mul_overflow(value, range.factor(), &next);
    if (overflow || next > range.to()) return absl::OkStatus();
    value = next;
  }
}

absl::StatusOr<SweepParameter> ReadParameter(const proto::Parameter& from) {
  SweepParameter parameter;
  parameter.name = from.name();
  if (from.name().empty()) return Refuse("has no name");
  HEDDLE_RETURN_IF_ERROR(CheckText("name", from.name()));
  if ((from.value_size() != 0) + from.has_range() + (from.level_size() != 0) != 1) {
    return Refuse("takes exactly one of value, range and level");
  }
  if (from.value_size() != 0) {
    HEDDLE_RETURN_IF_ERROR(CheckList("value", from.value()));
    for (const std::string& value : from.value()) {
      parameter.levels.push_back({value, {absl::StrCat(from.name(), "=", value)}});
    }
  } else if (from.has_range()) {
    HEDDLE_RETURN_IF_ERROR(AddRange(from.range(), parameter.levels, from.name()));
  } else {
    std::set<std::string> names;
    for (const proto::Level& level : from.level()) {
      if (level.name().empty()) return Refuse("has a level without a name");
      if (!names.insert(level.name()).second) return Refuse(absl::StrCat("has two levels \"", level.name(), "\""));
      HEDDLE_RETURN_IF_ERROR(CheckText("level", level.name()));
      HEDDLE_RETURN_IF_ERROR(CheckList(absl::StrCat("level ", level.name()), level.set()));
      for (const std::string& assignment : level.set()) {
        if (assignment.find('=') == std::string::npos) {
          return Refuse(absl::StrCat("level ", level.name(), ": \"", assignment, "\" is not PATH=VALUE"));
        }
      }
      parameter.levels.push_back({level.name(), {level.set().begin(), level.set().end()}});
    }
  }
  return parameter;
}

// Two parameters that set one field contradict each other.
absl::Status CheckFields(const std::vector<SweepParameter>& parameters) {
  std::set<std::string> names;
  std::vector<std::pair<std::string, std::string>> owner;  // field, parameter
  for (const SweepParameter& parameter : parameters) {
    if (!names.insert(parameter.name).second) {
      return Refuse(absl::StrCat("parameter ", parameter.name, " is given twice"));
    }
    std::set<std::string> fields;
    for (const ParameterLevel& level : parameter.levels) {
      for (const std::string& assignment : level.set) fields.insert(assignment.substr(0, assignment.find('=')));
    }
    for (const std::string& field : fields) {
      for (const auto& [other, of] : owner) {
        if (other == field) {
          return Refuse(absl::StrCat("parameters ", of, " and ", parameter.name, " both set ", field));
        }
      }
      owner.emplace_back(field, parameter.name);
    }
  }
  return absl::OkStatus();
}

absl::StatusOr<DesignRows> Rows(proto::Design design, const std::vector<SweepParameter>& parameters) {
  std::vector<size_t> levels;
  double product = 1;
  for (const SweepParameter& parameter : parameters) {
    levels.push_back(parameter.levels.size());
    product *= static_cast<double>(levels.back());
  }
  switch (design) {
    case proto::FULL_FACTORIAL:
      if (product > static_cast<double>(kMostPoints)) {
        return Refuse(absl::StrCat("the parameters have more than ", kMostPoints, " settings"));
      }
      return FullFactorial(levels);
    case proto::PAIRED: {
      auto rows = Paired(levels);
      if (rows.ok()) return rows;
      std::string lengths;
      for (const SweepParameter& parameter : parameters) {
        absl::StrAppend(&lengths, lengths.empty() ? "" : ", ", parameter.name, " has ", parameter.levels.size());
      }
      return Refuse(absl::StrCat("design PAIRED takes the values of all parameters side by side: their lists have one ",
                                 "length, but ", lengths));
    }
    default:
      break;
  }
  if (parameters.empty()) return Refuse(absl::StrCat("design ", proto::Design_Name(design), ": there is no parameter"));
  for (const SweepParameter& parameter : parameters) {
    if (parameter.levels.size() != 2) {
      return Refuse(absl::StrCat("design ", proto::Design_Name(design), ": parameter ", parameter.name, " has ",
                                 parameter.levels.size(), " values, not two (low, high)"));
    }
  }
  DesignRows rows = PlackettBurman(parameters.size());
  return design == proto::PLACKETT_BURMAN ? rows : WithFoldover(std::move(rows));
}

absl::Status CheckLists(proto::Sweep& sweep) {
  if (sweep.name().empty()) return Refuse("the sweep has no name");
  if (!IsSweepName(sweep.name())) {
    return Refuse(
        absl::StrCat("name: \"", sweep.name(), "\" has other characters than letters, digits, '_', '-', '.'"));
  }
  if (sweep.trace().empty()) return Refuse("the sweep has no trace");
  if (sweep.machine().empty()) sweep.add_machine("fermi_fixed");
  if (sweep.divergence().empty()) sweep.add_divergence("pdom");
  if (sweep.scheduler().empty()) sweep.add_scheduler("lrr");
  if (sweep.dispatch().empty()) sweep.add_dispatch("thread_blocks");
  if (sweep.fetch().empty()) sweep.add_fetch("round_robin");
  if (sweep.memory().empty()) sweep.add_memory("lru");
  if (sweep.seed().empty()) sweep.add_seed(0);
  for (const auto& [what, list] : {std::pair{"trace", &sweep.trace()},
                                   {"kernels", &sweep.kernels()},
                                   {"machine", &sweep.machine()},
                                   {"divergence", &sweep.divergence()},
                                   {"scheduler", &sweep.scheduler()},
                                   {"dispatch", &sweep.dispatch()},
                                   {"fetch", &sweep.fetch()},
                                   {"memory", &sweep.memory()}}) {
    HEDDLE_RETURN_IF_ERROR(CheckList(what, *list));
  }
  std::set<uint64_t> seeds(sweep.seed().begin(), sweep.seed().end());
  if (seeds.size() != static_cast<size_t>(sweep.seed_size())) return Refuse("seed: one is given twice");
  if (sweep.kernels().empty()) sweep.add_kernels("");
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<Spec> ReadSpec(const std::string& path) {
  const auto refuse = [&path](const std::string& what) {
    return absl::InvalidArgumentError(absl::StrCat(path, ": ", what));
  };
  std::error_code error;
  if (fs::is_directory(path, error)) return absl::NotFoundError(absl::StrCat(path, ": is a folder, not a file"));
  errno = 0;
  std::ifstream file(path, std::ios::binary);
  std::ostringstream text;
  if (file) text << file.rdbuf();
  if (!file) return absl::NotFoundError(absl::StrCat(path, ": cannot be read: ", std::strerror(errno)));

  Spec spec;
  if (absl::Status status = ParseProtoText(std::move(text).str(), spec.sweep); !status.ok()) {
    return refuse(std::string(status.message()));
  }
  if (absl::Status status = CheckLists(spec.sweep); !status.ok()) return refuse(std::string(status.message()));
  for (int i = 0; i < spec.sweep.parameter_size(); ++i) {
    auto parameter = ReadParameter(spec.sweep.parameter(i));
    if (!parameter.ok()) {
      const std::string& name = spec.sweep.parameter(i).name();
      return refuse(
          absl::StrCat("parameter ", name.empty() ? absl::StrCat(i + 1) : name, ": ", parameter.status().message()));
    }
    spec.parameters.push_back(*std::move(parameter));
  }
  if (absl::Status status = CheckFields(spec.parameters); !status.ok()) return refuse(std::string(status.message()));
  auto rows = Rows(spec.sweep.design(), spec.parameters);
  if (!rows.ok()) return refuse(std::string(rows.status().message()));
  spec.rows = *std::move(rows);
  spec.folder = fs::path(path).parent_path().string();
  return spec;
}

}  // namespace heddle::tools::sweep
