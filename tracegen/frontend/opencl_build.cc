#include "tracegen/frontend/opencl_build.h"

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "tracegen/frontend/device_arguments.h"
#include "tracegen/frontend/device_headers.h"
#include "tracegen/frontend/opencl_parts.h"
#include "tracegen/frontend/run_clang.h"
#include "traces/base/status_macros.h"

namespace heddle::tracegen {
namespace {

namespace fs = std::filesystem;

constexpr char kTarget[] = "sm_70";

// Words of an option string; quotes keep blanks together.
std::vector<std::string> SplitOptions(std::string_view text) {
  std::vector<std::string> words;
  std::string word;
  bool in_word = false;
  char quote = 0;
  for (size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (quote != 0) {
      if (c == quote) {
        quote = 0;
      } else {
        word += c;
      }
    } else if (c == '"' || c == '\'') {
      quote = c;
      in_word = true;
    } else if (c == '\\' && i + 1 < text.size()) {
      word += text[++i];
      in_word = true;
    } else if (c == ' ' || c == '\t' || c == '\n' || c == '\r') {
      if (in_word) words.push_back(std::exchange(word, ""));
      in_word = false;
    } else {
      word += c;
      in_word = true;
    }
  }
  if (in_word) words.push_back(word);
  return words;
}

bool StartsWith(std::string_view text, std::string_view start) { return text.substr(0, start.size()) == start; }

// What the option string asks for.
struct BuildOptions {
  std::vector<std::string> arguments;
  std::string standard = "-cl-std=CL1.2";
  std::string optimization = "-O2";
  uint32_t max_registers = 0;
};

// The built-in functions need OpenCL C 1.2, which contains 1.0 and 1.1: a program of these sees only its version.
absl::Status ReadStandard(const std::string& word, BuildOptions& options) {
  const std::string_view version = std::string_view(word).substr(std::string_view("-cl-std=").size());
  if (version == "CL1.0" || version == "CL1.1") {
    const char* const define = version == "CL1.0" ? "-D__OPENCL_C_VERSION__=100" : "-D__OPENCL_C_VERSION__=110";
    options.arguments.insert(options.arguments.end(), {"-U__OPENCL_C_VERSION__", define});
  } else if (version != "CL1.2" && version != "CL2.0") {
    return absl::InvalidArgumentError(
        absl::StrCat("option ", word, ": known are CL1.0, CL1.1, CL1.2 (the device's version) and CL2.0"));
  } else {
    options.standard = word;
  }
  return absl::OkStatus();
}

absl::StatusOr<BuildOptions> ReadOptions(const device::BuildOpenClRequest& request, std::string* log) {
  // OpenCL 1.2, section 5.6.4; clang knows them by the same names.
  static constexpr const char* kPassed[] = {"-w",
                                            "-Werror",
                                            "-g",
                                            "-cl-single-precision-constant",
                                            "-cl-denorms-are-zero",
                                            "-cl-fp32-correctly-rounded-divide-sqrt",
                                            "-cl-mad-enable",
                                            "-cl-no-signed-zeros",
                                            "-cl-unsafe-math-optimizations",
                                            "-cl-finite-math-only",
                                            "-cl-fast-relaxed-math",
                                            "-cl-strict-aliasing",
                                            "-cl-uniform-work-group-size"};
  BuildOptions options;
  const std::vector<std::string> words = SplitOptions(request.options);
  for (size_t i = 0; i < words.size(); ++i) {
    const std::string& word = words[i];
    const auto ignore = [&] { absl::StrAppend(log, "warning: option ", word, " is ignored\n"); };
    if (StartsWith(word, "-D") || StartsWith(word, "-U") || StartsWith(word, "-I")) {
      std::string value = word.substr(2);
      if (value.empty()) {
        if (i + 1 == words.size()) return absl::InvalidArgumentError(absl::StrCat("option ", word, " lacks a value"));
        value = words[++i];
      }
      if (word[1] == 'I' && !request.working_directory.empty()) {
        value = (fs::path(request.working_directory) / value).string();
      }
      options.arguments.push_back(word.substr(0, 2) + value);
    } else if (std::find(std::begin(kPassed), std::end(kPassed), word) != std::end(kPassed)) {
      if (word != "-g") options.arguments.push_back(word);  // line tables are there anyway
    } else if (StartsWith(word, "-cl-std=")) {
      HEDDLE_RETURN_IF_ERROR(ReadStandard(word, options));
    } else if (word == "-cl-opt-disable") {
      options.optimization = "-O0";
    } else if (word == "-O0" || word == "-O1" || word == "-O2" || word == "-O3") {
      options.optimization = word;
    } else if (word == "-O" || word == "-O4" || word == "-O5") {
      options.optimization = word == "-O" ? "-O2" : "-O3";
    } else if (StartsWith(word, "-cl-nv-maxrregcount")) {
      std::string value = word.substr(std::string_view("-cl-nv-maxrregcount").size());
      if (value.empty() && i + 1 < words.size()) value = words[++i];
      if (StartsWith(value, "=")) value = value.substr(1);
      options.max_registers = static_cast<uint32_t>(std::strtoul(value.c_str(), nullptr, 10));
    } else if (word == "-cl-nv-opt-level" || word == "-x") {
      if (i + 1 < words.size()) ++i;
      ignore();
    } else if (word == "-cl-kernel-arg-info") {
      continue;  // always on
    } else if (StartsWith(word, "-cl-nv-") || StartsWith(word, "-cl-amd-") || StartsWith(word, "-cl-intel-") ||
               StartsWith(word, "-fno-bin-") || StartsWith(word, "-fbin-") || StartsWith(word, "-W")) {
      ignore();
    } else {
      return absl::InvalidArgumentError(absl::StrCat("unknown option ", word));
    }
  }
  return options;
}

absl::Status WriteFile(const std::string& path, std::string_view text) {
  std::error_code error;
  fs::create_directories(fs::path(path).parent_path(), error);
  std::ofstream out(path, std::ios::binary);
  out.write(text.data(), static_cast<std::streamsize>(text.size()));
  out.close();
  if (!out) return absl::ResourceExhaustedError("no room for the compiler's files; check TMPDIR");
  return absl::OkStatus();
}

// The first line that reports an error, for callers without the log.
std::string FirstError(std::string_view messages) {
  size_t at = messages.find(": error: ");
  if (at == std::string_view::npos) at = messages.find("error: ");
  if (at == std::string_view::npos) return "clang failed; see the build log";
  const size_t begin = messages.rfind('\n', at) + 1;
  return std::string(messages.substr(begin, messages.find('\n', at) - begin));
}

}  // namespace

absl::StatusOr<OpenClBinary> CompileOpenCl(const device::BuildOpenClRequest& request, uint64_t number,
                                           std::string* log) {
  absl::StatusOr<BuildOptions> options = ReadOptions(request, log);
  if (!options.ok()) {
    absl::StrAppend(log, "error: ", options.status().message(), "\n");
    return options.status();
  }
  HEDDLE_ASSIGN_OR_RETURN(std::string headers, FindDeviceHeaders("opencl"));
  TemporaryDirectory directory;
  if (!directory.ok()) return absl::UnavailableError("cannot make a temporary directory; check TMPDIR");
  const std::string name = number == 1 ? "program.cl" : absl::StrCat("program", number, ".cl");
  const std::string source = directory.File(name);
  HEDDLE_RETURN_IF_ERROR(WriteFile(source, request.source));
  for (const device::SourceHeader& header : request.headers) {
    const fs::path relative = fs::path(header.name).lexically_normal().relative_path();
    if (relative.empty() || *relative.begin() == "..") {
      return absl::InvalidArgumentError(absl::StrCat("a header of the name '", header.name, "'"));
    }
    absl::Status status = WriteFile(directory.File("headers/" + relative.string()), header.text);
    if (!status.ok()) return status;
  }

  std::vector<std::string> arguments = DeviceArguments(Language::kOpenCl, kTarget);
  for (std::string& argument : DeviceHeaderArguments(Language::kOpenCl, headers)) {
    arguments.push_back(std::move(argument));
  }
  arguments.insert(arguments.end(),
                   {"-DHEDDLE_OPENCL_PROGRAM=1", "-D__OPENCL_VERSION__=120", "-cl-kernel-arg-info", options->standard,
                    options->optimization, absl::StrCat("-fmacro-prefix-map=", directory.path(), "/="),
                    absl::StrCat("-I", directory.File("headers"))});
  std::string text(request.source);
  text.append(" ").append(request.options);
  for (const device::SourceHeader& header : request.headers) text.append(header.text);
  for (std::string& argument : UnusedOpenClParts(text)) arguments.push_back(std::move(argument));
  arguments.insert(arguments.end(), options->arguments.begin(), options->arguments.end());
  if (!request.working_directory.empty()) arguments.push_back(absl::StrCat("-I", request.working_directory));
  OpenClBinary binary;
  const std::string output = directory.File("program.bc");
  arguments.insert(arguments.end(), {source, "-o", output});
  HEDDLE_ASSIGN_OR_RETURN(ClangResult result, RunClang(arguments, directory));
  const std::string messages =
      absl::StrReplaceAll(result.messages, {{directory.File("headers/"), ""}, {directory.path() + "/", ""}});
  absl::StrAppend(log, messages);
  if (!result.ok) return absl::InvalidArgumentError(FirstError(messages));
  binary.bitcode = ReadText(output);
  binary.options.name = name;
  binary.options.target = kTarget;
  binary.options.optimization = options->optimization;
  binary.options.max_registers = options->max_registers;
  return binary;
}

}  // namespace heddle::tracegen
