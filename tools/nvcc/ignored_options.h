// Options of nvcc that heddle-nvcc takes without doing anything, and those that it refuses, each with the reason.
#ifndef HEDDLE_TOOLS_NVCC_IGNORED_OPTIONS_H_
#define HEDDLE_TOOLS_NVCC_IGNORED_OPTIONS_H_

#include <span>

namespace heddle::nvcc {

// Names without dashes. They choose what the vendor's tools do with code that is not made here, or ask for what is so
// anyway.
std::span<const char* const> IgnoredFlags();
std::span<const char* const> IgnoredOptionsWithValue();

// What cannot be done, and why.
struct RefusedOption {
  const char* name;  // without dashes
  const char* why;   // what to do instead
};
std::span<const RefusedOption> RefusedFlags();
std::span<const RefusedOption> RefusedOptionsWithValue();

}  // namespace heddle::nvcc

#endif  // HEDDLE_TOOLS_NVCC_IGNORED_OPTIONS_H_
