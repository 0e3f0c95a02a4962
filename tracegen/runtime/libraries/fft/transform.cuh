// The kernels of Fourier transforms. Lines of up to 2048 (double: 1024) elements whose number is a power of two pass
// through shared memory; others take a pass over global memory per factor of their length. Both are Stockham's
// algorithm: no reversal of bits.
#ifndef HEDDLE_TRACEGEN_RUNTIME_LIBRARIES_FFT_TRANSFORM_CUH_
#define HEDDLE_TRACEGEN_RUNTIME_LIBRARIES_FFT_TRANSFORM_CUH_

#include <algorithm>
#include <utility>

#include "tracegen/runtime/libraries/fft/transform.h"

namespace heddle::libraries {

template <typename T>
struct Complex {
  T re, im;
};

template <typename T>
__device__ Complex<T> operator+(Complex<T> a, Complex<T> b) {
  return {a.re + b.re, a.im + b.im};
}
template <typename T>
__device__ Complex<T> operator-(Complex<T> a, Complex<T> b) {
  return {a.re - b.re, a.im - b.im};
}
template <typename T>
__device__ Complex<T> operator*(Complex<T> a, Complex<T> b) {
  return {a.re * b.re - a.im * b.im, a.re * b.im + a.im * b.re};
}

// exp(sign * 2 pi i * part / whole).
__device__ inline Complex<float> Root(int sign, int64_t part, int64_t whole) {
  Complex<float> root;
  sincospif(2.0f * part / whole, &root.im, &root.re);
  root.im *= sign;
  return root;
}
__device__ inline Complex<double> RootDouble(int sign, int64_t part, int64_t whole) {
  Complex<double> root;
  sincospi(2.0 * part / whole, &root.im, &root.re);
  root.im *= sign;
  return root;
}
template <typename T>
__device__ Complex<T> RootOf(int sign, int64_t part, int64_t whole) {
  if constexpr (sizeof(T) == 8) {
    return RootDouble(sign, part, whole);
  } else {
    return Root(sign, part, whole);
  }
}

// All lines of an array along one axis.
struct Lines {
  int64_t length, step;  // elements of a line, and from one to the next
  int64_t count;         // of lines
  __device__ int64_t Start(int64_t line) const { return line / step * (step * length) + line % step; }
};

constexpr int kBlockThreads = 128;

// One pass of radix 2 or 4 in shared memory; `done`: the product of the radices before.
template <typename T, int kRadix>
__device__ void SharedPass(const Complex<T>* from, Complex<T>* to, int length, int done, int sign) {
  const int quarter = length / kRadix;
  for (int j = threadIdx.x; j < quarter; j += blockDim.x) {
    const int k = j % done;
    Complex<T> x[kRadix];
    for (int q = 0; q < kRadix; ++q) {
      x[q] = from[j + q * quarter];
      if (q != 0 && k != 0) x[q] = x[q] * RootOf<T>(sign, q * k, done * kRadix);
    }
    Complex<T>* at = to + (j - k) * kRadix + k;
    if constexpr (kRadix == 2) {
      at[0] = x[0] + x[1];
      at[done] = x[0] - x[1];
    } else {
      const Complex<T> sum = x[0] + x[2], difference = x[0] - x[2], sum13 = x[1] + x[3], d = x[1] - x[3];
      const Complex<T> turned = {-sign * d.im, sign * d.re};  // times sign * i
      at[0] = sum + sum13;
      at[done] = difference + turned;
      at[2 * done] = sum - sum13;
      at[3 * done] = difference - turned;
    }
  }
}

// threadIdx.y tells the line in the block. Shared memory: two buffers of a line for each.
template <typename T>
__global__ void SharedTransform(const Complex<T>* in, Complex<T>* out, Lines lines, int sign) {
  extern __shared__ double2 shared[];
  const int length = static_cast<int>(lines.length);
  Complex<T>* from = reinterpret_cast<Complex<T>*>(shared) + threadIdx.y * 2 * length;
  Complex<T>* to = from + length;
  const int64_t line = int64_t{blockIdx.x} * blockDim.y + threadIdx.y;
  const bool there = line < lines.count;
  const int64_t start = there ? lines.Start(line) : 0;
  for (int i = threadIdx.x; there && i < length; i += blockDim.x) from[i] = in[start + i * lines.step];
  __syncthreads();
  for (int done = 1; done < length;) {
    // One pass of radix 2 if the power is odd.
    const bool two = done == 1 && (__ffs(length) - 1) % 2 != 0;
    if (two) {
      SharedPass<T, 2>(from, to, length, done, sign);
    } else {
      SharedPass<T, 4>(from, to, length, done, sign);
    }
    __syncthreads();
    done *= two ? 2 : 4;
    Complex<T>* kept = from;
    from = to;
    to = kept;
  }
  for (int i = threadIdx.x; there && i < length; i += blockDim.x) out[start + i * lines.step] = from[i];
}

// A pass of any radix: a thread per result, which is a sum of `radix` elements.
template <typename T>
__global__ void GlobalPass(const Complex<T>* in, Complex<T>* out, Lines lines, int radix, int64_t done, int sign) {
  const int64_t part = lines.length / radix, all = lines.length * lines.count;
  for (int64_t i = blockIdx.x * blockDim.x + threadIdx.x; i < all; i += int64_t{blockDim.x} * gridDim.x) {
    // Threads of a warp have lines that are neighbours, or results that are.
    const bool across = lines.step != 1;
    const int64_t line = across ? i % lines.count : i / lines.length;
    const int64_t at = across ? i / lines.count : i % lines.length;
    const int64_t start = lines.Start(line);
    const int64_t k = at % done, p = at / done % radix, j = at / (done * radix) * done + k;
    Complex<T> sum = {0, 0};
    for (int q = 0; q < radix; ++q) {
      const Complex<T> x = in[start + (j + q * part) * lines.step];
      sum = sum + x * RootOf<T>(sign, q * (k + p * done) % (done * radix), done * radix);
    }
    out[start + at * lines.step] = sum;
  }
}

struct Shape {
  int64_t n[kMostDimensions];
  int64_t batches;
  __device__ int64_t size() const { return n[0] * n[1] * n[2] * batches; }
};

struct Place {
  int64_t embed[kMostDimensions];
  int64_t stride, distance;
  __device__ int64_t At(int64_t batch, int64_t x0, int64_t x1, int64_t x2) const {
    return batch * distance + ((x0 * embed[1] + x1) * embed[2] + x2) * stride;
  }
};

// Into a plain array of complex numbers. Of real numbers' transforms, half of the last dimension is there.
template <typename T, Kind kKind>
__global__ void Gather(const void* in, Complex<T>* out, Shape shape, Place place) {
  for (int64_t i = blockIdx.x * blockDim.x + threadIdx.x; i < shape.size(); i += int64_t{blockDim.x} * gridDim.x) {
    int64_t x2 = i % shape.n[2], x1 = i / shape.n[2] % shape.n[1], x0 = i / (shape.n[2] * shape.n[1]) % shape.n[0];
    const int64_t batch = i / (shape.n[2] * shape.n[1] * shape.n[0]);
    if constexpr (kKind == Kind::kFromReal) {
      out[i] = {static_cast<const T*>(in)[place.At(batch, x0, x1, x2)], 0};
    } else {
      const bool mirrored = kKind == Kind::kToReal && x2 > shape.n[2] / 2;
      if (mirrored) {
        x2 = shape.n[2] - x2;
        x1 = x1 == 0 ? 0 : shape.n[1] - x1;
        x0 = x0 == 0 ? 0 : shape.n[0] - x0;
      }
      Complex<T> value = static_cast<const Complex<T>*>(in)[place.At(batch, x0, x1, x2)];
      if (mirrored) value.im = -value.im;
      out[i] = value;
    }
  }
}

// Back from there. `width`: how much of the last dimension is wanted.
template <typename T, Kind kKind>
__global__ void Scatter(const Complex<T>* in, void* out, Shape shape, Place place, int64_t width) {
  for (int64_t i = blockIdx.x * blockDim.x + threadIdx.x; i < shape.size(); i += int64_t{blockDim.x} * gridDim.x) {
    const int64_t x2 = i % shape.n[2], x1 = i / shape.n[2] % shape.n[1];
    const int64_t x0 = i / (shape.n[2] * shape.n[1]) % shape.n[0];
    const int64_t batch = i / (shape.n[2] * shape.n[1] * shape.n[0]);
    if (x2 >= width) continue;
    const int64_t to = place.At(batch, x0, x1, x2);
    if constexpr (kKind == Kind::kToReal) {
      static_cast<T*>(out)[to] = in[i].re;
    } else {
      static_cast<Complex<T>*>(out)[to] = in[i];
    }
  }
}

inline unsigned FftBlocks(int64_t threads) {
  constexpr int64_t kMost = 1 << 16;
  return static_cast<unsigned>(std::min((threads + kBlockThreads - 1) / kBlockThreads, kMost));
}

// The radix of the next pass over what is left of a length.
inline int Radix(int64_t left) {
  if (left % 8 == 0) return 8;
  if (left % 4 == 0) return 4;
  for (int64_t radix = 2; radix * radix <= left; ++radix) {
    if (left % radix == 0) return static_cast<int>(radix);
  }
  return static_cast<int>(left);
}

// Transforms all lines; the result is in `out`, which may be `in`. `spare` is as large as they.
template <typename T>
void TransformLines(const Complex<T>* in, Complex<T>* out, Complex<T>* spare, const Lines& lines, int sign,
                    cudaStream_t stream) {
  constexpr int64_t kMostShared = 16384 / sizeof(Complex<T>);
  const int64_t length = lines.length;
  if ((length & (length - 1)) == 0 && length <= kMostShared) {
    const int threads = static_cast<int>(std::clamp<int64_t>(length / 4, 1, kBlockThreads));
    const dim3 block(threads, kBlockThreads / threads);
    const size_t bytes = std::max<size_t>(16, block.y * 2 * length * sizeof(Complex<T>));
    const auto blocks = static_cast<unsigned>((lines.count + block.y - 1) / block.y);
    SharedTransform<<<blocks, block, bytes, stream>>>(in, out, lines, sign);
    return;
  }
  // The passes alternate between the two, so that the last one writes to `out`.
  int passes = 0;
  for (int64_t left = length; left > 1; left /= Radix(left)) ++passes;
  Complex<T>* to = passes % 2 != 0 ? out : spare;
  Complex<T>* other = passes % 2 != 0 ? spare : out;
  if (in == to) {
    cudaMemcpyAsync(other, in, length * lines.count * sizeof(Complex<T>), cudaMemcpyDeviceToDevice, stream);
    in = other;
  }
  for (int64_t done = 1; done < length;) {
    const int radix = Radix(length / done);
    GlobalPass<<<FftBlocks(length * lines.count), kBlockThreads, 0, stream>>>(in, to, lines, radix, done, sign);
    done *= radix;
    in = to;
    std::swap(to, other);
  }
}

inline Place PlaceOf(const Placement& given, const Plan& plan, int64_t width) {
  Place place = {{plan.n[0], plan.n[1], width}, 1, plan.n[0] * plan.n[1] * width};
  if (given.given) {
    std::copy(given.embed, given.embed + kMostDimensions, place.embed);
    place.stride = given.stride;
    place.distance = given.distance;
  }
  return place;
}

template <typename T>
cufftResult TransformAll(const Plan& plan, Kind kind, const void* in, void* out, int sign) {
  const Shape shape = {{plan.n[0], plan.n[1], plan.n[2]}, plan.batches};
  const int64_t all = plan.elements() * plan.batches, half = plan.n[2] / 2 + 1;
  // In place, real numbers have the room that their transform needs.
  const int64_t real_width = in == out ? 2 * half : plan.n[2];
  const Place from = PlaceOf(plan.in, plan,
                             kind == Kind::kFromReal ? real_width
                             : kind == Kind::kToReal ? half
                                                     : plan.n[2]);
  const Place to = PlaceOf(plan.out, plan,
                           kind == Kind::kToReal     ? real_width
                           : kind == Kind::kFromReal ? half
                                                     : plan.n[2]);
  auto* work = static_cast<Complex<T>*>(plan.work[0]);
  auto* spare = static_cast<Complex<T>*>(plan.work[1]);
  const bool plain = kind == Kind::kComplex && !plan.in.given && !plan.out.given;
  const unsigned blocks = FftBlocks(all);
  if (kind == Kind::kFromReal) {
    Gather<T, Kind::kFromReal><<<blocks, kBlockThreads, 0, plan.stream>>>(in, work, shape, from);
  } else if (kind == Kind::kToReal) {
    Gather<T, Kind::kToReal><<<blocks, kBlockThreads, 0, plan.stream>>>(in, work, shape, from);
  } else if (!plain) {
    Gather<T, Kind::kComplex><<<blocks, kBlockThreads, 0, plan.stream>>>(in, work, shape, from);
  }
  const Complex<T>* source = plain ? static_cast<const Complex<T>*>(in) : work;
  auto* target = plain ? static_cast<Complex<T>*>(out) : work;
  int64_t step = 1;
  for (int axis = kMostDimensions - 1; axis >= 0; --axis) {
    const int64_t length = plan.n[axis];
    if (length > 1) {
      TransformLines<T>(source, target, spare, {length, step, all / length}, sign, plan.stream);
      source = target;
    }
    step *= length;
  }
  if (plain && source != target) {  // of one element
    cudaMemcpyAsync(target, source, all * sizeof(Complex<T>), cudaMemcpyDeviceToDevice, plan.stream);
  }
  if (kind == Kind::kToReal) {
    Scatter<T, Kind::kToReal><<<blocks, kBlockThreads, 0, plan.stream>>>(work, out, shape, to, plan.n[2]);
  } else if (!plain) {
    const int64_t width = kind == Kind::kFromReal ? half : plan.n[2];
    Scatter<T, Kind::kComplex><<<blocks, kBlockThreads, 0, plan.stream>>>(work, out, shape, to, width);
  }
  return cudaGetLastError() == cudaSuccess ? CUFFT_SUCCESS : CUFFT_EXEC_FAILED;
}

}  // namespace heddle::libraries

#endif  // HEDDLE_TRACEGEN_RUNTIME_LIBRARIES_FFT_TRANSFORM_CUH_
