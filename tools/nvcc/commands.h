// The commands that compile and link.
#ifndef HEDDLE_TOOLS_NVCC_COMMANDS_H_
#define HEDDLE_TOOLS_NVCC_COMMANDS_H_

#include <string>
#include <string_view>
#include <vector>

#include "tools/nvcc/options.h"
#include "tools/nvcc/places.h"
#include "tools/nvcc/process.h"

namespace heddle::nvcc {

enum class Language { kCuda, kC, kCxx, kNone };

// By -x or the name's ending; kNone for objects and libraries.
Language LanguageOf(const std::string& input, const Options& options);

// A CUDA source on its way through the two passes of clang.
struct CudaSource {
  std::string path;                    // as given
  std::string text_path;               // what clang reads: `path`, or a copy with its launches rewritten
  bool keep_static_variables = false;  // see HasStaticTexture
  std::string identity;  // number of this translation unit, hexadecimal: names of its static device variables
};

// nvcc's standard for CUDA sources, as -std= names it, and whether a standard is C++17 or newer.
std::string Standard(const Options& options);
bool IsCxx17(const std::string& standard);

// Device pass: LLVM bitcode into `output`.
Command DeviceCommand(const Options& options, const Places& places, const CudaSource& source,
                      const std::string& output);
// Of a command that compiles one source: prints, as a rule of make, the files that it reads, also those that it does
// not find.
Command DependencyCommand(const Command& compile);
// Host pass, with the device code in the file `device_code` inside (empty: none, for -E and -M).
Command HostCommand(const Options& options, const Places& places, const CudaSource& source,
                    const std::string& device_code, const std::string& output);
// A C or C++ source.
Command PlainCommand(const Options& options, const Places& places, Language language, const std::string& input,
                     const std::string& output);
// `inputs` are objects, libraries and -l options in order.
Command LinkCommand(const Options& options, const Places& places, const std::vector<std::string>& inputs);

// The lines in front of the bitcode, see tracegen/runtime/cuda/device_code.h.
std::string DeviceCodeText(const Options& options, const Places& places, const CudaSource& source);
// The same in front of PTX text for `target`.
std::string VendorCodeText(const Options& options, const Places& places, const CudaSource& source,
                           const std::string& target);

// A C source that is linked into programs: where heddle-capture is, for those without device code of their own.
std::string DeviceProgramSource(const Places& places);

// The macros that say which version of CUDA this is, as -D options.
std::vector<std::string> VersionDefines(const CudaVersion& version);
// The answer to --version, with what build systems look for in it (CMake: its first line).
std::string VersionText(const CudaVersion& version);

// C++ that a host compiler makes the same object of as an assembler makes of `assembly`: what -cuda writes.
std::string HostSource(const std::string& assembly);

}  // namespace heddle::nvcc

#endif  // HEDDLE_TOOLS_NVCC_COMMANDS_H_
