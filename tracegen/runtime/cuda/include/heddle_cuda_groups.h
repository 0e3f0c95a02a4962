// Cooperative groups: the thread block, tiles of a warp, the threads that run together, and the grid.
#ifndef HEDDLE_TRACEGEN_RUNTIME_CUDA_INCLUDE_HEDDLE_CUDA_GROUPS_H_
#define HEDDLE_TRACEGEN_RUNTIME_CUDA_INCLUDE_HEDDLE_CUDA_GROUPS_H_

// Returns only if all blocks of the grid are live at once; otherwise a barrier of the grid could never open, and the
// launch fails with the place of the call.
extern "C" __device__ void __heddle_resident_grid();

namespace cooperative_groups {

#define HEDDLE_METHOD __forceinline__ __device__

namespace heddle {
HEDDLE_DEVICE unsigned int Lane() { return __nvvm_read_ptx_sreg_laneid(); }
HEDDLE_DEVICE unsigned int ThreadOfBlock() {
  return threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z);
}
HEDDLE_DEVICE unsigned int ThreadsOfBlock() { return blockDim.x * blockDim.y * blockDim.z; }
// The lanes of the warp that exist, when the block's last warp is not full.
HEDDLE_DEVICE unsigned int LanesOfTile(unsigned int size) {
  const unsigned int first = Lane() & ~(size - 1);
  const unsigned int all = size == 32 ? 0xffffffffu : ((1u << size) - 1) << first;
  const unsigned int left = ThreadsOfBlock() - (ThreadOfBlock() & ~31u);
  return left >= 32 ? all : all & ((1u << left) - 1);
}
// A shuffle of any type that may be copied byte by byte, up to 32 bytes, word by word.
template <typename T, typename Shuffle>
HEDDLE_DEVICE T ShuffleWords(T value, Shuffle shuffle) {
  static_assert(sizeof(T) <= 32 && __is_trivially_copyable(T),
                "shuffles of cooperative groups move types of at most 32 bytes that can be copied byte by byte");
  constexpr unsigned int kWords = (sizeof(T) + 3) / 4;
  unsigned int words[kWords] = {};
  __builtin_memcpy(words, &value, sizeof(T));
  _Pragma("unroll") for (unsigned int i = 0; i < kWords; ++i) words[i] = shuffle(words[i]);
  __builtin_memcpy(static_cast<void*>(&value), words, sizeof(T));
  return value;
}
static __device__ unsigned int grid_arrivals;
static __device__ volatile unsigned int grid_round;
}  // namespace heddle

// Any group whose kind is known only when the program runs.
class thread_group {
 public:
  HEDDLE_METHOD void sync() const {
    if (lanes_ == 0) {
      __syncthreads();
    } else {
      __syncwarp(lanes_);
    }
  }
  HEDDLE_METHOD unsigned int size() const { return lanes_ == 0 ? heddle::ThreadsOfBlock() : __popc(lanes_); }
  HEDDLE_METHOD unsigned int num_threads() const { return size(); }
  HEDDLE_METHOD unsigned int thread_rank() const {
    return lanes_ == 0 ? heddle::ThreadOfBlock() : __popc(lanes_ & __nvvm_read_ptx_sreg_lanemask_lt());
  }
  HEDDLE_METHOD bool is_valid() const { return true; }

 protected:
  HEDDLE_METHOD explicit thread_group(unsigned int lanes) : lanes_(lanes) {}
  unsigned int lanes_;  // of the warp; 0 = the whole block
  friend HEDDLE_METHOD thread_group tiled_partition(const thread_group& parent, unsigned int size);
};

