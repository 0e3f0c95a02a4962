// Copies that a whole work-group makes, prefetches, and vectors put together from others (OpenCL C 1.2 specification,
// 6.12.10 and 6.12.12).
#ifndef HEDDLE_TRACEGEN_RUNTIME_OPENCL_INCLUDE_HEDDLE_OPENCL_GROUP_H_
#define HEDDLE_TRACEGEN_RUNTIME_OPENCL_INCLUDE_HEDDLE_OPENCL_GROUP_H_

// Every work-item copies its share, neighbours next to each other, as GPUs without a copy engine in the core do it.
#define HEDDLE_SHARE_OF_GROUP(i, count)                                                                          \
  for (size_t i = (get_local_id(2) * get_local_size(1) + get_local_id(1)) * get_local_size(0) + get_local_id(0), \
              group_items = get_local_size(0) * get_local_size(1) * get_local_size(2);                           \
       i < (count); i += group_items)
#define HEDDLE_GROUP_COPY(type)                                                                                       \
  HEDDLE_CL event_t async_work_group_copy(__local type *to, const __global type *from, size_t count, event_t event) { \
    HEDDLE_SHARE_OF_GROUP(i, count) to[i] = from[i];                                                                  \
    return event;                                                                                                     \
  }                                                                                                                   \
  HEDDLE_CL event_t async_work_group_copy(__global type *to, const __local type *from, size_t count, event_t event) { \
    HEDDLE_SHARE_OF_GROUP(i, count) to[i] = from[i];                                                                  \
    return event;                                                                                                     \
  }                                                                                                                   \
  HEDDLE_CL event_t async_work_group_strided_copy(__local type *to, const __global type *from, size_t count,          \
                                                  size_t stride, event_t event) {                                     \
    HEDDLE_SHARE_OF_GROUP(i, count) to[i] = from[i * stride];                                                         \
    return event;                                                                                                     \
  }                                                                                                                   \
  HEDDLE_CL event_t async_work_group_strided_copy(__global type *to, const __local type *from, size_t count,          \
                                                  size_t stride, event_t event) {                                     \
    HEDDLE_SHARE_OF_GROUP(i, count) to[i * stride] = from[i];                                                         \
    return event;                                                                                                     \
  }                                                                                                                   \
  HEDDLE_CL void prefetch(const __global type *p, size_t count) {}
#define HEDDLE_GROUP_COPIES(type) \
  HEDDLE_GROUP_COPY(type)         \
  HEDDLE_GROUP_COPY(type##2)      \
  HEDDLE_GROUP_COPY(type##3)      \
  HEDDLE_GROUP_COPY(type##4)      \
  HEDDLE_GROUP_COPY(type##8)      \
  HEDDLE_GROUP_COPY(type##16)
HEDDLE_GROUP_COPIES(char)
HEDDLE_GROUP_COPIES(uchar)
HEDDLE_GROUP_COPIES(short)
HEDDLE_GROUP_COPIES(ushort)
HEDDLE_GROUP_COPIES(int)
HEDDLE_GROUP_COPIES(uint)
HEDDLE_GROUP_COPIES(long)
HEDDLE_GROUP_COPIES(ulong)
HEDDLE_GROUP_COPIES(float)
HEDDLE_GROUP_COPIES(double)
#undef HEDDLE_GROUP_COPIES
#undef HEDDLE_GROUP_COPY
// All items wait until all shares are there.
#define wait_group_events(count, events) __syncthreads()

// shuffle: the elements that the mask's low bits name.
#define HEDDLE_SHUFFLE_FROM(type, mask_type, n, m)                                  \
  HEDDLE_CL type##n shuffle(type##m x, mask_type##n mask) {                         \
    type##n result;                                                                 \
    for (int i = 0; i < n; ++i) result[i] = x[mask[i] & (m - 1)];                   \
    return result;                                                                  \
  }                                                                                 \
  HEDDLE_CL type##n shuffle2(type##m x, type##m y, mask_type##n mask) {             \
    type##n result;                                                                 \
    for (int i = 0; i < n; ++i) {                                                   \
      result[i] = (mask[i] & m) != 0 ? y[mask[i] & (m - 1)] : x[mask[i] & (m - 1)]; \
    }                                                                               \
    return result;                                                                  \
  }
#define HEDDLE_SHUFFLE_TO(type, mask_type, n) \
  HEDDLE_SHUFFLE_FROM(type, mask_type, n, 2)  \
  HEDDLE_SHUFFLE_FROM(type, mask_type, n, 4)  \
  HEDDLE_SHUFFLE_FROM(type, mask_type, n, 8)  \
  HEDDLE_SHUFFLE_FROM(type, mask_type, n, 16)
#define HEDDLE_SHUFFLES(type, mask_type) \
  HEDDLE_SHUFFLE_TO(type, mask_type, 2)  \
  HEDDLE_SHUFFLE_TO(type, mask_type, 4)  \
  HEDDLE_SHUFFLE_TO(type, mask_type, 8)  \
  HEDDLE_SHUFFLE_TO(type, mask_type, 16)
HEDDLE_SHUFFLES(char, uchar)
HEDDLE_SHUFFLES(uchar, uchar)
HEDDLE_SHUFFLES(short, ushort)
HEDDLE_SHUFFLES(ushort, ushort)
HEDDLE_SHUFFLES(int, uint)
HEDDLE_SHUFFLES(uint, uint)
HEDDLE_SHUFFLES(float, uint)
HEDDLE_SHUFFLES(long, ulong)
HEDDLE_SHUFFLES(ulong, ulong)
HEDDLE_SHUFFLES(double, ulong)
#undef HEDDLE_SHUFFLES
#undef HEDDLE_SHUFFLE_TO
#undef HEDDLE_SHUFFLE_FROM

#endif  // HEDDLE_TRACEGEN_RUNTIME_OPENCL_INCLUDE_HEDDLE_OPENCL_GROUP_H_
