#include "tracegen/program/codegen.h"

#include <mutex>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "llvm/ADT/SmallString.h"
#include "llvm/IR/LegacyPassManager.h"
#include "llvm/InitializePasses.h"
#include "llvm/MC/MCSubtargetInfo.h"
#include "llvm/MC/TargetRegistry.h"
#include "llvm/PassRegistry.h"
#include "llvm/Support/CommandLine.h"
#include "llvm/Support/TargetSelect.h"
#include "llvm/Support/raw_ostream.h"
#include "llvm/Transforms/Utils/Cloning.h"

namespace heddle::tracegen {
namespace {

constexpr char kTriple[] = "nvptx64-nvidia-cuda";

// The last IR pass before instruction selection in NVPTXPassConfig::addInstSelector. Everything behind it works on
// machine code only. Running from `codegenprepare` would be one pass early: the lowering of big copies to loops comes
// in between, and would add blocks that the canonical IR does not have.
constexpr char kLastIrPass[] = "alloca-hoisting";

using OptionValues = std::vector<std::pair<const char*, const char*>>;

// LLVM keeps switches of its code generator in process-wide command-line options. Sets some for its lifetime; the rest
// of the process sees the defaults before and after. One at a time.
class ScopedLlvmOptions {
 public:
  explicit ScopedLlvmOptions(const OptionValues& values) : lock_(Mutex()) {
    auto& known = llvm::cl::getRegisteredOptions();
    for (const auto& [name, value] : values) {
      auto found = known.find(name);
      if (found == known.end()) {
        missing_ = name;
        continue;
      }
      found->second->reset();
      found->second->addOccurrence(0, name, value);
      set_.push_back(found->second);
    }
  }
  ~ScopedLlvmOptions() {
    for (llvm::cl::Option* option : set_) option->reset();
  }
  ScopedLlvmOptions(const ScopedLlvmOptions&) = delete;
  ScopedLlvmOptions& operator=(const ScopedLlvmOptions&) = delete;

  absl::Status status() const {
    if (missing_.empty()) return absl::OkStatus();
    return absl::InternalError(absl::StrCat("this LLVM has no option -", missing_, "; LLVM 19 is needed"));
  }

 private:
  static std::mutex& Mutex() {
    static std::mutex mutex;
    return mutex;
  }
  std::unique_lock<std::mutex> lock_;
  std::vector<llvm::cl::Option*> set_;
  std::string missing_;
};

// LLVM numbers call sequences from the start of the process; numbers from the start of the text make equal modules
// equal text.
std::string RenumberCalls(llvm::StringRef text) {
  static constexpr llvm::StringLiteral kMark = "// callseq ";
  std::string result;
  result.reserve(text.size());
  unsigned opened = 0;
  while (true) {
    const size_t at = text.find(kMark);
    if (at == llvm::StringRef::npos) break;
    const bool opens = at >= 2 && text[at - 2] == '{';
    if (opens) ++opened;
    absl::StrAppend(&result, std::string(text.substr(0, at + kMark.size())), opened - 1);
    text = text.substr(at + kMark.size()).drop_while([](char c) { return c >= '0' && c <= '9'; });
  }
  return result + text.str();
}

void InitializeNvptx() {
  static const bool once = [] {
    LLVMInitializeNVPTXTargetInfo();
    LLVMInitializeNVPTXTarget();
    LLVMInitializeNVPTXTargetMC();
    LLVMInitializeNVPTXAsmPrinter();
    llvm::PassRegistry& registry = *llvm::PassRegistry::getPassRegistry();
    llvm::initializeCore(registry);
    llvm::initializeCodeGen(registry);
    return true;
  }();
  (void)once;
}

}  // namespace

absl::StatusOr<std::unique_ptr<llvm::TargetMachine>> MakeTargetMachine(const std::string& target) {
  InitializeNvptx();
  std::string error;
  const llvm::Target* nvptx = llvm::TargetRegistry::lookupTarget(kTriple, error);
  if (nvptx == nullptr) {
    return absl::FailedPreconditionError(absl::StrCat("this LLVM cannot generate PTX: ", error));
  }
  std::unique_ptr<llvm::MCSubtargetInfo> known(nvptx->createMCSubtargetInfo(kTriple, "", ""));
  if (known == nullptr || !known->isCPUStringValid(target)) {
    return absl::InvalidArgumentError(absl::StrCat("unknown target '", target, "'; use one such as sm_70"));
  }
  llvm::TargetOptions options;
  options.MCOptions.AsmVerbose = true;                 // block names appear as comments
  options.AllowFPOpFusion = llvm::FPOpFusion::Strict;  // the canonical IR is fused already
  std::unique_ptr<llvm::TargetMachine> machine(nvptx->createTargetMachine(
      kTriple, target, kPtxFeature, options, std::nullopt, std::nullopt, llvm::CodeGenOptLevel::Default));
  if (machine == nullptr) return absl::InternalError("LLVM made no NVPTX target machine");
  return machine;
}

absl::Status RunIrPasses(llvm::Module& module, llvm::TargetMachine& machine) {
  module.setTargetTriple(kTriple);
  module.setDataLayout(machine.createDataLayout());
  ScopedLlvmOptions options(OptionValues{{"stop-after", kLastIrPass}});
  if (!options.status().ok()) return options.status();
  // The passes work in place; what is printed (machine IR without functions) is of no interest.
  llvm::SmallString<0> ignored;
  llvm::raw_svector_ostream stream(ignored);
  llvm::legacy::PassManager passes;
  if (machine.addPassesToEmitFile(passes, stream, nullptr, llvm::CodeGenFileType::AssemblyFile)) {
    return absl::InternalError("LLVM's NVPTX back end cannot stop after its IR passes");
  }
  passes.run(module);
  return absl::OkStatus();
}

absl::StatusOr<std::string> EmitPtx(const llvm::Module& module, llvm::TargetMachine& machine) {
  std::unique_ptr<llvm::Module> copy = llvm::CloneModule(module);
  ScopedLlvmOptions options(OptionValues{{"start-after", kLastIrPass},
                                         {"disable-branch-fold", "true"},
                                         {"disable-early-taildup", "true"},
                                         {"disable-tail-duplicate", "true"},
                                         {"disable-block-placement", "true"},
                                         {"combiner-store-merging", "false"},
                                         {"nvptx-fma-level", "0"},
                                         {"use-unknown-locations", "Enable"}});
  if (!options.status().ok()) return options.status();
  llvm::SmallString<0> text;
  llvm::raw_svector_ostream stream(text);
  llvm::legacy::PassManager passes;
  if (machine.addPassesToEmitFile(passes, stream, nullptr, llvm::CodeGenFileType::AssemblyFile)) {
    return absl::InternalError("LLVM's NVPTX back end cannot print PTX");
  }
  passes.run(*copy);
  return RenumberCalls(text);
}

}  // namespace heddle::tracegen
