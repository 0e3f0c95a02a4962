// Samplers.
#include "tracegen/runtime/opencl/driver/api.h"
#include "tracegen/runtime/opencl/driver/image.h"
#include "tracegen/runtime/opencl/driver/info.h"

namespace heddle::opencl {
namespace {

// The bits of a sampler literal in OpenCL C: CLK_NORMALIZED_COORDS_TRUE is 1, CLK_ADDRESS_... are even numbers from 0
// in the order of their host constants, CLK_FILTER_NEAREST and CLK_FILTER_LINEAR are 0x10 and 0x20.
uint64_t Literal(const _cl_sampler& sampler) {
  return (sampler.normalized ? 1u : 0u) | (sampler.addressing - CL_ADDRESS_NONE) * 2 |
         (sampler.filter == CL_FILTER_LINEAR ? 0x20u : 0x10u);
}

}  // namespace

cl_sampler CL_API_CALL CreateSampler(cl_context context, cl_bool normalized, cl_addressing_mode addressing,
                                     cl_filter_mode filter, cl_int* errcode_ret) {
  if (!IsValid(context)) return Fail<_cl_sampler>(CL_INVALID_CONTEXT, errcode_ret);
  const bool repeats = addressing == CL_ADDRESS_REPEAT || addressing == CL_ADDRESS_MIRRORED_REPEAT;
  if (addressing < CL_ADDRESS_NONE || addressing > CL_ADDRESS_MIRRORED_REPEAT ||
      (filter != CL_FILTER_NEAREST && filter != CL_FILTER_LINEAR) || (repeats && normalized == CL_FALSE)) {
    return Fail<_cl_sampler>(CL_INVALID_VALUE, errcode_ret);
  }
  cl_sampler sampler = Make<_cl_sampler>();
  sampler->context = Ref<_cl_context>(context);
  sampler->normalized = normalized != CL_FALSE;
  sampler->addressing = addressing;
  sampler->filter = filter;
  sampler->literal = Literal(*sampler);
  return Succeed(sampler, errcode_ret);
}

// Of OpenCL 2.0, but called by programs whatever the device's version is.
cl_sampler CL_API_CALL CreateSamplerWithProperties(cl_context context, const cl_sampler_properties* list,
                                                   cl_int* errcode_ret) {
  cl_bool normalized = CL_TRUE;
  cl_addressing_mode addressing = CL_ADDRESS_CLAMP;
  cl_filter_mode filter = CL_FILTER_NEAREST;
  for (; list != nullptr && *list != 0; list += 2) {
    if (list[0] == CL_SAMPLER_NORMALIZED_COORDS) {
      normalized = static_cast<cl_bool>(list[1]);
    } else if (list[0] == CL_SAMPLER_ADDRESSING_MODE) {
      addressing = static_cast<cl_addressing_mode>(list[1]);
    } else if (list[0] == CL_SAMPLER_FILTER_MODE) {
      filter = static_cast<cl_filter_mode>(list[1]);
    } else {
      return Fail<_cl_sampler>(CL_INVALID_VALUE, errcode_ret);
    }
  }
  return CreateSampler(context, normalized, addressing, filter, errcode_ret);
}

cl_int CL_API_CALL RetainSampler(cl_sampler sampler) { return RetainObject(sampler, CL_INVALID_SAMPLER); }
cl_int CL_API_CALL ReleaseSampler(cl_sampler sampler) { return ReleaseObject(sampler, CL_INVALID_SAMPLER); }

cl_int CL_API_CALL GetSamplerInfo(cl_sampler sampler, cl_sampler_info what, size_t room, void* value, size_t* needed) {
  if (!IsValid(sampler)) return CL_INVALID_SAMPLER;
  const Answer answer(room, value, needed);
  switch (what) {
    case CL_SAMPLER_REFERENCE_COUNT:
      return answer.Value<cl_uint>(sampler->references.load());
    case CL_SAMPLER_CONTEXT:
      return answer.Value<cl_context>(sampler->context.get());
    case CL_SAMPLER_NORMALIZED_COORDS:
      return answer.Flag(sampler->normalized);
    case CL_SAMPLER_ADDRESSING_MODE:
      return answer.Value<cl_addressing_mode>(sampler->addressing);
    case CL_SAMPLER_FILTER_MODE:
      return answer.Value<cl_filter_mode>(sampler->filter);
    default:
      return CL_INVALID_VALUE;
  }
}

}  // namespace heddle::opencl
