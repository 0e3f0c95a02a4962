#include "tools/nvcc/vendor_ptx.h"

#include <cctype>
#include <charconv>
#include <cstdlib>
#include <filesystem>
#include <sstream>
#include <string>
#include <string_view>
#include <system_error>
#include <vector>

namespace heddle::nvcc {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kVendorMark = "__nv_static_";

bool IsVendors(const std::string& program) {
  std::string version;
  if (program.empty() || RunQuietly({program, "--version"}, &version) != 0) return false;
  return version.find("Cuda compilation tools") != std::string::npos && version.find("Heddle") == std::string::npos;
}

bool IsNamePart(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_' || c == '$'; }

// Of "__nv_static_8__a_b_cu__name" the length of all in front of the name; 0 if it is something else.
size_t MarkLength(std::string_view word) {
  if (!word.starts_with(kVendorMark)) return 0;
  size_t bytes = 0;
  const char* const start = word.data() + kVendorMark.size();
  const auto [end, error] = std::from_chars(start, word.data() + word.size(), bytes);
  if (error != std::errc() || end == word.data() + word.size() || *end != '_') return 0;
  const size_t before = static_cast<size_t>(end - word.data()) + 1;  // with the bar
  // The mark has its length and another bar behind it.
  const bool fits = bytes < word.size() && before + bytes + 1 < word.size() && word[before + bytes] == '_';
  return fits ? before + bytes + 1 : 0;
}

// Whether an -I or -isystem folder is one of Heddle's: the vendor's compiler has headers of its own.
bool IsOwnFolder(const std::string& folder, const Places& places) {
  std::error_code ignored;
  const fs::path path = fs::canonical(folder, ignored);
  return !path.empty() && path == fs::canonical(places.headers, ignored);
}

void AppendPreprocessor(Command& command, const Options& options, const Places& places) {
  for (size_t i = 0; i < options.preprocessor.size(); ++i) {
    const std::string& word = options.preprocessor[i];
    const bool has_value = (word == "-include" || word == "-isystem") && i + 1 < options.preprocessor.size();
    const std::string value = has_value ? options.preprocessor[++i] : word.substr(word.starts_with("-I") ? 2 : 0);
    const bool folder = word.starts_with("-I") || word == "-isystem";
    if (folder && IsOwnFolder(value, places)) continue;
    command.push_back(word);
    if (has_value) command.push_back(value);
  }
}

}  // namespace

std::string FindVendorNvcc(const std::string& wanted, std::string* error) {
  if (wanted != "nvcc") {
    std::error_code ignored;
    const std::string program = fs::is_directory(wanted, ignored) ? wanted + "/bin/nvcc" : FindProgram(wanted);
    if (IsVendors(program)) return program;
    *error = "--ptx-from " + wanted + ": this is no nvcc of a CUDA toolkit; name the program or the toolkit's folder";
    return "";
  }
  std::vector<std::string> candidates;
  const char* path = std::getenv("PATH");
  std::stringstream folders(path != nullptr ? path : "/usr/bin:/bin");
  for (std::string folder; std::getline(folders, folder, ':');) candidates.push_back(folder + "/nvcc");
  for (const char* name : {"CUDA_HOME", "CUDA_PATH"}) {
    if (const char* folder = std::getenv(name); folder != nullptr)
      candidates.push_back(std::string(folder) + "/bin/nvcc");
  }
  candidates.emplace_back("/usr/local/cuda/bin/nvcc");
  for (const std::string& candidate : candidates) {
    if (IsVendors(FindProgram(candidate))) return candidate;
  }
  *error =
      "--ptx-from nvcc: no nvcc of a CUDA toolkit was found in PATH, CUDA_HOME, CUDA_PATH or /usr/local/cuda; install "
      "the toolkit, or give its path: --ptx-from /path/to/nvcc";
  return "";
}

std::string VendorCapability(const std::string& nvcc, const Options& options, std::string* note) {
  if (options.wanted_capability == 0) return "";
  const std::string wanted = std::to_string(options.wanted_capability);
  std::string list;
  if (RunQuietly({nvcc, "--list-gpu-arch"}, &list) != 0) return wanted + options.wanted_features;
  int above = 0;
  std::stringstream lines(list);
  for (std::string line; std::getline(lines, line);) {
    int known = 0;
    const size_t bar = line.find('_');
    if (bar == std::string::npos) continue;
    std::from_chars(line.data() + bar + 1, line.data() + line.size(), known);
    if (known == options.wanted_capability) return wanted + options.wanted_features;
    if (known > options.wanted_capability && (above == 0 || known < above)) above = known;
  }
  if (above == 0) return wanted + options.wanted_features;  // nvcc says what it does not know
  *note = "compute capability " + wanted + ": nvcc makes PTX for " + std::to_string(above) + " instead";
  return std::to_string(above);
}

Command VendorPtxCommand(const std::string& nvcc, const std::string& capability, const Options& options,
                         const Places& places, const CudaSource& source, const std::string& output) {
  Command command = {nvcc, "-ptx", "-lineinfo", "--extended-lambda", "--expt-relaxed-constexpr"};
  if (!capability.empty()) command.push_back("-arch=compute_" + capability);
  if (!options.language.empty()) command.insert(command.end(), {"-x", options.language});
  if (!options.standard.empty()) command.push_back("-std=" + options.standard);
  if (options.relocatable) command.emplace_back("-rdc=true");
  if (options.device_debug) command[2] = "-G";
  if (options.fast_math) command.emplace_back("-use_fast_math");
  if (options.flush_denormals) command.emplace_back("-ftz=true");
  if (!options.contract) command.emplace_back("-fmad=false");
  if (options.no_warnings) command.emplace_back("-w");
  if (!options.host_compiler.empty()) command.insert(command.end(), {"-ccbin", options.host_compiler});
  if (options.per_thread_stream) command.insert(command.end(), {"-default-stream", "per-thread"});
  AppendPreprocessor(command, options, places);
  for (const std::string& word : options.host) {
    // What decides which text is compiled; -Wl, and its like are for others.
    if (word.starts_with("-D") || word.starts_with("-U") || word == "-fopenmp") {
      command.insert(command.end(), {"-Xcompiler", word});
    }
  }
  command.insert(command.end(), {source.path, "-o", output});
  return command;
}

std::string TargetOfPtx(std::string_view ptx) {
  constexpr std::string_view kTarget = "\n.target ";
  const size_t at = ptx.find(kTarget);
  if (at == std::string_view::npos) return "";
  ptx.remove_prefix(at + kTarget.size());
  return std::string(ptx.substr(0, ptx.find_first_of(" ,\t\r\n")));
}

bool HasVendorStatics(std::string_view ptx) { return ptx.find(kVendorMark) != std::string_view::npos; }

std::string RenameVendorStatics(std::string_view ptx, const std::string& mark) {
  std::string renamed;
  size_t done = 0;
  for (size_t at = 0; (at = ptx.find(kVendorMark, at)) != std::string_view::npos;) {
    size_t end = at;
    while (end < ptx.size() && IsNamePart(ptx[end])) ++end;
    const bool starts = at == 0 || !IsNamePart(ptx[at - 1]);
    if (const size_t length = starts ? MarkLength(ptx.substr(at, end - at)) : 0; length != 0) {
      renamed.append(ptx.substr(done, at - done)).append(ptx.substr(at + length, end - at - length)).append(mark);
      done = end;
    }
    at = end;
  }
  return renamed.append(ptx.substr(done));
}

Command MarkCommand(const Places& places, const std::string& identity, const std::string& path) {
  return {places.clang,
          "-x",
          "cuda",
          "--cuda-device-only",
          "--cuda-gpu-arch=sm_70",
          "-nocudainc",
          "-nocudalib",
          "--cuda-path=/nonexistent",
          "-Wno-unknown-cuda-version",
          "-Xclang",
          "-target-sdk-version=11.0",
          "-fuse-cuid=none",
          "-fgpu-rdc",
          "-Xclang",
          "-cuid=" + identity,
          "-S",
          "-emit-llvm",
          "-o",
          "-",
          path};
}

std::string MarkIn(std::string_view printed) {
  constexpr std::string_view kName = "heddle_mark__static__";
  const size_t at = printed.find(kName);
  if (at == std::string_view::npos) return "";
  size_t end = at + kName.size();
  while (end < printed.size() && IsNamePart(printed[end])) ++end;
  const size_t start = at + std::string_view("heddle_mark").size();
  return std::string(printed.substr(start, end - start));
}

}  // namespace heddle::nvcc
