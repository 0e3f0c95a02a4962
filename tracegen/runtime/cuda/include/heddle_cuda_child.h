// Launches from device code. heddle-nvcc writes `kernel<<<grid, block>>>(arguments)` in a kernel as
// `HeddleChild<decltype(&kernel), &kernel>({grid, block})(arguments)`, for clang has no launches there. The launch is a
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
