#include "replay/engine/model_version.h"

#include "model_version_generated.h"

namespace heddle::replay {

std::string ModelVersion() { return HEDDLE_MODEL_VERSION; }

}  // namespace heddle::replay
