#include "tracegen/program/kernel_list.h"

#include <cstdlib>

#include "llvm/Demangle/Demangle.h"
#include "tracegen/program/prepare.h"
#include "tracegen/program/static_program.h"

namespace heddle::tracegen {

std::string BaseName(const std::string& mangled) {
  llvm::ItaniumPartialDemangler demangler;
  if (demangler.partialDemangle(mangled.c_str())) return mangled;
  char* text = demangler.getFunctionBaseName(nullptr, nullptr);
  if (text == nullptr) return mangled;
  std::string name = text;
  std::free(text);
  return name;
}

std::vector<KernelName> ListKernels(const CanonicalModule& module) {
  std::vector<KernelName> names;
  for (const llvm::Function* kernel : KernelsOf(*module.module)) {
    const std::string mangled = kernel->getName().str();
    names.push_back({BaseName(mangled), mangled});
  }
  return names;
}

}  // namespace heddle::tracegen
