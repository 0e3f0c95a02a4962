#include "tracegen/program/machine_source/lower_machine.h"

#include <memory>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "tracegen/program/codegen.h"
#include "tracegen/program/device_calls.h"
#include "tracegen/program/linked_flow.h"
#include "tracegen/program/lowered_module.h"
#include "tracegen/program/machine_source/context.h"
#include "tracegen/program/machine_source/function_lowering.h"
#include "tracegen/program/machine_source/function_shapes.h"
#include "tracegen/program/machine_source/machine_layout.h"
#include "tracegen/program/machine_source/static_instruction.h"
#include "tracegen/program/machine_source/uniform_values.h"
#include "tracegen/program/prepare.h"
#include "tracegen/program/ptx_source/kernel_declaration.h"
#include "tracegen/program/ptx_source/variables.h"
#include "tracegen/ptx/syntax/parse.h"
#include "traces/base/sha256.h"
#include "traces/base/status_macros.h"

namespace heddle::tracegen {
namespace {

// Its analyses are asked which branches are uniform; what it generates is not.
constexpr char kAnalysisTarget[] = "sm_80";
constexpr unsigned kSharedSpace = 3;

class MachineLowering {
 public:
  MachineLowering(const ptx::Module& ptx, const machine::MachineModule& source) : ptx_(ptx), lines_(source.program) {
    canonical_.context = std::make_unique<llvm::LLVMContext>();
    canonical_.module = std::make_unique<llvm::Module>("machine", *canonical_.context);
    in_ = std::make_unique<MachineContext>(MachineContext{source, *canonical_.module, ShapesOf(source.program), {}});
  }

  absl::StatusOr<CanonicalModule> Run() {
    HEDDLE_ASSIGN_OR_RETURN(const auto target, MakeTargetMachine(kAnalysisTarget));
    canonical_.module->setTargetTriple(target->getTargetTriple().str());
    canonical_.module->setDataLayout(target->createDataLayout());
    canonical_.compiler = in_->program().assembler;
    canonical_.producer = in_->program().assembler;
    canonical_.target = machine::ArchitectureName(in_->program().architecture);
    // Of the instruction set, which has no other name.
    const auto capability = static_cast<unsigned>(in_->program().architecture);
    canonical_.isa_version = absl::StrCat(capability / 10, ".", capability % 10);
    HEDDLE_RETURN_IF_ERROR(DeclareVariables());
    HEDDLE_RETURN_IF_ERROR(DeclareFunctions());
    HEDDLE_RETURN_IF_ERROR(LowerFunctions());
    HEDDLE_RETURN_IF_ERROR(VerifyLowered(*canonical_.module, "machine code"));
    canonical_.index.address_taken = AddressTakenFunctions(*canonical_.module);
    canonical_.index.indirect = FindIndirectCalls(*canonical_.module);
    HEDDLE_RETURN_IF_ERROR(FindCallees());
    canonical_.lines = std::move(lines_.lines);
    canonical_.source_files = std::move(lines_.source_files);
    FindUniformBranches(canonical_, *target);
    flows_.level = trace::v1::LEVEL_MACHINE;
    canonical_.flows = std::make_shared<const LinkedFlows>(std::move(flows_));
    return std::move(canonical_);
  }

 private:
  // Those of shared memory are places in the kernels' own blocks.
  absl::Status DeclareVariables() {
    PtxVariables variables(ptx_, *canonical_.module);
    HEDDLE_RETURN_IF_ERROR(variables.Declare());
    HEDDLE_RETURN_IF_ERROR(variables.Initialize(std::vector<llvm::Function*>(ptx_.functions.size(), nullptr)));
    std::vector<llvm::GlobalVariable*> shared;
    for (llvm::GlobalVariable& variable : canonical_.module->globals()) {
      if (variable.getAddressSpace() == kSharedSpace && variable.use_empty()) shared.push_back(&variable);
    }
    for (llvm::GlobalVariable* variable : shared) variable->eraseFromParent();
    return absl::OkStatus();
  }

  const ptx::Function* KernelOf(const std::string& name) const {
    for (const ptx::Function& function : ptx_.functions) {
      if (function.is_kernel && function.is_defined && function.name == name) return &function;
    }
    return nullptr;
  }

