#include "tracegen/application/children.h"

#include <algorithm>
#include <charconv>
#include <cstddef>
#include <map>
#include <string_view>
#include <utility>

namespace heddle::tracegen {
namespace {

constexpr char kEnd = '\a';
constexpr size_t kFields = 11;  // before the parameters

std::vector<std::string_view> Split(std::string_view line) {
  std::vector<std::string_view> fields;
  for (size_t end; (end = line.find(';')) != std::string_view::npos; line.remove_prefix(end + 1)) {
    fields.push_back(line.substr(0, end));
  }
  fields.push_back(line);
  return fields;
}

template <typename Number>
bool ReadNumber(std::string_view text, int base, Number* number) {
  const char* end = text.data() + text.size();
  const auto [last, error] = std::from_chars(text.data(), end, *number, base);
  return error == std::errc() && last == end;
}

bool ReadLine(std::string_view line, ChildLaunch* child) {
  const std::vector<std::string_view> fields = Split(line);
  if (fields.size() < kFields || fields[0].empty()) return false;
  child->kernel = std::string(fields[0]);
  bool right = true;
  for (int i = 0; i < 3; ++i) {
    right = right && ReadNumber(fields[1 + i], 10, &child->grid[i]);
    right = right && ReadNumber(fields[4 + i], 10, &child->block[i]);
  }
  right = right && ReadNumber(fields[7], 10, &child->shared_bytes) && ReadNumber(fields[8], 10, &child->stream) &&
          ReadNumber(fields[9], 10, &child->parent_block) && ReadNumber(fields[10], 10, &child->parent_thread);
  for (size_t i = kFields; right && i < fields.size(); ++i) {
    uint64_t word = 0;
    right = ReadNumber(fields[i], 16, &word);
    for (int byte = 0; byte < 8; ++byte) child->parameters += static_cast<char>(word >> (8 * byte));
  }
  return right;
}

}  // namespace

absl::Status TakeChildren(std::string& printed, std::vector<ChildLaunch>* children) {
  children->clear();
  if (!HasChildren(printed)) return absl::OkStatus();
  std::string rest;
  std::map<std::pair<uint64_t, uint32_t>, uint64_t> ordinals;
  size_t at = 0;
  for (size_t begin; (begin = printed.find(kChildBegin, at)) != std::string::npos;) {
    rest.append(printed, at, begin - at);
    const size_t first = begin + kChildBegin.size();
    const size_t end = printed.find(kEnd, first);
    ChildLaunch child;
    if (end == std::string::npos || !ReadLine(std::string_view(printed).substr(first, end - first), &child)) {
      printed = std::move(rest);
      return absl::InvalidArgumentError(
          "it prints and launches more than fits, or prints what looks like a launch and is none; launch fewer kernels "
          "from device code, or print less");
    }
    child.ordinal = ordinals[{child.parent_block, child.parent_thread}]++;
    children->push_back(std::move(child));
    at = end + 1;
  }
  rest.append(printed, at);
  printed = std::move(rest);
  // Blocks may have run in any order, or side by side.
  std::stable_sort(children->begin(), children->end(), [](const ChildLaunch& a, const ChildLaunch& b) {
    return std::pair(a.is_tail(), a.parent_block) < std::pair(b.is_tail(), b.parent_block);
  });
  return absl::OkStatus();
}

}  // namespace heddle::tracegen
