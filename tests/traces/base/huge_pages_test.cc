#include "traces/base/huge_pages.h"

#include <gtest/gtest.h>

#include <charconv>
#include <cstdint>
#include <fstream>
#include <memory>
#include <string>
#include <system_error>

namespace heddle::trace {
namespace {

// The flags of the mapping that holds `address`, as the kernel tells them; empty if it does not.
std::string MappingFlags(const void* address) {
  const auto wanted = reinterpret_cast<uintptr_t>(address);
  std::ifstream maps("/proc/self/smaps");
  bool inside = false;
  for (std::string line; std::getline(maps, line);) {
    // FIRST-END PERMISSIONS ..., in hexadecimal; other lines are NAME: VALUE.
    uintptr_t first = 0, end = 0;
    const char* const text = line.data();
    const auto begin = std::from_chars(text, text + line.size(), first, 16);
    if (begin.ec == std::errc() && *begin.ptr == '-' &&
        std::from_chars(begin.ptr + 1, text + line.size(), end, 16).ec == std::errc()) {
      inside = first <= wanted && wanted < end;
    } else if (inside && line.starts_with("VmFlags:")) {
      return line + " ";
    }
  }
  return "";
}

TEST(HugePages, WhatIsAllocatedNextIsAdvised) {
#if !defined(__GLIBC__) || defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
  GTEST_SKIP() << "another allocator";
#endif
  std::string enabled;
  std::getline(std::ifstream("/sys/kernel/mm/transparent_hugepage/enabled"), enabled);
  if (enabled.empty()) GTEST_SKIP() << "a kernel without huge pages";
  constexpr size_t kBytes = 20 << 20;
  PreferHugePages(kBytes);
  PreferHugePages(kBytes);  // again, which is harmless
  // Larger than what may lie in gaps, and in the middle of what was asked for.
  const auto block = std::make_unique<char[]>(8 << 20);
  const std::string flags = MappingFlags(block.get() + (4 << 20));
  if (flags.empty()) GTEST_SKIP() << "a kernel that tells no flags";
  EXPECT_NE(flags.find(" hg "), std::string::npos) << flags;
}

}  // namespace
}  // namespace heddle::trace
