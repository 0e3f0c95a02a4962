// Eigen in kernels: small matrices, quaternions, mapped arrays, against Eigen on the host.
#include <Eigen/Core>
#include <Eigen/Dense>
#include <Eigen/Eigenvalues>
#include <vector>

#include "check.h"

using M3 = Eigen::Matrix3f;
using V3 = Eigen::Vector3f;
using M4 = Eigen::Matrix4d;
__global__ void Eig(const M3* in, V3* values, M3* inverse, float* det, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  M3 s = in[i] * in[i].transpose() + M3::Identity();
  Eigen::SelfAdjointEigenSolver<M3> solver;
  solver.computeDirect(s);
  values[i] = solver.eigenvalues();
  inverse[i] = s.inverse();
  det[i] = s.determinant();
}
__global__ void Rotate(const Eigen::Quaterniond* q, const Eigen::Vector3d* v, Eigen::Vector3d* o, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) o[i] = q[i].normalized() * v[i];
}
__global__ void Solve(const M4* a, const Eigen::Vector4d* b, Eigen::Vector4d* x, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) x[i] = a[i].inverse() * b[i];
}
__global__ void Maps(const float* a, float* sums, int rows) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= rows) return;
  Eigen::Map<const Eigen::Array<float, 8, 1>> row(a + 8 * i);
  sums[i] = row.abs().sqrt().sum() + row.maxCoeff() - row.minCoeff();
}
template <class T>
T* Managed(int n) {
  T* p;
  cudaMallocManaged(&p, n * sizeof(T));
  return p;
}
int main() {
  const int n = 300;
  M3* in = Managed<M3>(n);
  V3* ev = Managed<V3>(n);
  M3* inv = Managed<M3>(n);
  float* det = Managed<float>(n);
  for (int i = 0; i < n; ++i)
    for (int k = 0; k < 9; ++k) in[i].data()[k] = ((i * 31 + k * 17) % 23) / 11.0f - 1;
  Eig<<<3, 128>>>(in, ev, inv, det, n);
  EXPECT(cudaDeviceSynchronize() == cudaSuccess);
  for (int i = 0; i < n; ++i) {
    M3 s = in[i] * in[i].transpose() + M3::Identity();
    EXPECT(std::fabs(ev[i].prod() - det[i]) < 2e-2f * det[i]);
    EXPECT((s * inv[i] - M3::Identity()).norm() < 1e-3f);
  }
  auto* q = Managed<Eigen::Quaterniond>(n);
  auto* v = Managed<Eigen::Vector3d>(n);
  auto* o = Managed<Eigen::Vector3d>(n);
  for (int i = 0; i < n; ++i) {
    q[i] = Eigen::Quaterniond(1, 0.1 * i, 0.2, -0.3 * i);
    v[i] = Eigen::Vector3d(i, 1, 2);
  }
  Rotate<<<3, 128>>>(q, v, o, n);
  EXPECT(cudaDeviceSynchronize() == cudaSuccess);
  for (int i = 0; i < n; ++i) EXPECT((o[i] - q[i].normalized() * v[i]).norm() < 1e-9 * (1 + v[i].norm()));
  auto* a = Managed<M4>(n);
  auto* b = Managed<Eigen::Vector4d>(n);
  auto* x = Managed<Eigen::Vector4d>(n);
  for (int i = 0; i < n; ++i) {
    a[i] = M4::Identity() * 5;
    for (int k = 0; k < 16; ++k) a[i].data()[k] += ((i + k * 7) % 13) * 0.1;
    b[i] = Eigen::Vector4d(1, i, 2, 3);
  }
  Solve<<<3, 128>>>(a, b, x, n);
  EXPECT(cudaDeviceSynchronize() == cudaSuccess);
  for (int i = 0; i < n; ++i) EXPECT((a[i] * x[i] - b[i]).norm() < 1e-8 * (1 + i));
  float* f = Managed<float>(8 * n);
  float* s = Managed<float>(n);
  for (int i = 0; i < 8 * n; ++i) f[i] = (i * 37 % 101) - 50;
  Maps<<<3, 128>>>(f, s, n);
  EXPECT(cudaDeviceSynchronize() == cudaSuccess);
  for (int i = 0; i < n; ++i) {
    Eigen::Map<const Eigen::Array<float, 8, 1>> r(f + 8 * i);
    EXPECT(std::fabs(r.abs().sqrt().sum() + r.maxCoeff() - r.minCoeff() - s[i]) < 1e-3f);
  }
  return Finish();
}
