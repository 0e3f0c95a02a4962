// --ptx-from: device code is the PTX of the vendor's own compiler, which users have installed.
#ifndef HEDDLE_TOOLS_NVCC_VENDOR_PTX_H_
#define HEDDLE_TOOLS_NVCC_VENDOR_PTX_H_

#include <string>
#include <string_view>

#include "tools/nvcc/commands.h"
#include "tools/nvcc/options.h"
#include "tools/nvcc/places.h"
#include "tools/nvcc/process.h"

namespace heddle::nvcc {

// The vendor's nvcc. `wanted` is "nvcc", which is looked for in PATH, CUDA_HOME, CUDA_PATH and /usr/local/cuda, or a
// program, or the folder of a toolkit. Heddle's own stand-in, which may go by that name, is passed over. Empty, with a
// message in `error`, if there is none.
std::string FindVendorNvcc(const std::string& wanted, std::string* error);

// What `nvcc` compiles for, such as "75": the capability that `options` name, or the lowest one above it that it knows
// (then `note` says so), or its own default (empty).
std::string VendorCapability(const std::string& nvcc, const Options& options, std::string* note);

// The command that makes PTX of a source: the same headers, macros and modes as in the passes of clang, but the
// vendor's own headers in place of Heddle's.
Command VendorPtxCommand(const std::string& nvcc, const std::string& capability, const Options& options,
                         const Places& places, const CudaSource& source, const std::string& output);

// The target that PTX text names, such as "sm_75"; empty if it names none.
std::string TargetOfPtx(std::string_view ptx);

// In relocatable code nvcc puts a mark of the file before names that no other file can see (__nv_static_...), as clang
// puts one behind. Whether `ptx` has such names; and `ptx` with clang's mark, such as "__static__0123456789abcdef".
bool HasVendorStatics(std::string_view ptx);
std::string RenameVendorStatics(std::string_view ptx, const std::string& mark);

// A source of one static variable, and the command that shows, in what it prints, clang's mark for `identity` (see
// CudaSource) behind that variable's name.
inline constexpr char kMarkSource[] =
    "static __attribute__((device)) int heddle_mark;\nint* Heddle() { return &heddle_mark; }\n";
Command MarkCommand(const Places& places, const std::string& identity, const std::string& path);
// The mark in what it has printed; empty if there is none.
std::string MarkIn(std::string_view printed);

}  // namespace heddle::nvcc

#endif  // HEDDLE_TOOLS_NVCC_VENDOR_PTX_H_
