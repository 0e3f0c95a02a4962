// Host part in C++.
#include <chrono>

#include "program.h"

double Now(void) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}
