#include "tracegen/execute/memory/cluster_memory.h"

#include <sys/mman.h>
#include <unistd.h>

#include <bit>
#include <cerrno>
#include <cstdlib>
#include <cstring>

#include "absl/strings/str_cat.h"
#include "tracegen/execute/memory/host_pointer.h"
#include "tracegen/instrument/cluster_window.h"
#include "tracegen/instrument/thread_context.h"
#include "traces/format/program/clusters.h"

namespace heddle::tracegen {
namespace {

static_assert(kClusterBytes == trace::kMostClusterBlocks * kSharedBytes);

off_t OffsetOf(uint32_t cluster, uint32_t rank) {
  return static_cast<off_t>(cluster * kClusterBytes + rank * kSharedBytes);
}

// Without its memory the process has nothing left to do.
void Need(bool done) {
  if (!done) std::abort();
}

}  // namespace

absl::StatusOr<std::unique_ptr<ClusterMemory>> ClusterMemory::Create(uint32_t clusters) {
  const auto failed = [] {
    return absl::ResourceExhaustedError(absl::StrCat("no memory for clusters of blocks: ", strerror(errno)));
  };
  const int file = memfd_create("heddle-clusters", MFD_CLOEXEC);
  if (file < 0) return failed();
  std::unique_ptr<ClusterMemory> memory(new ClusterMemory(file, clusters));
  if (ftruncate(file, OffsetOf(clusters, 0)) != 0) return failed();
  void* got = mmap(HostPointer(kClusterBase), kClusterBytes, PROT_NONE,
                   MAP_SHARED | MAP_NORESERVE | MAP_FIXED_NOREPLACE, file, 0);
  if (got != HostPointer(kClusterBase)) {
    if (got != MAP_FAILED) munmap(got, kClusterBytes);
    return failed();
  }
  memory->shown_cluster_ = 0;
  return memory;
}

ClusterMemory::ClusterMemory(int file, uint32_t clusters) : file_(file), open_(new uint32_t[clusters]()) {}

ClusterMemory::~ClusterMemory() {
  if (shown_cluster_ != kNone) munmap(HostPointer(kClusterBase), kClusterBytes);
  if (shown_rank_ != kNone) {
    Need(mmap(HostPointer(kSharedBase), kSharedBytes, PROT_READ | PROT_WRITE,
              MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED, -1, 0) != MAP_FAILED);
  }
  close(file_);
}

void ClusterMemory::Show(uint32_t cluster, uint32_t rank) {
  if (cluster == shown_cluster_ && rank == shown_rank_) return;
  if (cluster != shown_cluster_) {
    Need(mmap(HostPointer(kClusterBase), kClusterBytes, PROT_NONE, MAP_SHARED | MAP_NORESERVE | MAP_FIXED, file_,
              OffsetOf(cluster, 0)) != MAP_FAILED);
    shown_cluster_ = cluster;
    for (uint32_t left = open_[cluster]; left != 0; left &= left - 1) {
      Protect(cluster, static_cast<uint32_t>(std::countr_zero(left)));
    }
  }
  Need(mmap(HostPointer(kSharedBase), kSharedBytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_NORESERVE | MAP_FIXED,
            file_, OffsetOf(cluster, rank)) != MAP_FAILED);
  shown_rank_ = rank;
}

void ClusterMemory::Open(uint32_t cluster, uint32_t rank) {
  open_[cluster] |= 1u << rank;
  Protect(cluster, rank);
}

void ClusterMemory::Close(uint32_t cluster, uint32_t rank) {
  open_[cluster] &= ~(1u << rank);
  Protect(cluster, rank);
}

void ClusterMemory::Protect(uint32_t cluster, uint32_t rank) const {
  if (cluster != shown_cluster_) return;
  const bool is_open = (open_[cluster] >> rank & 1) != 0;
  Need(mprotect(HostPointer(ClusterAddress({rank, 0})), kSharedBytes, is_open ? PROT_READ | PROT_WRITE : PROT_NONE) ==
       0);
}

}  // namespace heddle::tracegen
