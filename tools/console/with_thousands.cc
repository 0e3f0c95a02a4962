#include "tools/console/with_thousands.h"

namespace heddle::tools {

std::string WithThousands(uint64_t number) {
  std::string text = std::to_string(number);
  for (int i = static_cast<int>(text.size()) - 3; i > 0; i -= 3) text.insert(i, 1, ',');
  return text;
}

}  // namespace heddle::tools
