#include "tracegen/frontend/runtime_compilation_options.h"

#include <algorithm>
#include <filesystem>
#include <functional>
#include <iterator>
#include <map>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/ascii.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "absl/strings/strip.h"
#include "tracegen/runtime/protocol/targets.h"
#include "traces/base/status_macros.h"

namespace heddle::tracegen {
namespace {

using device::kComputeCapabilities;

// Compute capabilities that there are and clang 19 does not know.
constexpr int kLaterCapabilities[] = {100, 101, 103, 110, 120, 121};

// Options without effect on the code that is made here. With a value, or true or false.
constexpr const char* kIgnoredFlags[] = {
    "--extensible-whole-program",
    "-ewp",
    "--generate-line-info",  // lines are always kept
    "-lineinfo",
    "--extra-device-vectorization",
    "--restrict",
    "-restrict",
    "--device-int128",  // clang has it
    "-device-int128",
    "--device-float128",
    "-device-float128",
    "--display-error-number",
    "-err-no",
    "--no-display-error-number",
    "-no-err-no",
    "--brief-diagnostics",
    "-brief-diag",
    "--minimal",
    "-minimal",
    "--no-cache",
    "-no-cache",
    "--pch",
    "-pch",
    "--pch-verbose",
    "--pch-messages",
    "--instantiate-templates-in-pch",
    "--version-ident",
    "-dQ",
    "--device-w",
    "-dw",
    "--device-stack-protector",
    "-device-stack-protector",
    "--modify-stack-limit",
    "-modify-stack-limit",
    "--gen-opt-lto",
    "-gen-opt-lto",
    "--Wreorder",
    "--Wno-deprecated-gpu-targets",
};
constexpr const char* kIgnoredValues[] = {
    "--dopt",
    "-dopt",
    "--ptxas-options",
    "-Xptxas",
    // Division and square root are always exact in a trace's instructions; see docs/reference/device-code.md.
    "--prec-div",
    "-prec-div",
    "--prec-sqrt",
    "-prec-sqrt",
    "--optimization-info",
    "-opt-info",
    "--diag-error",
    "-diag-error",
    "--diag-suppress",
    "-diag-suppress",
    "--diag-warn",
    "-diag-warn",
    "--time",
    "-time",
    "--split-compile",
    "-split-compile",
    "--jump-table-density",
    "-jtd",
    "--fdevice-time-trace",
    "-fdevice-time-trace",
    "--Ofast-compile",
    "-Ofc",
    "--frandom-seed",
    "-frandom-seed",
    "--pch-dir",
    "-pch-dir",
    "--create-pch",
    "-create-pch",
    "--use-pch",
    "-use-pch",
};

struct Refused {
  const char* name;
  const char* why;
};
constexpr Refused kRefused[] = {
    {"--dlink-time-opt", "LTO code is not made; nvrtcGetCUBIN gives code that cuLinkAddData links"},
    {"-dlto", "LTO code is not made; nvrtcGetCUBIN gives code that cuLinkAddData links"},
    {"--optix-ir", "OptiX code is not made"},
    {"-optix-ir", "OptiX code is not made"},
    {"--fdevice-syntax-only", "a compilation always makes code"},
    {"-fdevice-syntax-only", "a compilation always makes code"},
};

absl::StatusOr<bool> TrueOrFalse(const std::string& name, absl::string_view value) {
  if (value == "true" || value == "1") return true;
  if (value == "false" || value == "0") return false;
  return absl::InvalidArgumentError(absl::StrCat(name, ": its value is true or false, not '", value, "'"));
}

class OptionReader {
 public:
  OptionReader(const std::string& working_directory, std::string* log)
      : working_directory_(working_directory), log_(log) {
    AddCodeOptions();
    AddSourceOptions();
  }

  absl::StatusOr<RuntimeCompilationOptions> Read(const std::vector<std::string>& words);

 private:
  using Action = std::function<absl::Status(const std::string& value)>;

  void Value(std::initializer_list<const char*> names, const Action& action) {
    for (const char* name : names) values_[name] = action;
  }
  // An option that stands alone or has true or false behind it.
  void Flag(std::initializer_list<const char*> names, bool* target) {
    for (const char* name : names) {
      flags_[name] = [name, target](const std::string& value) {
        if (value.empty()) {
          *target = true;
          return absl::OkStatus();
        }
        HEDDLE_ASSIGN_OR_RETURN(*target, TrueOrFalse(name, value));
        return absl::OkStatus();
      };
    }
  }
  // Such an option that always has its value.
  void Switch(std::initializer_list<const char*> names, bool* target) {
    for (const char* name : names) {
      values_[name] = [name, target](const std::string& value) {
        HEDDLE_ASSIGN_OR_RETURN(*target, TrueOrFalse(name, value));
        return absl::OkStatus();
      };
    }
  }
  void AddCodeOptions();
  void AddSourceOptions();
  absl::Status SetTarget(const std::string& value);
  absl::Status SetStandard(const std::string& value);
  absl::StatusOr<size_t> ReadOne(const std::vector<std::string>& words, size_t at);
  absl::StatusOr<bool> ReadJoined(const std::string& word);
  std::string Folder(const std::string& path) const {
    return working_directory_.empty() ? path : (std::filesystem::path(working_directory_) / path).string();
  }
  void Finish();

