// Loads and stores of half-precision numbers in memory (OpenCL C 1.2 specification, 6.12.7): 16 bits there, float or
// double in registers.
#ifndef HEDDLE_TRACEGEN_RUNTIME_OPENCL_INCLUDE_HEDDLE_OPENCL_HALF_H_
#define HEDDLE_TRACEGEN_RUNTIME_OPENCL_INCLUDE_HEDDLE_OPENCL_HALF_H_

// cvt.f32.f16 and cvt.rn.f16.f32.
HEDDLE_CL float heddle_from_half(ushort bits) { return __builtin_load_halff((const __private half *)&bits); }
HEDDLE_CL ushort heddle_half(float x) {
  ushort bits;
  __builtin_store_halff(x, (__private half *)&bits);
  return bits;
}

// What rounding to nearest has made too small or too large in magnitude is moved to the neighbour that the mode wants.
HEDDLE_CL ushort heddle_half_towards(float x, int up, int down) {
  const ushort nearest = heddle_half(x);
  const float rounded = heddle_from_half(nearest);
  const int negative = nearest >> 15;
  if (rounded < x && up)
    return (nearest & 0x7fff) == 0 ? (ushort)1 : negative ? (ushort)(nearest - 1) : (ushort)(nearest + 1);
  if (rounded > x && down) {
    return (nearest & 0x7fff) == 0 ? (ushort)0x8001 : negative ? (ushort)(nearest + 1) : (ushort)(nearest - 1);
  }
  return nearest;
}
HEDDLE_CL ushort heddle_half_rte(float x) { return heddle_half(x); }
HEDDLE_CL ushort heddle_half_rtz(float x) { return heddle_half_towards(x, x < 0, x > 0); }
HEDDLE_CL ushort heddle_half_rtp(float x) { return heddle_half_towards(x, 1, 0); }
HEDDLE_CL ushort heddle_half_rtn(float x) { return heddle_half_towards(x, 0, 1); }
// A double is rounded once: towards zero with the lost bits kept in the last one, which 24 bits leave room for.
HEDDLE_CL float heddle_sticky(double x) {
  const float down = x < 0 ? __nvvm_d2f_rp(x) : __nvvm_d2f_rm(x);
  return (double)down == x || x != x ? down : as_float(as_uint(down) | 1u);
}
HEDDLE_CL ushort heddle_half(double x) { return heddle_half(heddle_sticky(x)); }
HEDDLE_CL ushort heddle_half_rte(double x) { return heddle_half(heddle_sticky(x)); }
HEDDLE_CL ushort heddle_half_rtz(double x) { return heddle_half_rtz(heddle_sticky(x)); }
HEDDLE_CL ushort heddle_half_rtp(double x) { return heddle_half_rtp(heddle_sticky(x)); }
HEDDLE_CL ushort heddle_half_rtn(double x) { return heddle_half_rtn(heddle_sticky(x)); }

#define HEDDLE_HALF_LOAD(space)                                                                                        \
  HEDDLE_CL float vload_half(size_t i, const space half *p) { return heddle_from_half(((const space ushort *)p)[i]); } \
  HEDDLE_CL float2 vload_half2(size_t i, const space half *p) {                                                        \
    return (float2)(vload_half(2 * i, p), vload_half(2 * i + 1, p));                                                   \
  }                                                                                                                    \
  HEDDLE_CL float3 vload_half3(size_t i, const space half *p) {                                                        \
    return (float3)(vload_half(3 * i, p), vload_half(3 * i + 1, p), vload_half(3 * i + 2, p));                         \
  }                                                                                                                    \
  HEDDLE_CL float4 vload_half4(size_t i, const space half *p) {                                                        \
    return (float4)(vload_half2(2 * i, p), vload_half2(2 * i + 1, p));                                                 \
  }                                                                                                                    \
  HEDDLE_CL float8 vload_half8(size_t i, const space half *p) {                                                        \
    return (float8)(vload_half4(2 * i, p), vload_half4(2 * i + 1, p));                                                 \
  }                                                                                                                    \
  HEDDLE_CL float16 vload_half16(size_t i, const space half *p) {                                                      \
    return (float16)(vload_half8(2 * i, p), vload_half8(2 * i + 1, p));                                                \
  }                                                                                                                    \
  HEDDLE_CL float vloada_half(size_t i, const space half *p) { return vload_half(i, p); }                              \
  HEDDLE_CL float2 vloada_half2(size_t i, const space half *p) { return vload_half2(i, p); }                           \
  HEDDLE_CL float3 vloada_half3(size_t i, const space half *p) { return vload_half4(i, p).xyz; }                       \
  HEDDLE_CL float4 vloada_half4(size_t i, const space half *p) { return vload_half4(i, p); }                           \
  HEDDLE_CL float8 vloada_half8(size_t i, const space half *p) { return vload_half8(i, p); }                           \
  HEDDLE_CL float16 vloada_half16(size_t i, const space half *p) { return vload_half16(i, p); }
