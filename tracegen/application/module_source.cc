#include "tracegen/application/module_source.h"

#include <algorithm>
#include <deque>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "tracegen/application/fat_binary.h"
#include "tracegen/frontend/bitcode.h"
#include "tracegen/frontend/device_arguments.h"
#include "tracegen/frontend/libdevice.h"
#include "tracegen/program/compiled/canonicalize.h"
#include "tracegen/program/compiled/part_ptx.h"
#include "tracegen/program/compiled/selections.h"
#include "tracegen/program/device_calls.h"
#include "tracegen/program/prepare.h"
#include "tracegen/program/ptx_source/producer.h"
#include "tracegen/program/ptx_source/ptx_program.h"
#include "traces/base/status_macros.h"

namespace heddle::tracegen {
namespace {

constexpr char kDefaultTarget[] = "sm_70";
constexpr char kDefaultOptimization[] = "-O2";

using device::ImageKind;

// "sm_90a" is 90; 0 if it is none.
uint32_t Capability(absl::string_view target) {
  uint32_t number = 0;
  if (!absl::ConsumePrefix(&target, "sm_")) return 0;
  return absl::SimpleAtoi(target.substr(0, target.find_first_not_of("0123456789")), &number) ? number : 0;
}

absl::Status Named(const absl::Status& status, const std::string& name) {
  return absl::Status(status.code(), absl::StrCat(name, ": ", status.message()));
}

bool KeepsBranches(const device::ModuleOptions& options) {
  return absl::StrContains(options.optimization, kKeepBranches);
}

class BitcodeSource final : public ModuleSource {
 public:
  BitcodeSource(std::string bitcode, const device::ModuleOptions& options)
      : bitcode_(std::move(bitcode)),
        name_(options.name),
        target_(options.target),
        keep_branches_(KeepsBranches(options)) {}

  absl::StatusOr<Outline> Read() const override {
    Outline outline;
    outline.context = std::make_unique<llvm::LLVMContext>();
    HEDDLE_ASSIGN_OR_RETURN(outline.module, ReadBitcode(bitcode_, name_, *outline.context));
    if (keep_branches_) LowerSelections(*outline.module);
    return outline;
  }

  absl::StatusOr<CanonicalModule> Whole(Outline outline) const override {
    return Canonicalize(std::move(outline.context), std::move(outline.module), target_);
  }

  absl::StatusOr<CanonicalModule> Only(const std::string& kernel) const override {
    HEDDLE_ASSIGN_OR_RETURN(Outline outline, Part(kernel));
    return Whole(std::move(outline));
  }

  absl::StatusOr<Outline> Part(const std::string& kernel) const override {
    HEDDLE_ASSIGN_OR_RETURN(Outline outline, Read());
    KeepKernel(*outline.module, kernel);
    return outline;
  }

  absl::StatusOr<SourceText> Ptx(Outline outline, const std::string& target,
                                 const LibraryFinder& library) const override {
    if (CallsLibdevice(*outline.module)) {
      HEDDLE_ASSIGN_OR_RETURN(const std::string path, library());
      HEDDLE_RETURN_IF_ERROR(LinkLibdevice(*outline.module, path, target, /*unroll=*/true));
    }
    HEDDLE_ASSIGN_OR_RETURN(const CanonicalModule canonical,
                            Canonicalize(std::move(outline.context), std::move(outline.module), target));
    return SourceText{SourcePtx(canonical), canonical.compiler};
  }

  bool TakesAddresses(const Outline& outline) const override { return !AddressTakenFunctions(*outline.module).empty(); }
  bool IsLazy() const override { return false; }

 private:
  const std::string bitcode_;
  const std::string name_;
  const std::string target_;
  const bool keep_branches_;
};

class PtxModuleSource final : public ModuleSource {
 public:
  explicit PtxModuleSource(PtxProgram program, std::string text)
      : program_(std::move(program)), text_(std::move(text)) {}

  absl::StatusOr<Outline> Read() const override {
    HEDDLE_ASSIGN_OR_RETURN(CanonicalModule declared, program_.Declare());
    return Outline{std::move(declared.context), std::move(declared.module)};
  }

  absl::StatusOr<CanonicalModule> Whole(Outline) const override { return program_.Lower(); }
  absl::StatusOr<CanonicalModule> Only(const std::string& kernel) const override {
    return program_.LowerKernel(kernel);
  }
  absl::StatusOr<Outline> Part(const std::string&) const override { return Read(); }
  absl::StatusOr<SourceText> Ptx(Outline, const std::string&, const LibraryFinder&) const override {
    if (!text_.empty()) return SourceText{text_, ProducerOf(text_)};
    return absl::UnimplementedError(
        "device code of several parts that are linked as PTX cannot be assembled; capture it at level ptx");
  }
  bool TakesAddresses(const Outline&) const override { return program_.takes_addresses(); }
  bool IsLazy() const override { return !program_.takes_addresses(); }

