#include "tracegen/machine/forms/form.h"

#include "tracegen/forms/form_table.h"
#include "tracegen/machine/forms/rows.h"

namespace heddle::tracegen::machine {
namespace {

const FormTable<Form>& Table() {
  static const auto& table =
      *new FormTable<Form>({IntegerRows(), FloatRows(), MemoryRows(), ControlRows(), UniformRows(), MatrixRows()});
  return table;
}

}  // namespace

std::span<const Form> AllForms() { return Table().all(); }

std::span<const Form> FormsOf(std::string_view opcode) { return Table().Of(opcode); }

}  // namespace heddle::tracegen::machine