  absl::Status DeclareFunctions() {
    for (uint32_t i = 0; i < in_->program().functions.size(); ++i) {
      const machine::ProgramFunction& source = in_->function(i);
      if (!source.is_kernel) {
        in_->functions.push_back(llvm::Function::Create(FunctionTypeOf(*canonical_.context, in_->shapes[i]),
                                                        llvm::GlobalValue::InternalLinkage, source.name,
                                                        *canonical_.module));
        continue;
      }
      const ptx::Function* kernel = KernelOf(source.name);
      if (kernel == nullptr) {
        return absl::InvalidArgumentError(
            absl::StrCat("the PTX has no kernel '", source.name, "' of the machine code: it is of another text"));
      }
      HEDDLE_ASSIGN_OR_RETURN(llvm::Function * declared, DeclareKernel(*kernel, *canonical_.module));
      in_->functions.push_back(declared);
    }
    return absl::OkStatus();
  }

  absl::Status LowerFunctions() {
    llvm::Module& module = *canonical_.module;
    InstructionScopes scopes(module);
    for (uint32_t i = 0; i < in_->functions.size(); ++i) {
      const std::string& name = in_->function(i).name;
      const UniformReads reads = FindUniformReads(*in_, i);
      HEDDLE_ASSIGN_OR_RETURN(MachineLayout layout, LayOutMachine(in_->program(), i, reads.alone, lines_));
      RecordUniformValues(*in_, i, reads, layout);
      layout.flow.local_bytes = in_->function(i).is_kernel ? in_->SectionOf(i).stack_bytes : 0;
      llvm::DISubprogram* scope = scopes.Add(*in_->functions[i]);
      LinkedFlow& linked = flows_.functions[name];
      HEDDLE_RETURN_IF_ERROR(LowerMachineFunction(*in_, i, layout, scope, &linked.links));
      linked.flow = std::move(layout.flow);
      for (const machine::Register& reg : in_->function(i).registers) {
        linked.machine_registers[FlowName(reg)] = ArchitectureRegister(reg);
      }
      if (in_->function(i).is_kernel) linked.registers = in_->SectionOf(i).registers;
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
        const auto found = canonical_.index.indirect.find(node.instructions.back().id);
        if (found == canonical_.index.indirect.end() || found->second.empty() || found->second.size() > kMostCallees) {
          return absl::UnimplementedError(
              absl::StrCat(name, ": a call through a pointer that can lead to no function, or to more than ",
                           kMostCallees, ", cannot be executed yet"));
        }
        node.callees = found->second;
      }
    }
    return absl::OkStatus();
  }

  const ptx::Module& ptx_;
  CanonicalModule canonical_;
  std::unique_ptr<MachineContext> in_;
  MachineLines lines_;
  LinkedFlows flows_;
};

}  // namespace

absl::StatusOr<CanonicalModule> LowerMachine(const ptx::Module& ptx, const machine::MachineModule& module,
                                             const std::string& name) {
  absl::StatusOr<CanonicalModule> made = MachineLowering(ptx, module).Run();
  if (made.ok()) return made;
  return absl::Status(made.status().code(), absl::StrCat(name, ": ", made.status().message()));
}

absl::StatusOr<CanonicalModule> ReadPtxAsMachine(const machine::Toolchain& toolchain,
                                                 machine::Architecture architecture, std::string_view text,
                                                 const std::string& name) {
  const auto named = [&](const absl::Status& status) {
    return absl::Status(status.code(), absl::StrCat(name, ": ", status.message()));
  };
  const absl::StatusOr<ptx::Module> ptx = ptx::ParseModule(text);
  if (!ptx.ok()) return named(ptx.status());
  const absl::StatusOr<machine::MachineModule> module = machine::MachineModuleOf(toolchain, text, architecture);
  if (!module.ok()) return named(module.status());
  HEDDLE_ASSIGN_OR_RETURN(CanonicalModule canonical, LowerMachine(*ptx, *module, name));
  if (KernelsOf(*canonical.module).empty()) {
    return absl::InvalidArgumentError(absl::StrCat(name, ": there is no kernel (.entry) in this PTX"));
  }
  canonical.ptx = std::string(text);
  Sha256 digest;
  digest.Update(text.data(), text.size());
  canonical.index.ptx_sha256 = digest.Finish();
  return canonical;
}

}  // namespace heddle::tracegen
