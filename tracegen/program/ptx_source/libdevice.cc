#include "tracegen/program/ptx_source/libdevice.h"

#include <string_view>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/strings/str_split.h"

namespace heddle::tracegen {
namespace {

struct Group {
  const char* signature;
  const char* names;  // without "__nv_"
};

// Prototypes of the device's mathematical library (libdevice user's guide, NVIDIA).
constexpr Group kGroups[] = {
    {"dd",
     "acos acosh asin asinh atan atanh cbrt ceil cos cosh cospi cyl_bessel_i0 cyl_bessel_i1 "
     "drcp_rd drcp_rn drcp_ru drcp_rz dsqrt_rd dsqrt_rn dsqrt_ru dsqrt_rz erf erfc erfcinv erfcx "
     "erfinv exp exp10 exp2 expm1 fabs floor j0 j1 lgamma log log10 log1p log2 logb nearbyint "
     "normcdf normcdfinv rcbrt rcp64h rint round rsqrt sin sinh sinpi sqrt tan tanh tgamma trunc "
     "y0 y1"},
    {"ddd",
     "atan2 copysign dadd_rd dadd_rn dadd_ru dadd_rz ddiv_rd ddiv_rn ddiv_ru ddiv_rz dmul_rd "
     "dmul_rn dmul_ru dmul_rz dsub_rd dsub_rn dsub_ru dsub_rz fdim fmax fmin fmod hypot "
     "nextafter pow remainder rhypot"},
    {"dddd", "fma fma_rd fma_rn fma_ru fma_rz norm3d rnorm3d"},
    {"ddddd", "norm4d rnorm4d"},
    {"dddp", "remquo"},
    {"ddi", "ldexp powi scalbn"},
    {"ddp", "frexp modf"},
    {"di", "int2double_rn uint2double_rn"},
    {"did", "jn yn"},
    {"dii", "hiloint2double"},
    {"dip", "norm rnorm"},
    {"dl",
     "ll2double_rd ll2double_rn ll2double_ru ll2double_rz longlong_as_double ull2double_rd "
     "ull2double_rn ull2double_ru ull2double_rz"},
    {"dp", "nan"},
    {"fd", "double2float_rd double2float_rn double2float_ru double2float_rz"},
    {"ff",
     "acosf acoshf asinf asinhf atanf atanhf cbrtf ceilf cosf coshf cospif cyl_bessel_i0f "
     "cyl_bessel_i1f erfcf erfcinvf erfcxf erff erfinvf exp10f exp2f expf expm1f fabsf fast_cosf "
     "fast_exp10f fast_expf fast_log10f fast_log2f fast_logf fast_sinf fast_tanf floorf frcp_rd "
     "frcp_rn frcp_ru frcp_rz frsqrt_rn fsqrt_rd fsqrt_rn fsqrt_ru fsqrt_rz j0f j1f lgammaf "
     "log10f log1pf log2f logbf logf nearbyintf normcdff normcdfinvf rcbrtf rintf roundf rsqrtf "
     "saturatef sinf sinhf sinpif sqrtf tanf tanhf tgammaf truncf y0f y1f"},
    {"fff",
     "atan2f copysignf fadd_rd fadd_rn fadd_ru fadd_rz fast_fdividef fast_powf fdimf fdiv_rd "
     "fdiv_rn fdiv_ru fdiv_rz fmaxf fminf fmodf fmul_rd fmul_rn fmul_ru fmul_rz fsub_rd fsub_rn "
     "fsub_ru fsub_rz hypotf nextafterf powf remainderf rhypotf"},
    {"ffff",
     "fmaf fmaf_ieee_rd fmaf_ieee_rn fmaf_ieee_ru fmaf_ieee_rz fmaf_rd fmaf_rn fmaf_ru fmaf_rz "
     "norm3df rnorm3df"},
    {"fffff", "norm4df rnorm4df"},
    {"fffp", "remquof"},
    {"ffi", "ldexpf powif scalbnf"},
    {"ffp", "frexpf modff"},
    {"fh", "half2float"},
    {"fi",
     "int2float_rd int2float_rn int2float_ru int2float_rz int_as_float uint2float_rd "
     "uint2float_rn uint2float_ru uint2float_rz uint_as_float"},
    {"fif", "jnf ynf"},
    {"fip", "normf rnormf"},
    {"fl",
     "ll2float_rd ll2float_rn ll2float_ru ll2float_rz ull2float_rd ull2float_rn ull2float_ru "
     "ull2float_rz"},
    {"fp", "nanf"},
    {"hf", "float2half_rn"},
    {"id",
     "double2hiint double2int_rd double2int_rn double2int_ru double2int_rz double2loint "
     "double2uint_rd double2uint_rn double2uint_ru double2uint_rz ilogb isfinited isinfd isnand "
     "signbitd"},
    {"if",
     "finitef float2int_rd float2int_rn float2int_ru float2int_rz float2uint_rd float2uint_rn "
     "float2uint_ru float2uint_rz float_as_int float_as_uint ilogbf isinff isnanf signbitf"},
    {"ii", "abs brev clz ffs popc vabs2 vabs4 vabsss2 vabsss4 vneg2 vneg4 vnegss2 vnegss4"},
    {"iii",
     "hadd max min mul24 mulhi rhadd uhadd umax umin umul24 umulhi urhadd vabsdiffs2 vabsdiffs4 "
     "vabsdiffu2 vabsdiffu4 vadd2 vadd4 vaddss2 vaddss4 vaddus2 vaddus4 vavgs2 vavgs4 vavgu2 "
     "vavgu4 vcmpeq2 vcmpeq4 vcmpges2 vcmpges4 vcmpgeu2 vcmpgeu4 vcmpgts2 vcmpgts4 vcmpgtu2 "
     "vcmpgtu4 vcmples2 vcmples4 vcmpleu2 vcmpleu4 vcmplts2 vcmplts4 vcmpltu2 vcmpltu4 vcmpne2 "
     "vcmpne4 vhaddu2 vhaddu4 vmaxs2 vmaxs4 vmaxu2 vmaxu4 vmins2 vmins4 vminu2 vminu4 vsads2 "
     "vsads4 vsadu2 vsadu4 vseteq2 vseteq4 vsetges2 vsetges4 vsetgeu2 vsetgeu4 vsetgts2 vsetgts4 "
     "vsetgtu2 vsetgtu4 vsetles2 vsetles4 vsetleu2 vsetleu4 vsetlts2 vsetlts4 vsetltu2 vsetltu4 "
     "vsetne2 vsetne4 vsub2 vsub4 vsubss2 vsubss4 vsubus2 vsubus4"},
    {"iiii", "byte_perm sad usad"},
    {"il", "clzll ffsll popcll"},
    {"ld",
     "double2ll_rd double2ll_rn double2ll_ru double2ll_rz double2ull_rd double2ull_rn "
     "double2ull_ru double2ull_rz double_as_longlong llrint llround"},
    {"lf",
     "float2ll_rd float2ll_rn float2ll_ru float2ll_rz float2ull_rd float2ull_rn float2ull_ru "
     "float2ull_rz llrintf llroundf"},
    {"ll", "brevll llabs"},
    {"lll", "llmax llmin mul64hi ullmax ullmin umul64hi"},
    {"vdpp", "sincos sincospi"},
    {"vfpp", "fast_sincosf sincosf sincospif"},
};

}  // namespace

std::string_view LibdeviceSignature(std::string_view function) {
  static const auto& signatures = *new absl::flat_hash_map<std::string_view, std::string_view>([] {
    absl::flat_hash_map<std::string_view, std::string_view> all;
    for (const Group& group : kGroups) {
      for (const absl::string_view name : absl::StrSplit(group.names, ' ')) {
        all[std::string_view(name.data(), name.size())] = group.signature;
      }
    }
    return all;
  }());
  if (!function.starts_with("__nv_")) return {};
  const auto found = signatures.find(function.substr(5));
  return found == signatures.end() ? std::string_view() : found->second;
}

}  // namespace heddle::tracegen
