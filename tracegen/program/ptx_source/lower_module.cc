#include "tracegen/program/ptx_source/lower_module.h"

#include <openssl/sha.h>

#include <map>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "llvm/BinaryFormat/Dwarf.h"
#include "llvm/IR/DIBuilder.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/Verifier.h"
#include "llvm/Support/raw_ostream.h"
#include "tracegen/program/codegen.h"
#include "tracegen/program/linked_flow.h"
#include "tracegen/program/prepare.h"
#include "tracegen/program/ptx_source/function_lowering.h"
#include "tracegen/program/ptx_source/layout.h"
#include "tracegen/program/ptx_source/signature.h"
#include "tracegen/program/ptx_source/variables.h"
#include "tracegen/ptx/syntax/parse.h"
#include "traces/base/status_macros.h"

namespace heddle::tracegen {
namespace {

// Its analyses are asked which branches are uniform; what it generates is not.
constexpr char kAnalysisTarget[] = "sm_70";

class ModuleLowering {
 public:
  ModuleLowering(const ptx::Module& source, const std::string& name) : source_(source), places_(source, name) {
    canonical_.context = std::make_unique<llvm::LLVMContext>();
    canonical_.module = std::make_unique<llvm::Module>("ptx", *canonical_.context);
  }

  absl::StatusOr<CanonicalModule> Run(std::string_view text) {
    if (source_.address_size != 64) {
      return absl::UnimplementedError("PTX with addresses of 32 bits is not supported; compile it for 64 bits");
    }
    HEDDLE_ASSIGN_OR_RETURN(std::unique_ptr<llvm::TargetMachine> machine, MakeTargetMachine(kAnalysisTarget));
    llvm::Module& module = *canonical_.module;
    module.setTargetTriple(machine->getTargetTriple().str());
    module.setDataLayout(machine->createDataLayout());
    PtxVariables variables(source_, module);
    HEDDLE_RETURN_IF_ERROR(variables.Declare());
    HEDDLE_RETURN_IF_ERROR(DeclareFunctions());
    HEDDLE_RETURN_IF_ERROR(variables.Initialize(functions_));
    HEDDLE_RETURN_IF_ERROR(LowerFunctions(variables));
    if (KernelsOf(module).empty()) {
      return absl::InvalidArgumentError("there is no kernel (.entry) in this PTX");
    }
    std::string broken;
    llvm::raw_string_ostream stream(broken);
    if (llvm::verifyModule(module, &stream)) {
      return absl::InternalError(absl::StrCat("IR of PTX is broken: ", broken.substr(0, broken.find('\n'))));
    }
    Index(text);
    HEDDLE_RETURN_IF_ERROR(FindCallees());
    canonical_.lines = std::move(places_.lines);
    canonical_.source_files = std::move(places_.source_files);
    canonical_.compiler = absl::StrCat("PTX ", source_.version_major, ".", source_.version_minor);
    canonical_.target = source_.Architecture();
    canonical_.ptx = std::string(text);
    FindUniformBranches(canonical_, *machine);
    canonical_.flows = std::make_shared<const LinkedFlows>(std::move(flows_));
    return std::move(canonical_);
  }

 private:
  absl::Status DeclareFunctions() {
    for (const ptx::Function& source : source_.functions) {
      functions_.push_back(nullptr);
      if (!source.is_defined) continue;
      if (source.is_kernel) {
        HEDDLE_RETURN_IF_ERROR(DeclareKernel(source));
        continue;
      }
      HEDDLE_ASSIGN_OR_RETURN(llvm::FunctionType * type,
                              FunctionTypeOf(*canonical_.context, source.returns, source.parameters));
      functions_.back() =
          llvm::Function::Create(type, llvm::GlobalValue::InternalLinkage, source.name, *canonical_.module);
    }
    for (const ptx::Alias& alias : source_.aliases) functions_[alias.function] = functions_[alias.aimed];
    return absl::OkStatus();
  }

