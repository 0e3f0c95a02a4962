// cuFFT's plans.
#include <map>
#include <memory>
#include <mutex>
#include <new>

#include "cufft.h"
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

}  // extern "C"
