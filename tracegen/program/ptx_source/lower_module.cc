#include "tracegen/program/ptx_source/lower_module.h"

#include <map>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "llvm/IR/InstIterator.h"
#include "tracegen/program/codegen.h"
#include "tracegen/program/linked_flow.h"
#include "tracegen/program/lowered_module.h"
#include "tracegen/program/prepare.h"
#include "tracegen/program/ptx_source/function_lowering.h"
#include "tracegen/program/ptx_source/kernel_declaration.h"
#include "tracegen/program/ptx_source/layout.h"
#include "tracegen/program/ptx_source/ptx_error.h"
#include "tracegen/program/ptx_source/ptx_program.h"
#include "tracegen/program/ptx_source/signature.h"
#include "tracegen/program/ptx_source/variables.h"
#include "traces/base/status_macros.h"

namespace heddle::tracegen {
namespace {

// Its analyses are asked which branches are uniform; what it generates is not.
constexpr char kAnalysisTarget[] = "sm_70";

class ModuleLowering {
 public:
  ModuleLowering(const ptx::Module& source, const WantedFunctions& wanted, const std::string& name)
      : source_(source), wanted_(wanted), name_(name), places_(source) {
    canonical_.context = std::make_unique<llvm::LLVMContext>();
    canonical_.module = std::make_unique<llvm::Module>("ptx", *canonical_.context);
  }

  absl::StatusOr<CanonicalModule> Run(const std::string& ptx_sha256) {
    HEDDLE_RETURN_IF_ERROR(Begin());
    PtxVariables variables(source_, *canonical_.module);
    HEDDLE_RETURN_IF_ERROR(variables.Declare());
    HEDDLE_RETURN_IF_ERROR(DeclareFunctions());
    HEDDLE_RETURN_IF_ERROR(variables.Initialize(functions_));
    HEDDLE_RETURN_IF_ERROR(LowerFunctions(variables));
    HEDDLE_RETURN_IF_ERROR(VerifyLowered(*canonical_.module, "PTX"));
    canonical_.index.address_taken = AddressTakenFunctions(*canonical_.module);
    canonical_.index.indirect = FindIndirectCalls(*canonical_.module);
    canonical_.index.ptx_sha256 = ptx_sha256;
    HEDDLE_RETURN_IF_ERROR(FindCallees());
    canonical_.lines = std::move(places_.lines);
    canonical_.source_files = std::move(places_.source_files);
    FindUniformBranches(canonical_, *machine_);
    canonical_.flows = std::make_shared<const LinkedFlows>(std::move(flows_));
    return std::move(canonical_);
  }

  absl::StatusOr<CanonicalModule> Declare() {
    HEDDLE_RETURN_IF_ERROR(Begin());
    PtxVariables variables(source_, *canonical_.module);
    HEDDLE_RETURN_IF_ERROR(variables.Declare());
    HEDDLE_RETURN_IF_ERROR(DeclareFunctions());
    HEDDLE_RETURN_IF_ERROR(variables.Initialize(functions_));
    for (llvm::Function* function : functions_) {
      if (function == nullptr || !function->empty()) continue;  // an alias has the body of what it stands for
      llvm::IRBuilder<> b(llvm::BasicBlock::Create(*canonical_.context, "", function));
      if (function->getReturnType()->isVoidTy()) {
        b.CreateRetVoid();
      } else {
        b.CreateUnreachable();
      }
    }
    HEDDLE_RETURN_IF_ERROR(VerifyLowered(*canonical_.module, "PTX"));
    return std::move(canonical_);
  }

 private:
  absl::Status Begin() {
    if (source_.address_size != 64) {
      return absl::UnimplementedError("PTX with addresses of 32 bits is not supported; compile it for 64 bits");
    }
    HEDDLE_ASSIGN_OR_RETURN(machine_, MakeTargetMachine(kAnalysisTarget));
    canonical_.module->setTargetTriple(machine_->getTargetTriple().str());
    canonical_.module->setDataLayout(machine_->createDataLayout());
    canonical_.isa_version = absl::StrCat(source_.version_major, ".", source_.version_minor);
    canonical_.compiler = absl::StrCat("PTX ", canonical_.isa_version);
    canonical_.target = source_.Architecture();
    return absl::OkStatus();
  }

  bool IsWanted(uint32_t function) const { return source_.functions[function].is_defined && wanted_[function]; }

  absl::Status DeclareFunctions() {
    for (uint32_t i = 0; i < source_.functions.size(); ++i) {
      functions_.push_back(nullptr);
      if (!IsWanted(i)) continue;
      const ptx::Function& source = source_.functions[i];
      HEDDLE_RETURN_IF_ERROR(InPart(source_, source.part, DeclareFunction(source)));
    }
    for (const ptx::Alias& alias : source_.aliases) functions_[alias.function] = functions_[alias.aimed];
    return absl::OkStatus();
  }