class thread_block : public thread_group {
 public:
  HEDDLE_METHOD explicit thread_block(char* tile_memory = nullptr) : thread_group(0), tile_memory_(tile_memory) {}
  HEDDLE_METHOD char* heddle_tile_memory() const { return tile_memory_; }
  static HEDDLE_METHOD void sync() { __syncthreads(); }
  static HEDDLE_METHOD unsigned int size() { return heddle::ThreadsOfBlock(); }
  static HEDDLE_METHOD unsigned int num_threads() { return heddle::ThreadsOfBlock(); }
  static HEDDLE_METHOD unsigned int thread_rank() { return heddle::ThreadOfBlock(); }
  static HEDDLE_METHOD dim3 group_index() { return dim3(blockIdx.x, blockIdx.y, blockIdx.z); }
  static HEDDLE_METHOD dim3 thread_index() { return dim3(threadIdx.x, threadIdx.y, threadIdx.z); }
  static HEDDLE_METHOD dim3 group_dim() { return dim3(blockDim.x, blockDim.y, blockDim.z); }
  static HEDDLE_METHOD dim3 dim_threads() { return dim3(blockDim.x, blockDim.y, blockDim.z); }
  // The two halves of a barrier: the threads meet in the second.
  struct arrival_token {};
  static HEDDLE_METHOD arrival_token barrier_arrive() { return arrival_token(); }
  static HEDDLE_METHOD void barrier_wait(arrival_token = arrival_token()) { __syncthreads(); }

 private:
  char* tile_memory_;  // a block_tile_memory
};
HEDDLE_DEVICE thread_block this_thread_block() { return thread_block(); }

class coalesced_group;

// The operations among the lanes of a part of a warp.
template <typename Group>
class heddle_lane_operations : public thread_group {
 public:
  HEDDLE_METHOD void sync() const { __syncwarp(lanes_); }
  HEDDLE_METHOD int any(int predicate) const { return __any_sync(lanes_, predicate); }
  HEDDLE_METHOD int all(int predicate) const { return __all_sync(lanes_, predicate); }
  HEDDLE_METHOD unsigned int ballot(int predicate) const { return Pack(__ballot_sync(lanes_, predicate)); }
  template <typename T>
  HEDDLE_METHOD unsigned int match_any(T value) const {
    return Pack(__match_any_sync(lanes_, value));
  }
  template <typename T>
  HEDDLE_METHOD unsigned int match_all(T value, int& all) const {
    return Pack(__match_all_sync(lanes_, value, &all));
  }

  HEDDLE_METHOD unsigned int heddle_lanes() const { return lanes_; }  // of the warp

 protected:
  HEDDLE_METHOD explicit heddle_lane_operations(unsigned int lanes) : thread_group(lanes) {}
  // Lanes of the warp as ranks of the group.
  HEDDLE_METHOD unsigned int Pack(unsigned int lanes) const {
    return static_cast<const Group*>(this)->PackLanes(lanes);
  }
  template <typename Any>
  friend HEDDLE_METHOD coalesced_group binary_partition(const heddle_lane_operations<Any>& group, bool predicate);
  template <typename Any, typename T>
  friend HEDDLE_METHOD coalesced_group labeled_partition(const heddle_lane_operations<Any>& group, T label);
};

template <unsigned int kSize, typename Parent = void>
class thread_block_tile : public heddle_lane_operations<thread_block_tile<kSize, Parent>> {
  static_assert(kSize > 0 && kSize <= 32 && (kSize & (kSize - 1)) == 0,
                "tiles have 1, 2, 4, 8 and so on to 1024 threads");
  typedef heddle_lane_operations<thread_block_tile<kSize, Parent>> Base;

