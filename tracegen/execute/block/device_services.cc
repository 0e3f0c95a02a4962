#include "tracegen/execute/block/device_services.h"

#include "absl/strings/str_cat.h"
#include "tracegen/execute/launch/live_blocks.h"

namespace heddle::tracegen {

void DeviceServices::Free(uint32_t site, uint64_t address) {
  if (address == 0 || (options_.heap != nullptr && options_.heap->Free(address))) return;
  threads_.Fail(absl::StrCat("free of 0x", absl::Hex(address), " at ", places_.Site(site),
                             ": malloc has not returned this address, or it has been freed before"));
}

void DeviceServices::RequireResidentGrid(uint32_t site) {
  if (geometry_.blocks() <= options_.resident_blocks) return;
  const std::string live = options_.resident_blocks == 1
                               ? std::string("which run one after the other here")
                               : absl::StrCat("of which ", options_.resident_blocks, " are live at once");
  threads_.Fail(absl::StrCat("a barrier of the whole grid at ", places_.Site(site), ": the grid has ",
                             geometry_.blocks(), " blocks, ", live, "; ",
                             LiveBlocksAdvice(geometry_, threads_.kernel().uses_local, options_.resident_blocks,
                                              options_.resident_blocks_setting, /*all=*/true)));
}

}  // namespace heddle::tracegen
