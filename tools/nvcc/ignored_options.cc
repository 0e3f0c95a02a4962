#include "tools/nvcc/ignored_options.h"

namespace heddle::nvcc {
namespace {

constexpr const char* kFlags[] = {
    // Lines are always kept, lambdas and constexpr functions always allowed, and hosts have 64 bits.
    "lineinfo",
    "generate-line-info",
    "m64",
    "expt-relaxed-constexpr",
    "expt-extended-lambda",
    "extended-lambda",
    "allow-unsupported-compiler",
    "no-align-double",
    // Of the vendor's assembler, linker and binary format.
    "res-usage",
    "resource-usage",
    "src-in-ptx",
    "source-in-ptx",
    "ewp",
    "extensible-whole-program",
    "no-compress",
    "extra-device-vectorization",
    "no-device-link",
    "nodlink",
    "dlto",
    "dlink-time-opt",
    "lto",
    "gen-opt-lto",
    "keep-device-functions",
    "relocatable-ptx",
    "reloc-ptx",
    "compile-as-tools-patch",
    "astoolspatch",
    "disable-extern-shared-init",
    "device-stack-protector",
    "device-entity-has-hidden-visibility",
    // A promise that pointers of kernels do not overlap, which is not used.
    "restrict",
    // How nvcc works and what it prints.
    "noprof",
    "dont-use-profile",
    "use-local-env",
    "forward-unknown-to-host-linker",
    "forward-unknown-to-host-archiver",
    "forward-slash-prefix-opts",
    "objtemp",
    "objdir-as-tempdir",
    "display-error-number",
    "no-display-error-number",
    "disp-error-number",
    "err-no",
    "no-err-no",
    "brief-diagnostics",
    "fdevice-time-trace",
    "jobserver",
    "minimal",
    "deviceemu",
    // Warnings of nvcc's own; clang has others.
    "Wreorder",
    "Wdefault-stream-launch",
    "Wmissing-launch-bounds",
    "Wext-lambda-captures-this",
    "Wno-deprecated-gpu-targets",
    // Both are what clang does.
    "no-host-device-initializer-list",
    "nohdinitlist",
    "no-host-device-move-forward",
    "nohdmoveforward",
};

constexpr const char* kValues[] = {
    // The runtime is always linked in, and capture has no other machines.
    "cudart",
    "cudadevrt",
    "machine",
    "m",
    "libdevice-directory",
    "ldir",
    "target-directory",
    "target-dir",
    "tdir",
    // Of the vendor's assembler, linker and binary format.
    "Xnvlink",
    "nvlink-options",
    "Xfatbin",
    "fatbin-options",
    "nvlink-diag",
    "compress-mode",
    "entries",
    "e",
    "jump-table-density",
    "jtd",
    "Ofast-compile",
    "Ofc",
    "optimization-info",
    "opt-info",
    "split-compile",
    "split-compile-extended",
    // Division and square root are always exact in a trace's instructions; see docs/reference/device-code.md.
    "prec-div",
    "prec-sqrt",
    "dopt",
    // Of nvcc's own parser.
    "Xcudafe",
    "diag-suppress",
    "diag-error",
    "diag-warn",
    "Werror",
    "static-global-template-stub",
    "qpp-config",
    // How nvcc works.
    "threads",
    "t",
    "drive-prefix",
    "dp",
    "dependency-drive-prefix",
    "ddp",
    "input-drive-prefix",
    "idp",
    "frandom-seed",
    "time",
};

constexpr RefusedOption kRefusedFlags[] = {
    {"ltoir", "this output is not made; -cubin makes device code for cuModuleLoad"},
    {"optix-ir", "this output is not made; -cubin makes device code for cuModuleLoad"},
    {"m32", "device code is made for 64-bit hosts only; use -m64"},
    {"clean", "nothing is removed; remove the files by their names"},
    {"clean-targets", "nothing is removed; remove the files by their names"},
    {"r", "objects are not joined; make a library with -lib"},
    {"host-relocatable-link", "objects are not joined; make a library with -lib"},
};

constexpr RefusedOption kRefusedValues[] = {
    {"host-linker-script", "there is no such script here; leave the option away"},
    {"hls", "there is no such script here; leave the option away"},
    {"augment-host-linker-script", "there is no such script here; leave the option away"},
    {"aug-hls", "there is no such script here; leave the option away"},
};

}  // namespace

std::span<const char* const> IgnoredFlags() { return kFlags; }
std::span<const char* const> IgnoredOptionsWithValue() { return kValues; }
std::span<const RefusedOption> RefusedFlags() { return kRefusedFlags; }
std::span<const RefusedOption> RefusedOptionsWithValue() { return kRefusedValues; }

}  // namespace heddle::nvcc
