#include "tracegen/ptx/forms/form.h"

#include "tracegen/forms/form_table.h"
#include "tracegen/ptx/forms/rows.h"

namespace heddle::tracegen::ptx {
namespace {

const FormTable<Form>& Table() {
  static const auto& table = *new FormTable<Form>(
      {IntegerRows(), FloatRows(), MemoryRows(), ControlRows(), TextureRows(), VideoRows(), AsyncRows(), MatrixRows()});
  return table;
}

}  // namespace

std::span<const Form> AllForms() { return Table().all(); }

std::span<const Form> FormsOf(std::string_view opcode) { return Table().Of(opcode); }

}  // namespace heddle::tracegen::ptx
