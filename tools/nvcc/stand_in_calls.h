// Calls of closed libraries of which only some functions have stand-ins.
#ifndef HEDDLE_TOOLS_NVCC_STAND_IN_CALLS_H_
#define HEDDLE_TOOLS_NVCC_STAND_IN_CALLS_H_

#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace heddle::nvcc {

// A library of which a few functions have stand-ins (tracegen/runtime/libraries).
struct StandInLibrary {
  std::string_view prefix;  // of its functions, before a capital letter or '_', and of its headers and -l
  std::string_view name;
};
inline constexpr StandInLibrary kStandInLibraries[] = {
    {"cublasLt", "cublasLt"}, {"cublas", "cuBLAS"}, {"curand", "cuRAND"}, {"cufft", "cuFFT"}};

// The words in `text` that are names of C++.
std::set<std::string, std::less<>> WordsOf(std::string_view text);

// All words of the headers in the folder `headers` that declare stand-ins.
std::set<std::string, std::less<>> StandInWords(const std::string& headers);

// One line per function, such as "a.cu:12: cublasCherk: ...", that `text` calls, that has the name of one of cuBLAS,
// cublasLt, cuRAND or cuFFT, and that is not among the words of the headers that declare stand-ins (`declared`). What
// the text itself defines, as a function or macro, does not count; nor do comments and strings.
std::vector<std::string> CallsWithoutStandIn(const std::string& path, std::string_view text,
                                             const std::set<std::string, std::less<>>& declared);

// Whether a word of a linker's command line, such as -lcublas, asks for one of these libraries.
bool IsStandInLibrary(std::string_view word);

}  // namespace heddle::nvcc

#endif  // HEDDLE_TOOLS_NVCC_STAND_IN_CALLS_H_
