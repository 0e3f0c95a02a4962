// cuFFT's plans.
#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <limits>
#include <map>
#include <memory>
#include <mutex>
#include <new>

#include "cufftXt.h"
#include "tracegen/runtime/libraries/fft/transform.h"

namespace {

using heddle::libraries::Kind;
using heddle::libraries::kMostDimensions;
using heddle::libraries::Placement;
using heddle::libraries::Plan;

// By handle, from 1. A plan of cufftCreate has no elements yet.
struct Plans {
  std::mutex mutex;
  std::map<cufftHandle, std::unique_ptr<Plan>> plans;
  cufftHandle last = 0;
};
Plans& AllPlans() {
  static auto& plans = *new Plans;
  return plans;
}

Plan* Find(cufftHandle handle) {
  const std::lock_guard lock(AllPlans().mutex);
  const auto found = AllPlans().plans.find(handle);
  return found == AllPlans().plans.end() ? nullptr : found->second.get();
}

size_t WorkBytes(const Plan& plan) {
  return static_cast<size_t>(plan.elements() * plan.batches) * (plan.is_double() ? 16 : 8);
}

// The transform does as many additions per element as the largest prime factor of a length says: beyond this one it
// would seem to hang.
constexpr int64_t kLargestPrime = 1 << 14;
int64_t LargestPrimeOf(int64_t number) {
  int64_t largest = 1;
  for (int64_t factor = 2; factor * factor <= number; ++factor) {
    while (number % factor == 0) {
      number /= factor;
      largest = factor;
    }
  }
  return std::max(largest, number);
}

bool KnownType(cufftType type) {
  return type == CUFFT_C2C || type == CUFFT_R2C || type == CUFFT_C2R || type == CUFFT_Z2Z || type == CUFFT_D2Z ||
         type == CUFFT_Z2D;
}

// `embed`: of as many dimensions as the plan has, or null for the usual placement.
cufftResult Set(Placement& to, int rank, const int* embed, int stride, int distance) {
  if (embed == nullptr) return CUFFT_SUCCESS;
  if (stride < 1 || distance < 0) return CUFFT_INVALID_VALUE;
  to.given = true;
  for (int i = 0; i < rank; ++i) {
    if (embed[i] < 1) return CUFFT_INVALID_SIZE;
    to.embed[kMostDimensions - rank + i] = embed[i];
  }
  to.stride = stride;
  to.distance = distance;
  return CUFFT_SUCCESS;
}

cufftResult Make(cufftHandle handle, int rank, const int* n, const int* inembed, int istride, int idist,
                 const int* onembed, int ostride, int odist, cufftType type, int batch, size_t* work_bytes) {
  Plan* plan = Find(handle);
  if (plan == nullptr || plan->work[0] != nullptr) return CUFFT_INVALID_PLAN;
  if (!KnownType(type)) return CUFFT_INVALID_TYPE;
  if (rank < 1 || rank > kMostDimensions || n == nullptr) return CUFFT_INVALID_VALUE;
  if (batch < 1) return CUFFT_INVALID_SIZE;
  constexpr int64_t kMostElements = int64_t{1} << 31;
  Plan made;
  made.type = type;
  made.batches = batch;
  made.stream = plan->stream;
  for (int i = 0; i < rank; ++i) {
    if (n[i] < 1) return CUFFT_INVALID_SIZE;
    made.n[kMostDimensions - rank + i] = n[i];
    if (made.elements() * batch > kMostElements) return CUFFT_INVALID_SIZE;
    if (const int64_t prime = LargestPrimeOf(n[i]); prime > kLargestPrime) {
      std::fprintf(stderr,
                   "heddle: cuFFT: a length of %d, whose prime factor %lld makes the transform too slow here; "
                   "choose lengths whose prime factors are at most %lld\n",
                   n[i], static_cast<long long>(prime), static_cast<long long>(kLargestPrime));
      return CUFFT_INVALID_SIZE;
    }
  }
  // Both placements, or none: cuFFT ignores strides if one is missing.
  if (inembed != nullptr && onembed != nullptr) {
    cufftResult result = Set(made.in, rank, inembed, istride, idist);
    if (result == CUFFT_SUCCESS) result = Set(made.out, rank, onembed, ostride, odist);
    if (result != CUFFT_SUCCESS) return result;
  }
  for (void*& work : made.work) {
    if (cudaMalloc(&work, WorkBytes(made)) != cudaSuccess) {
      cudaFree(made.work[0]);
      return CUFFT_ALLOC_FAILED;
    }
  }
  *plan = made;
  if (work_bytes != nullptr) *work_bytes = 2 * WorkBytes(made);
  return CUFFT_SUCCESS;
}

// `values`, of which there are `rank`, as numbers of 32 bits in `narrow`; false if one does not fit.
bool Narrow(int rank, const long long* values, int (&narrow)[kMostDimensions]) {
  for (int i = 0; i < rank; ++i) {
    if (values[i] < 0 || values[i] > std::numeric_limits<int>::max()) return false;
    narrow[i] = static_cast<int>(values[i]);
  }
  return true;
}

// Where the elements of one end lie, with 64 bits each.
struct WideLayout {
  const long long* embed;  // null: the usual placement
  long long stride;
  long long distance;
};

cufftResult MakeWide(cufftHandle plan, int rank, const long long* n, const WideLayout& in, const WideLayout& out,
                     cufftType type, long long batch, size_t* work_bytes) {
  if (rank < 1 || rank > kMostDimensions || n == nullptr) return CUFFT_INVALID_VALUE;
  int sizes[kMostDimensions], count[kMostDimensions];
  const long long batches[] = {batch};
  if (!Narrow(rank, n, sizes) || !Narrow(1, batches, count)) return CUFFT_INVALID_SIZE;
  if (in.embed == nullptr || out.embed == nullptr) {
    return Make(plan, rank, sizes, nullptr, 1, 0, nullptr, 1, 0, type, count[0], work_bytes);
  }
  const long long steps[][2] = {{in.stride, in.distance}, {out.stride, out.distance}};
  int in_embed[kMostDimensions], out_embed[kMostDimensions], in_steps[kMostDimensions], out_steps[kMostDimensions];
  if (!Narrow(rank, in.embed, in_embed) || !Narrow(rank, out.embed, out_embed) || !Narrow(2, steps[0], in_steps) ||
      !Narrow(2, steps[1], out_steps)) {
    return CUFFT_INVALID_SIZE;
  }
  return Make(plan, rank, sizes, in_embed, in_steps[0], in_steps[1], out_embed, out_steps[0], out_steps[1], type,
              count[0], work_bytes);
}

// The type of transforms from one type of elements to another, which are computed in `execution`.
cufftResult FindType(cudaDataType in, cudaDataType out, cudaDataType execution, cufftType* type) {
  struct Row {
    cudaDataType in, out;
    cufftType type;
  };
  constexpr Row kRows[] = {{CUDA_C_32F, CUDA_C_32F, CUFFT_C2C}, {CUDA_R_32F, CUDA_C_32F, CUFFT_R2C},
                           {CUDA_C_32F, CUDA_R_32F, CUFFT_C2R}, {CUDA_C_64F, CUDA_C_64F, CUFFT_Z2Z},
                           {CUDA_R_64F, CUDA_C_64F, CUFFT_D2Z}, {CUDA_C_64F, CUDA_R_64F, CUFFT_Z2D}};
  for (const Row& row : kRows) {
    if (row.in != in || row.out != out) continue;
    *type = row.type;
    const bool is_double = in == CUDA_C_64F || in == CUDA_R_64F;
    return execution == (is_double ? CUDA_C_64F : CUDA_C_32F) ? CUFFT_SUCCESS : CUFFT_INVALID_TYPE;
  }
  return CUFFT_NOT_SUPPORTED;
}

cufftResult CreateAndMake(cufftHandle* handle, int rank, const int* n, const int* inembed, int istride, int idist,
                          const int* onembed, int ostride, int odist, cufftType type, int batch) {
  cufftResult result = cufftCreate(handle);
  if (result != CUFFT_SUCCESS) return result;
  result = Make(*handle, rank, n, inembed, istride, idist, onembed, ostride, odist, type, batch, nullptr);
  if (result != CUFFT_SUCCESS) cufftDestroy(*handle);
  return result;
}

cufftResult Execute(const char* function, cufftHandle handle, cufftType type, const void* in, void* out, int sign) {
  const Plan* plan = Find(handle);
  if (plan == nullptr || plan->work[0] == nullptr) return CUFFT_INVALID_PLAN;
  if (plan->type != type) return CUFFT_INVALID_TYPE;
  if (in == nullptr || out == nullptr || (sign != CUFFT_FORWARD && sign != CUFFT_INVERSE)) return CUFFT_INVALID_VALUE;
  const heddle::libraries::StandIn stand_in(function);
  const Kind kind = type == CUFFT_R2C || type == CUFFT_D2Z   ? Kind::kFromReal
                    : type == CUFFT_C2R || type == CUFFT_Z2D ? Kind::kToReal
                                                             : Kind::kComplex;
  return plan->is_double() ? heddle::libraries::Transform<double>(*plan, kind, in, out, sign)
                           : heddle::libraries::Transform<float>(*plan, kind, in, out, sign);
}

}  // namespace

