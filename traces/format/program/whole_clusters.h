// Which blocks a selection of blocks takes if it takes whole clusters.
#ifndef HEDDLE_TRACES_FORMAT_PROGRAM_WHOLE_CLUSTERS_H_
#define HEDDLE_TRACES_FORMAT_PROGRAM_WHOLE_CLUSTERS_H_

#include "traces/base/number_ranges.h"
#include "traces/format/program/clusters.h"

namespace heddle::trace {

// The blocks of all clusters of which `blocks` has some. Time and memory depend on the number of ranges alone, however
// many blocks they have.
NumberRanges WholeClusters(const NumberRanges& blocks, const Clusters& clusters);

}  // namespace heddle::trace

#endif  // HEDDLE_TRACES_FORMAT_PROGRAM_WHOLE_CLUSTERS_H_
