// Bandwidths by level, with 16 bytes per thread and load; and what a launch costs.
#include "tools/hardware/benchmarks/benchmark.h"

namespace heddle::hardware {
namespace {

constexpr int kThreads = 1024;
constexpr int kBlocksPerSm = 2;

// Every block reads the same `vectors`, again and again: they stay in its SM's L1.
__global__ void ReadL1(const uint4* data, int vectors, int rounds, long long* cycles, unsigned* sink) {
  unsigned sum = 0;
  for (int i = threadIdx.x; i < vectors; i += blockDim.x) sum += data[i].x;
  __syncthreads();
  const long long begin = clock64();
  for (int r = 0; r < rounds; ++r) {
    for (int i = threadIdx.x; i < vectors; i += 4 * blockDim.x) {
      uint4 v[4];
#pragma unroll
      for (int k = 0; k < 4; ++k) {
        asm volatile("ld.global.v4.u32 {%0, %1, %2, %3}, [%4];"
                     : "=r"(v[k].x), "=r"(v[k].y), "=r"(v[k].z), "=r"(v[k].w)
                     : "l"(data + i + k * blockDim.x));
      }
#pragma unroll
      for (int k = 0; k < 4; ++k) sum += v[k].x ^ v[k].y ^ v[k].z ^ v[k].w;
    }
  }
  __syncthreads();
  const long long end = clock64();
  if (threadIdx.x == 0) cycles[blockIdx.x] = end - begin;
  sink[blockIdx.x * blockDim.x + threadIdx.x] = sum;
}

__global__ void ReadShared(int rounds, long long* cycles, unsigned* sink) {
  __shared__ uint4 data[kThreads];
  data[threadIdx.x] = make_uint4(threadIdx.x, 1, 2, 3);
  __syncthreads();
  const auto address = static_cast<unsigned>(__cvta_generic_to_shared(data + threadIdx.x));
  unsigned sum = 0;
  const long long begin = clock64();
  for (int r = 0; r < rounds; ++r) {
#pragma unroll
    for (int k = 0; k < 8; ++k) {
      uint4 v;
      // Volatile also for the assembler: else it loads once for all.
      asm volatile("ld.volatile.shared.v4.u32 {%0, %1, %2, %3}, [%4];"
                   : "=r"(v.x), "=r"(v.y), "=r"(v.z), "=r"(v.w)
                   : "r"(address));
      sum += v.x ^ v.y ^ v.z ^ v.w;
    }
  }
  __syncthreads();
  const long long end = clock64();
  if (threadIdx.x == 0) cycles[blockIdx.x] = end - begin;
  sink[blockIdx.x * blockDim.x + threadIdx.x] = sum;
}

// All blocks together read `vectors`, `rounds` times, past the L1.
__global__ void Read(const uint4* data, size_t vectors, int rounds, unsigned* sink) {
  const size_t step = static_cast<size_t>(gridDim.x) * blockDim.x;
  unsigned sum = 0;
  for (int r = 0; r < rounds; ++r) {
    for (size_t i = static_cast<size_t>(blockIdx.x) * blockDim.x + threadIdx.x; i < vectors; i += 4 * step) {
      uint4 v[4] = {};
#pragma unroll
      for (int k = 0; k < 4; ++k) {
        if (i + k * step >= vectors) break;
        asm volatile("ld.global.cg.v4.u32 {%0, %1, %2, %3}, [%4];"
                     : "=r"(v[k].x), "=r"(v[k].y), "=r"(v[k].z), "=r"(v[k].w)
                     : "l"(data + i + k * step));
      }
#pragma unroll
      for (int k = 0; k < 4; ++k) sum += v[k].x ^ v[k].y ^ v[k].z ^ v[k].w;
    }
  }
  sink[blockIdx.x * blockDim.x + threadIdx.x] = sum;
}

__global__ void Copy(const uint4* from, uint4* to, size_t vectors) {
  const size_t step = static_cast<size_t>(gridDim.x) * blockDim.x;
  for (size_t i = static_cast<size_t>(blockIdx.x) * blockDim.x + threadIdx.x; i < vectors; i += step) to[i] = from[i];
}

__global__ void Fill(uint4* data, size_t vectors) {
  const size_t step = static_cast<size_t>(gridDim.x) * blockDim.x;
  for (size_t i = static_cast<size_t>(blockIdx.x) * blockDim.x + threadIdx.x; i < vectors; i += step) {
    const auto x = static_cast<unsigned>(i) * 2654435761U;
    data[i] = make_uint4(x, x ^ 0x5bd1e995U, ~x, x >> 3);
  }
}

__global__ void Empty() {}

Parameters Shape(size_t footprint, int blocks) {
  Parameters shape = {{"threads", std::to_string(kThreads)}, {"blocks", std::to_string(blocks)}};
  if (footprint != 0) shape.push_back({"footprint_bytes", std::to_string(footprint)});
  return shape;
}

// Bytes per cycle and SM, of one block per SM.
template <typename Start>
void MeasureSm(const char* name, size_t footprint, int sms, double bytes, Start start) {
  DeviceArray<long long> cycles(sms);
  DeviceArray<unsigned> sink(static_cast<size_t>(sms) * kThreads);
  std::vector<double> values;
  for (int i = 0; i < kRepetitions; ++i) {
    start(cycles.data(), sink.data());
    Finish();
    std::vector<double> each;
    for (const long long c : cycles.Read()) each.push_back(bytes / static_cast<double>(c));
    values.push_back(Median(each));
  }
  Print(name, Shape(footprint, sms), "bytes/cycle/SM", values);
}

template <typename Start>
void MeasureCard(const char* name, size_t footprint, int blocks, double bytes, Start start) {
  start();  // warms up
  Finish();
  std::vector<double> values;
  for (int i = 0; i < kRepetitions; ++i) values.push_back(bytes / (1e-3 * Milliseconds(start)));
  Print(name, Shape(footprint, blocks), "bytes/second", values);
}

}  // namespace
}  // namespace heddle::hardware