  absl::Status DeclareFunction(const ptx::Function& source) {
    if (source.is_kernel) {
      HEDDLE_ASSIGN_OR_RETURN(functions_.back(), DeclareKernel(source, *canonical_.module));
      return absl::OkStatus();
    }
    HEDDLE_ASSIGN_OR_RETURN(llvm::FunctionType * type,
                            FunctionTypeOf(*canonical_.context, source.returns, source.parameters));
    functions_.back() =
        llvm::Function::Create(type, llvm::GlobalValue::InternalLinkage, source.name, *canonical_.module);
    return absl::OkStatus();
  }

  absl::Status LowerFunctions(const PtxVariables& variables) {
    llvm::Module& module = *canonical_.module;
    InstructionScopes scopes(module);
    const ModuleContext context{source_, module, variables, functions_};
    for (uint32_t i = 0; i < source_.functions.size(); ++i) {
      if (!IsWanted(i)) continue;
      const ptx::Function& source = source_.functions[i];
      places_.BeginText(source_.parts.empty() ? name_ : source_.parts[source.part]);
      absl::StatusOr<Layout> laid_out = LayOut(source_, source, places_);
      if (!laid_out.ok()) return InPart(source_, source.part, laid_out.status());
      Layout layout = *std::move(laid_out);
      llvm::DISubprogram* scope = scopes.Add(*functions_[i]);
      LinkedFlow& linked = flows_.functions[source.name];
      HEDDLE_RETURN_IF_ERROR(InPart(source_, source.part, LowerFunction(context, i, layout, scope, &linked.links)));
      linked.flow = std::move(layout.flow);
    }
    scopes.Finish();
    return absl::OkStatus();
  }

  // Gives calls through pointers the functions that they can lead to.
  absl::Status FindCallees() {
    constexpr size_t kMostCallees = 255;  // a decision is recorded as one byte
    for (auto& [name, linked] : flows_.functions) {
      for (FlowNode& node : linked.flow.nodes) {
        if (!node.indirect) continue;
        const uint32_t id = node.instructions.back().id;
        const auto found = canonical_.index.indirect.find(id);
        const SourceLine& place = places_.lines[id - 1];
        const std::string where =
            absl::StrCat(place.file == 0 ? "" : places_.source_files[place.file - 1], ":", place.line);
        if (found == canonical_.index.indirect.end() || found->second.empty()) {
          return absl::UnimplementedError(absl::StrCat(
              where, ": no function of the program whose address is taken fits this call through a pointer"));
        }
        if (found->second.size() > kMostCallees) {
          return absl::UnimplementedError(absl::StrCat(where, ": a call through a pointer that can lead to ",
                                                       found->second.size(), " functions; a trace tells ", kMostCallees,
                                                       " apart"));
        }
        node.callees = found->second;
      }
    }
    return absl::OkStatus();
  }

  const ptx::Module& source_;
  const WantedFunctions& wanted_;
  const std::string& name_;
  PlaceTable places_;
  std::unique_ptr<llvm::TargetMachine> machine_;
  CanonicalModule canonical_;
  std::vector<llvm::Function*> functions_;
  LinkedFlows flows_;
};

// Messages about a linked module name its texts already.
absl::StatusOr<CanonicalModule> Named(absl::StatusOr<CanonicalModule> made, const ptx::Module& module,
                                      const std::string& name) {
  if (made.ok() || !module.parts.empty()) return made;
  return absl::Status(made.status().code(), absl::StrCat(name, ": ", made.status().message()));
}

}  // namespace

absl::StatusOr<CanonicalModule> LowerPtx(const ptx::Module& module, const WantedFunctions& wanted,
                                         const std::string& name, const std::string& ptx_sha256) {
  return Named(ModuleLowering(module, wanted, name).Run(ptx_sha256), module, name);
}

absl::StatusOr<CanonicalModule> DeclarePtx(const ptx::Module& module, const std::string& name) {
  return Named(ModuleLowering(module, WantedFunctions(module.functions.size(), true), name).Declare(), module, name);
}

absl::StatusOr<CanonicalModule> ReadPtx(std::string_view text, const std::string& name) {
  HEDDLE_ASSIGN_OR_RETURN(const PtxProgram program, PtxProgram::Read({{name, text}}));
  if (program.kernels().empty()) {
    return absl::InvalidArgumentError(absl::StrCat(name, ": there is no kernel (.entry) in this PTX"));
  }
  HEDDLE_ASSIGN_OR_RETURN(CanonicalModule canonical, program.Lower());
  canonical.ptx = std::string(text);
  return canonical;
}

}  // namespace heddle::tracegen
