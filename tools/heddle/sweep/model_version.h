// Which model a result comes from.
#ifndef HEDDLE_TOOLS_HEDDLE_SWEEP_MODEL_VERSION_H_
#define HEDDLE_TOOLS_HEDDLE_SWEEP_MODEL_VERSION_H_

#include <string>

namespace heddle::tools::sweep {

// The version of this program, '+', and a digest of the sources that decide results: builds of the same sources agree
// wherever they are made, and results of different sources are never mixed up.
std::string ModelVersion();

}  // namespace heddle::tools::sweep

#endif  // HEDDLE_TOOLS_HEDDLE_SWEEP_MODEL_VERSION_H_