  const std::string& working_directory_;
  std::string* log_;
  RuntimeCompilationOptions options_;
  std::map<std::string, Action, std::less<>> values_;
  std::map<std::string, Action, std::less<>> flags_;
  bool fast_math_ = false;
  bool flush_ = false;
  bool contract_ = true;
  bool debug_ = false;
  bool no_warnings_ = false;
  bool move_forward_ = true;
  bool initializer_list_ = true;
  bool no_source_include_ = false;
};

void OptionReader::AddCodeOptions() {
  Value({"--gpu-architecture", "-arch"}, [this](const std::string& value) { return SetTarget(value); });
  Value({"--maxrregcount", "-maxrregcount"}, [this](const std::string& value) {
    return absl::SimpleAtoi(value, &options_.max_registers)
               ? absl::OkStatus()
               : absl::InvalidArgumentError(absl::StrCat("--maxrregcount: '", value, "' is no number of registers"));
  });
  Switch({"--relocatable-device-code", "-rdc"}, &options_.relocatable);
  Flag({"--device-c", "-dc"}, &options_.relocatable);
  Flag({"--device-debug", "-G"}, &debug_);
  Flag({"--use_fast_math", "-use_fast_math"}, &fast_math_);
  Switch({"--ftz", "-ftz"}, &flush_);
  Switch({"--fmad", "-fmad"}, &contract_);
}

void OptionReader::AddSourceOptions() {
  Value({"--define-macro", "-D"}, [this](const std::string& value) {
    options_.arguments.push_back(absl::StrCat("-D", value));
    return absl::OkStatus();
  });
  Value({"--undefine-macro", "-U"}, [this](const std::string& value) {
    options_.arguments.push_back(absl::StrCat("-U", value));
    return absl::OkStatus();
  });
  Value({"--include-path", "-I"}, [this](const std::string& value) {
    options_.arguments.push_back(absl::StrCat("-I", Folder(value)));
    return absl::OkStatus();
  });
  Value({"--pre-include", "-include", "-pre-include"}, [this](const std::string& value) {
    options_.arguments.insert(options_.arguments.end(), {"-include", value});
    return absl::OkStatus();
  });
  Value({"--std", "-std"}, [this](const std::string& value) { return SetStandard(value); });
  Flag({"--no-source-include", "-no-source-include"}, &no_source_include_);
  Flag({"--device-as-default-execution-space", "-default-device"}, &options_.default_device);
  Flag({"--disable-warnings", "-w"}, &no_warnings_);
  Switch({"--builtin-move-forward", "-builtin-move-forward"}, &move_forward_);
  Switch({"--builtin-initializer-list", "-builtin-initializer-list"}, &initializer_list_);
  for (const char* name : kIgnoredValues) values_[name] = [](const std::string&) { return absl::OkStatus(); };
  for (const char* name : kIgnoredFlags) flags_[name] = [](const std::string&) { return absl::OkStatus(); };
  for (const Refused& refused : kRefused) {
    flags_[refused.name] = [refused](const std::string&) {
      return absl::InvalidArgumentError(absl::StrCat(refused.name, ": ", refused.why));
    };
  }
}

absl::Status OptionReader::SetTarget(const std::string& value) {
  absl::string_view number = value;
  options_.makes_image = absl::ConsumePrefix(&number, "sm_");
  const bool named = options_.makes_image || absl::ConsumePrefix(&number, "compute_");
  // Features of one architecture alone.
  if (!number.empty() && (number.back() == 'a' || number.back() == 'f')) number.remove_suffix(1);
  int wanted = 0;
  const bool is_number = named && absl::SimpleAtoi(number, &wanted);
  const bool later =
      std::find(std::begin(kLaterCapabilities), std::end(kLaterCapabilities), wanted) != std::end(kLaterCapabilities);
  const bool known = std::find(std::begin(kComputeCapabilities), std::end(kComputeCapabilities), wanted) !=
                     std::end(kComputeCapabilities);
  if (!is_number || (!known && !later)) {
    return absl::InvalidArgumentError(absl::StrCat("--gpu-architecture: '", value,
                                                   "' is no compute capability that is known, such as compute_70 or "
                                                   "sm_70"));
  }
  const int chosen =
      known ? wanted : *std::max_element(std::begin(kComputeCapabilities), std::end(kComputeCapabilities));
  options_.target = absl::StrCat("sm_", chosen);
  if (!known) {
    absl::StrAppend(log_, "warning: --gpu-architecture=", value, ": compiled for ", options_.target, " instead\n");
  }
  return absl::OkStatus();
}

absl::Status OptionReader::SetStandard(const std::string& value) {
  static constexpr const char* kStandards[] = {"c++03", "c++11", "c++14", "c++17", "c++20"};
  if (std::find(std::begin(kStandards), std::end(kStandards), value) == std::end(kStandards)) {
    return absl::InvalidArgumentError(
        absl::StrCat("--std: '", value, "' is none of c++03, c++11, c++14, c++17 and c++20"));
  }
  options_.standard = value == "c++03" ? "c++11" : value;  // CUDA's own headers need it
  return absl::OkStatus();
}

// Values that stick to a short name: -DNAME=VALUE, -Ifolder. False if `word` is none of them.
absl::StatusOr<bool> OptionReader::ReadJoined(const std::string& word) {
  for (const char* name : {"-D", "-U", "-I"}) {
    if (!word.starts_with(name) || word.size() == 2) continue;
    HEDDLE_RETURN_IF_ERROR(values_[name](std::string(absl::StripAsciiWhitespace(absl::string_view(word).substr(2)))));
    return true;
  }
  return false;
}

// Reads the option at `at`; returns where the next one stands.
absl::StatusOr<size_t> OptionReader::ReadOne(const std::vector<std::string>& words, size_t at) {
  const std::string word(absl::StripAsciiWhitespace(words[at]));
  const size_t end = word.find_first_of("= \t");
  const std::string name = word.substr(0, end);
  std::string value;
  if (end != std::string::npos)
    value = std::string(absl::StripAsciiWhitespace(absl::string_view(word).substr(end + 1)));
  if (const auto found = flags_.find(name); found != flags_.end()) {
    HEDDLE_RETURN_IF_ERROR(found->second(value));
    return at + 1;
  }
  if (const auto found = values_.find(name); found != values_.end()) {
    size_t next = at + 1;
    if (end == std::string::npos) {
      if (next == words.size()) return absl::InvalidArgumentError(absl::StrCat(name, ": its value is missing"));
      value = std::string(absl::StripAsciiWhitespace(words[next++]));
    }
    HEDDLE_RETURN_IF_ERROR(found->second(value));
    return next;
  }
  HEDDLE_ASSIGN_OR_RETURN(const bool joined, ReadJoined(word));
  if (!joined) return absl::InvalidArgumentError(absl::StrCat("unrecognized option ", word));
  return at + 1;
}

void OptionReader::Finish() {
  std::vector<std::string>& arguments = options_.arguments;
  if (debug_) options_.optimization = "-O0";
  if (fast_math_) arguments.emplace_back("-fgpu-approx-transcendentals");
  if (flush_ || fast_math_) arguments.emplace_back("-fgpu-flush-denormals-to-zero");
  if (!contract_ && !fast_math_) arguments.emplace_back("-ffp-contract=off");
  if (no_warnings_) arguments.emplace_back("-w");
  if (!move_forward_) arguments.emplace_back("-DHEDDLE_NO_BUILTIN_MOVE_FORWARD");
  if (!initializer_list_) arguments.emplace_back("-DHEDDLE_NO_BUILTIN_INITIALIZER_LIST");
  if (debug_) arguments.emplace_back("-D__CUDACC_DEBUG__");
  if (options_.relocatable) arguments.insert(arguments.end(), {"-fgpu-rdc", "-D__CUDACC_RDC__"});
  options_.source_folder_included = !no_source_include_;
}

absl::StatusOr<RuntimeCompilationOptions> OptionReader::Read(const std::vector<std::string>& words) {
  for (size_t at = 0; at < words.size();) {
    if (absl::StripAsciiWhitespace(words[at]).empty()) {
      ++at;
      continue;
    }
    HEDDLE_ASSIGN_OR_RETURN(at, ReadOne(words, at));
  }
  Finish();
  return std::move(options_);
}

}  // namespace

absl::StatusOr<RuntimeCompilationOptions> ReadRuntimeCompilationOptions(const std::vector<std::string>& options,
                                                                        const std::string& working_directory,
                                                                        std::string* log) {
  return OptionReader(working_directory, log).Read(options);
}

}  // namespace heddle::tracegen
