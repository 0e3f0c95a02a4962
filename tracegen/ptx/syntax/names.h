// What the names of a module and of the function that is being read mean.
#ifndef HEDDLE_TRACEGEN_PTX_SYNTAX_NAMES_H_
#define HEDDLE_TRACEGEN_PTX_SYNTAX_NAMES_H_

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "tracegen/ptx/syntax/function.h"
#include "tracegen/ptx/syntax/operand.h"

namespace heddle::tracegen::ptx {

// A register or a symbol.
struct Meant {
  bool is_register = false;
  SymbolKind symbol = SymbolKind::kGlobal;
  uint32_t index = 0;  // the register's number, or the index of its declaration
};

// Names of one function's registers, variables and parameters, scope by scope. Views lead into the text.
class Scopes {
 public:
  Scopes() : frames_(1) {}

  void Open() { frames_.emplace_back(); }
  void Close() { frames_.pop_back(); }
  size_t depth() const { return frames_.size() - 1; }

  // In the innermost scope. False if it has the name already.
  bool Add(std::string_view name, const Meant& meant);
  // Registers `prefix`0 to `prefix`(count - 1) have the numbers from `first`.
  bool AddRange(std::string_view prefix, uint32_t first, uint32_t count);

  // From the innermost scope outwards.
  std::optional<Meant> Find(std::string_view name) const;

 private:
  struct Range {
    uint32_t first = 0;
    uint32_t count = 0;
  };
  struct Frame {
    absl::flat_hash_map<absl::string_view, Meant> names;
    absl::flat_hash_map<absl::string_view, Range> ranges;
  };
  static std::optional<Meant> FindIn(const Frame& frame, absl::string_view name);

  std::vector<Frame> frames_;
};

// Labels and tables of one function, which may be named before they stand. While the function is being read, operands
// hold numbers of names; Resolve turns these into indices of Function::labels and tables.
class Places {
 public:
  Places() : frames_(1) {}

  void Open() { frames_.emplace_back(); }
  // Names that this scope does not have are those of the scope around it.
  void Close();

  // The number of a name that an operand has.
  uint32_t Mention(std::string_view name, uint32_t line);
  // A label or table stands here. Errors: the scope has the name already.
  absl::Status Define(std::string_view name, uint32_t line, bool is_table, uint32_t index);

  // Rewrites all operands and tables of the body. Errors: names that nothing has; a table where a label is due.
  absl::Status Resolve(Function& function);

 private:
  struct Place {
    std::string_view name;
    uint32_t line = 0;
    bool defined = false;
    bool is_table = false;
    uint32_t index = 0;
    uint32_t same_as = 0;  // another name's number, if it turned out to be that one; else its own
  };
  uint32_t Root(uint32_t number);
  absl::Status ResolveOperand(Operand& operand);
  absl::Status ResolveNumber(bool is_table, uint32_t line, uint32_t* index);

  std::vector<Place> places_;
  std::vector<absl::flat_hash_map<absl::string_view, uint32_t>> frames_;
};

}  // namespace heddle::tracegen::ptx

#endif  // HEDDLE_TRACEGEN_PTX_SYNTAX_NAMES_H_
