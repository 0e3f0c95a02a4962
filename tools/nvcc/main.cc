// heddle-nvcc: stands in for nvcc. Compiles CUDA sources with clang, keeps the device code as LLVM bitcode inside the
// object, and links with Heddle's CUDA runtime. The program then runs anywhere, without a GPU, and `heddle capture`
// records its kernels.
#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <optional>
#include <sstream>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include "tools/nvcc/commands.h"
#include "tools/nvcc/device_launches.h"
#include "tools/nvcc/included_files.h"
#include "tools/nvcc/options.h"
#include "tools/nvcc/places.h"
#include "tools/nvcc/process.h"
#include "tools/nvcc/source_text.h"
#include "tools/nvcc/stand_in_calls.h"
#include "tools/nvcc/unsupported.h"
#include "tools/nvcc/vendor_ptx.h"
#include "tools/nvcc/words.h"
#include "tracegen/runtime/cuda/code_text.h"
#include "tracegen/runtime/cuda/device_code.h"
#include "tracegen/runtime/protocol/targets.h"

namespace heddle::nvcc {
namespace {

namespace fs = std::filesystem;

constexpr char kHelp[] =
    "heddle-nvcc [options] FILE...: compiles CUDA programs for Heddle; takes the options of nvcc.\n"
    "\n"
    "  -o FILE  -c  -dc  -dlink  -shared  -lib  -E  -M  -MM        what to make\n"
    "  -cubin  -ptx  -fatbin                                       device code alone, for cuModuleLoad\n"
    "  -cuda                                                       C++ for the host compiler, with device code in it\n"
    "  -run                                                        starts the program once it is linked\n"
    "  -I -D -U -include -isystem  -L -l  -std  -x cu|c|c++        as with every compiler\n"
    "  -O0 .. -O3  -g  -G  -pg  -w                                 host code (device code: -O2 unless -G)\n"
    "  -arch=sm_70  -code  -gencode                                compute capability; the highest that is named\n"
    "  -rdc=true                                                   device code is linked across files\n"
    "  -use_fast_math  -fmad=false  -maxrregcount=N                device code\n"
    "  -Xcompiler  -Xlinker  -Xptxas  -ccbin                       the other tools\n"
    "  -MD -MMD -MP -MF FILE -MT NAME                              dependency files\n"
    "  @FILE  -optf FILE                                           more options in a file\n"
    "  -dryrun  -v  -keep  -keep-dir FOLDER                        to see what it does\n"
    "\n"
    "Of its own:\n"
    "  --ptx-from nvcc|PATH     device code is the PTX of the CUDA toolkit's own nvcc, found in PATH, CUDA_HOME,\n"
    "                           CUDA_PATH or /usr/local/cuda, or at PATH; host code is compiled as always\n"
    "  --no-unroll              loops of device code are not unrolled\n"
    "  --keep-branches          branches of device code stay, where clang would run both sides and select\n"
    "  --device-optimize LEVEL  0 to 3, optimisation of device code (default 2)\n"
    "  --cuda-version VERSION   what CUDART_VERSION and __CUDACC_VER_MAJOR__ say (default 12.4)\n"
    "  --toolkit                prints a folder laid out as a CUDA toolkit, for CUDA_PATH of makefiles\n"
    "\n"
    "Files that end in .cu are CUDA; .c, .cc, .cpp and others go to the host compiler. See docs/how-to/capturing.md.\n";

// What nvcc -v says of itself, and CMake reads: the toolkit, and what it adds to the link.
void DescribeToolkit(const Options& options, const Places& places) {
  const char* path = std::getenv("PATH");
  std::fprintf(stderr, "#$ TOP=%s\n#$ PATH=%s\n#$ INCLUDES=-I%s/include\n#$ LIBRARIES=-L%s/lib64\n",
               places.toolkit.c_str(), path != nullptr ? path : "", places.toolkit.c_str(), places.toolkit.c_str());
  std::fprintf(stderr, "#$ DEVICE=-arch compute_%s\n", options.target.c_str() + 3);
}

uint64_t Hash(const std::string& text) {  // FNV-1a
  uint64_t hash = 0xcbf29ce484222325u;
  for (unsigned char c : text) hash = (hash ^ c) * 0x100000001b3u;
  return hash;
}

std::optional<std::string> ReadFile(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  if (!in) return std::nullopt;
  std::stringstream text;
  text << in.rdbuf();
  return text.str();
}

class Build {
 public:
  Build(const Options& options, const Places& places, const WorkFolder& work)
      : options_(options), places_(places), work_(work) {}

