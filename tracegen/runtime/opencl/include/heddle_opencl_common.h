// Common and geometric functions of OpenCL C (1.2 specification, 6.12.4 and 6.12.5) that take vectors and scalars
// together, and those of the other widths.
#ifndef HEDDLE_TRACEGEN_RUNTIME_OPENCL_INCLUDE_HEDDLE_OPENCL_COMMON_H_
#define HEDDLE_TRACEGEN_RUNTIME_OPENCL_INCLUDE_HEDDLE_OPENCL_COMMON_H_

#define HEDDLE_COMMON_WIDTH(type, n)                                                \
  HEDDLE_CL type##n min(type##n x, type y) { return min(x, (type##n)(y)); }         \
  HEDDLE_CL type##n max(type##n x, type y) { return max(x, (type##n)(y)); }         \
  HEDDLE_CL type##n fmin(type##n x, type y) { return fmin(x, (type##n)(y)); }       \
  HEDDLE_CL type##n fmax(type##n x, type y) { return fmax(x, (type##n)(y)); }       \
  HEDDLE_CL type##n step(type edge, type##n x) { return step((type##n)(edge), x); } \
  HEDDLE_CL type##n smoothstep(type low, type high, type##n x) {                    \
    return smoothstep((type##n)(low), (type##n)(high), x);                          \
  }
#define HEDDLE_COMMON(type)                                                                               \
  HEDDLE_VECTORS3(smoothstep, type)                                                                       \
  HEDDLE_VECTORS1(degrees, type)                                                                          \
  HEDDLE_VECTORS1(radians, type)                                                                          \
  HEDDLE_VECTORS2(fdim, type)                                                                             \
  HEDDLE_COMMON_WIDTH(type, 2)                                                                            \
  HEDDLE_COMMON_WIDTH(type, 3)                                                                            \
  HEDDLE_COMMON_WIDTH(type, 4)                                                                            \
  HEDDLE_COMMON_WIDTH(type, 8)                                                                            \
  HEDDLE_COMMON_WIDTH(type, 16)                                                                           \
  HEDDLE_CL type##3 clamp(type##3 x, type y, type z) { return clamp(x, (type##3)(y), (type##3)(z)); }     \
  HEDDLE_CL type##8 clamp(type##8 x, type y, type z) { return clamp(x, (type##8)(y), (type##8)(z)); }     \
  HEDDLE_CL type##16 clamp(type##16 x, type y, type z) { return clamp(x, (type##16)(y), (type##16)(z)); } \
  HEDDLE_CL type##3 mix(type##3 x, type##3 y, type a) { return x + (y - x) * a; }                         \
  HEDDLE_CL type##8 mix(type##8 x, type##8 y, type a) { return x + (y - x) * a; }                         \
  HEDDLE_CL type##16 mix(type##16 x, type##16 y, type a) { return x + (y - x) * a; }                      \
  HEDDLE_CL type distance(type x, type y) { return fabs(x - y); }                                         \
  HEDDLE_CL type normalize(type x) { return sign(x); }                                                    \
  HEDDLE_CL type##4 cross(type##4 x, type##4 y) { return (type##4)(cross(x.xyz, y.xyz), (type)0); }
HEDDLE_COMMON(float)
HEDDLE_COMMON(double)
#undef HEDDLE_COMMON
#undef HEDDLE_COMMON_WIDTH

HEDDLE_CL float fast_length(float x) { return fabs(x); }
HEDDLE_CL float fast_length(float3 x) { return native_sqrt(dot(x, x)); }
HEDDLE_CL float fast_distance(float x, float y) { return fabs(x - y); }
HEDDLE_CL float fast_distance(float2 x, float2 y) { return fast_length(x - y); }
HEDDLE_CL float fast_distance(float3 x, float3 y) { return fast_length(x - y); }
HEDDLE_CL float fast_distance(float4 x, float4 y) { return fast_length(x - y); }
HEDDLE_CL float fast_normalize(float x) { return sign(x); }
HEDDLE_CL float2 fast_normalize(float2 x) { return normalize(x); }
HEDDLE_CL float3 fast_normalize(float3 x) { return normalize(x); }

#endif  // HEDDLE_TRACEGEN_RUNTIME_OPENCL_INCLUDE_HEDDLE_OPENCL_COMMON_H_
