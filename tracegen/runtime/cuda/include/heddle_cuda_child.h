// Launches from device code. heddle-nvcc writes `kernel<<<grid, block>>>(arguments)` in a kernel as
// `HeddleChild<decltype(&kernel), &kernel>({grid, block})(arguments)`, for clang has no launches there; from C++17 on
// the types of the arguments choose among kernels of one name. The launch is a
// line of formatted text that the device process takes out of what the kernel prints (tracegen/application/children.h).
#ifndef HEDDLE_TRACEGEN_RUNTIME_CUDA_INCLUDE_HEDDLE_CUDA_CHILD_H_
#define HEDDLE_TRACEGEN_RUNTIME_CUDA_INCLUDE_HEDDLE_CUDA_CHILD_H_

#if __cplusplus >= 201402L

struct HeddleChildShape {
  dim3 grid;
  dim3 block;
  __SIZE_TYPE__ shared_bytes = 0;
  cudaStream_t stream = nullptr;
  __device__ HeddleChildShape(dim3 grid_blocks, dim3 block_threads, __SIZE_TYPE__ bytes = 0, cudaStream_t in = nullptr)
      : grid(grid_blocks), block(block_threads), shared_bytes(bytes), stream(in) {}
};

// Makes the compiler emit the kernel. When the code is loaded, the value becomes the address of the kernel's name.
template <typename Function, Function kKernel>
struct HeddleChildKernel {
  static __device__ Function name;
};
template <typename Function, Function kKernel>
__device__ Function HeddleChildKernel<Function, kKernel>::name = kKernel;

// What is printed: name, grid, block, bytes of shared memory, stream, block and thread that launch, and the parameters,
// eight bytes each.
template <int kWords>
struct HeddleChildFormat {
  char text[64 + 5 * kWords];
  constexpr HeddleChildFormat() : text() {
    const char* head = "\x1b]heddle;%s;%u;%u;%u;%u;%u;%u;%llu;%llu;%llu;%u";
    int at = 0;
    for (; head[at] != '\0'; ++at) text[at] = head[at];
    for (int word = 0; word < kWords; ++word) {
      const char* part = ";%llx";
      for (int i = 0; part[i] != '\0'; ++i) text[at++] = part[i];
    }
    text[at++] = '\a';
    text[at] = '\0';
  }
};
template <int kWords>
struct HeddleChildText {
  static __device__ const HeddleChildFormat<kWords> format;
};
template <int kWords>
__device__ const HeddleChildFormat<kWords> HeddleChildText<kWords>::format{};

template <typename T, T... kNumbers>
struct HeddleNumbers {};

// Where the next parameter lies behind `offset` bytes: parameter memory is laid out as a structure.
template <typename T>
constexpr __device__ __SIZE_TYPE__ HeddleAligned(__SIZE_TYPE__ offset) {
  return (offset + alignof(T) - 1) / alignof(T) * alignof(T);
}
constexpr __device__ __SIZE_TYPE__ HeddleParameterBytes(__SIZE_TYPE__ offset) { return offset; }
template <typename First, typename... Rest>
constexpr __device__ __SIZE_TYPE__ HeddleParameterBytes(__SIZE_TYPE__ offset, const First*, const Rest*... rest) {
  return HeddleParameterBytes(HeddleAligned<First>(offset) + sizeof(First), rest...);
}
__device__ inline void HeddlePackParameters(char*, __SIZE_TYPE__) {}
template <typename First, typename... Rest>
__device__ inline void HeddlePackParameters(char* to, __SIZE_TYPE__ offset, const First& first, const Rest&... rest) {
  offset = HeddleAligned<First>(offset);
  __builtin_memcpy(to + offset, &first, sizeof(First));
  HeddlePackParameters(to, offset + sizeof(First), rest...);
}

template <typename Function, Function kKernel>
struct HeddleChildLaunch;
template <typename... Parameters, void (*kKernel)(Parameters...)>
struct HeddleChildLaunch<void (*)(Parameters...), kKernel> {
  HeddleChildShape shape;
  __device__ void operator()(Parameters... parameters) const {
    constexpr int kWords = (HeddleParameterBytes(0, static_cast<Parameters*>(nullptr)...) + 7) / 8;
    unsigned long long words[kWords + 1] = {};
    HeddlePackParameters(reinterpret_cast<char*>(words), 0, parameters...);
    Print(words, __make_integer_seq<HeddleNumbers, int, kWords>());
  }

