// A table of the forms of instructions, whatever the instruction set: its rows, grouped by opcode.
#ifndef HEDDLE_TRACEGEN_FORMS_FORM_TABLE_H_
#define HEDDLE_TRACEGEN_FORMS_FORM_TABLE_H_

#include <algorithm>
#include <initializer_list>
#include <span>
#include <string_view>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/strings/string_view.h"

namespace heddle::tracegen {

// `Form` is a row: it has a member `opcode` that lives as long as the program.
template <typename Form>
class FormTable {
 public:
  // Takes the rows of all parts. Those of one opcode keep their order.
  FormTable(std::initializer_list<std::span<const Form>> parts) {
    for (const std::span<const Form> part : parts) rows_.insert(rows_.end(), part.begin(), part.end());
    std::stable_sort(rows_.begin(), rows_.end(), [](const Form& a, const Form& b) { return a.opcode < b.opcode; });
    for (size_t begin = 0, end = 0; begin < rows_.size(); begin = end) {
      while (end < rows_.size() && rows_[end].opcode == rows_[begin].opcode) ++end;
      by_opcode_[Key(rows_[begin].opcode)] = {&rows_[begin], end - begin};
    }
  }
  FormTable(const FormTable&) = delete;
  FormTable& operator=(const FormTable&) = delete;

  // All rows; those of one opcode follow one another.
  std::span<const Form> all() const { return rows_; }
  // The rows of one opcode; none if it is not known.
  std::span<const Form> Of(std::string_view opcode) const {
    const auto found = by_opcode_.find(Key(opcode));
    return found == by_opcode_.end() ? std::span<const Form>() : found->second;
  }

 private:
  static absl::string_view Key(std::string_view opcode) { return {opcode.data(), opcode.size()}; }

  std::vector<Form> rows_;
  absl::flat_hash_map<absl::string_view, std::span<const Form>> by_opcode_;
};

}  // namespace heddle::tracegen

#endif  // HEDDLE_TRACEGEN_FORMS_FORM_TABLE_H_
