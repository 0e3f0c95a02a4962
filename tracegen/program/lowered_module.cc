#include "tracegen/program/lowered_module.h"

#include <string>

#include "absl/strings/str_cat.h"
#include "llvm/BinaryFormat/Dwarf.h"
#include "llvm/IR/Verifier.h"
#include "llvm/Support/raw_ostream.h"

namespace heddle::tracegen {

InstructionScopes::InstructionScopes(llvm::Module& module)
    : builder_(module),
      file_(builder_.createFile("kernel", "")),
      type_(builder_.createSubroutineType(builder_.getOrCreateTypeArray({}))) {
  module.addModuleFlag(llvm::Module::Warning, "Debug Info Version", llvm::DEBUG_METADATA_VERSION);
  builder_.createCompileUnit(llvm::dwarf::DW_LANG_C_plus_plus, file_, "heddle", true, "", 0, "",
                             llvm::DICompileUnit::DebugDirectivesOnly);
}

llvm::DISubprogram* InstructionScopes::Add(llvm::Function& function) {
  llvm::DISubprogram* scope =
      builder_.createFunction(file_, function.getName(), function.getName(), file_, 0, type_, 0, llvm::DINode::FlagZero,
                              llvm::DISubprogram::SPFlagDefinition | llvm::DISubprogram::SPFlagOptimized);
  function.setSubprogram(scope);
  return scope;
}

std::vector<bool> ReachedNodes(const FlowFunction& flow) {
  std::vector<int> work = {0};
  std::vector<bool> reached(flow.nodes.size(), false);
  reached[0] = true;
  while (!work.empty()) {
    const FlowNode& node = flow.nodes[static_cast<size_t>(work.back())];
    work.pop_back();
    std::vector<int> to = node.targets;
    to.push_back(node.next);
    to.push_back(node.taken);
    for (const int next : to) {
      if (next == kNoNode || reached[static_cast<size_t>(next)]) continue;
      reached[static_cast<size_t>(next)] = true;
      work.push_back(next);
    }
  }
  return reached;
}

absl::Status VerifyLowered(const llvm::Module& module, absl::string_view what) {
  std::string broken;
  llvm::raw_string_ostream stream(broken);
  if (!llvm::verifyModule(module, &stream)) return absl::OkStatus();
  return absl::InternalError(absl::StrCat("IR of ", what, " is broken: ", broken.substr(0, broken.find('\n'))));
}

}  // namespace heddle::tracegen
