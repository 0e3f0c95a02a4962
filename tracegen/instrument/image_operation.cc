#include "tracegen/instrument/image_operation.h"

#include <algorithm>
#include <string>
#include <vector>

#include "absl/strings/numbers.h"
#include "absl/strings/str_split.h"

namespace heddle::tracegen {
namespace {

// "v4f32", "i8", "v2i64": elements and their size.
bool ParseElements(absl::string_view text, ImageOperation* operation) {
  operation->elements = 1;
  if (text.size() > 2 && text[0] == 'v') {
    operation->elements = static_cast<uint8_t>(text[1] - '0');
    text.remove_prefix(2);
  }
  uint32_t bits = 0;
  if (text.empty() || !absl::SimpleAtoi(text.substr(1), &bits)) return false;
  operation->element_bytes = static_cast<uint8_t>(bits / 8);
  operation->integer_result = text[0] != 'f';
  return true;
}

}  // namespace

uint32_t ImageOperation::Encode() const {
  return static_cast<uint32_t>(kind) | static_cast<uint32_t>(level) << 3 | static_cast<uint32_t>(bounds) << 5 |
         static_cast<uint32_t>(dimensions) << 7 | static_cast<uint32_t>(cube) << 9 |
         static_cast<uint32_t>(array) << 10 | static_cast<uint32_t>(separate_sampler) << 11 |
         static_cast<uint32_t>(integer_coordinates) << 12 | static_cast<uint32_t>(integer_result) << 13 |
         static_cast<uint32_t>(component) << 14 | static_cast<uint32_t>(elements) << 16 |
         static_cast<uint32_t>(element_bytes) << 20;
}

ImageOperation ImageOperation::Decode(uint32_t code) {
  ImageOperation operation;
  operation.kind = static_cast<ImageKind>(code & 7);
  operation.level = static_cast<ImageLevel>(code >> 3 & 3);
  operation.bounds = static_cast<ImageBounds>(code >> 5 & 3);
  operation.dimensions = code >> 7 & 3;
  operation.cube = code >> 9 & 1;
  operation.array = code >> 10 & 1;
  operation.separate_sampler = code >> 11 & 1;
  operation.integer_coordinates = code >> 12 & 1;
  operation.integer_result = code >> 13 & 1;
  operation.component = code >> 14 & 3;
  operation.elements = code >> 16 & 15;
  operation.element_bytes = code >> 20 & 15;
  return operation;
}

std::optional<ImageOperation> ParseImageOperation(std::string_view intrinsic) {
  std::vector<absl::string_view> parts = absl::StrSplit(absl::string_view(intrinsic.data(), intrinsic.size()), '.');
  ImageOperation operation;
  size_t at = 1;
  auto next = [&](absl::string_view word) {
    if (at >= parts.size() || parts[at] != word) return false;
    ++at;
    return true;
  };
  if (parts[0] == "tex" || parts[0] == "tld4") {
    operation.separate_sampler = !next("unified");
    if (parts[0] == "tld4") {
      operation.kind = ImageKind::kGather;
      const absl::string_view components = "rgba";
      if (at >= parts.size() || parts[at].size() != 1) return std::nullopt;
      const size_t component = components.find(parts[at++]);
      if (component == absl::string_view::npos) return std::nullopt;
      operation.component = static_cast<uint8_t>(component);
    }
  } else if (parts[0] == "suld") {
    operation.kind = ImageKind::kLoad;
  } else if (parts[0] == "sust") {
    if (next("b")) {
      operation.kind = ImageKind::kStore;
    } else if (next("p")) {
      operation.kind = ImageKind::kFormattedStore;
    } else {
      return std::nullopt;
    }
  } else {
    return std::nullopt;
  }
  if (next("1d")) {
    operation.dimensions = 1;
  } else if (next("2d")) {
    operation.dimensions = 2;
  } else if (next("3d")) {
    operation.dimensions = 3;
  } else if (next("cube")) {
    operation.dimensions = 3;
    operation.cube = true;
  } else {
    return std::nullopt;
  }
  operation.array = next("array");
  if (next("level")) operation.level = ImageLevel::kExplicit;
  if (next("grad")) operation.level = ImageLevel::kGradient;
  if (at >= parts.size() || !ParseElements(parts[at], &operation)) return std::nullopt;
  ++at;
  if (at >= parts.size()) return std::nullopt;
  const absl::string_view last = parts[at];
  if (operation.kind == ImageKind::kFetch || operation.kind == ImageKind::kGather) {
    operation.integer_coordinates = last == "s32";
  } else {
    operation.integer_coordinates = true;
    operation.bounds = last == "clamp" ? ImageBounds::kClamp : last == "zero" ? ImageBounds::kZero : ImageBounds::kTrap;
  }
  return operation;
}

std::optional<ImageQuery> ParseImageQuery(std::string_view intrinsic) {
  if (!intrinsic.starts_with("txq.") && !intrinsic.starts_with("suq.")) return std::nullopt;
  intrinsic.remove_prefix(4);
  if (intrinsic == "width") return ImageQuery::kWidth;
  if (intrinsic == "height") return ImageQuery::kHeight;
  if (intrinsic == "depth") return ImageQuery::kDepth;
  if (intrinsic == "array.size") return ImageQuery::kArraySize;
  if (intrinsic == "num.mipmap.levels") return ImageQuery::kLevels;
  if (intrinsic == "num.samples") return ImageQuery::kSamples;
  if (intrinsic == "channel.data.type") return ImageQuery::kChannelType;
  if (intrinsic == "channel.order") return ImageQuery::kChannelOrder;
  return std::nullopt;
}

}  // namespace heddle::tracegen
