// Numbers as people read them.
#ifndef HEDDLE_TOOLS_CONSOLE_WITH_THOUSANDS_H_
#define HEDDLE_TOOLS_CONSOLE_WITH_THOUSANDS_H_

#include <cstdint>
#include <string>

namespace heddle::tools {

// 1234567 -> "1,234,567".
std::string WithThousands(uint64_t number);

}  // namespace heddle::tools

#endif  // HEDDLE_TOOLS_CONSOLE_WITH_THOUSANDS_H_
