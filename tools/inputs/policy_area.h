// Published areas of policies.
#ifndef HEDDLE_TOOLS_INPUTS_POLICY_AREA_H_
#define HEDDLE_TOOLS_INPUTS_POLICY_AREA_H_

#include <optional>
#include <string>
#include <vector>

#include "proto/areas.pb.h"
#include "replay/seams/policy_storage.h"

namespace heddle::tools {

// All that are known (replay/policies/areas.textproto).
const areas::v1::AreaTable& PublishedAreas();

// Of a policy, by its name; null if nothing is published.
const areas::v1::PolicyArea* PublishedArea(const std::string& policy);

// Whether the numbers are for a structure of this name and size.
bool IsForItem(const areas::v1::StructureArea& area, const std::vector<replay::StorageItem>& items);

// Per cent of the chip that its policies' structures take on all SMs, without `further_per_cent`; nothing unless all of
// its policies are among `policies`.
std::optional<double> SharePerCent(const areas::v1::ChipShare& chip, const std::vector<std::string>& policies);

}  // namespace heddle::tools

#endif  // HEDDLE_TOOLS_INPUTS_POLICY_AREA_H_