HEDDLE_HALF_LOAD(__global)
HEDDLE_HALF_LOAD(__local)
HEDDLE_HALF_LOAD(__constant)
HEDDLE_HALF_LOAD(__private)
#undef HEDDLE_HALF_LOAD

#define HEDDLE_HALF_STORE(type, space, mode)                                                                           \
  HEDDLE_CL void vstore_half##mode(type v, size_t i, space half *p) { ((space ushort *)p)[i] = heddle_half##mode(v); } \
  HEDDLE_CL void vstore_half2##mode(type##2 v, size_t i, space half *p) {                                              \
    vstore_half##mode(v.x, 2 * i, p);                                                                                  \
    vstore_half##mode(v.y, 2 * i + 1, p);                                                                              \
  }                                                                                                                    \
  HEDDLE_CL void vstore_half3##mode(type##3 v, size_t i, space half *p) {                                              \
    vstore_half##mode(v.x, 3 * i, p);                                                                                  \
    vstore_half##mode(v.y, 3 * i + 1, p);                                                                              \
    vstore_half##mode(v.z, 3 * i + 2, p);                                                                              \
  }                                                                                                                    \
  HEDDLE_CL void vstore_half4##mode(type##4 v, size_t i, space half *p) {                                              \
    vstore_half2##mode(v.lo, 2 * i, p);                                                                                \
    vstore_half2##mode(v.hi, 2 * i + 1, p);                                                                            \
  }                                                                                                                    \
  HEDDLE_CL void vstore_half8##mode(type##8 v, size_t i, space half *p) {                                              \
    vstore_half4##mode(v.lo, 2 * i, p);                                                                                \
    vstore_half4##mode(v.hi, 2 * i + 1, p);                                                                            \
  }                                                                                                                    \
  HEDDLE_CL void vstore_half16##mode(type##16 v, size_t i, space half *p) {                                            \
    vstore_half8##mode(v.lo, 2 * i, p);                                                                                \
    vstore_half8##mode(v.hi, 2 * i + 1, p);                                                                            \
  }                                                                                                                    \
  HEDDLE_CL void vstorea_half##mode(type v, size_t i, space half *p) { vstore_half##mode(v, i, p); }                   \
  HEDDLE_CL void vstorea_half2##mode(type##2 v, size_t i, space half *p) { vstore_half2##mode(v, i, p); }              \
  HEDDLE_CL void vstorea_half3##mode(type##3 v, size_t i, space half *p) {                                             \
    vstore_half##mode(v.x, 4 * i, p);                                                                                  \
    vstore_half##mode(v.y, 4 * i + 1, p);                                                                              \
    vstore_half##mode(v.z, 4 * i + 2, p);                                                                              \
  }                                                                                                                    \
  HEDDLE_CL void vstorea_half4##mode(type##4 v, size_t i, space half *p) { vstore_half4##mode(v, i, p); }              \
  HEDDLE_CL void vstorea_half8##mode(type##8 v, size_t i, space half *p) { vstore_half8##mode(v, i, p); }              \
  HEDDLE_CL void vstorea_half16##mode(type##16 v, size_t i, space half *p) { vstore_half16##mode(v, i, p); }
#define HEDDLE_HALF_STORES(type, space) \
  HEDDLE_HALF_STORE(type, space, )      \
  HEDDLE_HALF_STORE(type, space, _rte)  \
  HEDDLE_HALF_STORE(type, space, _rtz)  \
  HEDDLE_HALF_STORE(type, space, _rtp)  \
  HEDDLE_HALF_STORE(type, space, _rtn)
HEDDLE_HALF_STORES(float, __global)
HEDDLE_HALF_STORES(float, __local)
HEDDLE_HALF_STORES(float, __private)
HEDDLE_HALF_STORES(double, __global)
HEDDLE_HALF_STORES(double, __local)
HEDDLE_HALF_STORES(double, __private)
#undef HEDDLE_HALF_STORES
#undef HEDDLE_HALF_STORE

#endif  // HEDDLE_TRACEGEN_RUNTIME_OPENCL_INCLUDE_HEDDLE_OPENCL_HALF_H_
