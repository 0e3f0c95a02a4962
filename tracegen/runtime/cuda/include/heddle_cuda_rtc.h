// What the language needs of the C++ library in programs that are compiled when they run (NVRTC): no header of the host
// is there, unless -I names the folder of one's C++ library.
#ifndef HEDDLE_TRACEGEN_RUNTIME_CUDA_INCLUDE_HEDDLE_CUDA_RTC_H_
#define HEDDLE_TRACEGEN_RUNTIME_CUDA_INCLUDE_HEDDLE_CUDA_RTC_H_

#pragma clang system_header  // operator new is inline here

#if __has_include(<bits/c++config.h>) || __has_include(<__config>)
#include <initializer_list>
#include <new>  // clang's, with new and delete of device code
#include <utility>
#else

typedef __SIZE_TYPE__ size_t;
typedef __PTRDIFF_TYPE__ ptrdiff_t;
typedef long clock_t;

inline __device__ void* operator new(__SIZE_TYPE__ bytes) { return ::malloc(bytes == 0 ? 1 : bytes); }
inline __device__ void* operator new[](__SIZE_TYPE__ bytes) { return ::operator new(bytes); }
inline __device__ void operator delete(void* pointer) noexcept { ::free(pointer); }
inline __device__ void operator delete[](void* pointer) noexcept { ::free(pointer); }
inline __device__ void operator delete(void* pointer, __SIZE_TYPE__) noexcept { ::free(pointer); }
inline __device__ void operator delete[](void* pointer, __SIZE_TYPE__) noexcept { ::free(pointer); }
inline __host__ __device__ void* operator new(__SIZE_TYPE__, void* place) noexcept { return place; }
inline __host__ __device__ void* operator new[](__SIZE_TYPE__, void* place) noexcept { return place; }
inline __host__ __device__ void operator delete(void*, void*) noexcept {}
inline __host__ __device__ void operator delete[](void*, void*) noexcept {}

namespace std {

#ifndef HEDDLE_NO_BUILTIN_INITIALIZER_LIST
// The compiler makes objects of it, which are a pointer and a number.
template <class T>
class initializer_list {
 public:
  using value_type = T;
  using reference = const T&;
  using const_reference = const T&;
  using size_type = __SIZE_TYPE__;
  using iterator = const T*;
  using const_iterator = const T*;

  constexpr __host__ __device__ initializer_list() noexcept : first_(nullptr), size_(0) {}
  constexpr __host__ __device__ size_type size() const noexcept { return size_; }
  constexpr __host__ __device__ const T* begin() const noexcept { return first_; }
  constexpr __host__ __device__ const T* end() const noexcept { return first_ + size_; }

 private:
  constexpr __host__ __device__ initializer_list(const T* first, size_type size) : first_(first), size_(size) {}
  const T* first_;
  size_type size_;
};
template <class T>
constexpr __host__ __device__ const T* begin(initializer_list<T> list) noexcept {
  return list.begin();
}
template <class T>
constexpr __host__ __device__ const T* end(initializer_list<T> list) noexcept {
  return list.end();
}
#endif  // HEDDLE_NO_BUILTIN_INITIALIZER_LIST

#ifndef HEDDLE_NO_BUILTIN_MOVE_FORWARD
template <class T>
constexpr __host__ __device__ __remove_reference_t(T)&& move(T&& value) noexcept {
  return static_cast<__remove_reference_t(T)&&>(value);
}
template <class T>
constexpr __host__ __device__ T&& forward(__remove_reference_t(T)& value) noexcept {
  return static_cast<T&&>(value);
}
template <class T>
constexpr __host__ __device__ T&& forward(__remove_reference_t(T)&& value) noexcept {
  return static_cast<T&&>(value);
}
#endif  // HEDDLE_NO_BUILTIN_MOVE_FORWARD

}  // namespace std

#endif  // has a C++ library

#endif  // HEDDLE_TRACEGEN_RUNTIME_CUDA_INCLUDE_HEDDLE_CUDA_RTC_H_