 public:
  HEDDLE_METHOD thread_block_tile()
      : Base(heddle::LanesOfTile(kSize)),
        number_(heddle::ThreadOfBlock() / kSize),
        tiles_((heddle::ThreadsOfBlock() + kSize - 1) / kSize) {}
  HEDDLE_METHOD explicit thread_block_tile(const thread_block&) : thread_block_tile() {}
  // A part of a larger tile, or the same tile with its parent forgotten.
  template <unsigned int kOther, typename Other>
  HEDDLE_METHOD thread_block_tile(const thread_block_tile<kOther, Other>& tile)
      : Base(heddle::LanesOfTile(kSize)),
        number_(kOther == kSize ? tile.meta_group_rank() : tile.thread_rank() / kSize),
        tiles_(kOther == kSize ? tile.meta_group_size() : kOther / kSize) {
    static_assert(kOther >= kSize, "a tile is divided into smaller ones");
  }
  static HEDDLE_METHOD constexpr unsigned int size() { return kSize; }
  static HEDDLE_METHOD constexpr unsigned int num_threads() { return kSize; }
  static HEDDLE_METHOD unsigned int thread_rank() { return heddle::Lane() & (kSize - 1); }
  // Among the tiles that its parent was divided into.
  HEDDLE_METHOD unsigned int meta_group_rank() const { return number_; }
  HEDDLE_METHOD unsigned int meta_group_size() const { return tiles_; }
  template <typename T>
  HEDDLE_METHOD T shfl(const T& value, int rank) const {
    return heddle::ShuffleWords(value, [&](unsigned int word) { return __shfl_sync(this->lanes_, word, rank, kSize); });
  }
  template <typename T>
  HEDDLE_METHOD T shfl_up(const T& value, unsigned int delta) const {
    return heddle::ShuffleWords(value,
                                [&](unsigned int word) { return __shfl_up_sync(this->lanes_, word, delta, kSize); });
  }
  template <typename T>
  HEDDLE_METHOD T shfl_down(const T& value, unsigned int delta) const {
    return heddle::ShuffleWords(value,
                                [&](unsigned int word) { return __shfl_down_sync(this->lanes_, word, delta, kSize); });
  }
  template <typename T>
  HEDDLE_METHOD T shfl_xor(const T& value, unsigned int mask) const {
    return heddle::ShuffleWords(
        value, [&](unsigned int word) { return __shfl_xor_sync(this->lanes_, word, static_cast<int>(mask), kSize); });
  }
  HEDDLE_METHOD unsigned int PackLanes(unsigned int lanes) const {
    return lanes >> (heddle::Lane() & ~(kSize - 1)) & (0xffffffffu >> (32 - kSize));
  }

 private:
  unsigned int number_;
  unsigned int tiles_;
};

class coalesced_group : public heddle_lane_operations<coalesced_group> {
 public:
  HEDDLE_METHOD explicit coalesced_group(unsigned int lanes, unsigned int number = 0, unsigned int groups = 1)
      : heddle_lane_operations<coalesced_group>(lanes), number_(number), groups_(groups) {}
  HEDDLE_METHOD unsigned int size() const { return __popc(lanes_); }
  HEDDLE_METHOD unsigned int num_threads() const { return __popc(lanes_); }
  HEDDLE_METHOD unsigned int thread_rank() const { return __popc(lanes_ & __nvvm_read_ptx_sreg_lanemask_lt()); }
  HEDDLE_METHOD unsigned int meta_group_rank() const { return number_; }
  HEDDLE_METHOD unsigned int meta_group_size() const { return groups_; }
  template <typename T>
  HEDDLE_METHOD T shfl(const T& value, unsigned int rank) const {
    return FromLane(value, LaneOf(rank % size()));
  }
  template <typename T>
  HEDDLE_METHOD T shfl_up(const T& value, unsigned int delta) const {
    const unsigned int rank = thread_rank();
    return FromLane(value, rank >= delta ? LaneOf(rank - delta) : heddle::Lane());
  }
  template <typename T>
  HEDDLE_METHOD T shfl_down(const T& value, unsigned int delta) const {
    const unsigned int rank = thread_rank() + delta;
    return FromLane(value, rank < size() ? LaneOf(rank) : heddle::Lane());
  }
  HEDDLE_METHOD unsigned int PackLanes(unsigned int lanes) const {
    unsigned int packed = 0;
    for (unsigned int rest = lanes_, rank = 0; rest != 0; rest &= rest - 1, ++rank) {
      packed |= (lanes >> (__ffs(static_cast<int>(rest)) - 1) & 1) << rank;
    }
    return packed;
  }

 private:
  template <typename T>
  HEDDLE_METHOD T FromLane(const T& value, unsigned int lane) const {
    return heddle::ShuffleWords(
        value, [&](unsigned int word) { return __shfl_sync(lanes_, word, static_cast<int>(lane), 32); });
  }
  HEDDLE_METHOD unsigned int LaneOf(unsigned int rank) const { return __fns(lanes_, 0, static_cast<int>(rank) + 1); }
  friend HEDDLE_METHOD coalesced_group tiled_partition(const coalesced_group& parent, unsigned int size);

