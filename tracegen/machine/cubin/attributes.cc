#include "tracegen/machine/cubin/attributes.h"

#include "absl/status/status.h"
#include "absl/strings/str_format.h"
#include "traces/base/printable.h"

namespace heddle::tracegen::machine {

absl::StatusOr<std::vector<Attribute>> ReadAttributes(std::string_view name, std::span<const uint8_t> bytes) {
  std::vector<Attribute> attributes;
  size_t at = 0;
  const auto error = [&](const char* what) {
    return absl::InvalidArgumentError(
        absl::StrFormat("cubin: section %s is damaged at byte %d: %s", CutText(Printable(name), 80), at, what));
  };
  while (at < bytes.size()) {
    if (bytes.size() - at < 4) return error("an attribute is cut");
    Attribute attribute;
    attribute.kind = bytes[at + 1];
    const uint8_t form = bytes[at];
    const size_t half = bytes[at + 2] | size_t{bytes[at + 3]} << 8;
    size_t size = 0;
    switch (form) {
      case 1:  // no value
        break;
      case 2:  // a byte
        attribute.value = {bytes[at + 2]};
        break;
      case 3:  // a half
        attribute.value = {bytes[at + 2], bytes[at + 3]};
        break;
      case 4:  // as many bytes as the half says
        size = half;
        if (size > bytes.size() - at - 4) return error("the value of an attribute is cut");
        attribute.value.assign(bytes.begin() + static_cast<std::ptrdiff_t>(at + 4),
                               bytes.begin() + static_cast<std::ptrdiff_t>(at + 4 + size));
        break;
      default:
        return error("an attribute has a form that is not known");
    }
    attributes.push_back(std::move(attribute));
    // Values end on whole words.
    at += 4 + (size + 3) / 4 * 4;
  }
  return attributes;
}

std::vector<uint32_t> Words(std::span<const uint8_t> bytes) {
  std::vector<uint32_t> words;
  for (size_t i = 0; i + 4 <= bytes.size(); i += 4) {
    words.push_back(bytes[i] | uint32_t{bytes[i + 1]} << 8 | uint32_t{bytes[i + 2]} << 16 |
                    uint32_t{bytes[i + 3]} << 24);
  }
  return words;
}

}  // namespace heddle::tracegen::machine
