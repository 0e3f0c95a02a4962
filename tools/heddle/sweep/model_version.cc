#include "tools/heddle/sweep/model_version.h"

#include "model_version_generated.h"

namespace heddle::tools::sweep {

std::string ModelVersion() { return HEDDLE_MODEL_VERSION; }

}  // namespace heddle::tools::sweep
