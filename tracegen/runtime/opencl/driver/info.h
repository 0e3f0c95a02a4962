// Answers of the clGet...Info functions.
#ifndef HEDDLE_TRACEGEN_RUNTIME_OPENCL_DRIVER_INFO_H_
#define HEDDLE_TRACEGEN_RUNTIME_OPENCL_DRIVER_INFO_H_

#include <cstddef>
#include <cstring>
#include <string_view>
#include <vector>

#include "tracegen/runtime/opencl/driver/object.h"

namespace heddle::opencl {

// Where an answer goes: CL_INVALID_VALUE if the caller's memory is too small for it.
class Answer {
 public:
  Answer(size_t room, void* value, size_t* needed) : room_(room), value_(value), needed_(needed) {}

  template <typename T>
  cl_int Value(const T& value) const {
    return Bytes(&value, sizeof(T));
  }
  template <typename T>
  cl_int List(const std::vector<T>& list) const {
    return Bytes(list.data(), list.size() * sizeof(T));
  }
  cl_int Flag(bool value) const { return Value<cl_bool>(value ? CL_TRUE : CL_FALSE); }
  cl_int Text(std::string_view text) const {
    const size_t bytes = text.size() + 1;
    if (value_ != nullptr) {
      if (room_ < bytes) return CL_INVALID_VALUE;
      std::memcpy(value_, text.data(), text.size());
      static_cast<char*>(value_)[text.size()] = '\0';
    }
    if (needed_ != nullptr) *needed_ = bytes;
    return CL_SUCCESS;
  }
  cl_int Bytes(const void* from, size_t bytes) const {
    if (value_ != nullptr) {
      if (room_ < bytes) return CL_INVALID_VALUE;
      if (bytes > 0) std::memcpy(value_, from, bytes);
    }
    if (needed_ != nullptr) *needed_ = bytes;
    return CL_SUCCESS;
  }

 private:
  size_t room_;
  void* value_;
  size_t* needed_;
};

}  // namespace heddle::opencl

#endif  // HEDDLE_TRACEGEN_RUNTIME_OPENCL_DRIVER_INFO_H_
