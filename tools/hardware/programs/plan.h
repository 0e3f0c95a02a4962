// A plan as `heddle capture --plan` writes it: what a recipe does, for a machine with a card. Only the standard
// library.
#ifndef HEDDLE_TOOLS_HARDWARE_PROGRAMS_PLAN_H_
#define HEDDLE_TOOLS_HARDWARE_PROGRAMS_PLAN_H_

#include <cstdint>
#include <string>
#include <vector>

#include "tracegen/contents/contents.h"

namespace heddle::hardware {

// Where contents come from: a generator, or a file beside the plan.
struct Source {
  contents::Kind kind;
  std::string file;     // not empty: this one
  std::string lengths;  // not empty: a file with the lengths of the rows of `kind`, 32 bits each
};

struct PlanBuffer {
  std::string name;
  contents::Scalar type = contents::Scalar::kU8;
  uint64_t count = 0;
  std::string before;  // hexadecimal SHA-256
  std::string after;   // the same, of what a capture has left there
  Source source;
  uint64_t bytes() const { return count * contents::ElementBytes(type); }
  bool changes() const { return before != after; }
};

// A variable of the device code, set before a launch.
struct PlanSymbol {
  std::string name;
  contents::Scalar type = contents::Scalar::kU8;
  uint64_t count = 0;
  Source source;
  uint64_t bytes() const { return count * contents::ElementBytes(type); }
};

struct PlanArgument {
  enum class Kind { kBuffer, kValue, kLocal };
  Kind kind = Kind::kValue;
  std::string buffer;
  std::string value;  // bytes
};

struct PlanLaunch {
  std::string kernel;  // mangled
  std::string name;    // demangled
  unsigned grid[3] = {1, 1, 1};
  unsigned block[3] = {1, 1, 1};
  unsigned shared_bytes = 0;  // dynamic
  unsigned repeat = 1;
  std::vector<PlanArgument> arguments;
  std::vector<size_t> symbols;  // in Plan::symbols, set before the first repetition
};

struct PlanCheck {
  std::string buffer;
  std::string program;   // not empty: a check program
  double tolerance = 0;  // else: the expected contents, and how far off they may be
  Source expected;
};

struct Plan {
  std::string folder;
  std::vector<PlanBuffer> buffers;
  std::vector<PlanSymbol> symbols;
  std::vector<PlanLaunch> launches;
  std::vector<PlanCheck> checks;

  // The buffer of that name; null if there is none.
  const PlanBuffer* Find(const std::string& name) const;
};

// Reads FOLDER/plan.txt. Returns what is wrong with it, with the line, or nothing.
std::string ReadPlan(const std::string& folder, Plan* plan);

// A whole file; false if it cannot be read or written.
bool ReadFile(const std::string& path, std::string* bytes);
bool WriteFile(const std::string& path, const std::string& bytes);

// Names of the files that `plan_host make` makes and `plan_card run` reads and writes.
std::string BeforeFile(const std::string& folder, const PlanBuffer& buffer);
std::string AfterFile(const std::string& folder, const PlanBuffer& buffer);
std::string SymbolFile(const std::string& folder, size_t symbol);

}  // namespace heddle::hardware

#endif  // HEDDLE_TOOLS_HARDWARE_PROGRAMS_PLAN_H_
