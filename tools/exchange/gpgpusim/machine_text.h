// A machine as text in the style of replay/machine/descriptions: one value per line, with where it comes from.
#ifndef HEDDLE_TOOLS_EXCHANGE_GPGPUSIM_MACHINE_TEXT_H_
#define HEDDLE_TOOLS_EXCHANGE_GPGPUSIM_MACHINE_TEXT_H_

#include <map>
#include <string>

#include "proto/machine.pb.h"

namespace heddle::tools {

// Fields in the order of their declaration, as protobuf text that loads again. `sources`: what stands behind the value
// as a comment, by the field's path as --set names it. Values that are zero appear if they have a source.
std::string MachineText(const machine::v1::Machine& machine, const std::map<std::string, std::string>& sources);

}  // namespace heddle::tools

#endif  // HEDDLE_TOOLS_EXCHANGE_GPGPUSIM_MACHINE_TEXT_H_
