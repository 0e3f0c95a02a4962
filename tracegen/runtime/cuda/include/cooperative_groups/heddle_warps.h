// Tiles of several warps, of 64 to 1024 threads. Their warps meet at barriers by number, each size at others, and,
// where the block has too many tiles for that, by counting arrivals. Values are exchanged in shared memory, which the
// program hands over; from compute capability 8.0 on it need not. Included by heddle_cuda_group_functions.h.
#ifndef HEDDLE_TRACEGEN_RUNTIME_CUDA_INCLUDE_COOPERATIVE_GROUPS_HEDDLE_WARPS_H_
#define HEDDLE_TRACEGEN_RUNTIME_CUDA_INCLUDE_COOPERATIVE_GROUPS_HEDDLE_WARPS_H_

namespace cooperative_groups {

#define HEDDLE_METHOD __forceinline__ __device__

namespace heddle {
constexpr unsigned int kMostTileBytes = 32;         // of what tiles exchange, as in shuffles
constexpr unsigned int kBarriers = 16;              // of a block by number; 0 is that of the whole block
constexpr unsigned int kMostTiles = 31;             // of all sizes
constexpr unsigned int kThreadsWithBarriers = 512;  // of a block that has barriers for all tiles
}  // namespace heddle

// Arrivals at tiles that have no barrier, and a place for each warp. For this_thread_block.
template <unsigned int kThreads = 1024>
struct block_tile_memory {
  alignas(16) unsigned int heddle_arrivals[heddle::kMostTiles + 1];
  alignas(16) char heddle_slots[(kThreads + 31) / 32][heddle::kMostTileBytes];
};
template <unsigned int kThreads>
HEDDLE_DEVICE thread_block this_thread_block(block_tile_memory<kThreads>& memory) {
  return thread_block(reinterpret_cast<char*>(&memory));
}

template <unsigned int kSize>
class heddle_tile_of_warps {
 public:
  HEDDLE_METHOD explicit heddle_tile_of_warps(const thread_block& block)
      : memory_(reinterpret_cast<Memory*>(block.heddle_tile_memory())),
        place_(Place()),
        number_(NumberInBlock()),
        tiles_(heddle::ThreadsOfBlock() / kSize) {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 800
    __shared__ Memory own;
    if (memory_ == nullptr) memory_ = &own;
#endif
    Require(memory_ != nullptr, "this_thread_block has block_tile_memory");
    Require(heddle::ThreadsOfBlock() % kSize == 0, "the block is a whole number of tiles");
    if (heddle::ThreadsOfBlock() <= heddle::kThreadsWithBarriers) return;
    // All threads of the block are here, so none is at a tile.
    __syncthreads();
    if (heddle::ThreadOfBlock() < heddle::kMostTiles) memory_->heddle_arrivals[heddle::ThreadOfBlock()] = 0;
    __syncthreads();
  }
  // A part of a larger tile.
  template <unsigned int kOther>
  HEDDLE_METHOD explicit heddle_tile_of_warps(const heddle_tile_of_warps<kOther>& tile)
      : memory_(tile.memory_), place_(Place()), number_(tile.thread_rank() / kSize), tiles_(kOther / kSize) {
    static_assert(kOther > kSize, "a tile is divided into smaller ones");
  }
  HEDDLE_METHOD void sync() const {
    if (place_ < heddle::kBarriers) {
      __barrier_sync_count(place_, kSize);
    } else {
      Meet(&memory_->heddle_arrivals[place_ - heddle::kBarriers]);
    }
  }
  static HEDDLE_METHOD constexpr unsigned int size() { return kSize; }
  static HEDDLE_METHOD constexpr unsigned int num_threads() { return kSize; }
  static HEDDLE_METHOD unsigned int thread_rank() { return heddle::ThreadOfBlock() % kSize; }
  // Among the tiles that its parent was divided into.
  HEDDLE_METHOD unsigned int meta_group_rank() const { return number_; }
  HEDDLE_METHOD unsigned int meta_group_size() const { return tiles_; }
  HEDDLE_METHOD int any(int predicate) const { return OverWarps(__any_sync(0xffffffffu, predicate), bit_or<int>()); }
  HEDDLE_METHOD int all(int predicate) const { return OverWarps(__all_sync(0xffffffffu, predicate), bit_and<int>()); }
  // The value of the thread of that rank, which is the same for all.
  template <typename T>
  HEDDLE_METHOD T shfl(const T& value, unsigned int rank) const {
    if (thread_rank() == rank) Put(value);
    sync();
    const T result = Get<T>(rank / 32);
    sync();
    return result;
  }
  // Of one value a warp.
  template <typename T, typename Operation>
  HEDDLE_METHOD T OverWarps(const T& value, Operation operation) const {
    if (heddle::Lane() == 0) Put(value);
    sync();
    T result = Get<T>(0);
    for (unsigned int warp = 1; warp < kWarps; ++warp) result = operation(result, Get<T>(warp));
    sync();
    return result;
  }

