// `heddle suite`: the commands are in this folder.
#include "tools/console/command.h"

namespace heddle::tools::suite {
namespace {

constexpr char kFooter[] = R"(
  heddle suite list                                        # what there is
  heddle suite check mine.textproto --source DIR           # is it in order, and are these its sources?
  heddle suite run example --source DIR -o OUT --size tiny --jobs 2

A suite file says where programs of others are had, how each is built, run and checked. Heddle fetches nothing: DIR holds
the sources. A suite runs programs with your rights: only run one you trust.)";

HEDDLE_COMMAND_GROUP(.name = "suite", .place = 8,
                     .summary = "Build, check and record programs of others, as a suite file says", .footer = kFooter);

}  // namespace
}  // namespace heddle::tools::suite
