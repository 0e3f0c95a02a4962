#include "tracegen/frontend/runtime_compilation.h"

#include <cstring>
#include <filesystem>
#include <fstream>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/string_view.h"
#include "llvm/IR/Constants.h"
#include "llvm/IR/GlobalVariable.h"
#include "llvm/IR/LLVMContext.h"
#include "llvm/IR/Module.h"
#include "tracegen/frontend/bitcode.h"
#include "tracegen/frontend/device_arguments.h"
#include "tracegen/frontend/device_headers.h"
#include "tracegen/frontend/runtime_compilation_options.h"
#include "tracegen/program/compiled/canonicalize.h"
#include "tracegen/program/compiled/part_ptx.h"
#include "tracegen/program/prepare.h"
#include "tracegen/program/static_program.h"
#include "tracegen/runtime/cuda/device_code.h"
#include "traces/base/status_macros.h"

namespace heddle::tracegen {
namespace {

namespace fs = std::filesystem;

using device::Error;

// Variables that point to what name expressions name.
constexpr char kNamePrefix[] = "heddle_nvrtc_name_";

// `text` within double quotes, for clang (#line) and for the overlay of files.
std::string Quoted(absl::string_view text) {
  std::string quoted = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') quoted += '\\';
    quoted += c == '\n' || c == '\r' ? ' ' : c;
  }
  return quoted + "\"";
}

std::string Base(const std::string& name) { return fs::path(name).filename().string(); }

bool WriteText(const std::string& path, absl::string_view text) {
  std::ofstream out(path, std::ios::binary);
  out.write(text.data(), static_cast<std::streamsize>(text.size()));
  out.close();
  return static_cast<bool>(out);
}

// Static kernels and variables outside of namespaces have the names by which nvcc knows them: programs ask for these.
void UseVendorNames(llvm::Module& module) {
  for (const char* list : {"llvm.used", "llvm.compiler.used"}) {
    if (llvm::GlobalVariable* variable = module.getNamedGlobal(list)) variable->eraseFromParent();
  }
  constexpr llvm::StringLiteral kStatic = "_ZL";
  for (llvm::GlobalVariable& variable : module.globals()) {
    llvm::StringRef name = variable.getName();
    unsigned bytes = 0;
    if (!name.consume_front(kStatic) || name.consumeInteger(10, bytes) || name.size() != bytes) continue;
    const std::string source_name = name.str();
    if (module.getNamedValue(source_name) != nullptr) continue;
    variable.setName(source_name);
    variable.removeDeadConstantUsers();  // of the lists
    if (variable.use_empty()) continue;
    variable.setLinkage(llvm::GlobalValue::ExternalLinkage);
    variable.setExternallyInitialized(true);
  }
  for (llvm::Function* kernel : KernelsOf(module)) {
    llvm::StringRef name = kernel->getName();
    if (!name.consume_front(kStatic)) continue;
    const std::string vendor_name = ("_Z" + name).str();
    if (module.getNamedValue(vendor_name) == nullptr) kernel->setName(vendor_name);
  }
}

// One compilation: its files, and what becomes of them.
class Compilation {
 public:
  Compilation(const device::CompileCudaRequest& request, device::CompiledCuda* reply)
      : request_(request), reply_(reply), name_(request.name.empty() ? "default_program" : request.name) {}

  device::Result Run(const ClangLimits& limits);

 private:
  absl::Status WriteFiles();
  absl::StatusOr<std::vector<std::string>> Arguments() const;
  absl::Status MakeCode();
  void TakeNames(llvm::Module& module);
  std::string Image(const std::string& bitcode) const;
  // The folder that headers given as text seem to be in. It does not exist.
  std::string HeaderFolder() const { return directory_.File("headers"); }
  void Log(absl::string_view messages);

