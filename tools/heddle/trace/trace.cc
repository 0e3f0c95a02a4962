// `heddle trace`: the commands are in this folder.
#include "tools/console/command.h"

namespace heddle::tools {
namespace {

HEDDLE_COMMAND_GROUP(.name = "trace", .place = 2, .summary = "Look into traces, and make new ones of them");

}  // namespace
}  // namespace heddle::tools