 private:
  template <int... kNumbers>
  __device__ void Print(const unsigned long long* words, HeddleNumbers<int, kNumbers...>) const {
    const unsigned long long block =
        blockIdx.x + gridDim.x * (blockIdx.y + static_cast<unsigned long long>(gridDim.y) * blockIdx.z);
    const unsigned int thread = threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z);
    printf(HeddleChildText<sizeof...(kNumbers)>::format.text,
           reinterpret_cast<const char*>(HeddleChildKernel<void (*)(Parameters...), kKernel>::name), shape.grid.x,
           shape.grid.y, shape.grid.z, shape.block.x, shape.block.y, shape.block.z,
           static_cast<unsigned long long>(shape.shared_bytes), reinterpret_cast<unsigned long long>(shape.stream),
           block, thread, words[kNumbers]...);
  }
};
template <typename Function, Function kKernel>
__device__ inline HeddleChildLaunch<Function, kKernel> HeddleChild(HeddleChildShape shape) {
  return {shape};
}

#if __cplusplus >= 201703L
// Which of several kernels of one name is launched: `HeddleKernels<Types>::Find(&name, HeddleRank<2>())`, with the
// types of the arguments. One kernel that is not overloaded; else the one whose parameters have just these types, also
// if they are a template's; else the only one with so many parameters.
template <typename... Arguments>
struct HeddleTypes {};
template <typename... Arguments>
__device__ HeddleTypes<Arguments...> HeddleTypesOf(Arguments...);
template <int kRank>
struct HeddleRank : HeddleRank<kRank - 1> {};
template <>
struct HeddleRank<0> {};

