#include "tools/nvcc/options.h"

#include <algorithm>
#include <cctype>
#include <charconv>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <functional>
#include <map>
#include <sstream>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include "tools/nvcc/ignored_options.h"
#include "tools/nvcc/words.h"
#include "tracegen/runtime/protocol/targets.h"

namespace heddle::nvcc {

namespace fs = std::filesystem;

namespace {

bool StartsWith(std::string_view text, std::string_view prefix) { return text.substr(0, prefix.size()) == prefix; }

// The number in sm_70, compute_70, 70, lto_70, sm_90a; 0 if there is none. `features` gets the letter behind it, if
// any.
int TargetNumber(std::string_view text, std::string* features) {
  if (const size_t underscore = text.find('_'); underscore != std::string_view::npos) {
    text.remove_prefix(underscore + 1);
  }
  int number = 0;
  size_t digits = 0;
  for (; digits < text.size() && std::isdigit(static_cast<unsigned char>(text[digits])) != 0; ++digits) {
    number = number * 10 + (text[digits] - '0');
  }
  *features = text.substr(digits, 1);
  return number;
}

class Parser {
 public:
  explicit Parser(Options& options) : options_(options) { MakeTable(); }

  bool Parse(const std::vector<std::string>& arguments) {
    for (size_t i = 0; i < arguments.size(); ++i) {
      if (!ParseOne(arguments, i)) return false;
    }
    Finish();
    return error_.empty();
  }

  const std::string& error() const { return error_; }

 private:
  using WithValue = std::function<void(const std::string&)>;
  using Plain = std::function<void()>;

  void MakeTable();
  void MakePhases();
  void MakeCodeOptions();
  void MakeIgnored();
  bool ParseOne(const std::vector<std::string>& arguments, size_t& i);
  bool ParseJoined(const std::string& argument, const std::vector<std::string>& arguments, size_t& i);
  bool ReadResponseFile(const std::string& path);
  void AddTarget(const std::string& list);
  void Finish();
  void Fail(const std::string& message) {
    if (error_.empty()) error_ = message;
  }
  void Value(std::initializer_list<const char*> names, const WithValue& action) {
    for (const char* name : names) with_value_[name] = action;
  }
  void Flag(std::initializer_list<const char*> names, const Plain& action) {
    for (const char* name : names) plain_[name] = action;
  }
  static bool IsTrue(const std::string& value) { return value == "true" || value == "1" || value.empty(); }