int main(int argc, char** argv) {
  using namespace heddle::hardware;
  const bool small = IsSmall(argc, argv);
  const int sms = Multiprocessors(small);
  const int blocks = kBlocksPerSm * sms;
  const size_t large = small ? size_t{1} << 20 : size_t{2} << 30;
  const size_t middle = small ? size_t{1} << 18 : size_t{16} << 20;
  DeviceArray<uint4> data(large / sizeof(uint4));
  DeviceArray<uint4> copy(large / sizeof(uint4));
  DeviceArray<unsigned> sink(static_cast<size_t>(blocks) * kThreads);
  Fill<<<blocks, kThreads>>>(data.data(), data.count());
  Finish();

  const int near = 64 << 10;
  const int rounds = small ? 1 : 512;
  MeasureSm("bandwidth_l1", near, sms, 1.0 * near * rounds, [&](long long* cycles, unsigned* out) {
    ReadL1<<<sms, kThreads>>>(data.data(), near / sizeof(uint4), rounds, cycles, out);
  });
  MeasureSm("bandwidth_shared", 0, sms, 16.0 * 8 * kThreads * rounds,
            [&](long long* cycles, unsigned* out) { ReadShared<<<sms, kThreads>>>(rounds, cycles, out); });
  const int passes = small ? 1 : 64;
  MeasureCard("bandwidth_l2", middle, blocks, 1.0 * middle * passes,
              [&] { Read<<<blocks, kThreads>>>(data.data(), middle / sizeof(uint4), passes, sink.data()); });
  MeasureCard("bandwidth_dram_read", large, blocks, 1.0 * large,
              [&] { Read<<<blocks, kThreads>>>(data.data(), data.count(), 1, sink.data()); });
  MeasureCard("bandwidth_dram_copy", large, blocks, 2.0 * large,
              [&] { Copy<<<blocks, kThreads>>>(data.data(), copy.data(), data.count()); });

  // One block on one SM: what its requests in flight allow.
  for (const int threads : {32, 128, 512, 1024}) {
    for (const bool dram : {false, true}) {
      const size_t bytes = dram ? large / 32 : middle / 4;
      const int times = dram ? 1 : (small ? 1 : 16);
      const auto start = [&] { Read<<<1, threads>>>(data.data(), bytes / sizeof(uint4), times, sink.data()); };
      if (dram) Fill<<<blocks, kThreads>>>(copy.data(), copy.count());  // nothing of it is in the L2 then
      if (!dram) start();
      Finish();
      std::vector<double> values;
      for (int i = 0; i < (dram ? 1 : kRepetitions); ++i) {
        values.push_back(1.0 * static_cast<double>(bytes) * times / (1e-3 * Milliseconds(start)));
      }
      Print(dram ? "bandwidth_dram_of_sm" : "bandwidth_l2_of_sm",
            {{"footprint_bytes", std::to_string(bytes)}, {"threads", std::to_string(threads)}}, "bytes/second", values);
    }
  }

  const int launches = small ? 10 : 2000;
  std::vector<double> overheads;
  for (int i = -1; i < kRepetitions; ++i) {
    const double milliseconds = Milliseconds([&] {
      for (int n = 0; n < launches; ++n) Empty<<<1, 32>>>();
    });
    if (i >= 0) overheads.push_back(1e3 * milliseconds / launches);
  }
  Print("launch_overhead", {}, "microseconds", overheads);
  return 0;
}
