#include "tracegen/machine/forms/form.h"

#include <algorithm>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/strings/string_view.h"
#include "tracegen/machine/forms/rows.h"

namespace heddle::tracegen::machine {
namespace {

struct Table {
  std::vector<Form> rows;
  absl::flat_hash_map<absl::string_view, std::span<const Form>> by_opcode;

  Table() {
    for (const std::span<const Form> part :
         {IntegerRows(), FloatRows(), MemoryRows(), ControlRows(), UniformRows(), MatrixRows()}) {
      rows.insert(rows.end(), part.begin(), part.end());
    }
    std::stable_sort(rows.begin(), rows.end(), [](const Form& a, const Form& b) { return a.opcode < b.opcode; });
    for (size_t begin = 0, end = 0; begin < rows.size(); begin = end) {
      while (end < rows.size() && rows[end].opcode == rows[begin].opcode) ++end;
      const std::string_view opcode = rows[begin].opcode;
      by_opcode[absl::string_view(opcode.data(), opcode.size())] = {&rows[begin], end - begin};
    }
  }
};

const Table& All() {
  static const Table& table = *new Table();
  return table;
}

}  // namespace

std::span<const Form> AllForms() { return All().rows; }

std::span<const Form> FormsOf(std::string_view opcode) {
  const auto found = All().by_opcode.find(absl::string_view(opcode.data(), opcode.size()));
  return found == All().by_opcode.end() ? std::span<const Form>() : found->second;
}

}  // namespace heddle::tracegen::machine