 private:
  const PtxProgram program_;
  const std::string text_;  // empty: there are several
};

absl::StatusOr<std::unique_ptr<ModuleSource>> FromBitcode(const std::vector<device::ModuleImage>& images,
                                                          device::ModuleOptions& options, std::string* binary) {
  if (options.target.empty()) options.target = kDefaultTarget;
  if (options.optimization.empty()) options.optimization = kDefaultOptimization;
  if (images.size() == 1) return std::make_unique<BitcodeSource>(std::string(images.front().data), options);
  llvm::LLVMContext context;
  std::vector<std::string_view> parts;
  for (const device::ModuleImage& image : images) parts.push_back(image.data);
  HEDDLE_ASSIGN_OR_RETURN(const std::unique_ptr<llvm::Module> linked, LinkBitcode(parts, options.name, context));
  *binary = WriteBitcode(*linked);
  return std::make_unique<BitcodeSource>(*binary, options);
}

// All bitcode among the images as one PTX text, to be linked with the others: our own compiler's.
absl::StatusOr<std::string> PtxOfBitcode(const std::vector<device::ModuleImage>& images,
                                         const device::ModuleOptions& options) {
  std::vector<std::string_view> parts;
  for (const device::ModuleImage& image : images) {
    if (image.kind == ImageKind::kBitcode) parts.push_back(image.data);
  }
  auto context = std::make_unique<llvm::LLVMContext>();
  HEDDLE_ASSIGN_OR_RETURN(std::unique_ptr<llvm::Module> module, LinkBitcode(parts, options.name, *context));
  if (KeepsBranches(options)) LowerSelections(*module);
  const std::string target = options.target.empty() ? kDefaultTarget : options.target;
  return PtxOfPart(std::move(context), std::move(module), target);
}

absl::StatusOr<std::unique_ptr<ModuleSource>> FromPtx(const std::vector<device::ModuleImage>& images,
                                                      device::ModuleOptions& options) {
  std::deque<std::string> unpacked;
  std::vector<PtxText> texts;
  bool has_bitcode = false;
  for (const device::ModuleImage& image : images) {
    if (image.kind == ImageKind::kBitcode && std::exchange(has_bitcode, true)) continue;
    PtxText& text = texts.emplace_back(PtxText{image.name, image.data});
    if (text.name.empty()) text.name = images.size() == 1 ? options.name : absl::StrCat("part", texts.size(), ".ptx");
    if (image.kind == ImageKind::kPtx) continue;
    absl::StatusOr<std::string> made = image.kind == ImageKind::kFatBinary
                                           ? PtxOfFatBinary(image.data, options.most_capability)
                                           : PtxOfBitcode(images, options);
    if (!made.ok()) return Named(made.status(), text.name);
    text.text = unpacked.emplace_back(*std::move(made));
  }
  HEDDLE_ASSIGN_OR_RETURN(PtxProgram program, PtxProgram::Read(texts));
  if (const uint32_t most = options.most_capability; most != 0 && Capability(program.target()) > most) {
    return absl::NotFoundError(absl::StrCat(texts.front().name, ": PTX for ", program.target(),
                                            ", but code for at most sm_", most,
                                            " is asked for (CU_JIT_TARGET); ask for more"));
  }
  if (!program.target().empty()) options.target = program.target();
  if (options.target.empty()) options.target = kDefaultTarget;
  options.optimization.clear();  // the producer's, which nobody tells
  return std::make_unique<PtxModuleSource>(std::move(program),
                                           texts.size() == 1 ? std::string(texts.front().text) : std::string());
}

}  // namespace

absl::StatusOr<std::unique_ptr<ModuleSource>> ModuleSource::Make(const std::vector<device::ModuleImage>& images,
                                                                 device::ModuleOptions& options, std::string* binary) {
  if (options.name.empty()) options.name = "device code";
  const bool bitcode = std::all_of(images.begin(), images.end(),
                                   [](const device::ModuleImage& image) { return image.kind == ImageKind::kBitcode; });
  return bitcode ? FromBitcode(images, options, binary) : FromPtx(images, options);
}

absl::Status ModuleSource::Check(const std::vector<device::ModuleImage>& images, device::ModuleOptions options,
                                 bool links) {
  std::string binary;
  if (links) return Make(images, options, &binary).status();
  for (const device::ModuleImage& image : images) {
    PtxText text = {image.name.empty() ? options.name : image.name, image.data};
    if (image.kind == ImageKind::kBitcode) {
      llvm::LLVMContext context;
      HEDDLE_RETURN_IF_ERROR(ReadBitcode(image.data, text.name, context).status());
      continue;
    }
    std::string unpacked;
    if (image.kind == ImageKind::kFatBinary) {
      absl::StatusOr<std::string> ptx = PtxOfFatBinary(image.data, options.most_capability);
      if (!ptx.ok()) return Named(ptx.status(), text.name);
      text.text = unpacked = *std::move(ptx);
    }
    HEDDLE_RETURN_IF_ERROR(PtxProgram::Check(text));
  }
  return absl::OkStatus();
}

}  // namespace heddle::tracegen
