// What the check programs share: finding the recipe's buffers by name, and saying what is wrong.
#ifndef HEDDLE_TRACES_KERNELS_CHECK_SUPPORT_H_
#define HEDDLE_TRACES_KERNELS_CHECK_SUPPORT_H_

#include <cmath>
#include <cstdarg>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <stdexcept>
#include <string>

#include "check.h"

namespace heddle::kernels {

// A recipe's buffer at some time, as an array of T that holds to its size.
template <typename T>
class Elements {
 public:
  Elements(const char* name, const void* data, uint64_t count)
      : name_(name), data_(static_cast<const T*>(data)), count_(count) {}

  // Ends the check if the buffer has no such element.
  const T& operator[](uint64_t i) const {
    if (i >= count_) throw std::out_of_range(std::string("buffer '") + name_ + "' has no element " + std::to_string(i));
    return data_[i];
  }
  // `count` elements from `first` on. Ends the check if there are fewer.
  const T* Range(uint64_t first, uint64_t count) const {
    if (first > count_ || count > count_ - first) {
      throw std::out_of_range(std::string("buffer '") + name_ + "' has no " + std::to_string(count) +
                              " elements from " + std::to_string(first) + " on");
    }
    return data_ + first;
  }
  const T* begin() const { return data_; }
  const T* end() const { return data_ + count_; }

 private:
  const char* name_;
  const T* data_;
  uint64_t count_;
};

// A recipe's buffer. The recipe's scalar type must be T's.
template <typename T>
struct Buffer {
  Elements<T> before;  // as it was before the first launch
  Elements<T> after;   // and after the last one
  uint64_t count;
};

// The buffers of one check, and the message it may leave. What ends a check at once is thrown: check.h.
class Check {
 public:
  Check(const heddle_buffer* buffers, int count, char* message, int size)
      : buffers_(buffers), count_(count), message_(message), size_(size) {
    if (size_ > 0) message_[0] = '\0';
  }

  // The buffer of that name. Ends the check if the recipe has none.
  template <typename T>
  Buffer<T> Find(const char* name) const {
    for (int i = 0; i < count_; ++i) {
      const heddle_buffer& found = buffers_[i];
      if (std::strcmp(found.name, name) != 0) continue;
      return {{found.name, found.before, found.count}, {found.name, found.after, found.count}, found.count};
    }
    throw std::invalid_argument(std::string("the recipe has no buffer '") + name + "'");
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
