#include "tools/nvcc/commands.h"

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <initializer_list>
#include <string>
#include <string_view>
#include <vector>

#include "tracegen/frontend/device_arguments.h"
#include "tracegen/runtime/cuda/device_code.h"

namespace heddle::nvcc {
namespace {

namespace fs = std::filesystem;

constexpr int kCudaBuild = 99;  // of the version; no toolkit's

void Append(Command& command, std::initializer_list<std::string_view> words) {
  for (std::string_view word : words) command.emplace_back(word);
}
void Append(Command& command, const std::vector<std::string>& words) {
  command.insert(command.end(), words.begin(), words.end());
}

// What both passes of clang over a .cu file have in common.
Command ClangCommand(const Options& options, const Places& places, const CudaSource& source) {
  Command command = {
      places.clang, "-x", "cuda", "-std=" + Standard(options), "--cuda-gpu-arch=" + options.target,
      // No vendor toolkit: neither its headers nor its device library nor its path is looked for.
      "-nocudainc", "-nocudalib", "--cuda-path=/nonexistent", "-Xclang", "-target-sdk-version=11.0", "-fuse-cuid=none",
      "-Wno-unknown-cuda-version", "-isystem", places.clang_wrappers, "-isystem", places.headers, "-include",
      places.headers + "/heddle_cuda.h", "-include", places.headers + "/cuda_runtime.h",
      // 'x.template f(y)' for a deduced f, as in CUB: an error of newer standards that nvcc lets pass.
      "-Wno-missing-template-arg-list-after-template-kw",
      // f(...) as an overload for everything else, which templates of libraries never call.
      "-Xclang", "-fcuda-allow-variadic-functions",
      // Other errors of clang that are warnings, or nothing, to nvcc and gcc: {300} for a byte,
      // "("NAME")" for a macro, and what C++17 no longer has.
      "-Wno-c++11-narrowing", "-Wno-reserved-user-defined-literal", "-Wno-register", "-Wno-dynamic-exception-spec",
      "-D__NVCC__=1", "-D__CUDACC_EXTENDED_LAMBDA__", "-D__CUDACC_RELAXED_CONSTEXPR__"};
  // Behind our headers, which have some of the same names. The vendor's libraries refuse older standards.
  if (!places.core_libraries.empty() && IsCxx17(Standard(options))) {
    Append(command, {"-isystem", places.core_libraries});
  }
  for (std::string& define : VersionDefines(options.cuda_version)) command.push_back(std::move(define));
  if (options.relocatable) Append(command, {"-fgpu-rdc", "-D__CUDACC_RDC__", "-Xclang", "-cuid=" + source.identity});
  if (source.text_path != source.path) {
    const std::string folder = fs::path(source.path).parent_path().string();
    Append(command, {"-iquote", folder.empty() ? "." : folder});
  }
  Append(command, options.preprocessor);
  return command;
}

// gcc's options that clang does not know, in what -Xcompiler passes on; OpenMP in .cu files runs on one thread, as
// clang's own OpenMP library is another one than the one of gcc's objects. (clang has -fopenmp=libgomp, which only
// passes the pragmas over as well, but refuses it beside a CUDA target.)
void AppendHostOptions(Command& command, const Options& options) {
  for (const std::string& word : options.host) {
    if (word == "-fopenmp") {
      command.emplace_back("-Wno-source-uses-openmp");
    } else if (word == "-rdynamic" || word == "-static-libgcc" || word == "-static-libstdc++" ||
               word.rfind("-Wl,", 0) == 0 || word == "-fpermissive" || word == "-fno-gcse" ||
               word == "-mcmodel=large" || word.rfind("-std=", 0) == 0) {
      continue;  // for the linker or for gcc alone
    } else {
      command.push_back(word);
    }
  }
  if (options.debug) command.emplace_back("-g");
  if (options.profile) command.emplace_back("-pg");
  if (!options.host_optimization.empty()) command.push_back(options.host_optimization);
  if (options.no_warnings) command.emplace_back("-w");
}

// nvcc finds gcc's omp.h, which clang cannot read, with and without -fopenmp.
void AppendOpenMpHeader(Command& command, const Places& places) {
  Append(command, {"-idirafter", places.headers + "/openmp"});
}

void AppendPhase(Command& command, const Options& options, const std::string& output) {
  if (options.phase == Phase::kPreprocess) {
    command.emplace_back("-E");
    if (!options.output.empty()) Append(command, {"-o", options.output});
  } else if (options.phase == Phase::kDependencies) {
    command.emplace_back(options.system_headers_in_dependencies ? "-M" : "-MM");
    if (!options.output.empty()) Append(command, {"-o", options.output});
    Append(command, options.dependency);
  } else {
    // Assembly goes through the assembler of gcc later, which does not know all of clang's directives.
    if (options.phase == Phase::kHostSource) Append(command, {"-S", "-fno-addrsig", "-fno-integrated-as"});
    if (options.phase != Phase::kHostSource) command.emplace_back("-c");
    Append(command, {"-o", output});
    Append(command, options.dependency);
  }
}

// The last lines in front of device code.
std::string CommonCodeText(const Options& options, const Places& places) {
  std::string text = "max_registers=" + std::to_string(options.max_registers) +
                     "\ncuda_version=" + std::to_string(options.cuda_version.number()) + "\n";
  if (!places.device_program.empty()) text += "device_program=" + places.device_program + "\n";
  return text;
}

// The runtime stands in for these.
bool IsVendorLibrary(const std::string& word) {
  for (std::string_view name :
       {"-lcudart", "-lcudart_static", "-lcuda", "-lcudadevrt", "-lcudart_static.a", "-lnvToolsExt", "-lnvrtc",
        "-lnvrtc_static", "-lnvrtc-builtins", "-lnvrtc-builtins_static", "-lnvptxcompiler_static"}) {
    if (word == name) return true;
  }
  const std::string base = fs::path(word).filename().string();
  return base == "libcudart.so" || base == "libcudart_static.a" || base == "libcudadevrt.a" || base == "libcuda.so" ||
         base == "libcudart.a" || base == "libnvrtc.so" || base == "libnvrtc_static.a";
}

}  // namespace

// nvcc's standards are gcc's; CUDA's headers need C++11.
std::string Standard(const Options& options) {
  const std::string& given = options.standard;
  if (given.empty()) return options.cuda_version.major >= 12 ? "gnu++17" : "gnu++14";
  if (given == "c++98" || given == "c++03" || given == "gnu++98" || given == "gnu++03") return "gnu++11";
  return given;
}

bool IsCxx17(const std::string& standard) {
  for (const char* older : {"98", "03", "0x", "11", "1y", "14"}) {
    if (standard.ends_with(older)) return false;
  }
  return true;
}

Language LanguageOf(const std::string& input, const Options& options) {
  std::string ending = fs::path(input).extension().string();
  const bool source_ending = ending == ".cu" || ending == ".c" || ending == ".cpp" || ending == ".cc" ||
                             ending == ".cxx" || ending == ".C" || ending == ".c++" || ending == ".ii" ||
                             ending == ".i";
  if (!options.language.empty()) {
    // -x says what unknown names are, but not that an object is a source.
    if (ending == ".o" || ending == ".a" || ending == ".so" || ending == ".obj") return Language::kNone;
    if (options.language == "cu") return Language::kCuda;
    return options.language == "c" ? Language::kC : Language::kCxx;
  }
  if (!source_ending) return Language::kNone;
  if (ending == ".cu") return Language::kCuda;
  return ending == ".c" || ending == ".i" ? Language::kC : Language::kCxx;
}

Command DeviceCommand(const Options& options, const Places& places, const CudaSource& source,
                      const std::string& output) {
  Command command = ClangCommand(options, places, source);
  int target = 0;  // behind "sm_"
  std::from_chars(options.target.data() + 3, options.target.data() + options.target.size(), target);
  Append(command, {"--cuda-device-only", "-emit-llvm", "-c", "-gline-tables-only", "-w", options.device_optimization,
                   "-Xclang", "-target-feature", "-Xclang", target > 80 ? "+ptx78" : "+ptx70"});
  // An access through a pointer that is known to be null is to fail, not to vanish.
  command.emplace_back("-fno-delete-null-pointer-checks");
  if (options.no_unroll) command.emplace_back("-fno-unroll-loops");
  if (options.keep_branches) Append(command, tracegen::KeepBranchesArguments());
  if (options.fast_math) command.emplace_back("-fgpu-approx-transcendentals");
  if (options.flush_denormals || options.fast_math) command.emplace_back("-fgpu-flush-denormals-to-zero");
  if (!options.contract) command.emplace_back("-ffp-contract=off");
  if (source.keep_static_variables) command.emplace_back("-fkeep-persistent-storage-variables");
  AppendOpenMpHeader(command, places);
  // Which files it consists of.
  Append(command, {"-MD", "-MF", output + ".d"});
  Append(command, {source.text_path, "-o", output});
  return command;
}

Command DependencyCommand(const Command& compile) {
  Command command;
  for (size_t i = 0; i < compile.size(); ++i) {
    const std::string& word = compile[i];
    if (word == "-o" || word == "-MF" || word == "-MT" || word == "-MQ") {
      ++i;  // and its value
    } else if (word != "-c" && word != "-S" && word != "-emit-llvm" && word != "-MD" && word != "-MMD" &&
               word != "-MP") {
      command.push_back(word);
    }
  }
  Append(command, {"-M", "-MG", "-w"});
  return command;
}

Command HostCommand(const Options& options, const Places& places, const CudaSource& source,
                    const std::string& device_code, const std::string& output) {
  Command command = ClangCommand(options, places, source);
  Append(command, {"--cuda-host-only", "-Wno-unknown-warning-option", "-Wno-unused-command-line-argument",
                   "-Wno-ignored-optimization-argument"});
  AppendHostOptions(command, options);
  AppendOpenMpHeader(command, places);
  if (options.relocatable) {
    // clang's list of a relocatable unit's kernels and variables, and a constructor that hands it to the runtime.
    Append(command, {"-Xclang", "--offload-new-driver"});
    if (!device_code.empty()) {
      Append(command, {"-include", places.headers + "/heddle_cuda_relocatable.h",
                       "-DHEDDLE_DEVICE_CODE=\"" + device_code + "\""});
    }
  } else if (!device_code.empty()) {
    Append(command, {"-Xclang", "-fcuda-include-gpubinary", "-Xclang", device_code});
  }
  AppendPhase(command, options, output);
  command.push_back(source.text_path);
  return command;
}

Command PlainCommand(const Options& options, const Places& places, Language language, const std::string& input,
                     const std::string& output) {
  Command command = {language == Language::kC ? places.host_c : places.host_cxx};
  if (!options.language.empty()) Append(command, {"-x", language == Language::kC ? "c" : "c++"});
  if (!options.standard.empty() && language == Language::kCxx) command.push_back("-std=" + options.standard);
  Append(command, options.preprocessor);
  command.push_back("-DHEDDLE_CUDA_VERSION=" + std::to_string(options.cuda_version.number()));
  // Behind the program's own folders.
  Append(command, {"-isystem", places.headers});
  if (!places.core_libraries.empty() && language == Language::kCxx && IsCxx17(options.standard)) {
    Append(command, {"-isystem", places.core_libraries});
  }
  Append(command, options.host);
  if (options.debug) command.emplace_back("-g");
  if (options.profile) command.emplace_back("-pg");
  if (!options.host_optimization.empty()) command.push_back(options.host_optimization);
  if (options.no_warnings) command.emplace_back("-w");
  AppendPhase(command, options, output);
  command.push_back(input);
  return command;
}

Command LinkCommand(const Options& options, const Places& places, const std::vector<std::string>& inputs) {
  Command command = {places.host_cxx};
  if (options.pic_or_shared) command.emplace_back("-shared");
  if (options.debug) command.emplace_back("-g");
  if (options.profile) command.emplace_back("-pg");
  for (const std::string& word : options.host) command.push_back(word);
  Append(command, {"-o", options.output.empty() ? "a.out" : options.output});
  // Before the program's own folders: makefiles name those of an installed toolkit, whose runtime asks for a device.
  command.push_back("-L" + places.toolkit + "/lib64");
  Append(command, options.search);
  // nvcc hands all of them to the linker as one group, so that libraries may stand in front of what needs them.
  for (const bool libraries : {false, true}) {
    for (const std::string& input : inputs) {
      if (input.starts_with("-l") == libraries && !IsVendorLibrary(input)) command.push_back(input);
    }
  }
  Append(command, options.linker);
  Append(command, {"-lcudart_static", "-lpthread", "-ldl", "-lm"});
  return command;
}

std::string DeviceCodeText(const Options& options, const Places& places, const CudaSource& source) {
  std::string text = "name=" + fs::path(source.path).filename().string() + "\ntarget=" + options.target +
                     "\noptimization=" + options.device_optimization;
  if (options.no_unroll) text += " -fno-unroll-loops";
  if (options.keep_branches) text += std::string(" ") + tracegen::kKeepBranches;
  if (options.fast_math) text += " -fgpu-approx-transcendentals";
  if (options.flush_denormals || options.fast_math) text += " -fgpu-flush-denormals-to-zero";
  if (!options.contract) text += " -ffp-contract=off";
  return text + "\n" + CommonCodeText(options, places);
}

std::string VendorCodeText(const Options& options, const Places& places, const CudaSource& source,
                           const std::string& target) {
  return "name=" + fs::path(source.path).filename().string() + "\ntarget=" + target + "\nkind=" + cuda::kPtxPart +
         "\n" + CommonCodeText(options, places);
}

std::string DeviceProgramSource(const Places& places) {
  std::string quoted;
  for (char c : places.device_program) {
    if (c == '"' || c == '\\') quoted += '\\';
    quoted += c;
  }
  return "const char heddle_device_program[] = \"" + quoted + "\";\n";
}

std::vector<std::string> VersionDefines(const CudaVersion& version) {
  const std::string number = std::to_string(version.number());
  return {"-DHEDDLE_CUDA_VERSION=" + number, "-D__CUDACC_VER_MAJOR__=" + std::to_string(version.major),
          "-D__CUDACC_VER_MINOR__=" + std::to_string(version.minor),
          "-D__CUDACC_VER_BUILD__=" + std::to_string(kCudaBuild)};
}

std::string VersionText(const CudaVersion& version) {
  const std::string release = std::to_string(version.major) + "." + std::to_string(version.minor);
  return "heddle-nvcc: Heddle's stand-in for nvcc: NVIDIA (R) Cuda compiler driver\nCuda compilation tools, release " +
         release + ", V" + release + "." + std::to_string(kCudaBuild) + "\n";
}

std::string HostSource(const std::string& assembly) {
  // A delimiter that the assembly does not have.
  std::string mark = "heddle";
  while (assembly.find(")" + mark + "\"") != std::string::npos) mark += '_';
  return "__asm__(R\"" + mark + "(\n" + assembly + ")" + mark + "\");\n";
}

}  // namespace heddle::nvcc