template <__SIZE_TYPE__ kCount>
struct HeddleKernelByCount {
  static void Find();
};
#define HEDDLE_LIST_1(x) x##1
#define HEDDLE_LIST_2(x) HEDDLE_LIST_1(x), x##2
#define HEDDLE_LIST_3(x) HEDDLE_LIST_2(x), x##3
#define HEDDLE_LIST_4(x) HEDDLE_LIST_3(x), x##4
#define HEDDLE_LIST_5(x) HEDDLE_LIST_4(x), x##5
#define HEDDLE_LIST_6(x) HEDDLE_LIST_5(x), x##6
#define HEDDLE_LIST_7(x) HEDDLE_LIST_6(x), x##7
#define HEDDLE_LIST_8(x) HEDDLE_LIST_7(x), x##8
#define HEDDLE_LIST_9(x) HEDDLE_LIST_8(x), x##9
#define HEDDLE_LIST_10(x) HEDDLE_LIST_9(x), x##10
#define HEDDLE_LIST_11(x) HEDDLE_LIST_10(x), x##11
#define HEDDLE_LIST_12(x) HEDDLE_LIST_11(x), x##12
#define HEDDLE_LIST_13(x) HEDDLE_LIST_12(x), x##13
#define HEDDLE_LIST_14(x) HEDDLE_LIST_13(x), x##14
#define HEDDLE_LIST_15(x) HEDDLE_LIST_14(x), x##15
#define HEDDLE_LIST_16(x) HEDDLE_LIST_15(x), x##16
#define HEDDLE_KERNEL_BY_COUNT(count)                                                   \
  template <>                                                                           \
  struct HeddleKernelByCount<count> {                                                   \
    template <HEDDLE_LIST_##count(typename P)>                                          \
    static constexpr auto Find(void (*kernel)(HEDDLE_LIST_##count(P)), HeddleRank<0>) { \
      return kernel;                                                                    \
    }                                                                                   \
  };
HEDDLE_KERNEL_BY_COUNT(1)
HEDDLE_KERNEL_BY_COUNT(2)
HEDDLE_KERNEL_BY_COUNT(3)
HEDDLE_KERNEL_BY_COUNT(4)
HEDDLE_KERNEL_BY_COUNT(5)
HEDDLE_KERNEL_BY_COUNT(6)
HEDDLE_KERNEL_BY_COUNT(7)
HEDDLE_KERNEL_BY_COUNT(8)
HEDDLE_KERNEL_BY_COUNT(9)
HEDDLE_KERNEL_BY_COUNT(10)
HEDDLE_KERNEL_BY_COUNT(11)
HEDDLE_KERNEL_BY_COUNT(12)
HEDDLE_KERNEL_BY_COUNT(13)
HEDDLE_KERNEL_BY_COUNT(14)
HEDDLE_KERNEL_BY_COUNT(15)
HEDDLE_KERNEL_BY_COUNT(16)
#undef HEDDLE_KERNEL_BY_COUNT
#undef HEDDLE_LIST_1
#undef HEDDLE_LIST_2
#undef HEDDLE_LIST_3
#undef HEDDLE_LIST_4
#undef HEDDLE_LIST_5
#undef HEDDLE_LIST_6
#undef HEDDLE_LIST_7
#undef HEDDLE_LIST_8
#undef HEDDLE_LIST_9
#undef HEDDLE_LIST_10
#undef HEDDLE_LIST_11
#undef HEDDLE_LIST_12
#undef HEDDLE_LIST_13
#undef HEDDLE_LIST_14
#undef HEDDLE_LIST_15
#undef HEDDLE_LIST_16

template <typename Types>
struct HeddleKernels;
template <typename... Arguments>
struct HeddleKernels<HeddleTypes<Arguments...>> : HeddleKernelByCount<sizeof...(Arguments)> {
  using HeddleKernelByCount<sizeof...(Arguments)>::Find;
  template <typename... Parameters>
  static constexpr auto Find(void (*kernel)(Parameters...), HeddleRank<2>) {
    return kernel;
  }
  static constexpr auto Find(void (*kernel)(Arguments...), HeddleRank<1>) { return kernel; }
};

template <auto kChosen>
struct HeddleKernel {
  using Launch = HeddleChildLaunch<decltype(kChosen), kChosen>;
};
template <typename Kernel>
__device__ inline typename Kernel::Launch HeddleChild(HeddleChildShape shape) {
  return {shape};
}
#endif

// What kernels call besides. A launch that cannot be made ends the run, so there is never an error to ask for. Streams
// that a thread makes are one stream: its launches in them follow one another.
#define cudaStreamTailLaunch ((cudaStream_t)0x3)
#define cudaStreamFireAndForget ((cudaStream_t)0x4)
static __device__ inline cudaError_t cudaGetLastError() { return cudaSuccess; }
static __device__ inline cudaError_t cudaPeekAtLastError() { return cudaSuccess; }
static __device__ inline const char* cudaGetErrorString(cudaError_t error) {
  return error == cudaSuccess ? "no error" : error == cudaErrorMemoryAllocation ? "out of memory" : "unknown error";
}
static __device__ inline cudaError_t cudaStreamCreateWithFlags(cudaStream_t* stream, unsigned int) {
  *stream = reinterpret_cast<cudaStream_t>(
      0x1000ull + threadIdx.x + blockDim.x * (threadIdx.y + static_cast<unsigned long long>(blockDim.y) * threadIdx.z));
  return cudaSuccess;
}
static __device__ inline cudaError_t cudaStreamDestroy(cudaStream_t) { return cudaSuccess; }
// The heap of device code.
template <typename T>
static __device__ inline cudaError_t cudaMalloc(T** pointer, size_t bytes) {
  *pointer = static_cast<T*>(malloc(bytes));
  return *pointer != nullptr || bytes == 0 ? cudaSuccess : cudaErrorMemoryAllocation;
}
static __device__ inline cudaError_t cudaFree(void* pointer) {
  free(pointer);
  return cudaSuccess;
}

// Copies and fills are launches of kernels, as those of the vendor's device runtime: they keep the stream's order. They
// are templates, so that programs without them have no such kernels.
template <typename T>
__global__ void HeddleCopyChild(T* to, const T* from, size_t count) {
  const size_t i = blockIdx.x * static_cast<size_t>(blockDim.x) + threadIdx.x;
  if (i < count) to[i] = from[i];
}
template <typename T>
__global__ void HeddleFillChild(T* to, T value, size_t count) {
  const size_t i = blockIdx.x * static_cast<size_t>(blockDim.x) + threadIdx.x;
  if (i < count) to[i] = value;
}
template <typename Byte = unsigned char>
static __device__ inline cudaError_t cudaMemcpyAsync(void* to, const void* from, size_t bytes, cudaMemcpyKind kind,
                                                     cudaStream_t stream = nullptr) {
  if (kind != cudaMemcpyDeviceToDevice && kind != cudaMemcpyDefault) return cudaErrorInvalidMemcpyDirection;
  if (bytes == 0) return cudaSuccess;
  using Copy = void (*)(Byte*, const Byte*, size_t);
  const HeddleChildShape shape(dim3(static_cast<unsigned int>((bytes + 255) / 256)), dim3(256), 0, stream);
  HeddleChild<Copy, &HeddleCopyChild<Byte>>(shape)(static_cast<Byte*>(to), static_cast<const Byte*>(from), bytes);
  return cudaSuccess;
}
template <typename Byte = unsigned char>
static __device__ inline cudaError_t cudaMemsetAsync(void* to, int value, size_t bytes, cudaStream_t stream = nullptr) {
  if (bytes == 0) return cudaSuccess;
  using Fill = void (*)(Byte*, Byte, size_t);
  const HeddleChildShape shape(dim3(static_cast<unsigned int>((bytes + 255) / 256)), dim3(256), 0, stream);
  HeddleChild<Fill, &HeddleFillChild<Byte>>(shape)(static_cast<Byte*>(to), static_cast<Byte>(value), bytes);
  return cudaSuccess;
}

#endif

#endif  // HEDDLE_TRACEGEN_RUNTIME_CUDA_INCLUDE_HEDDLE_CUDA_CHILD_H_
