// Where the code of a module comes from: LLVM bitcode or PTX.
#ifndef HEDDLE_TRACEGEN_APPLICATION_MODULE_SOURCE_H_
#define HEDDLE_TRACEGEN_APPLICATION_MODULE_SOURCE_H_

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "llvm/IR/LLVMContext.h"
#include "llvm/IR/Module.h"
#include "tracegen/program/static_program.h"
#include "tracegen/runtime/protocol/device_types.h"

namespace heddle::tracegen {

class ModuleSource {
 public:
  // A module of IR that is not canonical.
  struct Outline {
    std::unique_ptr<llvm::LLVMContext> context;
    std::unique_ptr<llvm::Module> module;
  };
  // PTX to be assembled, and who has made it.
  struct SourceText {
    std::string text;
    std::string producer;
  };
  // The path of libdevice (frontend/libdevice.h).
  using LibraryFinder = std::function<absl::StatusOr<std::string>()>;

  // Takes the images of a program, linked if there are several. `options` get the target and name that hold. `binary`
  // becomes the bitcode, as one part, if all of it is bitcode. Errors: what cannot be read or linked, with its place;
  // NotFound for fat binaries without PTX.
  static absl::StatusOr<std::unique_ptr<ModuleSource>> Make(const std::vector<device::ModuleImage>& images,
                                                            device::ModuleOptions& options, std::string* binary);

  // Whether the images can be read, each by itself, and, with `links`, linked. Errors: as those of Make.
  static absl::Status Check(const std::vector<device::ModuleImage>& images, device::ModuleOptions options, bool links);

  virtual ~ModuleSource() = default;

  // Variables and kernels as the host sees them; bodies need not be right.
  virtual absl::StatusOr<Outline> Read() const = 0;
  // All of the code; `outline` is what Read has made, and may become a part of it.
  virtual absl::StatusOr<CanonicalModule> Whole(Outline outline) const = 0;
  // One kernel with what it needs.
  virtual absl::StatusOr<CanonicalModule> Only(const std::string& kernel) const = 0;
  // What Read makes, of one kernel with what it needs. Of PTX: of all kernels.
  virtual absl::StatusOr<Outline> Part(const std::string& kernel) const = 0;
  // The code of `outline`, of Read or Part, as one text of PTX for `target` (sm_80); of PTX the text that was given.
  // `library`: where functions of the device's mathematical library are, called if there are some. Errors: those of
  // the compiler; Unimplemented for several texts, which the assembler does not link.
  virtual absl::StatusOr<SourceText> Ptx(Outline outline, const std::string& target,
                                         const LibraryFinder& library) const = 0;
  // Whether addresses of functions are taken: they are right only where all functions are there.
  virtual bool TakesAddresses(const Outline& outline) const = 0;
  // Whether kernels are read one by one, when they are needed.
  virtual bool IsLazy() const = 0;
  // Who has made the PTX of which machine code was assembled last; empty: nothing was, or nobody tells.
  virtual std::string ptx_producer() const { return {}; }
};

}  // namespace heddle::tracegen

#endif  // HEDDLE_TRACEGEN_APPLICATION_MODULE_SOURCE_H_
