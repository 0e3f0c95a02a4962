// What the check programs share: finding the recipe's buffers by name, and saying what is wrong.
#ifndef HEDDLE_TRACES_KERNELS_CHECK_SUPPORT_H_
#define HEDDLE_TRACES_KERNELS_CHECK_SUPPORT_H_

#include <cmath>
#include <cstdarg>
#include <cstdint>
#include <cstdio>
#include <cstring>

#include "check.h"

namespace heddle::kernels {

// A recipe's buffer as an array of T. The recipe's scalar type must be T's.
template <typename T>
struct Buffer {
  const T* before = nullptr;
  const T* after = nullptr;
  uint64_t count = 0;
};

// The buffers of one check, and the message it may leave.
class Check {
 public:
  Check(const heddle_buffer* buffers, int count, char* message, int size)
      : buffers_(buffers), count_(count), message_(message), size_(size) {
    if (size_ > 0) message_[0] = '\0';
  }

  // The buffer of that name; one that the recipe does not have is empty and makes the check fail.
  template <typename T>
  Buffer<T> Find(const char* name) {
    for (int i = 0; i < count_; ++i) {
      if (std::strcmp(buffers_[i].name, name) == 0) {
        return {static_cast<const T*>(buffers_[i].before), static_cast<const T*>(buffers_[i].after), buffers_[i].count};
      }
    }
    Fail("the recipe has no buffer '%s'", name);
    return {};
  }

  // Keeps the first message only: it is the one with the cause. Returns 1 so that a check can end with it.
  __attribute__((format(printf, 2, 3))) int Fail(const char* format, ...) {
    if (!failed_ && size_ > 0) {
      va_list arguments;
      va_start(arguments, format);
      std::vsnprintf(message_, static_cast<size_t>(size_), format, arguments);
      va_end(arguments);
    }
    failed_ = true;
    return 1;
  }

  // Compares one floating-point result; `scale` is the magnitude that rounding errors are relative to. False (and a
  // message) if they are further apart than tolerance * scale, or if the result is not a number.
  bool Near(const char* name, uint64_t index, double got, double expected, double tolerance, double scale) {
    if (std::fabs(got - expected) <= tolerance * scale) return true;
    Fail("%s[%llu] is %.9g, expected %.9g", name, static_cast<unsigned long long>(index), got, expected);
    return false;
  }

  // Compares one integer result.
  bool Equal(const char* name, uint64_t index, int64_t got, int64_t expected) {
    if (got == expected) return true;
    Fail("%s[%llu] is %lld, expected %lld", name, static_cast<unsigned long long>(index), static_cast<long long>(got),
         static_cast<long long>(expected));
    return false;
  }

  bool failed() const { return failed_; }
  int result() const { return failed_ ? 1 : 0; }

 private:
  const heddle_buffer* buffers_;
  int count_;
  char* message_;
  int size_;
  bool failed_ = false;
};

}  // namespace heddle::kernels

#endif  // HEDDLE_TRACES_KERNELS_CHECK_SUPPORT_H_
