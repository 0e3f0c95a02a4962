#include "traces/base/printable.h"

#include <algorithm>
#include <cstdint>

#include "absl/strings/str_format.h"

namespace heddle {
namespace {

// A code point and the bytes that it takes; 0 bytes: what stands here is no UTF-8.
struct CodePoint {
  uint32_t value = 0;
  size_t bytes = 0;
};

CodePoint Decode(std::string_view text) {
  const auto byte = [&](size_t i) { return static_cast<uint8_t>(text[i]); };
  const uint8_t first = byte(0);
  if (first < 0x80) return {first, 1};
  const size_t bytes = first >= 0xf0 && first <= 0xf4 ? 4 : first >= 0xe0 && first < 0xf0 ? 3 : first >= 0xc2 ? 2 : 0;
  if (bytes == 0 || first > 0xf4 || bytes > text.size()) return {};
  uint32_t value = first & (0xffu >> (bytes + 1));
  for (size_t i = 1; i < bytes; ++i) {
    if ((byte(i) & 0xc0) != 0x80) return {};
    value = value << 6 | (byte(i) & 0x3fu);
  }
  // Longer than need be, a half of a pair, beyond the last one: no UTF-8 either.
  if ((bytes == 3 && value < 0x800) || (bytes == 4 && (value < 0x10000 || value > 0x10ffff)) ||
      (value >= 0xd800 && value < 0xe000)) {
    return {};
  }
  return {value, bytes};
}

bool Acts(uint32_t c) {
  return c < 0x20 || (c >= 0x7f && c < 0xa0) || c == 0x61c || c == 0x200e || c == 0x200f ||
         (c >= 0x2028 && c <= 0x202e) || (c >= 0x2066 && c <= 0x2069) || c == 0xfffe || c == 0xffff;
}

bool IsAllowed(uint32_t c, bool lines) { return !Acts(c) || (lines && (c == '\n' || c == '\t')); }

// How many bytes at the start are ASCII that is allowed. Without a branch per byte: large outputs come through here.
size_t PlainBytes(std::string_view text, bool lines) {
  constexpr size_t kPiece = 64;
  const auto is_other = [lines](char c) {
    const uint8_t byte = static_cast<uint8_t>(c);
    return static_cast<uint8_t>((byte < 0x20) & !(lines & ((byte == '\n') | (byte == '\t')))) |
           static_cast<uint8_t>(byte >= 0x7f);
  };
  size_t i = 0;
  for (; i + kPiece <= text.size(); i += kPiece) {
    int other = 0;
    for (size_t k = 0; k < kPiece; ++k) other |= is_other(text[i + k]);
    if (other != 0) break;
  }
  while (i < text.size() && !is_other(text[i])) ++i;
  return i;
}

bool Check(std::string_view text, bool lines) {
  for (text.remove_prefix(PlainBytes(text, lines)); !text.empty(); text.remove_prefix(PlainBytes(text, lines))) {
    const CodePoint point = Decode(text);
    if (point.bytes == 0 || !IsAllowed(point.value, lines)) return false;
    text.remove_prefix(point.bytes);
  }
  return true;
}

std::string Escape(std::string_view text, bool lines) {
  std::string out;
  while (!text.empty()) {
    const size_t plain = PlainBytes(text, lines);
    out += text.substr(0, plain);
    text.remove_prefix(plain);
    if (text.empty()) break;
    const CodePoint point = Decode(text);
    const size_t bytes = std::max<size_t>(point.bytes, 1);
    if (point.bytes == 0) {
      absl::StrAppendFormat(&out, "\\x%02x", static_cast<uint8_t>(text[0]));
    } else if (IsAllowed(point.value, lines)) {
      out += text.substr(0, bytes);
    } else if (point.value == '\n' || point.value == '\r' || point.value == '\t') {
      out += point.value == '\n' ? "\\n" : point.value == '\r' ? "\\r" : "\\t";
    } else {
      absl::StrAppendFormat(&out, "\\u%04x", point.value);
    }
    text.remove_prefix(bytes);
  }
  return out;
}

}  // namespace

bool IsPrintable(std::string_view text) { return Check(text, false); }
bool IsPrintableText(std::string_view text) { return Check(text, true); }
std::string Printable(std::string_view text) { return Escape(text, false); }
std::string PrintableText(std::string_view text) { return Escape(text, true); }

std::string CutText(std::string_view text, size_t most) {
  constexpr std::string_view kRest = "...";
  if (text.size() <= most) return std::string(text);
  size_t kept = most - std::min(most, kRest.size());
  while (kept > 0 && (static_cast<uint8_t>(text[kept]) & 0xc0) == 0x80) --kept;
  return std::string(text.substr(0, kept)).append(kRest.substr(0, most));
}

}  // namespace heddle
