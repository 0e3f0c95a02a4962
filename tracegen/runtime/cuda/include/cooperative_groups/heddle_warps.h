// Tiles of several warps, of 64 to 1024 threads: their warps meet at barriers by number, from 1 on, and exchange values
// in shared memory that the program hands over. Included by heddle_cuda_group_functions.h.
#ifndef HEDDLE_TRACEGEN_RUNTIME_CUDA_INCLUDE_COOPERATIVE_GROUPS_HEDDLE_WARPS_H_
#define HEDDLE_TRACEGEN_RUNTIME_CUDA_INCLUDE_COOPERATIVE_GROUPS_HEDDLE_WARPS_H_

namespace cooperative_groups {

#define HEDDLE_METHOD __forceinline__ __device__

namespace heddle {
constexpr unsigned int kMostTileBytes = 32;  // of what tiles exchange, as in shuffles
}

// A place for each warp. For this_thread_block.
template <unsigned int kThreads = 1024>
struct block_tile_memory {
  alignas(16) char heddle_slots[(kThreads + 31) / 32][heddle::kMostTileBytes];
};
template <unsigned int kThreads>
HEDDLE_DEVICE thread_block this_thread_block(block_tile_memory<kThreads>& memory) {
  return thread_block(memory.heddle_slots[0]);
}

template <unsigned int kSize>
class heddle_tile_of_warps {
 public:
  HEDDLE_METHOD explicit heddle_tile_of_warps(const thread_block& block)
      : slots_(block.heddle_slots() + meta_group_rank() * kWarps * heddle::kMostTileBytes) {
    Require(block.heddle_slots() != nullptr, "this_thread_block has block_tile_memory");
    Require(heddle::ThreadsOfBlock() % kSize == 0, "the block is a whole number of tiles");
    Require(meta_group_size() < 16, "a block has at most 15 tiles of several warps");
  }
  HEDDLE_METHOD void sync() const { __barrier_sync_count(meta_group_rank() + 1, kSize); }
  static HEDDLE_METHOD constexpr unsigned int size() { return kSize; }
  static HEDDLE_METHOD constexpr unsigned int num_threads() { return kSize; }
  static HEDDLE_METHOD unsigned int thread_rank() { return heddle::ThreadOfBlock() % kSize; }
  static HEDDLE_METHOD unsigned int meta_group_rank() { return heddle::ThreadOfBlock() / kSize; }
  static HEDDLE_METHOD unsigned int meta_group_size() { return heddle::ThreadsOfBlock() / kSize; }
  HEDDLE_METHOD int any(int predicate) const { return OverWarps(__any_sync(0xffffffffu, predicate), bit_or<int>()); }
  HEDDLE_METHOD int all(int predicate) const { return OverWarps(__all_sync(0xffffffffu, predicate), bit_and<int>()); }
  // The value of the thread of that rank, which is the same for all.
  template <typename T>
  HEDDLE_METHOD T shfl(const T& value, unsigned int rank) const {
    if (thread_rank() == rank) Put(0, value);
    sync();
    const T result = Get<T>(0);
    sync();
    return result;
  }
  // Of one value a warp.
  template <typename T, typename Operation>
  HEDDLE_METHOD T OverWarps(const T& value, Operation operation) const {
    if (heddle::Lane() == 0) Put(thread_rank() / 32, value);
    sync();
    T result = Get<T>(0);
    for (unsigned int warp = 1; warp < kWarps; ++warp) result = operation(result, Get<T>(warp));
    sync();
    return result;
  }

 private:
  static constexpr unsigned int kWarps = kSize / 32;
  // Also where assertions are off.
  static HEDDLE_METHOD void Require(bool condition, const char* what) {
    if (!condition) __assertfail(what, __FILE__, __LINE__, "tiled_partition", 1);
  }
  template <typename T>
  HEDDLE_METHOD void Put(unsigned int warp, const T& value) const {
    static_assert(sizeof(T) <= heddle::kMostTileBytes && __is_trivially_copyable(T),
                  "tiles of several warps exchange types of at most 32 bytes that can be copied byte by byte");
    __builtin_memcpy(slots_ + warp * heddle::kMostTileBytes, &value, sizeof(T));
  }
  template <typename T>
  HEDDLE_METHOD T Get(unsigned int warp) const {
    T value;
    __builtin_memcpy(static_cast<void*>(&value), slots_ + warp * heddle::kMostTileBytes, sizeof(T));
    return value;
  }

  char* slots_;  // of the tile's warps
};

#define HEDDLE_TILE_OF_WARPS(size)                                                            \
  template <typename Parent>                                                                  \
  class thread_block_tile<size, Parent> : public heddle_tile_of_warps<size> {                 \
   public:                                                                                    \
    using heddle_tile_of_warps<size>::heddle_tile_of_warps;                                   \
    template <typename Other>                                                                 \
    HEDDLE_METHOD thread_block_tile(const thread_block_tile<size, Other>& tile)               \
        : heddle_tile_of_warps<size>(static_cast<const heddle_tile_of_warps<size>&>(tile)) {} \
  };
HEDDLE_TILE_OF_WARPS(64)
HEDDLE_TILE_OF_WARPS(128)
HEDDLE_TILE_OF_WARPS(256)
HEDDLE_TILE_OF_WARPS(512)
HEDDLE_TILE_OF_WARPS(1024)
#undef HEDDLE_TILE_OF_WARPS

#undef HEDDLE_METHOD

}  // namespace cooperative_groups

#endif  // HEDDLE_TRACEGEN_RUNTIME_CUDA_INCLUDE_COOPERATIVE_GROUPS_HEDDLE_WARPS_H_