extern "C" {

cufftResult cufftCreate(cufftHandle* handle) {
  if (handle == nullptr) return CUFFT_INVALID_VALUE;
  const std::lock_guard lock(AllPlans().mutex);
  *handle = ++AllPlans().last;
  AllPlans().plans[*handle] = std::make_unique<Plan>();
  return CUFFT_SUCCESS;
}
cufftResult cufftDestroy(cufftHandle handle) {
  const std::lock_guard lock(AllPlans().mutex);
  const auto found = AllPlans().plans.find(handle);
  if (found == AllPlans().plans.end()) return CUFFT_INVALID_PLAN;
  for (void* work : found->second->work) cudaFree(work);
  AllPlans().plans.erase(found);
  return CUFFT_SUCCESS;
}

cufftResult cufftPlan1d(cufftHandle* plan, int nx, cufftType type, int batch) {
  return CreateAndMake(plan, 1, &nx, nullptr, 1, 0, nullptr, 1, 0, type, batch);
}
cufftResult cufftPlan2d(cufftHandle* plan, int nx, int ny, cufftType type) {
  const int n[] = {nx, ny};
  return CreateAndMake(plan, 2, n, nullptr, 1, 0, nullptr, 1, 0, type, 1);
}
cufftResult cufftPlan3d(cufftHandle* plan, int nx, int ny, int nz, cufftType type) {
  const int n[] = {nx, ny, nz};
  return CreateAndMake(plan, 3, n, nullptr, 1, 0, nullptr, 1, 0, type, 1);
}
cufftResult cufftPlanMany(cufftHandle* plan, int rank, int* n, int* inembed, int istride, int idist, int* onembed,
                          int ostride, int odist, cufftType type, int batch) {
  return CreateAndMake(plan, rank, n, inembed, istride, idist, onembed, ostride, odist, type, batch);
}
cufftResult cufftMakePlan1d(cufftHandle plan, int nx, cufftType type, int batch, size_t* work_bytes) {
  return Make(plan, 1, &nx, nullptr, 1, 0, nullptr, 1, 0, type, batch, work_bytes);
}
cufftResult cufftMakePlan2d(cufftHandle plan, int nx, int ny, cufftType type, size_t* work_bytes) {
  const int n[] = {nx, ny};
  return Make(plan, 2, n, nullptr, 1, 0, nullptr, 1, 0, type, 1, work_bytes);
}
cufftResult cufftMakePlan3d(cufftHandle plan, int nx, int ny, int nz, cufftType type, size_t* work_bytes) {
  const int n[] = {nx, ny, nz};
  return Make(plan, 3, n, nullptr, 1, 0, nullptr, 1, 0, type, 1, work_bytes);
}
cufftResult cufftMakePlanMany(cufftHandle plan, int rank, int* n, int* inembed, int istride, int idist, int* onembed,
                              int ostride, int odist, cufftType type, int batch, size_t* work_bytes) {
  return Make(plan, rank, n, inembed, istride, idist, onembed, ostride, odist, type, batch, work_bytes);
}
cufftResult cufftMakePlanMany64(cufftHandle plan, int rank, long long* n, long long* inembed, long long istride,
                                long long idist, long long* onembed, long long ostride, long long odist, cufftType type,
                                long long batch, size_t* work_bytes) {
  return MakeWide(plan, rank, n, {inembed, istride, idist}, {onembed, ostride, odist}, type, batch, work_bytes);
}
cufftResult cufftXtMakePlanMany(cufftHandle plan, int rank, long long* n, long long* inembed, long long istride,
                                long long idist, cudaDataType in_type, long long* onembed, long long ostride,
                                long long odist, cudaDataType out_type, long long batch, size_t* work_bytes,
                                cudaDataType execution_type) {
  cufftType type = CUFFT_C2C;
  const cufftResult result = FindType(in_type, out_type, execution_type, &type);
  if (result != CUFFT_SUCCESS) return result;
  return MakeWide(plan, rank, n, {inembed, istride, idist}, {onembed, ostride, odist}, type, batch, work_bytes);
}

cufftResult cufftGetSize(cufftHandle handle, size_t* work_bytes) {
  const Plan* plan = Find(handle);
  if (plan == nullptr) return CUFFT_INVALID_PLAN;
  if (work_bytes == nullptr) return CUFFT_INVALID_VALUE;
  *work_bytes = plan->work[0] == nullptr ? 0 : 2 * WorkBytes(*plan);
  return CUFFT_SUCCESS;
}
cufftResult cufftSetWorkArea(cufftHandle handle, void*) {
  return Find(handle) == nullptr ? CUFFT_INVALID_PLAN : CUFFT_SUCCESS;
}
cufftResult cufftSetAutoAllocation(cufftHandle handle, int) {
  return Find(handle) == nullptr ? CUFFT_INVALID_PLAN : CUFFT_SUCCESS;
}
cufftResult cufftSetStream(cufftHandle handle, cudaStream_t stream) {
  Plan* plan = Find(handle);
  if (plan == nullptr) return CUFFT_INVALID_PLAN;
  plan->stream = stream;
  return CUFFT_SUCCESS;
}
cufftResult cufftGetVersion(int* version) {
  if (version == nullptr) return CUFFT_INVALID_VALUE;
  *version = CUFFT_VERSION;
  return CUFFT_SUCCESS;
}
cufftResult cufftGetProperty(libraryPropertyType type, int* value) {
  const int values[] = {CUFFT_VER_MAJOR, CUFFT_VER_MINOR, CUFFT_VER_PATCH};
  if (value == nullptr || type < MAJOR_VERSION || type > PATCH_LEVEL) return CUFFT_INVALID_VALUE;
  *value = values[type];
  return CUFFT_SUCCESS;
}

cufftResult cufftExecC2C(cufftHandle plan, cufftComplex* in, cufftComplex* out, int direction) {
  return Execute("cufftExecC2C", plan, CUFFT_C2C, in, out, direction);
}
cufftResult cufftExecR2C(cufftHandle plan, cufftReal* in, cufftComplex* out) {
  return Execute("cufftExecR2C", plan, CUFFT_R2C, in, out, CUFFT_FORWARD);
}
cufftResult cufftExecC2R(cufftHandle plan, cufftComplex* in, cufftReal* out) {
  return Execute("cufftExecC2R", plan, CUFFT_C2R, in, out, CUFFT_INVERSE);
}
cufftResult cufftExecZ2Z(cufftHandle plan, cufftDoubleComplex* in, cufftDoubleComplex* out, int direction) {
  return Execute("cufftExecZ2Z", plan, CUFFT_Z2Z, in, out, direction);
}
cufftResult cufftExecD2Z(cufftHandle plan, cufftDoubleReal* in, cufftDoubleComplex* out) {
  return Execute("cufftExecD2Z", plan, CUFFT_D2Z, in, out, CUFFT_FORWARD);
}
cufftResult cufftExecZ2D(cufftHandle plan, cufftDoubleComplex* in, cufftDoubleReal* out) {
  return Execute("cufftExecZ2D", plan, CUFFT_Z2D, in, out, CUFFT_INVERSE);
}

cufftResult cufftXtExec(cufftHandle handle, void* in, void* out, int direction) {
  const Plan* plan = Find(handle);
  if (plan == nullptr) return CUFFT_INVALID_PLAN;
  // Of transforms from and to real numbers the type says the direction.
  const cufftType type = plan->type;
  const bool is_complex = type == CUFFT_C2C || type == CUFFT_Z2Z;
  const int implied = type == CUFFT_C2R || type == CUFFT_Z2D ? CUFFT_INVERSE : CUFFT_FORWARD;
  return Execute("cufftXtExec", handle, type, in, out, is_complex ? direction : implied);
}

}  // extern "C"
