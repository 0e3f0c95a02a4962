#include "tracegen/version.h"

namespace heddle::tracegen {

std::string Producer() { return "heddle " HEDDLE_VERSION; }

}  // namespace heddle::tracegen
