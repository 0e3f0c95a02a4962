// The line table of a cubin, which says where its instructions come from.
#ifndef HEDDLE_TRACEGEN_MACHINE_CUBIN_LINE_TABLE_H_
#define HEDDLE_TRACEGEN_MACHINE_CUBIN_LINE_TABLE_H_

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "tracegen/machine/cubin/cubin.h"

namespace heddle::tracegen::machine {

// The rows of .debug_line by the function at whose section they begin. `relocations` of that section name the
// functions, since each sequence begins at address 0 of its own. A table that is damaged gives nothing, and no error:
// lines are a help to people, and nothing depends on them.
std::map<std::string, std::vector<LineRow>> ReadLineTable(std::string_view debug_line,
                                                          const std::vector<Relocation>& relocations);

}  // namespace heddle::tracegen::machine

#endif  // HEDDLE_TRACEGEN_MACHINE_CUBIN_LINE_TABLE_H_