 private:
  using Memory = block_tile_memory<1024>;
  static constexpr unsigned int kWarps = kSize / 32;
  template <unsigned int kOther>
  friend class heddle_tile_of_warps;
  static HEDDLE_METHOD unsigned int NumberInBlock() { return heddle::ThreadOfBlock() / kSize; }
  // The number of the tile's barrier, which no tile of another size has: sizes get numbers from 1 on, the smallest
  // first, if there are enough for all tiles of a size. Else kBarriers and the tile's number among those of all sizes.
  static HEDDLE_METHOD unsigned int Place() {
    const unsigned int threads = heddle::ThreadsOfBlock();
    unsigned int barrier = 1, tile = 0;
    for (unsigned int size = 64; size < kSize; size *= 2) {
      const unsigned int tiles = threads % size == 0 ? threads / size : 0;
      if (barrier + tiles <= heddle::kBarriers) barrier += tiles;
      tile += tiles;
    }
    const bool fits = barrier + threads / kSize <= heddle::kBarriers;
    return NumberInBlock() + (fits ? barrier : heddle::kBarriers + tile);
  }
  // The first lanes of the warps meet, and the lanes of each warp before and behind that.
  static HEDDLE_METHOD void Meet(unsigned int* arrivals) {
    __syncwarp();
    if (heddle::Lane() == 0) {
      __threadfence_block();
      const unsigned int meeting = atomicAdd(arrivals, 1u) / kWarps;
      while (*static_cast<volatile unsigned int*>(arrivals) / kWarps == meeting) {
      }
      __threadfence_block();
    }
    __syncwarp();
  }
  // Also where assertions are off.
  static HEDDLE_METHOD void Require(bool condition, const char* what) {
    if (!condition) __assertfail(what, __FILE__, __LINE__, "tiled_partition", 1);
  }
  // Into the calling warp's own place: what other warps of the tile have there may belong to a smaller tile of theirs.
  template <typename T>
  HEDDLE_METHOD void Put(const T& value) const {
    static_assert(sizeof(T) <= heddle::kMostTileBytes && __is_trivially_copyable(T),
                  "tiles of several warps exchange types of at most 32 bytes that can be copied byte by byte");
    __builtin_memcpy(memory_->heddle_slots[heddle::ThreadOfBlock() / 32], &value, sizeof(T));
  }
  template <typename T>
  HEDDLE_METHOD T Get(unsigned int warp) const {
    T value;
    __builtin_memcpy(static_cast<void*>(&value), memory_->heddle_slots[NumberInBlock() * kWarps + warp], sizeof(T));
    return value;
  }

  Memory* memory_;      // as much of it as the block has warps
  unsigned int place_;  // where the tile meets
  unsigned int number_;
  unsigned int tiles_;
};

#define HEDDLE_TILE_OF_WARPS(size)                                                              \
  template <typename Parent>                                                                    \
  class thread_block_tile<size, Parent> : public heddle_tile_of_warps<size> {                   \
   public:                                                                                      \
    using heddle_tile_of_warps<size>::heddle_tile_of_warps;                                     \
    template <unsigned int kOther, typename Other>                                              \
    HEDDLE_METHOD thread_block_tile(const thread_block_tile<kOther, Other>& tile)               \
        : heddle_tile_of_warps<size>(static_cast<const heddle_tile_of_warps<kOther>&>(tile)) {} \
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
