// Links PTX modules into one.
//
// What is done, by name (PTX ISA: Linking Directives):
// * What one module declares (.extern, or a function without a body) is what another one defines. Declarations and
//   definitions must agree: the state space and size of a variable, the sizes of a function's parameters and results.
// * .visible definitions win over .weak ones, and these over .common ones. Of several .weak ones the first is taken, of
//   several .common ones the largest. Two .visible ones are an error. So are two kernels, which count as .visible.
// * Names without any of these are a module's own. Where another module has the name too, the later one is renamed.
//   A variable of a function's body that is not shared gets a name of its own if another one has it.
// * .extern .shared arrays of one name are one array, which nobody has to define: the launch gives it its size.
// * Functions and variables that are used and that no module defines are an error, unless the device has them.
// Functions stand in the order of the modules. Debugging sections are left out.
#ifndef HEDDLE_TRACEGEN_PTX_SYNTAX_LINK_MODULES_H_
#define HEDDLE_TRACEGEN_PTX_SYNTAX_LINK_MODULES_H_

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "tracegen/ptx/syntax/module.h"

namespace heddle::tracegen::ptx {

class ModuleLinker {
 public:
  // `explain` says why a function without a definition cannot be called; it is empty for what the device provides.
  using Explain = std::function<std::string(std::string_view function)>;
  explicit ModuleLinker(Explain explain) : explain_(std::move(explain)) {}

  // `name` stands for the module in messages.
  void Add(std::string name, Module module);

  // All that was added, as one module; a single one keeps its names and is without parts. Called once.
  // Errors: InvalidArgument with the places of both sides, "a.ptx: PTX line 7: ... 'name' ... b.ptx: PTX line 9".
  absl::StatusOr<Module> Link();

 private:
  // How much a mention of a name counts.
  enum class Strength : uint8_t { kReference, kCommon, kWeak, kStrong };
  // A name that modules share.
  struct Symbol {
    bool is_function = false;
    Strength strength = Strength::kReference;
    uint32_t part = 0;   // where it comes from
    uint32_t index = 0;  // in that part
    uint32_t made = 0;   // index in the result
    bool is_made = false;
  };
  // What the indices of one part are in the result.
  struct Indices {
    std::vector<uint32_t> functions;
    std::vector<uint32_t> variables;
    absl::flat_hash_map<uint32_t, uint32_t> files;
  };

  static bool IsOwn(const Module& part, uint32_t function);
  static Strength StrengthOf(const Module& part, uint32_t function);
  absl::Status Claim(const std::string& name, const Symbol& symbol);
  absl::Status CheckAgreement(const std::string& name, const Symbol& known, const Symbol& other) const;
  uint32_t LineOf(const Symbol& symbol) const;
  std::string Where(const Symbol& symbol) const { return result_.Where(symbol.part, LineOf(symbol)); }
  bool Wins(const Symbol& known, const Symbol& other) const;
  absl::Status ClaimAll();
  // Gives every function and variable its place in the result.
  void Number();
  void Move(uint32_t part);
  void MoveItems(uint32_t part);
  void Rename(std::string& name);
  absl::Status CheckHead();
  absl::Status CheckUses() const;
  absl::Status CheckUse(bool is_function, uint32_t index, uint32_t part, uint32_t line) const;

  const Explain explain_;
  std::vector<Module> modules_;
  Module result_;
  absl::flat_hash_map<std::string, Symbol> symbols_;
  absl::flat_hash_set<std::string> names_;  // of the result
  std::vector<Indices> indices_;            // by part
  std::vector<bool> has_variable_item_;     // of the result's variables
  std::vector<bool> has_function_item_;
  std::vector<bool> is_alias_;  // of the result's functions: what it stands for has the body
};

}  // namespace heddle::tracegen::ptx

#endif  // HEDDLE_TRACEGEN_PTX_SYNTAX_LINK_MODULES_H_