  // The exit status.
  int Make();

 private:
  int Execute(const Command& command);
  int Fail(const std::string& message) {
    std::fprintf(stderr, "heddle-nvcc: %s\n", message.c_str());
    return 1;
  }
  int Compile(const std::string& input, Language language, const std::string& output);
  int CompileCuda(const std::string& input, const std::string& output);
  int ReadSource(CudaSource& source);
  int WriteDeviceCode(const std::string& text, const std::string& code, const std::string& path);
  int MakeBitcode(const CudaSource& source, const std::string& stem, const std::string& device_code);
  int MakeVendorPtx(const CudaSource& source, const std::string& stem, const std::string& device_code);
  std::vector<std::string> IncludedFiles(const CudaSource& source, const Command& compile);
  int CompileOrExplain(const CudaSource& source, const Command& compile);
  void ExplainFailure(const CudaSource& source, const Command& compile);
  int CheckConstants(const CudaSource& source, const std::string& code, const std::vector<std::string>& files);
  int RestoreDependencies(const CudaSource& source, const std::string& output);
  std::string ObjectName(const std::string& input) const;
  int MakeLibrary(const std::vector<std::string>& objects);
  int Link(std::vector<std::string> objects);

  const Options& options_;
  const Places& places_;
  const WorkFolder& work_;
  int number_ = 0;  // of the source, for names in the work folder
};

int Build::Execute(const Command& command) {
  if (options_.dry_run) {
    std::fprintf(stderr, "#$ %s\n", NvccText(command).c_str());
    return 0;
  }
  if (options_.verbose) std::fprintf(stderr, "#$ %s\n", ShellText(command).c_str());
  return Run(command);
}

std::string Build::ObjectName(const std::string& input) const {
  if (!options_.output.empty()) return options_.output;
  const fs::path folder = options_.output_folder;
  if (options_.phase == Phase::kHostSource) return (folder / fs::path(input).filename()).string() + ".cpp.ii";
  const std::string ending = options_.phase == Phase::kDeviceCode ? options_.device_code_ending : ".o";
  return (folder / fs::path(input).stem()).string() + ending;
}

int Build::ReadSource(CudaSource& source) {
  std::optional<std::string> text = ReadFile(source.path);
  if (!text && options_.dry_run) return 0;
  if (!text) return Fail(source.path + ": cannot read this file");
  std::string joined =
      DoubleRegisterPercents(WriteDeviceLaunches(JoinLaunchBrackets(*text), IsCxx17(Standard(options_))));
  if (options_.relocatable) {
    joined = NameStaticTextures(joined, "heddle_" + source.identity);
  } else {
    source.keep_static_variables = HasStaticTexture(*text);
  }
  if (joined == *text) return 0;
  source.text_path = work_.File(std::to_string(number_) + "-" + fs::path(source.path).filename().string());
  std::ofstream out(source.text_path, std::ios::binary);
  out << "#line 1 \"" << source.path << "\"\n" << joined;
  out.close();
  return out ? 0 : Fail(source.text_path + ": cannot write this file");
}

int Build::WriteDeviceCode(const std::string& text, const std::string& code, const std::string& path) {
  cuda::DeviceCodeHeader header = {};
  std::memcpy(header.magic, cuda::kDeviceCodeMagic, sizeof(header.magic));
  header.text_bytes = text.size();
  header.bitcode_bytes = code.size();
  const std::string whole = std::string(reinterpret_cast<const char*>(&header), sizeof(header)) + text + code;
  const bool as_text = options_.phase == Phase::kDeviceCode && options_.device_code_ending == ".ptx";
  std::ofstream out(path, std::ios::binary);
  out << (as_text ? cuda::CodeToText(whole) : whole);
  out.close();
  return out ? 0 : Fail(path + ": cannot write this file");
}

int Build::MakeBitcode(const CudaSource& source, const std::string& stem, const std::string& device_code) {
  const std::string bitcode = stem + ".bc";
  if (int status = CompileOrExplain(source, DeviceCommand(options_, places_, source, bitcode)); status != 0) {
    return status;
  }
  const std::string rule = ReadFile(bitcode + ".d").value_or("");
  const std::vector<std::string> files = FilesOfProgram(NamesOfRule(rule), {places_.headers, places_.core_libraries});
  if (int status = CheckConstants(source, bitcode, files); status != 0) return status;
  if (options_.dry_run) return 0;
  const std::optional<std::string> code = ReadFile(bitcode);
  if (!code) return Fail(bitcode + ": cannot read this file");
  return WriteDeviceCode(DeviceCodeText(options_, places_, source), *code, device_code);
}

int Build::MakeVendorPtx(const CudaSource& source, const std::string& stem, const std::string& device_code) {
  std::string note;
  const std::string capability = VendorCapability(places_.vendor_nvcc, options_, &note);
  if (!note.empty()) std::fprintf(stderr, "heddle-nvcc: warning: %s\n", note.c_str());
  const std::string made = stem + ".ptx";
  const Command compile = VendorPtxCommand(places_.vendor_nvcc, capability, options_, places_, source, made);
  if (int status = Execute(compile); status != 0) return status;
  if (options_.dry_run) return 0;
  std::optional<std::string> ptx = ReadFile(made);
  if (!ptx) return Fail(made + ": cannot read this file");
  if (int status = CheckConstants(source, made, {source.path}); status != 0) return status;
  if (HasVendorStatics(*ptx)) {
    const std::string probe = stem + ".mark.cu";
    std::ofstream(probe) << kMarkSource;
    std::string printed;
    const int status = RunQuietly(MarkCommand(places_, source.identity, probe), &printed);
    const std::string mark = MarkIn(printed);
    if (status != 0 || mark.empty()) return Fail(source.path + ": clang does not tell how it names static variables");
    ptx = RenameVendorStatics(*ptx, mark);
  }
  if (options_.phase == Phase::kDeviceCode && options_.device_code_ending == ".ptx") {
    std::ofstream out(device_code, std::ios::binary);
    out << *ptx;
    out.close();
    return out ? 0 : Fail(device_code + ": cannot write this file");
  }
  return WriteDeviceCode(VendorCodeText(options_, places_, source, TargetOfPtx(*ptx)), *ptx, device_code);
}

// The dependency file of a source that was rewritten names the source itself.
int Build::RestoreDependencies(const CudaSource& source, const std::string& output) {
  if (source.text_path == source.path || options_.dependency.empty() || options_.dry_run) return 0;
  std::string path = fs::path(output).replace_extension(".d").string();
  for (size_t i = 0; i + 1 < options_.dependency.size(); ++i) {
    if (options_.dependency[i] == "-MF") path = options_.dependency[i + 1];
  }
  std::optional<std::string> text = ReadFile(path);
  if (!text) return 0;
  for (size_t at; (at = text->find(source.text_path)) != std::string::npos;) {
    text->replace(at, source.text_path.size(), source.path);
  }
  std::ofstream out(path, std::ios::binary);
  out << *text;
  out.close();
  return out ? 0 : Fail(path + ": cannot write this file");
}

// The files that make up the source, and names that were not found; nothing if that cannot be known.
std::vector<std::string> Build::IncludedFiles(const CudaSource& source, const Command& compile) {
  std::string rule;
  if (RunQuietly(DependencyCommand(compile), &rule) != 0) return {};
  std::vector<std::string> files = NamesOfRule(rule);
  std::replace(files.begin(), files.end(), source.text_path, source.path);
  return files;
}

// clang has told what it does not understand, which need not be what the user does not have.
void Build::ExplainFailure(const CudaSource& source, const Command& compile) {
  if (options_.dry_run) return;
  const std::vector<std::string> files = IncludedFiles(source, compile);
  const auto find = [&](const std::string& header) {
    if (!files.empty()) return FindInclusion(files, header);
    return FindsHeader(options_, header) ? Inclusion::kFound : Inclusion::kMissing;
  };
  std::vector<std::string> own = FilesOfProgram(files, {places_.headers, places_.core_libraries});
  if (own.empty()) own.push_back(source.path);
  const auto declared = StandInWords(places_.headers);
  for (const std::string& file : own) {
    const std::string text = ReadFile(file).value_or("");
    const std::string joined = JoinLaunchBrackets(text);
    // Of the source itself clang has not seen the launches, but of its headers.
    const std::string read = file == source.path ? WriteDeviceLaunches(joined, IsCxx17(Standard(options_))) : joined;
    for (const std::string& line : DescribeUnsupported(file, read, find)) Fail(line);
    if (read != joined) {
      Fail(file +
           ": note: launches in device code become HeddleChild<...>: they need -std=c++14 or newer; one kernel of " +
           "that name, or, from -std=c++17 on, one whose parameters have the types or the number of the arguments");
    }
    for (const std::string& line : CallsWithoutStandIn(file, text, declared)) Fail(line);
  }
}

int Build::CompileOrExplain(const CudaSource& source, const Command& compile) {
  const int status = Execute(compile);
  if (status != 0) ExplainFailure(source, compile);
  return status;
}

// A device has 64 KiB of constant memory. The sizes are in the device code, which only heddle-capture can read: it is
// asked for sources that say __constant__ at all.
int Build::CheckConstants(const CudaSource& source, const std::string& code, const std::vector<std::string>& files) {
  constexpr uint64_t kBytes = 64 << 10;
  if (options_.dry_run || places_.device_program.empty()) return 0;
  std::vector<std::pair<std::string, std::string>> texts;  // of files that say __constant__
  for (const std::string& file : files) {
    const std::string& path = file == source.text_path ? source.path : file;
    std::string text = ReadFile(path).value_or("");
    if (text.find("__constant__") != std::string::npos) texts.emplace_back(path, std::move(text));
  }
  std::string list;
  if (texts.empty() || RunQuietly({places_.device_program, "--constants", code}, &list) != 0) return 0;
  uint64_t total = 0, largest = 0;
  std::string name, variable;
  std::istringstream lines(list);
  for (uint64_t bytes; lines >> bytes && std::getline(lines >> std::ws, variable);) {
    total += bytes;
    if (bytes > largest) {
      largest = bytes;
      name = variable;
    }
  }
  if (total <= kBytes) return 0;
  std::string place = source.path + ": ";
  for (const auto& [path, text] : texts) {
    // Without its namespace, class or function.
    const size_t scope = name.rfind("::");
    const std::string base = scope == std::string::npos ? name : name.substr(scope + 2);
    if (const size_t line = LineOfConstant(text, base); line != 0) place = path + ":" + std::to_string(line) + ": ";
  }
  return Fail(place + "__constant__ variables take " + std::to_string(total) + " bytes, of which '" + name +
              "' takes " + std::to_string(largest) + ", but constant memory has " + std::to_string(kBytes) +
              "; make them __device__ variables or pass a pointer");
}

int Build::CompileCuda(const std::string& input, const std::string& output) {
  CudaSource source;
  source.path = source.text_path = input;
  std::error_code ignored;
  char identity[17];
  std::snprintf(identity, sizeof(identity), "%016llx",
                static_cast<unsigned long long>(Hash(fs::absolute(input, ignored).string() + " " + output)));
  source.identity = identity;
  if (int status = ReadSource(source); status != 0) return status;
  if (options_.phase == Phase::kPreprocess || options_.phase == Phase::kDependencies) {
    return Execute(HostCommand(options_, places_, source, "", output));
  }
  const std::string stem = work_.File(std::to_string(number_) + "-" + fs::path(input).stem().string());
  const bool device_code_only = options_.phase == Phase::kDeviceCode;
  const std::string device_code = device_code_only ? output : stem + ".devicecode";
  const int made_code =
      options_.ptx_from.empty() ? MakeBitcode(source, stem, device_code) : MakeVendorPtx(source, stem, device_code);
  if (made_code != 0) return made_code;
  if (device_code_only) return 0;
  const bool makes_source = options_.phase == Phase::kHostSource;
  const std::string made = makes_source ? stem + ".s" : output;
  if (int status = CompileOrExplain(source, HostCommand(options_, places_, source, device_code, made)); status != 0) {
    return status;
  }
  if (makes_source && !options_.dry_run) {
    std::ofstream out(output, std::ios::binary);
    out << HostSource(ReadFile(made).value_or(""));
    out.close();
    if (!out) return Fail(output + ": cannot write this file");
  }
  return RestoreDependencies(source, output);
}

int Build::Compile(const std::string& input, Language language, const std::string& output) {
  ++number_;
  std::error_code ignored;
  // Build scripts ask a dry run how programs are linked, with a name that need not be that of a file.
  if (!options_.dry_run && !fs::exists(input, ignored)) return Fail(input + ": no such file");
  if (language == Language::kCuda) return CompileCuda(input, output);
  if (options_.phase == Phase::kHostSource) return 0;  // it is what -cuda makes of CUDA sources
  CudaSource source;
  source.path = source.text_path = input;
  return CompileOrExplain(source, PlainCommand(options_, places_, language, input, output));
}

int Build::MakeLibrary(const std::vector<std::string>& objects) {
  Command command = {options_.archiver.empty() ? "ar" : options_.archiver, "rcs"};
  command.insert(command.end(), options_.archive.begin(), options_.archive.end());
  command.push_back(options_.output.empty() ? "a.a" : options_.output);
  command.insert(command.end(), objects.begin(), objects.end());
  return Execute(command);
}

int Build::Link(std::vector<std::string> objects) {
  if (!places_.device_program.empty()) {
    const std::string source = work_.File("device_program.c");
    const std::string object = work_.File("device_program.o");
    if (!options_.dry_run) {
      std::ofstream out(source);
      out << DeviceProgramSource(places_);
      out.close();
      if (!out) return Fail(source + ": cannot write this file");
    }
    if (int status = Execute({places_.host_c, "-fPIC", "-c", source, "-o", object}); status != 0) return status;
    objects.push_back(object);
  }
  int status = Execute(LinkCommand(options_, places_, objects));
  if (status != 0 && std::any_of(objects.begin(), objects.end(), IsStandInLibrary)) {
    Fail("note: of cuBLAS, cuRAND and cuFFT, only those functions have stand-ins that their headers declare");
  }
  if (status != 0 || !options_.run) return status;
  Command command = {fs::absolute(options_.output.empty() ? "a.out" : options_.output).string()};
  command.insert(command.end(), options_.run_arguments.begin(), options_.run_arguments.end());
  return Execute(command);
}

int Build::Make() {
  if (options_.inputs.empty()) return Fail("no input files; see heddle-nvcc --help");
  if (options_.phase == Phase::kDeviceLink) {
    // Device code is linked when the program starts: all of a program's objects are known then.
    const std::string output = options_.output.empty() ? "a_dlink.o" : options_.output;
    return Execute({places_.host_c, "-x", "c", "-c", "/dev/null", "-o", output});
  }
  const bool objects_only = options_.phase == Phase::kCompile || options_.phase == Phase::kPreprocess ||
                            options_.phase == Phase::kDependencies || options_.phase == Phase::kDeviceCode ||
                            options_.phase == Phase::kHostSource;
  // Libraries and objects may be there too (-lm -o x.o -c x.c): they do not count.
  const auto sources = std::count_if(options_.inputs.begin(), options_.inputs.end(), [this](const std::string& input) {
    return input[0] != '-' && LanguageOf(input, options_) != Language::kNone;
  });
  if (objects_only && !options_.output.empty() && sources > 1 && options_.phase != Phase::kDependencies &&
      options_.phase != Phase::kPreprocess) {
    return Fail("-o with -c and several sources: leave -o away, or compile one after the other");
  }
  std::vector<std::string> objects;
  for (const std::string& input : options_.inputs) {
    const Language language = input[0] == '-' ? Language::kNone : LanguageOf(input, options_);
    if (language == Language::kNone) {
      if (const std::string ending = fs::path(input).extension().string();
          !objects_only && (ending == ".ptx" || ending == ".cubin" || ending == ".fatbin")) {
        return Fail(
            input +
            ": device code alone is not linked into programs, which load it with cuModuleLoad; give the source");
      }
      if (objects_only && input[0] != '-') {
        std::fprintf(stderr, "heddle-nvcc: warning: %s: not a source file, and nothing is linked\n", input.c_str());
      }
      objects.push_back(input);
      continue;
    }
    const std::string output = objects_only
                                   ? ObjectName(input)
                                   : work_.File(std::to_string(number_) + "-" + fs::path(input).stem().string() + ".o");
    if (int status = Compile(input, language, output); status != 0) return status;
    objects.push_back(output);
  }
  if (objects_only) return 0;
  if (options_.phase == Phase::kLibrary) return MakeLibrary(objects);
  return Link(std::move(objects));
}

// Options that the environment puts in front of those of the command line, and behind them; nvcc's names.
void AddEnvironment(std::vector<std::string>& arguments) {
  const auto words = [](const char* name) {
    const char* text = std::getenv(name);
    return SplitWords(text != nullptr ? text : "");
  };
  const std::vector<std::string> first = words("NVCC_PREPEND_FLAGS"), last = words("NVCC_APPEND_FLAGS");
  arguments.insert(arguments.begin(), first.begin(), first.end());
  arguments.insert(arguments.end(), last.begin(), last.end());
  // Not twice, by the vendor's compiler.
  unsetenv("NVCC_PREPEND_FLAGS");
  unsetenv("NVCC_APPEND_FLAGS");
}

int Main(int argc, char** argv) {
  std::vector<std::string> arguments(argv + 1, argv + argc);
  std::string error;
  if (arguments.size() == 1 && arguments[0] == "--toolkit") {
    std::error_code ignored;
    const fs::path here = fs::read_symlink("/proc/self/exe", ignored).parent_path();
    std::printf("%s\n", (here / "../lib/heddle/toolkit").lexically_normal().c_str());
    return 0;
  }
  AddEnvironment(arguments);
  const std::optional<Options> options = ParseOptions(arguments, &error);
  if (!options) {
    std::fprintf(stderr, "heddle-nvcc: %s\n", error.c_str());
    return 2;
  }
  switch (options->phase) {
    case Phase::kVersion:
      std::fputs(VersionText(options->cuda_version).c_str(), stdout);
      return 0;
    case Phase::kHelp:
      std::fputs(kHelp, stdout);
      return 0;
    case Phase::kListCode:
    case Phase::kListArchitectures:
      for (int target : device::kComputeCapabilities) {
        std::printf("%s_%d\n", options->phase == Phase::kListCode ? "sm" : "compute", target);
      }
      return 0;
    default:
      break;
  }
  for (const std::string& warning : options->warnings) {
    std::fprintf(stderr, "heddle-nvcc: warning: %s\n", warning.c_str());
  }
  std::optional<Places> places = FindPlaces(options->host_compiler, &error);
  if (places && !options->ptx_from.empty()) places->vendor_nvcc = FindVendorNvcc(options->ptx_from, &error);
  if (!error.empty()) {
    std::fprintf(stderr, "heddle-nvcc: %s\n", error.c_str());
    return 1;
  }
  if (options->dry_run || options->verbose) DescribeToolkit(*options, *places);
  const std::string keep = options->keep_folder.empty() ? "." : options->keep_folder;
  const WorkFolder work(options->keep ? keep : "");
  if (!work.ok()) {
    std::fprintf(stderr, "heddle-nvcc: cannot make a folder for intermediate files; check TMPDIR\n");
    return 1;
  }
  return Build(*options, *places, work).Make();
}

}  // namespace
}  // namespace heddle::nvcc

int main(int argc, char** argv) { return heddle::nvcc::Main(argc, argv); }