  unsigned int number_;
  unsigned int groups_;
};
HEDDLE_DEVICE coalesced_group coalesced_threads() { return coalesced_group(__activemask()); }
HEDDLE_DEVICE thread_block_tile<1> this_thread() { return thread_block_tile<1>(); }

template <unsigned int kSize, typename Parent>
HEDDLE_DEVICE thread_block_tile<kSize, Parent> tiled_partition(const Parent& parent) {
  return thread_block_tile<kSize, Parent>(parent);
}
HEDDLE_METHOD thread_group tiled_partition(const thread_group& parent, unsigned int size) {
  const unsigned int lanes = heddle::LanesOfTile(size);
  return thread_group(parent.lanes_ == 0 ? lanes : lanes & parent.lanes_);
}
// Parts of `size` threads with successive ranks.
HEDDLE_METHOD coalesced_group tiled_partition(const coalesced_group& parent, unsigned int size) {
  const unsigned int number = parent.thread_rank() / size;
  unsigned int lanes = 0, rank = 0;
  for (unsigned int rest = parent.lanes_; rest != 0; rest &= rest - 1, ++rank) {
    if (rank / size == number) lanes |= rest & (0 - rest);
  }
  return coalesced_group(lanes, number, (parent.size() + size - 1) / size);
}
// Parts of a group whose threads agree: a coalesced group or a tile, as its own lanes meet, whoever else is active.
template <typename Group>
HEDDLE_METHOD coalesced_group binary_partition(const heddle_lane_operations<Group>& group, bool predicate) {
  const unsigned int yes = __ballot_sync(group.lanes_, predicate);
  return coalesced_group(predicate ? yes : group.lanes_ & ~yes, predicate ? 1 : 0, 2);
}
template <typename Group, typename T>
HEDDLE_METHOD coalesced_group labeled_partition(const heddle_lane_operations<Group>& group, T label) {
  return coalesced_group(__match_any_sync(group.lanes_, label));
}

// The blocks of a cluster. Below compute capability 9.0, each block is one.
class cluster_group : public thread_group {
 public:
  struct arrival_token {};
  HEDDLE_METHOD cluster_group() : thread_group(0) {}
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
  static HEDDLE_METHOD arrival_token barrier_arrive() {
    __cluster_barrier_arrive();
    return arrival_token();
  }
  static HEDDLE_METHOD void barrier_wait(arrival_token = arrival_token()) { __cluster_barrier_wait(); }
  static HEDDLE_METHOD unsigned int query_shared_rank(const void* pointer) {
    return __cluster_query_shared_rank(pointer);
  }
  template <typename T>
  static HEDDLE_METHOD T* map_shared_rank(T* pointer, int rank) {
    return static_cast<T*>(__cluster_map_shared_rank(pointer, static_cast<unsigned int>(rank)));
  }
  static HEDDLE_METHOD dim3 block_index() { return __clusterRelativeBlockIdx(); }
  static HEDDLE_METHOD unsigned int block_rank() { return __clusterRelativeBlockRank(); }
  static HEDDLE_METHOD dim3 dim_blocks() { return __clusterDim(); }
  static HEDDLE_METHOD unsigned int num_blocks() { return __clusterSizeInBlocks(); }
#else
  static HEDDLE_METHOD arrival_token barrier_arrive() { return arrival_token(); }
  static HEDDLE_METHOD void barrier_wait(arrival_token = arrival_token()) { __syncthreads(); }
  static HEDDLE_METHOD unsigned int query_shared_rank(const void*) { return 0; }
  template <typename T>
  static HEDDLE_METHOD T* map_shared_rank(T* pointer, int) {
    return pointer;
  }
  static HEDDLE_METHOD dim3 block_index() { return dim3(0, 0, 0); }
  static HEDDLE_METHOD unsigned int block_rank() { return 0; }
  static HEDDLE_METHOD dim3 dim_blocks() { return dim3(1, 1, 1); }
  static HEDDLE_METHOD unsigned int num_blocks() { return 1; }
#endif
  static HEDDLE_METHOD void sync() { barrier_wait(barrier_arrive()); }
  static HEDDLE_METHOD dim3 thread_index() {
    const dim3 block = block_index();
    return dim3(block.x * blockDim.x + threadIdx.x, block.y * blockDim.y + threadIdx.y,
                block.z * blockDim.z + threadIdx.z);
  }
  static HEDDLE_METHOD unsigned int thread_rank() {
    return block_rank() * heddle::ThreadsOfBlock() + heddle::ThreadOfBlock();
  }
  static HEDDLE_METHOD dim3 dim_threads() {
    const dim3 blocks = dim_blocks();
    return dim3(blocks.x * blockDim.x, blocks.y * blockDim.y, blocks.z * blockDim.z);
  }
  static HEDDLE_METHOD unsigned int num_threads() { return num_blocks() * heddle::ThreadsOfBlock(); }
  static HEDDLE_METHOD unsigned int size() { return num_threads(); }
};
HEDDLE_DEVICE cluster_group this_cluster() { return cluster_group(); }

