#include "tools/inputs/policies_elsewhere.h"

namespace heddle::tools {
namespace {

struct Elsewhere {
  std::string_view name;
  const char* text;
};

constexpr Elsewhere kElsewhere[] = {
    {"oracle_lane_activity",
     "is a bound that knows the whole recording, no way to run it: `heddle trace limits TRACE` works it out "
     "(docs/policies/oracles.md)"},
    {"oracle_reconvergence",
     "knows the whole recording and is no way to run it: `heddle trace limits TRACE` works out the optimal "
     "reconvergence (docs/policies/oracles.md)"},
    {"cawa", "is half there: scheduler gcaws, without its data cache (docs/policies/schedulers.md)"},
    {"pro",
     "is not there: its rules for blocks with finished warps are not in public sources at hand; progress is what its "
     "authors made of it (docs/policies/schedulers.md)"},
    {"daws",
     "is not there: its predictor needs tables of loads and loops that public sources at hand do not define; ccws and "
     "swl are its relatives (docs/policies/schedulers.md)"},
    {"bows", "is not there: recordings do not mark spins, which it needs (docs/policies/schedulers.md)"},
    {"saws", "is there as far as public: scheduler saws_lite (docs/policies/schedulers.md)"},
    {"baws", "is scheduler mwf with --fetch cff, or --preset baws (docs/policies/schedulers.md)"},
    {"vtw", "is --dispatch virtual_blocks with scheduler progress, or --preset vtw (docs/policies/virtual_blocks.md)"},
};

}  // namespace

std::string PolicyElsewhere(std::string_view name) {
  for (const Elsewhere& entry : kElsewhere) {
    if (entry.name == name) return entry.text;
  }
  return "";
}

}  // namespace heddle::tools