  Options& options_;
  std::map<std::string, WithValue, std::less<>> with_value_;  // by name without dashes
  std::map<std::string, Plain, std::less<>> plain_;
  std::vector<int> targets_;
  bool device_optimization_given_ = false;
  bool forward_unknown_ = false;  // -forward-unknown-to-host-compiler
  int response_depth_ = 0;
  std::string error_;
};

void Parser::MakePhases() {
  Flag({"c", "compile"}, [this] { options_.phase = Phase::kCompile; });
  Flag({"dc", "device-c"}, [this] {
    options_.phase = Phase::kCompile;
    options_.relocatable = true;
  });
  Flag({"dw", "device-w"}, [this] { options_.phase = Phase::kCompile; });
  Flag({"dlink", "device-link"}, [this] { options_.phase = Phase::kDeviceLink; });
  Flag({"link"}, [this] { options_.phase = Phase::kLink; });
  Flag({"lib"}, [this] { options_.phase = Phase::kLibrary; });
  Flag({"E", "preprocess"}, [this] { options_.phase = Phase::kPreprocess; });
  Flag({"M", "generate-dependencies"}, [this] { options_.phase = Phase::kDependencies; });
  Flag({"MM", "generate-nonsystem-dependencies"}, [this] {
    options_.phase = Phase::kDependencies;
    options_.system_headers_in_dependencies = false;
  });
  Flag({"V", "version"}, [this] { options_.phase = Phase::kVersion; });
  Flag({"h", "help"}, [this] { options_.phase = Phase::kHelp; });
  for (const char* name : {"ptx", "cubin", "fatbin"}) {
    Flag({name}, [this, name] {
      options_.phase = Phase::kDeviceCode;
      options_.device_code_ending = std::string(".") + name;
    });
  }
  Flag({"cuda"}, [this] { options_.phase = Phase::kHostSource; });
  Flag({"run"}, [this] { options_.run = true; });
  Value({"run-args"}, [this](const std::string& v) {
    for (std::string& word : SplitList(v)) options_.run_arguments.push_back(std::move(word));
  });
  Flag({"list-gpu-code", "code-ls"}, [this] { options_.phase = Phase::kListCode; });
  Flag({"list-gpu-arch", "arch-ls"}, [this] { options_.phase = Phase::kListArchitectures; });
  Flag({"shared"}, [this] { options_.pic_or_shared = true; });
  Flag({"dryrun"}, [this] { options_.dry_run = true; });
  Flag({"v", "verbose"}, [this] { options_.verbose = true; });
  Flag({"keep", "save-temps"}, [this] { options_.keep = true; });
  Value({"keep-dir"}, [this](const std::string& v) { options_.keep_folder = v; });
  Value({"o", "output-file"}, [this](const std::string& v) { options_.output = v; });
  Value({"odir", "output-directory"}, [this](const std::string& v) { options_.output_folder = v; });
  Value({"x", "language"}, [this](const std::string& v) { options_.language = v; });
  // Dependency files beside an object.
  Flag({"MD", "generate-dependencies-with-compile"}, [this] { options_.dependency.push_back("-MD"); });
  Flag({"MMD", "generate-nonsystem-dependencies-with-compile"}, [this] { options_.dependency.push_back("-MMD"); });
  Flag({"MP", "generate-dependency-targets"}, [this] { options_.dependency.push_back("-MP"); });
  Value({"MF", "dependency-output"},
        [this](const std::string& v) { options_.dependency.insert(options_.dependency.end(), {"-MF", v}); });
  Value({"MT", "dependency-target-name"},
        [this](const std::string& v) { options_.dependency.insert(options_.dependency.end(), {"-MT", v}); });
  Value({"MQ"}, [this](const std::string& v) { options_.dependency.insert(options_.dependency.end(), {"-MQ", v}); });
}

void Parser::MakeCodeOptions() {
  for (const auto& [name, option] : std::vector<std::pair<const char*, const char*>>{
           {"include-path", "-I"}, {"define-macro", "-D"}, {"undefine-macro", "-U"}}) {
    Value({name}, [this, option = std::string(option)](const std::string& v) {
      for (const std::string& word : SplitList(v)) options_.preprocessor.push_back(option + word);
    });
  }
  Value({"include", "pre-include"}, [this](const std::string& v) {
    for (const std::string& word : SplitList(v)) {
      options_.preprocessor.insert(options_.preprocessor.end(), {"-include", word});
    }
  });
  Value({"isystem", "system-include"}, [this](const std::string& v) {
    for (const std::string& word : SplitList(v)) {
      options_.preprocessor.insert(options_.preprocessor.end(), {"-isystem", word});
    }
  });
  Value({"library-path"}, [this](const std::string& v) { options_.search.push_back("-L" + v); });
  Value({"library"}, [this](const std::string& v) {
    for (const std::string& word : SplitList(v)) options_.inputs.push_back("-l" + word);
  });
  Value({"std"}, [this](const std::string& v) { options_.standard = v; });
  Value({"optimize"}, [this](const std::string& v) { options_.host_optimization = "-O" + v; });
  Flag({"g", "debug"}, [this] { options_.debug = true; });
  Flag({"G", "device-debug"}, [this] { options_.device_debug = true; });
  Flag({"pg", "profile"}, [this] { options_.profile = true; });
  Flag({"w", "disable-warnings"}, [this] { options_.no_warnings = true; });
  Flag({"use_fast_math"}, [this] { options_.fast_math = true; });
  Flag({"no-unroll"}, [this] { options_.no_unroll = true; });
  Flag({"keep-branches"}, [this] { options_.keep_branches = true; });
  Value({"ftz"}, [this](const std::string& v) { options_.flush_denormals = IsTrue(v); });
  Value({"fmad"}, [this](const std::string& v) { options_.contract = IsTrue(v); });
  Value({"rdc", "relocatable-device-code"}, [this](const std::string& v) { options_.relocatable = IsTrue(v); });
  Value({"maxrregcount"}, [this](const std::string& v) {
    char* end = nullptr;
    options_.max_registers = static_cast<unsigned>(std::strtoul(v.c_str(), &end, 10));
    if (v.empty() || *end != '\0') Fail("-maxrregcount " + v + ": this is no number of registers");
  });
  Value({"arch", "gpu-architecture", "gpu-name"}, [this](const std::string& v) { AddTarget(v); });
  Value({"code", "gpu-code"}, [this](const std::string& v) { AddTarget(v); });
  Value({"gencode", "generate-code"}, [this](const std::string& v) {
    // arch=compute_70,code=[sm_70,compute_70]
    std::string names = v;
    for (char& c : names) {
      if (c == '[' || c == ']' || c == '"' || c == '\\') c = ',';
    }
    AddTarget(names);
  });
  Value({"cuda-version"}, [this](const std::string& v) {
    const std::optional<CudaVersion> version = ParseCudaVersion(v);
    if (version) {
      options_.cuda_version = *version;
    } else {
      Fail("--cuda-version " + v + ": this is no version from 5.0 to 12.9, such as 11.8");
    }
  });
  Value({"ptx-from"}, [this](const std::string& v) { options_.ptx_from = v; });
  for (const char* name : {"ftemplate-depth", "ftemplate-backtrace-limit"}) {
    Value({name},
          [this, name](const std::string& v) { options_.preprocessor.push_back(std::string("-") + name + "=" + v); });
  }
  Flag({"no-exceptions", "noeh"}, [this] { options_.host.emplace_back("-fno-exceptions"); });
  Value({"default-stream"}, [this](const std::string& v) { options_.per_thread_stream = v == "per-thread"; });
  // The host compiler and the linker.
  Value({"ccbin", "compiler-bindir"}, [this](const std::string& v) { options_.host_compiler = v; });
  Value({"Xcompiler", "compiler-options"}, [this](const std::string& v) {
    for (std::string& word : SplitList(v)) options_.host.push_back(std::move(word));
  });
  Value({"Xlinker", "linker-options"}, [this](const std::string& v) {
    for (std::string& word : SplitList(v)) {
      if (StartsWith(word, "-Wl,")) {
        options_.linker.push_back(std::move(word));
      } else {
        options_.linker.insert(options_.linker.end(), {"-Xlinker", std::move(word)});
      }
    }
  });
  Value({"arbin", "archiver-binary"}, [this](const std::string& v) { options_.archiver = v; });
  Value({"Xarchive", "Xarchiver", "archive-options"}, [this](const std::string& v) {
    for (std::string& word : SplitList(v)) options_.archive.push_back(std::move(word));
  });
  Flag({"forward-unknown-to-host-compiler", "forward-unknown-opts"}, [this] { forward_unknown_ = true; });
  Value({"Xptxas", "ptxas-options"}, [this](const std::string& v) {
    // The optimisation level of the vendor's assembler is the only one that says something about the code.
    for (const std::string& word : SplitList(v)) {
      if (StartsWith(word, "-O") && !device_optimization_given_) options_.device_optimization = word;
      if (word == "-maxrregcount") options_.warnings.push_back("-Xptxas -maxrregcount: use -maxrregcount");
    }
  });
  Value({"device-optimize"}, [this](const std::string& v) {
    options_.device_optimization = "-O" + v;
    device_optimization_given_ = true;
  });
  Value({"optf", "options-file"}, [this](const std::string& v) {
    for (const std::string& path : SplitList(v)) ReadResponseFile(path);
  });
}

void Parser::MakeIgnored() {
  for (const char* name : IgnoredFlags()) Flag({name}, [] {});
  for (const char* name : IgnoredOptionsWithValue()) Value({name}, [](const std::string&) {});
  for (const RefusedOption& option : RefusedFlags()) {
    Flag({option.name}, [this, option] { Fail(std::string("-") + option.name + ": " + option.why); });
  }
  for (const RefusedOption& option : RefusedOptionsWithValue()) {
    Value({option.name},
          [this, option](const std::string&) { Fail(std::string("-") + option.name + ": " + option.why); });
  }
}

void Parser::MakeTable() {
  MakePhases();
  MakeCodeOptions();
  MakeIgnored();
}

void Parser::AddTarget(const std::string& list) {
  std::string words = list;
  std::replace(words.begin(), words.end(), '=', ',');
  // Known words without a number: the default is meant.
  bool named = list == "native" || list == "all" || list == "all-major";
  for (const std::string& word : SplitList(words)) {
    std::string features;
    const int number = TargetNumber(word, &features);
    if (number == 0) continue;
    targets_.push_back(number);
    if (number > options_.wanted_capability) options_.wanted_features.clear();
    options_.wanted_capability = std::max(options_.wanted_capability, number);
    if (number == options_.wanted_capability && !features.empty()) options_.wanted_features = features;
    named = true;
  }
  if (!named) Fail("-arch, -code, -gencode: \"" + list + "\" names no compute capability, such as sm_70");
}

bool Parser::ReadResponseFile(const std::string& path) {
  std::ifstream in(path);
  if (!in) {
    Fail(path + ": cannot read this response file");
    return false;
  }
  if (++response_depth_ > 16) {
    Fail(path + ": response files include one another");
    return false;
  }
  std::stringstream text;
  text << in.rdbuf();
  const std::vector<std::string> words = SplitWords(text.str());
  for (size_t i = 0; i < words.size(); ++i) {
    if (!ParseOne(words, i)) return false;
  }
  --response_depth_;
  return true;
}

// Options whose value may stick to them: -Ifolder, -O3, -lm. True if `argument` was one.
bool Parser::ParseJoined(const std::string& argument, const std::vector<std::string>& arguments, size_t& i) {
  const auto value = [&](size_t prefix, std::string* out) {
    if (argument.size() > prefix) {
      *out = argument.substr(argument[prefix] == '=' ? prefix + 1 : prefix);
      return true;
    }
    if (i + 1 >= arguments.size()) {
      Fail(argument + ": its value is missing");
      return false;
    }
    *out = arguments[++i];
    return true;
  };
  std::string text;
  switch (argument[1]) {
    case 'I':
    case 'D':
    case 'U':
      if (value(2, &text)) options_.preprocessor.push_back(argument.substr(0, 2) + text);
      return true;
    case 'L':
      if (value(2, &text)) options_.search.push_back("-L" + text);
      return true;
    case 'l':
      if (value(2, &text)) options_.inputs.push_back("-l" + text);
      return true;
    case 'O':
      options_.host_optimization = argument;
      if (argument.size() == 2) {
        const bool level = i + 1 < arguments.size() && arguments[i + 1].size() == 1 &&
                           std::isdigit(static_cast<unsigned char>(arguments[i + 1][0])) != 0;
        options_.host_optimization = level ? "-O" + arguments[++i] : "-O2";
      }
      return true;
    case 'W':
      if (StartsWith(argument, "-Wl,")) {
        options_.linker.push_back(argument);
      } else {
        options_.host.push_back(argument);
      }
      return true;
    case 'f':
      options_.host.push_back(argument);
      return true;
    default:
      return false;
  }
}

bool Parser::ParseOne(const std::vector<std::string>& arguments, size_t& i) {
  const std::string& argument = arguments[i];
  if (argument.empty()) return true;
  if (argument[0] == '@' && argument.size() > 1) return ReadResponseFile(argument.substr(1));
  if (argument[0] != '-' || argument == "-") {
    options_.inputs.push_back(argument);
    return error_.empty();
  }
  const size_t dashes = StartsWith(argument, "--") ? 2 : 1;
  const size_t equals = argument.find('=');
  const std::string name = argument.substr(dashes, equals == std::string::npos ? equals : equals - dashes);
  if (auto found = with_value_.find(name); found != with_value_.end()) {
    std::string value;
    if (equals != std::string::npos) {
      value = argument.substr(equals + 1);
    } else if (i + 1 < arguments.size()) {
      value = arguments[++i];
    } else {
      Fail(argument + ": its value is missing");
      return false;
    }
    found->second(value);
    return error_.empty();
  }
  if (auto found = plain_.find(name); found != plain_.end()) {
    // nvcc takes -lineinfo=true as well.
    const std::string value = equals == std::string::npos ? "true" : argument.substr(equals + 1);
    if (IsTrue(value)) {
      found->second();
    } else if (value != "false" && value != "0") {
      Fail(argument + ": its value is true or false");
    }
    return error_.empty();
  }
  if (dashes == 1 && ParseJoined(argument, arguments, i)) return error_.empty();
  if (forward_unknown_) {
    options_.host.push_back(argument);
  } else {
    options_.warnings.push_back(argument + ": this option is unknown and ignored");
  }
  return true;
}

void Parser::Finish() {
  if (!targets_.empty()) {
    const int wanted = *std::max_element(targets_.begin(), targets_.end());
    int chosen = device::kComputeCapabilities[0];
    for (int target : device::kComputeCapabilities) {
      if (target <= wanted) chosen = target;
    }
    options_.target = "sm_" + std::to_string(chosen);
    if (chosen != wanted && options_.ptx_from.empty()) {
      options_.warnings.push_back("compute capability " + std::to_string(wanted) + ": compiled for " + options_.target +
                                  " instead");
    }
  }
  if (options_.device_debug) {
    options_.debug = true;
    if (!device_optimization_given_) options_.device_optimization = "-O0";
  }
  const bool for_clang = options_.no_unroll || options_.keep_branches || device_optimization_given_;
  if (!options_.ptx_from.empty() && for_clang) {
    Fail("--ptx-from with --no-unroll, --keep-branches or --device-optimize: these are for clang; leave them away");
  }
  if (!options_.language.empty() && options_.language != "cu" && options_.language != "c" &&
      options_.language != "c++") {
    Fail("-x " + options_.language + ": the languages are cu, c and c++");
  }
}

}  // namespace

std::optional<Options> ParseOptions(const std::vector<std::string>& arguments, std::string* error) {
  Options options;
  Parser parser(options);
  if (!parser.Parse(arguments)) {
    *error = parser.error();
    return std::nullopt;
  }
  return options;
}

std::optional<CudaVersion> ParseCudaVersion(const std::string& text) {
  CudaVersion version;
  const char* end = text.data() + text.size();
  auto [at, error] = std::from_chars(text.data(), end, version.major);
  if (error != std::errc()) return std::nullopt;
  version.minor = 0;
  if (at != end && *at == '.') {
    const auto [behind, wrong] = std::from_chars(at + 1, end, version.minor);
    if (wrong != std::errc()) return std::nullopt;
    at = behind;
  }
  const bool known = version.major >= 5 && version.major <= 12 && version.minor <= 9;
  return at == end && known ? std::optional(version) : std::nullopt;
}

bool FindsHeader(const Options& options, const std::string& header) {
  std::error_code ignored;
  const auto has = [&](const fs::path& folder) { return fs::is_regular_file(folder / header, ignored); };
  for (size_t i = 0; i < options.preprocessor.size(); ++i) {
    const std::string& word = options.preprocessor[i];
    if (word.starts_with("-I") && has(word.substr(2))) return true;
    if (word == "-isystem" && i + 1 < options.preprocessor.size() && has(options.preprocessor[i + 1])) return true;
  }
  return has("/usr/local/include") || has("/usr/include");
}

}  // namespace heddle::nvcc
