// cublasLt: products of matrices that objects describe.
#include <cstdint>
#include <cstring>
#include <initializer_list>

#include "cublasLt.h"
#include "tracegen/runtime/libraries/blas/bias_gradient.h"
#include "tracegen/runtime/libraries/blas/gemm.h"

struct cublasLtContext {};

namespace heddle::libraries {
namespace {

// What the opaque objects hold.
struct Description {
  cublasComputeType_t compute;
  cudaDataType_t scale_type;
  int32_t pointer_mode;
  int32_t transposes[3];  // cublasOperation_t of A, B, C
  int32_t epilogue;
  int32_t bias_type;  // -1 = that of D
  const void* bias;
  void* aux;
  int64_t aux_ld;
  int64_t aux_stride;
};
struct Layout {
  int32_t type;
  int32_t order;
  uint64_t rows;
  uint64_t columns;
  int64_t ld;
  int32_t batches;
  int64_t stride;
};
struct Preference {
  uint64_t workspace_bytes;
};

// The objects are plain words, which callers copy and compare.
template <typename Object, typename Opaque>
Object Get(const Opaque* opaque) {
  static_assert(sizeof(Object) <= sizeof(Opaque));
  Object object;
  std::memcpy(&object, opaque, sizeof(object));
  return object;
}
template <typename Object, typename Opaque>
void Put(const Object& object, Opaque* opaque) {
  static_assert(sizeof(Object) <= sizeof(Opaque));
  std::memset(opaque, 0, sizeof(*opaque));
  std::memcpy(opaque, &object, sizeof(object));
}

// Takes a caller's value, which must have the size of ours.
template <typename Value>
cublasStatus_t Take(const void* value, size_t bytes, Value& to) {
  if (value == nullptr || bytes != sizeof(to)) return CUBLAS_STATUS_INVALID_VALUE;
  std::memcpy(&to, value, sizeof(to));
  return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t Set(Description& to, cublasLtMatmulDescAttributes_t what, const void* value, size_t bytes) {
  switch (what) {
    case CUBLASLT_MATMUL_DESC_COMPUTE_TYPE:
      return Take(value, bytes, to.compute);
    case CUBLASLT_MATMUL_DESC_SCALE_TYPE:
      return Take(value, bytes, to.scale_type);
    case CUBLASLT_MATMUL_DESC_POINTER_MODE:
      return Take(value, bytes, to.pointer_mode);
    case CUBLASLT_MATMUL_DESC_TRANSA:
      return Take(value, bytes, to.transposes[0]);
    case CUBLASLT_MATMUL_DESC_TRANSB:
      return Take(value, bytes, to.transposes[1]);
    case CUBLASLT_MATMUL_DESC_TRANSC:
      return Take(value, bytes, to.transposes[2]);
    case CUBLASLT_MATMUL_DESC_EPILOGUE:
      return Take(value, bytes, to.epilogue);
    case CUBLASLT_MATMUL_DESC_BIAS_POINTER:
      return Take(value, bytes, to.bias);
    case CUBLASLT_MATMUL_DESC_EPILOGUE_AUX_POINTER:
      return Take(value, bytes, to.aux);
    case CUBLASLT_MATMUL_DESC_EPILOGUE_AUX_LD:
      return Take(value, bytes, to.aux_ld);
    case CUBLASLT_MATMUL_DESC_EPILOGUE_AUX_BATCH_STRIDE:
      return Take(value, bytes, to.aux_stride);
    case CUBLASLT_MATMUL_DESC_BIAS_DATA_TYPE:
      return Take(value, bytes, to.bias_type);
  }
  return CUBLAS_STATUS_NOT_SUPPORTED;
}

cublasStatus_t Set(Layout& to, cublasLtMatrixLayoutAttribute_t what, const void* value, size_t bytes) {
  switch (what) {
    case CUBLASLT_MATRIX_LAYOUT_TYPE:
      return Take(value, bytes, to.type);
    case CUBLASLT_MATRIX_LAYOUT_ORDER:
      return Take(value, bytes, to.order);
    case CUBLASLT_MATRIX_LAYOUT_ROWS:
      return Take(value, bytes, to.rows);
    case CUBLASLT_MATRIX_LAYOUT_COLS:
      return Take(value, bytes, to.columns);
    case CUBLASLT_MATRIX_LAYOUT_LD:
      return Take(value, bytes, to.ld);
    case CUBLASLT_MATRIX_LAYOUT_BATCH_COUNT:
      return Take(value, bytes, to.batches);
    case CUBLASLT_MATRIX_LAYOUT_STRIDED_BATCH_OFFSET:
      return Take(value, bytes, to.stride);
  }
  return CUBLAS_STATUS_NOT_SUPPORTED;
}

Operand MakeOperand(const Layout& layout, const void* data, bool transposed) {
  Operand operand;
  operand.data = data;
  operand.ld = layout.ld;
  operand.stride = layout.stride;
  operand.transposed = transposed;
  return operand;
}

// Everything about a product but its addresses: whether it can be done, and how.
struct Plan {
  Product product;
  cudaDataType type;
  bool finishes = false;
  int gradient_of = 0;  // 'A' or 'B': the bias gets the sums of this operand over k
};

cublasStatus_t MakeFinish(const Description& description, const Layout& d, Plan& plan) {
  Finish& finish = plan.product.finish;
  const int epilogue = description.epilogue;
  const bool with_bias = epilogue == CUBLASLT_EPILOGUE_BIAS || epilogue == CUBLASLT_EPILOGUE_GELU_BIAS ||
                         epilogue == CUBLASLT_EPILOGUE_GELU_AUX_BIAS;
  const bool with_aux = epilogue == CUBLASLT_EPILOGUE_GELU_AUX || epilogue == CUBLASLT_EPILOGUE_GELU_AUX_BIAS ||
                        epilogue == CUBLASLT_EPILOGUE_DGELU;
  const bool gradient = epilogue == CUBLASLT_EPILOGUE_BGRADA || epilogue == CUBLASLT_EPILOGUE_BGRADB;
  if (epilogue == CUBLASLT_EPILOGUE_DGELU) {
    finish.gelu = Finish::kGeluGradient;
  } else if (with_aux || epilogue == CUBLASLT_EPILOGUE_GELU || epilogue == CUBLASLT_EPILOGUE_GELU_BIAS) {
    finish.gelu = Finish::kGelu;
  } else if (!with_bias && !gradient && epilogue != CUBLASLT_EPILOGUE_DEFAULT) {
    return CUBLAS_STATUS_NOT_SUPPORTED;
  }
  if (with_bias || gradient) {
    const int bias_type = description.bias_type < 0 ? d.type : description.bias_type;
    if (bias_type != d.type && bias_type != CUDA_R_32F) return CUBLAS_STATUS_NOT_SUPPORTED;
    if (description.bias == nullptr) return CUBLAS_STATUS_INVALID_VALUE;
    finish.bias_is_float = bias_type == CUDA_R_32F;
    if (with_bias) finish.bias = description.bias;
    if (gradient) plan.gradient_of = epilogue == CUBLASLT_EPILOGUE_BGRADA ? 'A' : 'B';
  }
  if (with_aux) {
    if (description.aux == nullptr || description.aux_ld < static_cast<int64_t>(d.rows)) {
      return CUBLAS_STATUS_INVALID_VALUE;
    }
    finish.aux = description.aux;
    finish.aux_ld = description.aux_ld;
    finish.aux_stride = description.aux_stride;
  }
  plan.finishes = with_bias || finish.gelu != Finish::kNone;
  return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t MakePlan(cublasLtMatmulDesc_t description_of, cublasLtMatrixLayout_t a_of, cublasLtMatrixLayout_t b_of,
                        cublasLtMatrixLayout_t c_of, cublasLtMatrixLayout_t d_of, Plan& plan) {
  if (description_of == nullptr || a_of == nullptr || b_of == nullptr || c_of == nullptr || d_of == nullptr) {
    return CUBLAS_STATUS_INVALID_VALUE;
  }
  const auto description = Get<Description>(description_of);
  const auto a = Get<Layout>(a_of), b = Get<Layout>(b_of), c = Get<Layout>(c_of), d = Get<Layout>(d_of);
  for (const Layout* layout : {&a, &b, &c, &d}) {
    constexpr uint64_t kMost = INT32_MAX;
    if (layout->order != CUBLASLT_ORDER_COL) return CUBLAS_STATUS_NOT_SUPPORTED;
    if (layout->rows > kMost || layout->columns > kMost || layout->batches != d.batches) {
      return CUBLAS_STATUS_INVALID_VALUE;
    }
  }
  const bool ta = description.transposes[0] != CUBLAS_OP_N, tb = description.transposes[1] != CUBLAS_OP_N;
  const bool narrow = description.scale_type == CUDA_R_16F;
  const bool half_sums = description.compute == CUBLAS_COMPUTE_16F;
  if (description.transposes[2] != CUBLAS_OP_N || a.type != b.type || c.type != d.type || a.type != d.type ||
      half_sums != narrow || (!narrow && description.scale_type != CUDA_R_32F) ||
      (a.type != CUDA_R_32F && a.type != CUDA_R_16F && a.type != CUDA_R_16BF)) {
    return CUBLAS_STATUS_NOT_SUPPORTED;
  }
  Product& product = plan.product;
  product.m = static_cast<int>(d.rows);
  product.n = static_cast<int>(d.columns);
  product.k = static_cast<int>(ta ? a.rows : a.columns);
  product.batches = d.batches;
  product.half_scalars = narrow;
  product.mode = static_cast<cublasPointerMode_t>(description.pointer_mode);
  product.a = MakeOperand(a, nullptr, ta);
  product.b = MakeOperand(b, nullptr, tb);
  product.c = MakeOperand(c, nullptr, false);
  product.d = MakeOperand(d, nullptr, false);
  plan.type = static_cast<cudaDataType>(d.type);
  if ((ta ? a.columns : a.rows) != d.rows || (tb ? b.rows : b.columns) != d.columns ||
      (tb ? b.columns : b.rows) != (ta ? a.rows : a.columns) || c.rows != d.rows || c.columns != d.columns) {
    return CUBLAS_STATUS_INVALID_VALUE;
  }
  return MakeFinish(description, d, plan);
}

cublasStatus_t RunPlan(const Plan& plan) {
  if (!plan.finishes) return MultiplyTypes(plan.type, plan.type, plan.product);
  if (plan.type == CUDA_R_32F) return MultiplyAndFinish<float, float>(plan.product);
  if (plan.type == CUDA_R_16F) return MultiplyAndFinish<__half, __half>(plan.product);
  return MultiplyAndFinish<__nv_bfloat16, __nv_bfloat16>(plan.product);
}

}  // namespace
}  // namespace heddle::libraries

using heddle::libraries::Description;
using heddle::libraries::Get;
using heddle::libraries::Layout;
using heddle::libraries::Plan;
using heddle::libraries::Preference;
using heddle::libraries::Put;

extern "C" {

cublasStatus_t cublasLtCreate(cublasLtHandle_t* handle) {
  if (handle == nullptr) return CUBLAS_STATUS_INVALID_VALUE;
  *handle = new cublasLtContext;
  return CUBLAS_STATUS_SUCCESS;
}
cublasStatus_t cublasLtDestroy(cublasLtHandle_t handle) {
  delete handle;
  return CUBLAS_STATUS_SUCCESS;
}
size_t cublasLtGetVersion(void) { return CUBLAS_VERSION; }
const char* cublasLtGetStatusName(cublasStatus_t status) { return cublasGetStatusName(status); }
const char* cublasLtGetStatusString(cublasStatus_t status) { return cublasGetStatusString(status); }

cublasStatus_t cublasLtMatmulDescInit(cublasLtMatmulDesc_t description, cublasComputeType_t compute,
                                      cudaDataType_t scale_type) {
  if (description == nullptr) return CUBLAS_STATUS_INVALID_VALUE;
  Description made = {};
  made.compute = compute;
  made.scale_type = scale_type;
  made.epilogue = CUBLASLT_EPILOGUE_DEFAULT;
  made.bias_type = -1;
  Put(made, description);
  return CUBLAS_STATUS_SUCCESS;
}
cublasStatus_t cublasLtMatmulDescCreate(cublasLtMatmulDesc_t* description, cublasComputeType_t compute,
                                        cudaDataType_t scale_type) {
  if (description == nullptr) return CUBLAS_STATUS_INVALID_VALUE;
  *description = new cublasLtMatmulDescOpaque_t;
  return cublasLtMatmulDescInit(*description, compute, scale_type);
}
cublasStatus_t cublasLtMatmulDescDestroy(cublasLtMatmulDesc_t description) {
  delete description;
  return CUBLAS_STATUS_SUCCESS;
}
cublasStatus_t cublasLtMatmulDescSetAttribute(cublasLtMatmulDesc_t description, cublasLtMatmulDescAttributes_t what,
                                              const void* value, size_t bytes) {
  if (description == nullptr) return CUBLAS_STATUS_INVALID_VALUE;
  auto changed = Get<Description>(description);
  const cublasStatus_t status = heddle::libraries::Set(changed, what, value, bytes);
  Put(changed, description);
  return status;
}

cublasStatus_t cublasLtMatrixLayoutInit(cublasLtMatrixLayout_t layout, cudaDataType type, uint64_t rows,
                                        uint64_t columns, int64_t ld) {
  if (layout == nullptr) return CUBLAS_STATUS_INVALID_VALUE;
  Put(Layout{type, CUBLASLT_ORDER_COL, rows, columns, ld, 1, 0}, layout);
  return CUBLAS_STATUS_SUCCESS;
}
cublasStatus_t cublasLtMatrixLayoutCreate(cublasLtMatrixLayout_t* layout, cudaDataType type, uint64_t rows,
                                          uint64_t columns, int64_t ld) {
  if (layout == nullptr) return CUBLAS_STATUS_INVALID_VALUE;
  *layout = new cublasLtMatrixLayoutOpaque_t;
  return cublasLtMatrixLayoutInit(*layout, type, rows, columns, ld);
}
cublasStatus_t cublasLtMatrixLayoutDestroy(cublasLtMatrixLayout_t layout) {
  delete layout;
  return CUBLAS_STATUS_SUCCESS;
}
cublasStatus_t cublasLtMatrixLayoutSetAttribute(cublasLtMatrixLayout_t layout, cublasLtMatrixLayoutAttribute_t what,
                                                const void* value, size_t bytes) {
  if (layout == nullptr) return CUBLAS_STATUS_INVALID_VALUE;
  auto changed = Get<Layout>(layout);
  const cublasStatus_t status = heddle::libraries::Set(changed, what, value, bytes);
  Put(changed, layout);
  return status;
}

cublasStatus_t cublasLtMatmulPreferenceInit(cublasLtMatmulPreference_t preference) {
  if (preference == nullptr) return CUBLAS_STATUS_INVALID_VALUE;
  Put(Preference{}, preference);
  return CUBLAS_STATUS_SUCCESS;
}
cublasStatus_t cublasLtMatmulPreferenceCreate(cublasLtMatmulPreference_t* preference) {
  if (preference == nullptr) return CUBLAS_STATUS_INVALID_VALUE;
  *preference = new cublasLtMatmulPreferenceOpaque_t;
  return cublasLtMatmulPreferenceInit(*preference);
}
cublasStatus_t cublasLtMatmulPreferenceDestroy(cublasLtMatmulPreference_t preference) {
  delete preference;
  return CUBLAS_STATUS_SUCCESS;
}
cublasStatus_t cublasLtMatmulPreferenceSetAttribute(cublasLtMatmulPreference_t preference,
                                                    cublasLtMatmulPreferenceAttributes_t what, const void* value,
                                                    size_t bytes) {
  if (preference == nullptr || value == nullptr) return CUBLAS_STATUS_INVALID_VALUE;
  if (what == CUBLASLT_MATMUL_PREF_SEARCH_MODE) return CUBLAS_STATUS_SUCCESS;
  if (what != CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES) return CUBLAS_STATUS_NOT_SUPPORTED;
  auto changed = Get<Preference>(preference);
  const cublasStatus_t status = heddle::libraries::Take(value, bytes, changed.workspace_bytes);
  Put(changed, preference);
  return status;
}

cublasStatus_t cublasLtMatmulAlgoGetHeuristic(cublasLtHandle_t handle, cublasLtMatmulDesc_t description,
                                              cublasLtMatrixLayout_t a, cublasLtMatrixLayout_t b,
                                              cublasLtMatrixLayout_t c, cublasLtMatrixLayout_t d,
                                              cublasLtMatmulPreference_t, int wanted,
                                              cublasLtMatmulHeuristicResult_t results[], int* found) {
  if (found != nullptr) *found = 0;
  if (handle == nullptr) return CUBLAS_STATUS_NOT_INITIALIZED;
  if (wanted < 1 || results == nullptr || found == nullptr) return CUBLAS_STATUS_INVALID_VALUE;
  Plan plan;
  const cublasStatus_t status = heddle::libraries::MakePlan(description, a, b, c, d, plan);
  if (status != CUBLAS_STATUS_SUCCESS) return status;
  results[0] = {};
  results[0].state = CUBLAS_STATUS_SUCCESS;
  results[0].wavesCount = 1;
  *found = 1;
  return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t cublasLtMatmul(cublasLtHandle_t handle, cublasLtMatmulDesc_t description, const void* alpha,
                              const void* a, cublasLtMatrixLayout_t layout_a, const void* b,
                              cublasLtMatrixLayout_t layout_b, const void* beta, const void* c,
                              cublasLtMatrixLayout_t layout_c, void* d, cublasLtMatrixLayout_t layout_d,
                              const cublasLtMatmulAlgo_t*, void*, size_t, cudaStream_t stream) {
  if (handle == nullptr) return CUBLAS_STATUS_NOT_INITIALIZED;
  const heddle::libraries::StandIn stand_in("cublasLtMatmul");
  Plan plan;
  cublasStatus_t status = heddle::libraries::MakePlan(description, layout_a, layout_b, layout_c, layout_d, plan);
  if (status != CUBLAS_STATUS_SUCCESS) return status;
  heddle::libraries::Product& product = plan.product;
  product.alpha = alpha;
  product.beta = beta;
  product.a.data = a;
  product.b.data = b;
  product.c.data = c;
  product.d.data = d;
  product.stream = stream;
  status = heddle::libraries::RunPlan(plan);
  if (status != CUBLAS_STATUS_SUCCESS || plan.gradient_of == 0) return status;
  void* bias = const_cast<void*>(Get<Description>(description).bias);
  return heddle::libraries::SumOverDepth(plan.type, product, plan.gradient_of == 'A', product.finish.bias_is_float,
                                         bias);
}

}  // extern "C"
