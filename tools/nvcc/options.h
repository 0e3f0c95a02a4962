// The command line of nvcc, as heddle-nvcc understands it.
#ifndef HEDDLE_TOOLS_NVCC_OPTIONS_H_
#define HEDDLE_TOOLS_NVCC_OPTIONS_H_

#include <optional>
#include <string>
#include <vector>

namespace heddle::nvcc {

// How far to go with the inputs.
enum class Phase {
  kLink,          // to a program or shared library
  kCompile,       // -c, -dc, -dw: to objects
  kDeviceLink,    // -dlink: to an object that holds nothing, as device code is linked when the program starts
  kPreprocess,    // -E
  kDependencies,  // -M, -MM
  kLibrary,       // -lib: to a static library
  kDeviceCode,    // -cubin, -ptx, -fatbin: device code alone, for cuModuleLoad
  kHostSource,    // -cuda: C++ that a host compiler makes the object of
  kListCode,      // --list-gpu-code
  kListArchitectures,
  kVersion,
  kHelp,
};

// What CUDART_VERSION, CUDA_VERSION and __CUDACC_VER_MAJOR__ tell programs.
struct CudaVersion {
  unsigned major = 12;
  unsigned minor = 4;

  unsigned number() const { return major * 1000 + minor * 10; }  // such as 12040
};
// "11.8", or "12" for 12.0. Nothing if it is no version from 5.0 to 12.9: later ones have functions with other
// parameters.
std::optional<CudaVersion> ParseCudaVersion(const std::string& text);

struct Options {
  Phase phase = Phase::kLink;
  std::vector<std::string> inputs;  // in order; sources, objects, libraries and -l options
  std::string output;               // -o; empty = the usual name
  std::string output_folder;        // -odir
  std::string device_code_ending;   // of -cubin, -ptx, -fatbin
  std::string language;             // -x: "cu", "c", "c++"; empty = by the name's ending

  std::vector<std::string> preprocessor;  // -I, -D, -U, -include, -isystem, as clang and gcc take them
  std::string standard;                   // -std, such as "c++17"; empty = the compiler's for this language
  std::string host_optimization;          // such as "-O3"; empty = none given
  std::string device_optimization = "-O2";
  bool no_unroll = false;      // --no-unroll: loops of device code are not unrolled
  bool keep_branches = false;  // --keep-branches: branches of device code do not become selections
  bool debug = false;          // -g
  bool device_debug = false;   // -G
  bool fast_math = false;
  bool flush_denormals = false;
  bool contract = true;  // -fmad
  bool relocatable = false;
  bool pic_or_shared = false;  // -shared
  bool no_warnings = false;    // -w
  bool profile = false;        // -pg
  std::string target = "sm_70";
  int wanted_capability = 0;    // the highest that was named, such as 75, also where `target` is another; 0 = none was
  std::string wanted_features;  // the letter behind it, such as "a"
  std::string ptx_from;         // --ptx-from: "nvcc", or where it is; empty = device code is clang's
  CudaVersion cuda_version;
  unsigned max_registers = 0;
  bool per_thread_stream = false;  // -default-stream per-thread

  std::string host_compiler;                   // -ccbin
  std::vector<std::string> host;               // -Xcompiler
  std::vector<std::string> linker;             // -Xlinker, each with its -Xlinker
  std::vector<std::string> search;             // -L
  std::vector<std::string> dependency;         // -MD, -MF ... as given
  bool system_headers_in_dependencies = true;  // -M against -MM

  std::string archiver;              // -arbin; empty = ar
  std::vector<std::string> archive;  // -Xarchive
  bool run = false;                  // -run: the program, once it is linked
  std::vector<std::string> run_arguments;

  bool dry_run = false;
  bool verbose = false;
  bool keep = false;
  std::string keep_folder;

  std::vector<std::string> warnings;  // options without effect here, to be told
};

// Reads the arguments behind the program's name, with response files expanded. Nothing and a message in `error` if an
// option lacks its value, a response file cannot be read, or what is asked for cannot be made.
std::optional<Options> ParseOptions(const std::vector<std::string>& arguments, std::string* error);

// Whether a header is in a folder given with -I or -isystem, or in one of the system's.
bool FindsHeader(const Options& options, const std::string& header);

}  // namespace heddle::nvcc

#endif  // HEDDLE_TOOLS_NVCC_OPTIONS_H_