  absl::Status DeclareKernel(const ptx::Function& source) {
    llvm::LLVMContext& context = *canonical_.context;
    std::vector<llvm::Type*> types;
    std::vector<KernelParameterType> parameters;
    const SymbolSet in_memory = SymbolsInMemory(source);
    for (uint32_t i = 0; i < source.parameters.size(); ++i) {
      HEDDLE_ASSIGN_OR_RETURN(
          KernelParameterType parameter,
          KernelTypeOf(context, source.parameters[i], in_memory.contains({ptx::SymbolKind::kParameter, i})));
      types.push_back(parameter.type);
      parameters.push_back(parameter);
    }
    auto* function = llvm::Function::Create(llvm::FunctionType::get(llvm::Type::getVoidTy(context), types, false),
                                            llvm::GlobalValue::ExternalLinkage, source.name, *canonical_.module);
    for (unsigned i = 0; i < parameters.size(); ++i) {
      const ptx::Variable& variable = source.parameters[i];
      if (parameters[i].bytes != nullptr) {
        function->addParamAttr(i, llvm::Attribute::getWithByValType(context, parameters[i].bytes));
        function->addParamAttr(
            i, llvm::Attribute::getWithAlignment(context, llvm::Align(llvm::bit_ceil(variable.Alignment()))));
      }
      // The text may not say whether it is an address, an integer or a floating-point number.
      if (!IsBlock(variable) && variable.Bytes() <= 8 && !variable.pointer &&
          (variable.Bytes() == 8 || variable.type.kind == ptx::TypeKind::kBits)) {
        function->addParamAttr(i, llvm::Attribute::get(context, kAnyArgumentAttribute));
      }
    }
    functions_.back() = function;
    Annotate(function, "kernel", 1);
    for (const char* directive : {"maxntid", "reqntid"}) {
      const ptx::Directive* found = source.Find(directive);
      if (found == nullptr) continue;
      for (size_t i = 0; i < 3; ++i) {
        const uint64_t number = i < found->numbers.size() ? found->numbers[i] : 1;
        Annotate(function, absl::StrCat(directive, std::string(1, static_cast<char>('x' + i))), number);
      }
    }
    return absl::OkStatus();
  }

  void Annotate(llvm::Function* function, const std::string& key, uint64_t value) {
    llvm::LLVMContext& context = *canonical_.context;
    llvm::Metadata* operands[] = {
        llvm::ValueAsMetadata::get(function), llvm::MDString::get(context, key),
        llvm::ConstantAsMetadata::get(llvm::ConstantInt::get(llvm::Type::getInt32Ty(context), value))};
    canonical_.module->getOrInsertNamedMetadata("nvvm.annotations")->addOperand(llvm::MDNode::get(context, operands));
  }

  absl::Status LowerFunctions(const PtxVariables& variables) {
    llvm::Module& module = *canonical_.module;
    module.addModuleFlag(llvm::Module::Warning, "Debug Info Version", llvm::DEBUG_METADATA_VERSION);
    llvm::DIBuilder builder(module);
    llvm::DIFile* file = builder.createFile("kernel", "");
    builder.createCompileUnit(llvm::dwarf::DW_LANG_C_plus_plus, file, "heddle", true, "", 0, "",
                              llvm::DICompileUnit::DebugDirectivesOnly);
    llvm::DISubroutineType* type = builder.createSubroutineType(builder.getOrCreateTypeArray({}));
    const ModuleContext context{source_, module, variables, functions_};
    for (uint32_t i = 0; i < source_.functions.size(); ++i) {
      const ptx::Function& source = source_.functions[i];
      if (!source.is_defined) continue;
      HEDDLE_ASSIGN_OR_RETURN(Layout layout, LayOut(source_, source, places_));
      llvm::DISubprogram* scope =
          builder.createFunction(file, source.name, source.name, file, 0, type, 0, llvm::DINode::FlagZero,
                                 llvm::DISubprogram::SPFlagDefinition | llvm::DISubprogram::SPFlagOptimized);
      functions_[i]->setSubprogram(scope);
      LinkedFlow& linked = flows_.functions[source.name];
      HEDDLE_RETURN_IF_ERROR(LowerFunction(context, i, layout, scope, &linked.links));
      linked.flow = std::move(layout.flow);
    }
    builder.finalize();
    return absl::OkStatus();
  }

  void Index(std::string_view text) {
    CodeIndex& index = canonical_.index;
    index.address_taken = AddressTakenFunctions(*canonical_.module);
    index.indirect = FindIndirectCalls(*canonical_.module);
    unsigned char digest[SHA256_DIGEST_LENGTH];
    SHA256(reinterpret_cast<const unsigned char*>(text.data()), text.size(), digest);
    index.ptx_sha256.assign(reinterpret_cast<const char*>(digest), sizeof(digest));
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
  PlaceTable places_;
  CanonicalModule canonical_;
  std::vector<llvm::Function*> functions_;
  LinkedFlows flows_;
};

}  // namespace

absl::StatusOr<CanonicalModule> LowerPtx(const ptx::Module& module, std::string_view text, const std::string& name) {
  absl::StatusOr<CanonicalModule> lowered = ModuleLowering(module, name).Run(text);
  if (lowered.ok()) return lowered;
  return absl::Status(lowered.status().code(), absl::StrCat(name, ": ", lowered.status().message()));
}

absl::StatusOr<CanonicalModule> ReadPtx(std::string_view text, const std::string& name) {
  absl::StatusOr<ptx::Module> module = ptx::ParseModule(text);
  if (!module.ok()) {
    return absl::Status(module.status().code(), absl::StrCat(name, ": ", module.status().message()));
  }
  return LowerPtx(*module, text, name);
}

}  // namespace heddle::tracegen
