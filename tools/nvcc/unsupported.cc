#include "tools/nvcc/unsupported.h"

#include <algorithm>
#include <cctype>
#include <cstddef>
#include <iterator>

#include "tools/nvcc/source_text.h"
#include "tools/nvcc/stand_in_calls.h"

namespace heddle::nvcc {
namespace {

// Libraries of a toolkit that have neither headers nor code here.
constexpr std::string_view kRefusedLibraries[] = {"cusparse", "cusolver", "cudnn", "nccl",   "nvgraph",
                                                  "nvjpeg",   "nvml",     "npp",   "cutlass"};
// Libraries of headers alone, which compile where they are installed, and what has them.
struct HeaderLibrary {
  std::string_view name, where;
};
constexpr HeaderLibrary kHeaderLibraries[] = {{"thrust", "Debian: libthrust-dev"}, {"cub", "Debian: libcub-dev"}};

// Parts of the toolkit's own headers that are not there.
struct MissingPart {
  std::string_view prefix;  // of the header's name, or of a word
  std::string_view text;
};
constexpr MissingPart kHeaders[] = {
    {"cuda_fp6", "6-bit floating-point numbers (cuda_fp6.h) are not supported; use half or bfloat16"},
    {"cuda_fp4", "4-bit floating-point numbers (cuda_fp4.h) are not supported; use half or bfloat16"},
    {"cudaGL.h", "the driver API's OpenGL interface is not supported"},
    {"cudaEGL", "the EGL interface is not supported"},
    {"cuda_egl_interop.h", "the EGL interface is not supported"},
    {"cudaVDPAU", "the VDPAU interface is not supported"},
    {"cuda_vdpau_interop.h", "the VDPAU interface is not supported"},
    {"cuda_d3d", "the Direct3D interface is not supported"},
};
constexpr std::string_view kSemaphores = "semaphores of other APIs are not supported; wait for events of CUDA";
// Words of programs. Each is told once per file.
constexpr MissingPart kInterfaces[] = {
    {"cuGraphConditional",
     "conditional nodes of graphs are not in the driver API here; use the runtime's "
     "(cudaGraphConditionalHandleCreate)"},
    {"cudaGraphAddExternalSemaphores", kSemaphores},
    {"cuGraphAddExternalSemaphores", kSemaphores},
    {"__nv_atomic_", "atomic functions by memory order (CUDA 12.8) are not supported; use atomicAdd and its like"},
    {"cuMemPool",
     "memory pools of the driver API are not supported; use the runtime's (cudaMemPoolCreate and its like)"},
    {"CUmemoryPool",
     "memory pools of the driver API are not supported; use the runtime's (cudaMemPoolCreate and its like)"},
    {"cudaMipmapped", "mipmapped arrays are not supported; textures have one level"},
};

std::string Place(const std::string& path, size_t line) { return path + ":" + std::to_string(line) + ": "; }

// Of '#include <thrust/sort.h>', if that header is not found: why. Empty if the line includes none of the libraries.
std::string MissingLibrary(std::string_view line, const FindHeader& find) {
  const auto skip = [&line] {
    while (!line.empty() && (line.front() == ' ' || line.front() == '\t')) line.remove_prefix(1);
  };
  const auto take = [&line](std::string_view word) {
    if (!line.starts_with(word)) return false;
    line.remove_prefix(word.size());
    return true;
  };
  skip();
  if (!take("#")) return {};
  skip();
  if (!take("include")) return {};
  skip();
  const bool quoted = line.starts_with('"');
  if (!take("<") && !take("\"")) return {};
  const std::string header(line.substr(0, line.find_first_of(">\"")));
  const Inclusion inclusion = find(header);
  // What is in a library's folder, or, unless it may be a file of the program, has the library's name.
  const auto is_of = [&header](std::string_view library, bool own) {
    if (!header.starts_with(library) || header.size() == library.size()) return false;
    const char next = header[library.size()];
    return next == '/' || (!own && std::islower(static_cast<unsigned char>(next)) == 0);
  };
  for (const MissingPart& part : kHeaders) {
    if (header.starts_with(part.prefix) && inclusion == Inclusion::kMissing) return std::string(part.text);
  }
  const std::string_view* found =
      std::find_if(std::begin(kRefusedLibraries), std::end(kRefusedLibraries),
                   [&](std::string_view name) { return is_of(name, quoted && inclusion != Inclusion::kMissing); });
  const std::string_view library = found != std::end(kRefusedLibraries) ? *found : std::string_view();
  if (!library.empty() && inclusion != Inclusion::kNone) {
    return "the library " + std::string(library) +
           " is not supported: heddle-nvcc has the CUDA runtime and driver API, and no libraries on top";
  }
  for (const StandInLibrary& library : kStandInLibraries) {
    if (!is_of(library.prefix, quoted) || inclusion != Inclusion::kMissing) continue;
    return "the header " + header + " of the library " + std::string(library.prefix) +
           " is not supported: a few functions of this library have stand-ins, which other headers declare";
  }
  if ((header.starts_with("cuda/") || header.starts_with("nv/")) && inclusion == Inclusion::kMissing) {
    return "the library libcu++ is not installed: its own headers are compiled as they are, with -std=c++17 or newer; "
           "they are part of a toolkit from 13.0 on, which is looked for in CUDA_HOME, CUDA_PATH and /usr/local/cuda, "
           "and of CCCL; give their folder with -I";
  }
  for (const HeaderLibrary& library : kHeaderLibraries) {
    if (!is_of(library.name, quoted) || inclusion != Inclusion::kMissing) continue;
    return "the library " + std::string(library.name) +
           " is not installed: its own headers are compiled as they are (" + std::string(library.where) +
           ", or a toolkit from 13.0 on); give their folder with -I if it is not /usr/include";
  }
  return {};
}

}  // namespace

std::vector<std::string> DescribeUnsupported(const std::string& path, std::string_view text, const FindHeader& find) {
  const std::string plain = WithoutComments(text);
  std::vector<std::string> found;
  size_t line = 1;
  size_t line_start = 0;
  size_t depth = 0;              // of braces
  size_t device_depth = 0;       // that the body of a device function has; 0 = outside
  bool host_function = false;    // the same for __host__
  bool device_function = false;  // __global__ or __device__ has been read, and no body or end of a declaration since
  std::vector<std::string_view> told;
  for (size_t i = 0; i <= plain.size(); ++i) {
    if (i == plain.size() || plain[i] == '\n') {
      const std::string why = MissingLibrary(std::string_view(plain).substr(line_start, i - line_start), find);
      if (!why.empty()) found.push_back(Place(path, line) + why);
      ++line;
      line_start = i + 1;
      continue;
    }
    const std::string_view rest = std::string_view(plain).substr(i);
    if (IsWord(plain[i])) {
      size_t end = 1;
      while (end < rest.size() && IsWord(rest[end])) ++end;
      const std::string_view word = rest.substr(0, end);
      if (device_depth == 0 && (word == "__global__" || word == "__device__")) device_function = true;
      if (device_depth == 0 && word == "__host__") host_function = true;
      for (const MissingPart& part : kInterfaces) {
        if (!word.starts_with(part.prefix)) continue;
        if (!part.text.empty() && std::find(told.begin(), told.end(), part.text) == told.end()) {
          told.push_back(part.text);
          found.push_back(Place(path, line) + std::string(word) + ": " + std::string(part.text));
        }
        break;
      }
      i += end - 1;
    } else if (plain[i] == '{') {
      ++depth;
      if (device_function && !host_function && device_depth == 0) device_depth = depth;
      device_function = host_function = false;
    } else if (plain[i] == '}') {
      if (depth == device_depth) device_depth = 0;
      if (depth > 0) --depth;
    } else if (plain[i] == ';') {
      device_function = host_function = false;
    } else if (device_depth != 0 && rest.starts_with("<<<")) {
      found.push_back(
          Place(path, line) +
          "device code launches a kernel (dynamic parallelism) where that is not supported: write "
          "kernel<<<shape>>> in a __global__ or __device__ function of the .cu file itself, or launch from the host");
      i += 2;
    }
  }
  return found;
}

size_t LineOfConstant(std::string_view text, std::string_view name) {
  constexpr std::string_view kConstant = "__constant__";
  const std::string plain = WithoutComments(text);
  for (size_t at = plain.find(kConstant); at != std::string::npos; at = plain.find(kConstant, at + 1)) {
    // The declaration's names come before its values.
    const size_t end = std::min(plain.find_first_of(";={", at), plain.size());
    for (size_t i = plain.find(name, at); i < end; i = plain.find(name, i + 1)) {
      const bool whole = !IsWord(plain[i - 1]) && (i + name.size() == plain.size() || !IsWord(plain[i + name.size()]));
      if (whole) return 1 + static_cast<size_t>(std::count(plain.begin(), plain.begin() + static_cast<long>(i), '\n'));
    }
  }
  return 0;
}

}  // namespace heddle::nvcc