  const device::CompileCudaRequest& request_;
  device::CompiledCuda* reply_;
  const std::string name_;
  const TemporaryDirectory directory_;
  RuntimeCompilationOptions options_;
};

// Headers have any names, also such as "../a.h" or "/b/c.h": clang sees them where these lead to, wherever they lie.
absl::Status Compilation::WriteFiles() {
  // Name expressions stand behind the source, each on a line that says so.
  std::string source;
  if (options_.default_device) source = "#pragma clang force_cuda_host_device begin\n";
  absl::StrAppend(&source, "#line 1 ", Quoted(name_), "\n", std::string(request_.source), "\n");
  if (options_.default_device) source += "#pragma clang force_cuda_host_device end\n";
  for (size_t i = 0; i < request_.name_expressions.size(); ++i) {
    const std::string& expression = request_.name_expressions[i];
    const bool is_address = expression.find_first_of("&(") == expression.find_first_not_of(" \t");
    absl::StrAppend(&source, "#line 1 ", Quoted(absl::StrCat("name expression ", expression)), "\n",
                    "extern \"C\" { __device__ const void* ", kNamePrefix, i, " = (const void*)", is_address ? "" : "&",
                    expression, "; }\n");
  }
  bool written = WriteText(directory_.File("program.cu"), source);
  std::set<std::string> places;
  std::string overlay = "{\"version\": 0, \"use-external-names\": false, \"roots\": [\n";
  for (size_t i = 0; i < request_.headers.size(); ++i) {
    const device::SourceHeader& header = request_.headers[i];
    const std::string place = (fs::path(HeaderFolder()) / header.name).lexically_normal().string();
    if (header.name.empty() || place.back() == '/') {
      return absl::InvalidArgumentError(absl::StrCat("'", header.name, "' is no name of a header"));
    }
    if (!places.insert(place).second) continue;  // the first one counts
    const std::string file = directory_.File(absl::StrCat("header", i));
    written = written && WriteText(file, header.text);
    absl::StrAppend(&overlay, places.size() > 1 ? ",\n" : "", "{\"type\": \"file\", \"name\": ", Quoted(place),
                    ", \"external-contents\": ", Quoted(file), "}");
  }
  written = written && WriteText(directory_.File("overlay"), overlay + "]}\n");
  return written ? absl::OkStatus() : absl::ResourceExhaustedError("no room for the compiler's files; check TMPDIR");
}

absl::StatusOr<std::vector<std::string>> Compilation::Arguments() const {
  HEDDLE_ASSIGN_OR_RETURN(const std::string headers, FindDeviceHeaders("cuda"));
  std::vector<std::string> arguments = DeviceArguments(Language::kCuda, options_.target);
  arguments.insert(arguments.end(),
                   {"-nostdlibinc", "-isystem", headers, "-include", headers + "/heddle_cuda.h", "-D__CUDACC_RTC__=1",
                    "-D__CUDACC_VER_MAJOR__=12", "-D__CUDACC_VER_MINOR__=4", "-D__CUDACC_VER_BUILD__=99",
                    "-std=" + options_.standard, options_.optimization, "-fno-crash-diagnostics",
                    "-fdebug-compilation-dir=.", "-fmacro-prefix-map=" + directory_.path() + "/="});
  // The program writes static variables too, which no host code here tells of.
  arguments.emplace_back("-fkeep-persistent-storage-variables");
  // As heddle-nvcc: code of later targets needs a later PTX.
  if (options_.target == "sm_86" || options_.target == "sm_87" || options_.target == "sm_89" ||
      options_.target == "sm_90") {
    arguments.insert(arguments.end(), {"-Xclang", "-target-feature", "-Xclang", "+ptx78"});
  }
  if (!request_.headers.empty()) {
    arguments.insert(arguments.end(), {"-ivfsoverlay", directory_.File("overlay"), "-I" + HeaderFolder()});
  }
  arguments.insert(arguments.end(), options_.arguments.begin(), options_.arguments.end());
  if (options_.source_folder_included) {
    const fs::path folder = fs::path(request_.working_directory) / fs::path(name_).parent_path();
    if (!folder.empty()) arguments.insert(arguments.end(), {"-iquote", folder.string()});
  }
  arguments.insert(arguments.end(), {directory_.File("program.cu"), "-o", directory_.File("program.bc")});
  return arguments;
}

void Compilation::Log(absl::string_view messages) {
  absl::StrAppend(&reply_->log, absl::StrReplaceAll(messages, {{HeaderFolder() + "/", ""},
                                                               {directory_.File("program.cu"), name_},
                                                               {directory_.path() + "/", ""}}));
}

// What each name expression names; the variables that say so go.
void Compilation::TakeNames(llvm::Module& module) {
  for (size_t i = 0; i < request_.name_expressions.size(); ++i) {
    std::string& name = reply_->lowered_names.emplace_back();
    llvm::GlobalVariable* variable = module.getNamedGlobal(absl::StrCat(kNamePrefix, i));
    if (variable == nullptr || !variable->hasInitializer()) continue;
    auto* named = llvm::dyn_cast<llvm::GlobalValue>(variable->getInitializer()->stripPointerCasts());
    variable->eraseFromParent();
    if (named == nullptr) continue;
    // Found by the host, whoever uses it.
    named->setLinkage(llvm::GlobalValue::ExternalLinkage);
    if (auto* object = llvm::dyn_cast<llvm::GlobalObject>(named)) object->setComdat(nullptr);
    name = named->getName().str();
  }
}

std::string Compilation::Image(const std::string& bitcode) const {
  std::string optimization = options_.optimization;
  for (const std::string& argument : options_.arguments) {
    if (argument.starts_with("-f") && argument != "-fgpu-rdc") absl::StrAppend(&optimization, " ", argument);
  }
  const std::string text =
      absl::StrCat("name=", Base(name_), "\ntarget=", options_.target, "\noptimization=", optimization,
                   "\nmax_registers=", options_.max_registers, "\n");
  cuda::DeviceCodeHeader header = {};
  std::memcpy(header.magic, cuda::kDeviceCodeMagic, sizeof(header.magic));
  header.text_bytes = text.size();
  header.bitcode_bytes = bitcode.size();
  return absl::StrCat(absl::string_view(reinterpret_cast<const char*>(&header), sizeof(header)), text, bitcode);
}

absl::Status Compilation::MakeCode() {
  auto context = std::make_unique<llvm::LLVMContext>();
  HEDDLE_ASSIGN_OR_RETURN(std::unique_ptr<llvm::Module> module,
                          ReadBitcode(ReadText(directory_.File("program.bc")), name_, *context));
  UseVendorNames(*module);
  TakeNames(*module);
  const std::string bitcode = WriteBitcode(*module);
  if (options_.makes_image) reply_->image = Image(bitcode);
  if (!options_.relocatable) {
    absl::StatusOr<CanonicalModule> canonical = Canonicalize(std::move(context), std::move(module), options_.target);
    if (canonical.ok()) {
      reply_->ptx = SourcePtx(*canonical);
      return absl::OkStatus();
    }
  }
  auto again = std::make_unique<llvm::LLVMContext>();  // the first one belongs to a module that has been changed
  HEDDLE_ASSIGN_OR_RETURN(std::unique_ptr<llvm::Module> part, ReadBitcode(bitcode, name_, *again));
  HEDDLE_ASSIGN_OR_RETURN(reply_->ptx, PtxOfPart(std::move(again), std::move(part), options_.target));
  return absl::OkStatus();
}

device::Result Compilation::Run(const ClangLimits& limits) {
  const auto fail = [this](Error error, absl::string_view message) {
    absl::StrAppend(&reply_->log, "error: ", message, "\n");
    return device::Result{error, std::string(message)};
  };
  absl::StatusOr<RuntimeCompilationOptions> options =
      ReadRuntimeCompilationOptions(request_.options, request_.working_directory, &reply_->log);
  if (!options.ok()) return fail(Error::kInvalidValue, options.status().message());
  options_ = *std::move(options);
  if (!directory_.ok()) return fail(Error::kNoDevice, "cannot make a temporary directory; check TMPDIR");
  if (absl::Status status = WriteFiles(); !status.ok()) return fail(Error::kBuildFailure, status.message());
  absl::StatusOr<std::vector<std::string>> arguments = Arguments();
  if (!arguments.ok()) return fail(Error::kNoDevice, arguments.status().message());
  absl::StatusOr<ClangResult> result = RunClang(*arguments, directory_, limits);
  if (!result.ok()) return fail(Error::kNoDevice, result.status().message());
  Log(result->messages);
  if (!result->ok) {
    return {Error::kBuildFailure, FirstCompilerError(reply_->log)};
  }
  if (absl::Status status = MakeCode(); !status.ok()) {
    return fail(Error::kBuildFailure, absl::StrCat(name_, ": ", status.message()));
  }
  return {};
}

}  // namespace

device::Result CompileCudaText(const device::CompileCudaRequest& request, const ClangLimits& limits,
                               device::CompiledCuda* reply) {
  return Compilation(request, reply).Run(limits);
}

}  // namespace heddle::tracegen
