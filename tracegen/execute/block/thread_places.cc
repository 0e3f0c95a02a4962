#include "tracegen/execute/block/thread_places.h"

#include <algorithm>
#include <cstddef>

#include "absl/strings/str_cat.h"
#include "traces/format/program/kernel_name.h"

namespace heddle::tracegen {

std::string SiteText(const InstrumentedKernel& kernel, uint32_t site) {
  return site < kernel.sites.size() ? kernel.sites[site].ToString() : "unknown place";
}

void ThreadPlaces::BeginLaunch(const InstrumentedKernel& kernel, const Geometry& geometry) {
  kernel_ = &kernel;
  std::copy(std::begin(geometry.block), std::end(geometry.block), block_);
}

std::string ThreadPlaces::Kernel() const {
  return absl::StrCat("kernel '", trace::BriefKernelName(kernel_->name), "'");
}

std::string ThreadPlaces::Block() const {
  return absl::StrCat(Kernel(), ", block (", context_.ctaid[0], ",", context_.ctaid[1], ",", context_.ctaid[2], ")");
}

std::string ThreadPlaces::Coordinates(uint32_t thread) const {
  return absl::StrCat("(", thread % block_[0], ",", thread / block_[0] % block_[1], ",", thread / block_[0] / block_[1],
                      ")");
}

std::string ThreadPlaces::Thread(uint32_t thread) const {
  return absl::StrCat(Block(), ", thread ", Coordinates(thread));
}

std::string ThreadPlaces::ThreadNear(uint32_t thread, uint32_t location) const {
  std::string text = Thread(thread);
  if (location != 0 && kernel_->blocks[location - 1].site.line != 0) {
    absl::StrAppend(&text, ", near ", kernel_->blocks[location - 1].site.ToString());
  }
  return text;
}

Site ThreadPlaces::RunningBlock() const {
  return context_.own.location == 0 ? tracegen::Site{} : kernel_->blocks[context_.own.location - 1].site;
}

Site ThreadPlaces::LastAccess(const void* address) const {
  if (context_.own.location == 0) return tracegen::Site{};
  const RecordedBlock& block = kernel_->blocks[context_.own.location - 1];
  if (block.OneSite()) return block.access_sites.empty() ? block.site : block.access_sites.front();
  // The access that failed has already stored its address in the record of its block. Others may have been there before
  // and passed, as reads can; but 0 also stands where nothing has been stored yet.
  tracegen::Site site = block.site;
  for (size_t i = 0; i < block.access_sites.size(); ++i) {
    if (context_.own.block_base[i] != reinterpret_cast<uint64_t>(address)) continue;
    site = block.access_sites[i];
    if (address == nullptr) break;
  }
  return site;
}

std::string ThreadPlaces::Misaligned(const uint64_t* record) const {
  const RecordedBlock& block = kernel_->blocks[context_.own.location - 1];
  size_t wrong = 0;
  const auto is_wrong = [&](size_t i) { return block.access_bytes[i] != 0 && record[i] % block.access_bytes[i] != 0; };
  while (wrong + 1 < block.access_bytes.size() && !is_wrong(wrong)) ++wrong;
  return absl::StrCat("access of ", block.access_bytes[wrong], " bytes to address 0x", absl::Hex(record[wrong]),
                      ", which is no multiple of ", block.access_bytes[wrong], ", at ",
                      block.access_sites[wrong].ToString(), ": a device stops here");
}

}  // namespace heddle::tracegen
