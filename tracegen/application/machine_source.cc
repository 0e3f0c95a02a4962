#include "tracegen/application/machine_source.h"

#include <utility>

#include "tracegen/program/machine_source/lower_machine.h"
#include "traces/base/status_macros.h"

namespace heddle::tracegen {
namespace {

class MachineSource final : public ModuleSource {
 public:
  MachineSource(std::unique_ptr<ModuleSource> source, MachineTarget target, std::string name)
      : source_(std::move(source)), target_(std::move(target)), name_(std::move(name)) {}

  absl::StatusOr<Outline> Read() const override { return source_->Read(); }
  absl::StatusOr<CanonicalModule> Whole(Outline outline) const override { return Assembled(std::move(outline)); }
  absl::StatusOr<CanonicalModule> Only(const std::string& kernel) const override {
    HEDDLE_ASSIGN_OR_RETURN(Outline part, source_->Part(kernel));
    return Assembled(std::move(part));
  }
  absl::StatusOr<Outline> Part(const std::string& kernel) const override { return source_->Part(kernel); }
  absl::StatusOr<SourceText> Ptx(Outline outline, const std::string& target,
                                 const LibraryFinder& library) const override {
    return source_->Ptx(std::move(outline), target, library);
  }
  bool TakesAddresses(const Outline& outline) const override { return source_->TakesAddresses(outline); }
  // The assembler takes longer to start than for many kernels.
  bool IsLazy() const override { return false; }
  std::string ptx_producer() const override { return ptx_producer_; }

 private:
  absl::StatusOr<CanonicalModule> Assembled(Outline outline) const {
    const auto library = [this] { return target_.toolchain.FindLibdevice(); };
    HEDDLE_ASSIGN_OR_RETURN(SourceText ptx,
                            source_->Ptx(std::move(outline), machine::ArchitectureName(target_.architecture), library));
    HEDDLE_ASSIGN_OR_RETURN(CanonicalModule canonical,
                            ReadPtxAsMachine(target_.toolchain, target_.architecture, ptx.text, name_));
    ptx_producer_ = std::move(ptx.producer);
    return canonical;
  }

  const std::unique_ptr<ModuleSource> source_;
  const MachineTarget target_;
  const std::string name_;
  mutable std::string ptx_producer_;  // once it is known
};

}  // namespace

absl::StatusOr<MachineTarget> MachineTarget::Find(const std::string& architecture) {
  HEDDLE_ASSIGN_OR_RETURN(const machine::Architecture found, machine::ArchitectureOf(architecture));
  HEDDLE_ASSIGN_OR_RETURN(machine::Toolchain toolchain, machine::Toolchain::Find());
  return MachineTarget{std::move(toolchain), found};
}

std::unique_ptr<ModuleSource> MakeMachineSource(std::unique_ptr<ModuleSource> source, MachineTarget target,
                                                const std::string& name) {
  return std::make_unique<MachineSource>(std::move(source), std::move(target), name);
}

}  // namespace heddle::tracegen