// The whole grid. Its barrier counts arrivals in global memory, as the vendor's does: every block waits for all others,
// so it works only where all of them are live at once.
class grid_group {
 public:
  HEDDLE_METHOD bool is_valid() const { return true; }
  HEDDLE_METHOD void sync() const {
    __heddle_resident_grid();
    __syncthreads();
    if (heddle::ThreadOfBlock() == 0) {
      const unsigned int blocks = gridDim.x * gridDim.y * gridDim.z;
      const unsigned int round = heddle::grid_round;
      __threadfence();
      if (atomicAdd(&heddle::grid_arrivals, 1u) == blocks - 1) {
        heddle::grid_arrivals = 0;
        __threadfence();
        heddle::grid_round = round + 1;
      } else {
        while (heddle::grid_round == round) {
        }
      }
      __threadfence();
    }
    __syncthreads();
  }
  struct arrival_token {};
  HEDDLE_METHOD arrival_token barrier_arrive() const { return arrival_token(); }
  HEDDLE_METHOD void barrier_wait(arrival_token = arrival_token()) const { sync(); }
  HEDDLE_METHOD unsigned long long size() const {
    return static_cast<unsigned long long>(gridDim.x) * gridDim.y * gridDim.z * heddle::ThreadsOfBlock();
  }
  HEDDLE_METHOD unsigned long long num_threads() const { return size(); }
  HEDDLE_METHOD unsigned int num_blocks() const { return gridDim.x * gridDim.y * gridDim.z; }
  HEDDLE_METHOD dim3 group_dim() const { return dim3(gridDim.x, gridDim.y, gridDim.z); }
  HEDDLE_METHOD dim3 dim_blocks() const { return dim3(gridDim.x, gridDim.y, gridDim.z); }
  HEDDLE_METHOD dim3 block_index() const { return dim3(blockIdx.x, blockIdx.y, blockIdx.z); }
  HEDDLE_METHOD unsigned int block_rank() const {
    return blockIdx.x + gridDim.x * (blockIdx.y + gridDim.y * blockIdx.z);
  }
  HEDDLE_METHOD unsigned long long thread_rank() const {
    return static_cast<unsigned long long>(block_rank()) * heddle::ThreadsOfBlock() + heddle::ThreadOfBlock();
  }
};
HEDDLE_DEVICE grid_group this_grid() { return grid_group(); }

template <typename Group>
HEDDLE_DEVICE void sync(const Group& group) {
  group.sync();
}
template <typename Group>
HEDDLE_DEVICE unsigned long long thread_rank(const Group& group) {
  return group.thread_rank();
}
template <typename Group>
HEDDLE_DEVICE unsigned long long group_size(const Group& group) {
  return group.size();
}

#undef HEDDLE_METHOD

}  // namespace cooperative_groups

#include "heddle_cuda_group_functions.h"

#endif  // HEDDLE_TRACEGEN_RUNTIME_CUDA_INCLUDE_HEDDLE_CUDA_GROUPS_H_
