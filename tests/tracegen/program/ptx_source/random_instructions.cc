// The instructions of random programs: text, and what each computes.
#include <algorithm>
#include <bit>
#include <cfenv>
#include <cmath>
#include <limits>

#include "absl/strings/str_cat.h"
#include "tests/tracegen/program/ptx_source/half_number.h"
#include "tests/tracegen/program/ptx_source/random_program.h"

namespace heddle::tracegen {
namespace {

using State = RandomState;

template <typename T>
T Opaque(T value) {
  asm volatile("" : "+x"(value));
  return value;
}

// Computes under a rounding mode of the host.
template <typename T, typename Function>
T Rounded(int mode, Function function) {
  const int old = fegetround();
  fesetround(mode);
  const T result = Opaque(function());
  fesetround(old);
  return result;
}

struct Mode {
  const char* name;
  int host;
};
constexpr Mode kModes[] = {{"rn", FE_TONEAREST}, {"rz", FE_TOWARDZERO}, {"rm", FE_DOWNWARD}, {"rp", FE_UPWARD}};

float Flush(float value, bool flush) {
  return flush && std::fpclassify(value) == FP_SUBNORMAL ? std::copysign(0.0f, value) : value;
}
template <typename T>
T ToOne(T value, bool saturate) {
  if (!saturate) return value;
  return std::isnan(value) || value <= 0 ? T{0} : value > 1 ? T{1} : value;
}

// The least or greatest of two numbers, as PTX defines it.
template <typename T>
T Extreme(T a, T b, bool least) {
  if (std::isnan(a)) return b;
  if (std::isnan(b)) return a;
  if (a == b) return std::signbit(a) == least ? a : b;
  return (a < b) == least ? a : b;
}

// Out of range saturates; of NaN it is 0, with 64 bits on one side the highest bit.
template <typename To, typename From>
To ToInteger(From value) {
  if (std::isnan(value)) return sizeof(To) == 8 || sizeof(From) == 8 ? To{1} << (sizeof(To) * 8 - 1) : 0;
  if (value >= std::ldexp(From{1}, std::numeric_limits<To>::digits)) return std::numeric_limits<To>::max();
  if (value < static_cast<From>(std::numeric_limits<To>::min())) return std::numeric_limits<To>::min();
  return static_cast<To>(value);
}
template <typename T>
T Whole(T value, const std::string& mode) {
  if (mode == "rni") return std::nearbyint(value);
  if (mode == "rzi") return std::trunc(value);
  return mode == "rmi" ? std::floor(value) : std::ceil(value);
}

uint32_t Field(uint32_t value, uint32_t position, uint32_t length, bool is_signed) {
  position &= 255;
  length &= 255;
  uint32_t result = 0;
  for (uint32_t i = 0; i < 32; ++i) {
    const uint64_t at = i < length ? uint64_t{position} + i : uint64_t{position} + length - 1;
    bool bit = false;
    if (i < length || (is_signed && length > 0)) bit = at < 32 ? value >> at & 1 : is_signed && value >> 31;
    result |= static_cast<uint32_t>(bit) << i;
  }
  return result;
}

}  // namespace

RandomProgram::Node RandomProgram::Integer() {
  const unsigned d = Register(), a = Register(), b = Register(), c = Register();
  const std::string two = absl::StrCat("%r", d, ", %r", a, ", %r", b), three = absl::StrCat(two, ", %r", c);
  const bool is_signed = Pick(2) == 0;
  const std::string type = is_signed ? ".s32" : ".u32";
  const auto wide = [is_signed](uint32_t v) {
    return is_signed ? static_cast<int64_t>(static_cast<int32_t>(v)) : static_cast<int64_t>(v);
  };
  switch (Pick(13)) {
    case 0:
      return Emit("add" + type, two, [=](State& s) { s.r[d] = s.r[a] + s.r[b]; });
    case 1:
      return Emit("sub" + type, two, [=](State& s) { s.r[d] = s.r[a] - s.r[b]; });
    case 2:
      return Emit("mul.lo" + type, two, [=](State& s) { s.r[d] = s.r[a] * s.r[b]; });
    case 3:
      return Emit("mul.hi" + type, two, [=](State& s) {
        s.r[d] = static_cast<uint32_t>(static_cast<uint64_t>(wide(s.r[a])) * static_cast<uint64_t>(wide(s.r[b])) >> 32);
      });
    case 4:
      return Emit("mad.lo" + type, three, [=](State& s) { s.r[d] = s.r[a] * s.r[b] + s.r[c]; });
    case 5:
      return Emit("mad.hi" + type, three, [=](State& s) {
        s.r[d] =
            static_cast<uint32_t>(static_cast<uint64_t>(wide(s.r[a])) * static_cast<uint64_t>(wide(s.r[b])) >> 32) +
            s.r[c];
      });
    case 6:
      return Emit("min" + type, two, [=](State& s) { s.r[d] = wide(s.r[a]) < wide(s.r[b]) ? s.r[a] : s.r[b]; });
    case 7:
      return Emit("max" + type, two, [=](State& s) { s.r[d] = wide(s.r[a]) < wide(s.r[b]) ? s.r[b] : s.r[a]; });
    case 8:
      return Emit("sad" + type, three,
                  [=](State& s) { s.r[d] = s.r[c] + static_cast<uint32_t>(std::abs(wide(s.r[a]) - wide(s.r[b]))); });
    case 9: {
      const bool adds = Pick(2) == 0;
      return Emit(adds ? "add.sat.s32" : "sub.sat.s32", two, [=](State& s) {
        const int64_t x = static_cast<int32_t>(s.r[a]), y = static_cast<int32_t>(s.r[b]);
        s.r[d] = static_cast<uint32_t>(std::clamp<int64_t>(adds ? x + y : x - y, INT32_MIN, INT32_MAX));
      });
    }
    case 10: {
      // The divisor is not zero.
      const uint32_t divisor = 1 + Pick(1u << Pick(31));
      const bool rest = Pick(2) == 0;
      return Emit((rest ? "rem" : "div") + type, absl::StrCat("%r", d, ", %r", a, ", ", divisor), [=](State& s) {
        const int64_t y = wide(divisor);
        s.r[d] = static_cast<uint32_t>(rest ? wide(s.r[a]) % y : wide(s.r[a]) / y);
      });
    }
    case 11:
      return Emit("mul24.lo" + type, two, [=](State& s) {
        const auto low = [&](uint32_t v) {
          return is_signed ? static_cast<int64_t>(static_cast<int32_t>(v << 8) >> 8) : int64_t{v & 0xffffff};
        };
        s.r[d] = static_cast<uint32_t>(low(s.r[a]) * low(s.r[b]));
      });
    default:
      return Emit("dp4a.u32" + type, three, [=](State& s) {
        uint32_t sum = s.r[c];
        for (int i = 0; i < 4; ++i) {
          const uint32_t x = s.r[a] >> 8 * i & 255, y = s.r[b] >> 8 * i & 255;
          sum += is_signed ? x * static_cast<uint32_t>(static_cast<int8_t>(y)) : x * y;
        }
        s.r[d] = sum;
      });
  }
}

RandomProgram::Node RandomProgram::Wide() {
  const unsigned d = Register(), a = Register(), b = Register();
  const std::string two = absl::StrCat("%rd", d, ", %rd", a, ", %rd", b);
  const std::string shift = absl::StrCat("%rd", d, ", %rd", a, ", %r", b);
  switch (Pick(8)) {
    case 0:
      return Emit("add.s64", two, [=](State& s) { s.rd[d] = s.rd[a] + s.rd[b]; });
    case 1:
      return Emit("mul.lo.s64", two, [=](State& s) { s.rd[d] = s.rd[a] * s.rd[b]; });
    case 2:
      return Emit("mul.hi.u64", two, [=](State& s) {
        s.rd[d] = static_cast<uint64_t>(static_cast<unsigned __int128>(s.rd[a]) * s.rd[b] >> 64);
      });
    case 3:
      return Emit("mul.wide.s32", absl::StrCat("%rd", d, ", %r", a, ", %r", b), [=](State& s) {
        s.rd[d] = static_cast<uint64_t>(int64_t{static_cast<int32_t>(s.r[a])} * static_cast<int32_t>(s.r[b]));
      });
    case 4:
      return Emit("shl.b64", shift, [=](State& s) { s.rd[d] = s.r[b] < 64 ? s.rd[a] << s.r[b] : 0; });
    case 5:
      return Emit("shr.u64", shift, [=](State& s) { s.rd[d] = s.r[b] < 64 ? s.rd[a] >> s.r[b] : 0; });
    case 6:
      return Emit("shr.s64", shift, [=](State& s) {
        s.rd[d] = static_cast<uint64_t>(static_cast<int64_t>(s.rd[a]) >> std::min(s.r[b], 63u));
      });
    default:
      return Emit("xor.b64", two, [=](State& s) { s.rd[d] = s.rd[a] ^ s.rd[b]; });
  }
}

RandomProgram::Node RandomProgram::Bits() {
  const unsigned d = Register(), a = Register(), b = Register(), c = Register();
  const std::string one = absl::StrCat("%r", d, ", %r", a), two = absl::StrCat(one, ", %r", b),
                    three = absl::StrCat(two, ", %r", c);
  switch (Pick(13)) {
    case 0:
      return Emit("and.b32", two, [=](State& s) { s.r[d] = s.r[a] & s.r[b]; });
    case 1:
      return Emit("cnot.b32", one, [=](State& s) { s.r[d] = s.r[a] == 0; });
    case 2:
      return Emit("shl.b32", two, [=](State& s) { s.r[d] = s.r[b] < 32 ? s.r[a] << s.r[b] : 0; });
    case 3:
      return Emit("shr.s32", two, [=](State& s) {
        s.r[d] = static_cast<uint32_t>(static_cast<int32_t>(s.r[a]) >> std::min(s.r[b], 31u));
      });
    case 4:
      return Emit("popc.b32", one, [=](State& s) { s.r[d] = static_cast<uint32_t>(std::popcount(s.r[a])); });
    case 5:
      return Emit("clz.b64", absl::StrCat("%r", d, ", %rd", a),
                  [=](State& s) { s.r[d] = static_cast<uint32_t>(std::countl_zero(s.rd[a])); });
    case 6:
      return Emit("brev.b32", one, [=](State& s) {
        uint32_t result = 0;
        for (int i = 0; i < 32; ++i) result |= (s.r[a] >> i & 1) << (31 - i);
        s.r[d] = result;
      });
    case 7: {
      const bool is_signed = Pick(2) == 0;
      return Emit(is_signed ? "bfe.s32" : "bfe.u32", three,
                  [=](State& s) { s.r[d] = Field(s.r[a], s.r[b], s.r[c], is_signed); });
    }
    case 8:
      return Emit("bfi.b32", absl::StrCat(three, ", %r", a), [=](State& s) {
        const uint32_t position = s.r[c] & 255, length = s.r[a] & 255;
        uint32_t result = s.r[b];
        for (uint32_t i = 0; i < length && position + i < 32; ++i) {
          const uint32_t bit = i < 32 ? s.r[a] >> i & 1 : 0;
          result = (result & ~(1u << (position + i))) | bit << (position + i);
        }
        s.r[d] = result;
      });
    case 9: {
      const unsigned table = Pick(256);
      return Emit("lop3.b32", absl::StrCat(three, ", ", table), [=](State& s) {
        uint32_t result = 0;
        for (int i = 0; i < 32; ++i) {
          const unsigned row = (s.r[a] >> i & 1) << 2 | (s.r[b] >> i & 1) << 1 | (s.r[c] >> i & 1);
          result |= (table >> row & 1) << i;
        }
        s.r[d] = result;
      });
    }
    case 10: {
      const bool left = Pick(2) == 0, wrap = Pick(2) == 0;
      return Emit(absl::StrCat("shf.", left ? "l." : "r.", wrap ? "wrap" : "clamp", ".b32"), three, [=](State& s) {
        const uint32_t by = wrap ? s.r[c] & 31 : std::min(s.r[c], 32u);
        const uint64_t both = uint64_t{s.r[b]} << 32 | s.r[a];
        s.r[d] = static_cast<uint32_t>(left ? both << by >> 32 : both >> by);
      });
    }
    case 11:
      return Emit("prmt.b32", three, [=](State& s) {
        const uint64_t both = uint64_t{s.r[b]} << 32 | s.r[a];
        uint32_t result = 0;
        for (int i = 0; i < 4; ++i) {
          const uint32_t selector = s.r[c] >> 4 * i & 15;
          auto byte = static_cast<uint32_t>(both >> 8 * (selector & 7) & 255);
          if (selector & 8) byte = byte & 128 ? 255 : 0;
          result |= byte << 8 * i;
        }
        s.r[d] = result;
      });
    default:
      return Emit("bfind.u32", one,
                  [=](State& s) { s.r[d] = s.r[a] == 0 ? ~0u : 31 - static_cast<uint32_t>(std::countl_zero(s.r[a])); });
  }
}

// A sum of three words.
RandomProgram::Node RandomProgram::Carry() {
  const unsigned d = Register(), a = Register(), b = Register(), c = Register();
  const bool subtracts = Pick(2) == 0;
  Line(absl::StrCat(subtracts ? "sub" : "add", ".cc.u32 %t1, %r", a, ", %r", b, ";"));
  Line(absl::StrCat(subtracts ? "subc" : "addc", ".cc.u32 %t2, %r", b, ", %r", c, ";"));
  Line(absl::StrCat(subtracts ? "subc" : "madc.lo", ".u32 %t3, %r", c, ", %r", a, subtracts ? "" : ", %t2", ";"));
  Line(absl::StrCat("xor.b32 %t1, %t1, %t2;"));
  Line(absl::StrCat("xor.b32 %r", d, ", %t1, %t3;"));
  Node node;
  node.effect = [=](State& s) {
    const uint64_t low = subtracts ? uint64_t{s.r[a]} - s.r[b] : uint64_t{s.r[a]} + s.r[b];
    const uint32_t first = low >> 32 & 1;
    const uint64_t middle = subtracts ? uint64_t{s.r[b]} - s.r[c] - first : uint64_t{s.r[b]} + s.r[c] + first;
    const uint32_t second = middle >> 32 & 1;
    const uint32_t high =
        subtracts ? s.r[c] - s.r[a] - second : s.r[c] * s.r[a] + static_cast<uint32_t>(middle) + second;
    s.r[d] = static_cast<uint32_t>(low) ^ static_cast<uint32_t>(middle) ^ high;
  };
  return node;
}

RandomProgram::Node RandomProgram::Single() {
  const unsigned d = Register(), a = Register(), b = Register(), c = Register();
  const bool ftz = Pick(3) == 0, sat = Pick(4) == 0;
  const Mode mode = kModes[Pick(4)];
  const std::string two = absl::StrCat("%f", d, ", %f", a, ", %f", b);
  const std::string end = absl::StrCat(ftz ? ".ftz" : "", sat ? ".sat" : "", ".f32");
  const auto finish = [=](State& s, auto function) {
    const float x = Flush(s.f[a], ftz), y = Flush(s.f[b], ftz), z = Flush(s.f[c], ftz);
    const float result = Rounded<float>(mode.host, [&] { return function(Opaque(x), Opaque(y), Opaque(z)); });
    s.f[d] = ToOne(Flush(result, ftz), sat);
  };
  const std::string rounding = absl::StrCat(".", mode.name);
  switch (Pick(7)) {
    case 0:
      return Emit("add" + rounding + end, two,
                  [=](State& s) { finish(s, [](float x, float y, float) { return x + y; }); });
    case 1:
      return Emit("sub" + rounding + end, two,
                  [=](State& s) { finish(s, [](float x, float y, float) { return x - y; }); });
    case 2:
      return Emit("mul" + rounding + end, two,
                  [=](State& s) { finish(s, [](float x, float y, float) { return x * y; }); });
    case 3:
      return Emit("fma" + rounding + end, absl::StrCat(two, ", %f", c),
                  [=](State& s) { finish(s, [](float x, float y, float z) { return std::fma(x, y, z); }); });
    case 4: {
      const bool least = Pick(2) == 0;
      return Emit(absl::StrCat(least ? "min" : "max", ftz ? ".ftz" : "", ".f32"), two,
                  [=](State& s) { s.f[d] = Extreme(Flush(s.f[a], ftz), Flush(s.f[b], ftz), least); });
    }
    case 5:
      return Emit(absl::StrCat("div", rounding, ftz ? ".ftz" : "", ".f32"), two, [=](State& s) {
        const float x = Flush(s.f[a], ftz), y = Flush(s.f[b], ftz);
        s.f[d] = Flush(Rounded<float>(mode.host, [&] { return Opaque(x) / Opaque(y); }), ftz);
      });
    default:
      // The sign of a NaN is the host's affair: for this the number has none.
      Line(absl::StrCat("testp.notanumber.f32 %go, %f", a, ";"));
      Line(absl::StrCat("selp.f32 %f6, 0f7fffffff, %f", a, ", %go;"));
      return Emit("copysign.f32", absl::StrCat("%f", d, ", %f6, %f", b),
                  [=](State& s) { s.f[d] = std::copysign(s.f[b], std::isnan(s.f[a]) ? 1.0f : s.f[a]); });
  }
}

RandomProgram::Node RandomProgram::Double() {
  const unsigned d = Register(), a = Register(), b = Register(), c = Register();
  const Mode mode = kModes[Pick(4)];
  const std::string two = absl::StrCat("%fd", d, ", %fd", a, ", %fd", b);
  const std::string rounding = absl::StrCat(".", mode.name, ".f64");
  const auto finish = [=](State& s, auto function) {
    const double x = s.fd[a], y = s.fd[b], z = s.fd[c];
    s.fd[d] = Rounded<double>(mode.host, [&] { return function(Opaque(x), Opaque(y), Opaque(z)); });
  };
  switch (Pick(5)) {
    case 0:
      return Emit("add" + rounding, two,
                  [=](State& s) { finish(s, [](double x, double y, double) { return x + y; }); });
    case 1:
      return Emit("mul" + rounding, two,
                  [=](State& s) { finish(s, [](double x, double y, double) { return x * y; }); });
    case 2:
      return Emit("fma" + rounding, absl::StrCat(two, ", %fd", c),
                  [=](State& s) { finish(s, [](double x, double y, double z) { return std::fma(x, y, z); }); });
    case 3:
      return Emit("sqrt" + rounding, absl::StrCat("%fd", d, ", %fd", a),
                  [=](State& s) { finish(s, [](double x, double, double) { return std::sqrt(x); }); });
    default: {
      const bool least = Pick(2) == 0;
      return Emit(least ? "min.f64" : "max.f64", two, [=](State& s) { s.fd[d] = Extreme(s.fd[a], s.fd[b], least); });
    }
  }
}

RandomProgram::Node RandomProgram::Half() {
  const unsigned d = Register(), a = Register(), b = Register(), c = Register();
  const std::string two = absl::StrCat("%h", d, ", %h", a, ", %h", b);
  const auto number = [](const State& s, unsigned i) { return HalfToDouble(s.h[i]); };
  switch (Pick(5)) {
    case 0:
      return Emit("add.rn.f16", two, [=](State& s) { s.h[d] = DoubleToHalf(number(s, a) + number(s, b)); });
    case 1:
      return Emit("mul.rn.f16", two, [=](State& s) { s.h[d] = DoubleToHalf(number(s, a) * number(s, b)); });
    case 2:
      // Exact in double precision wherever a tie could be lost.
      return Emit("fma.rn.f16", absl::StrCat(two, ", %h", c),
                  [=](State& s) { s.h[d] = DoubleToHalf(number(s, a) * number(s, b) + number(s, c)); });
    case 3: {
      const bool least = Pick(2) == 0;
      return Emit(least ? "min.f16" : "max.f16", two, [=](State& s) {
        if (IsHalfNan(s.h[a])) {
          s.h[d] = s.h[b];
        } else if (IsHalfNan(s.h[b])) {
          s.h[d] = s.h[a];
        } else {
          s.h[d] = DoubleToHalf(Extreme(number(s, a), number(s, b), least));
        }
      });
    }
    default:
      return Emit("cvt.rn.f16.f32", absl::StrCat("%h", d, ", %f", a),
                  [=](State& s) { s.h[d] = DoubleToHalf(double{s.f[a]}); });
  }
}

RandomProgram::Node RandomProgram::Compare() {
  const unsigned d = Register(), a = Register(), b = Register(), c = Register();
  switch (is_integer() ? 2 * Pick(2) : Pick(5)) {
    case 0: {
      const bool is_signed = Pick(2) == 0;
      const std::string test = Of<std::string>({"eq", "ne", "lt", "le", "gt", "ge"});
      const std::string combine = Of<std::string>({"", ".and", ".or", ".xor"});
      const std::string operands =
          absl::StrCat("%p", d, ", %r", a, ", %r", b, combine.empty() ? "" : absl::StrCat(", %p", c));
      return Emit(absl::StrCat("setp.", test, combine, is_signed ? ".s32" : ".u32"), operands, [=](State& s) {
        const int64_t x = is_signed ? int64_t{static_cast<int32_t>(s.r[a])} : int64_t{s.r[a]};
        const int64_t y = is_signed ? int64_t{static_cast<int32_t>(s.r[b])} : int64_t{s.r[b]};
        bool result = test == "eq"   ? x == y
                      : test == "ne" ? x != y
                      : test == "lt" ? x < y
                      : test == "le" ? x <= y
                      : test == "gt" ? x > y
                                     : x >= y;
        if (combine == ".and") result = result && s.p[c];
        if (combine == ".or") result = result || s.p[c];
        if (combine == ".xor") result = result != s.p[c];
        s.p[d] = result;
      });
    }
    case 1: {
      const std::string test = Of<std::string>({"eq", "ne", "lt", "ltu", "geu", "neu", "num", "nan"});
      return Emit(absl::StrCat("setp.", test, ".f32"), absl::StrCat("%p", d, ", %f", a, ", %f", b), [=](State& s) {
        const float x = s.f[a], y = s.f[b];
        const bool nan = std::isnan(x) || std::isnan(y);
        s.p[d] = test == "eq"    ? x == y
                 : test == "ne"  ? !nan && x != y
                 : test == "lt"  ? x < y
                 : test == "ltu" ? nan || x < y
                 : test == "geu" ? nan || x >= y
                 : test == "neu" ? nan || x != y
                 : test == "num" ? !nan
                                 : nan;
      });
    }
    case 2:
      return Emit("selp.b32", absl::StrCat("%r", d, ", %r", a, ", %r", b, ", %p", c),
                  [=](State& s) { s.r[d] = s.p[c] ? s.r[a] : s.r[b]; });
    case 3:
      return Emit("slct.f32.s32", absl::StrCat("%f", d, ", %f", a, ", %f", b, ", %r", c),
                  [=](State& s) { s.f[d] = static_cast<int32_t>(s.r[c]) >= 0 ? s.f[a] : s.f[b]; });
    default:
      return Emit("set.lt.u32.f64", absl::StrCat("%r", d, ", %fd", a, ", %fd", b),
                  [=](State& s) { s.r[d] = s.fd[a] < s.fd[b] ? ~0u : 0; });
  }
}

RandomProgram::Node RandomProgram::Convert() {
  const unsigned d = Register(), a = Register();
  const std::string whole = Of<std::string>({"rni", "rzi", "rmi", "rpi"});
  const Mode mode = kModes[Pick(4)];
  switch (is_integer() ? 6 + Pick(2) : Pick(9)) {
    case 0:
      return Emit(absl::StrCat("cvt.", whole, ".s32.f32"), absl::StrCat("%r", d, ", %f", a),
                  [=](State& s) { s.r[d] = static_cast<uint32_t>(ToInteger<int32_t>(Whole(s.f[a], whole))); });
    case 1:
      return Emit(absl::StrCat("cvt.", whole, ".u64.f32"), absl::StrCat("%rd", d, ", %f", a),
                  [=](State& s) { s.rd[d] = ToInteger<uint64_t>(Whole(s.f[a], whole)); });
    case 2:
      return Emit(absl::StrCat("cvt.", whole, ".u32.f64"), absl::StrCat("%r", d, ", %fd", a),
                  [=](State& s) { s.r[d] = ToInteger<uint32_t>(Whole(s.fd[a], whole)); });
    case 3:
      return Emit(absl::StrCat("cvt.", mode.name, ".f32.f64"), absl::StrCat("%f", d, ", %fd", a), [=](State& s) {
        const double x = s.fd[a];
        s.f[d] = Rounded<float>(mode.host, [&] { return static_cast<float>(Opaque(x)); });
      });
    case 4:
      return Emit(absl::StrCat("cvt.", mode.name, ".f32.s64"), absl::StrCat("%f", d, ", %rd", a), [=](State& s) {
        int64_t x = static_cast<int64_t>(s.rd[a]);
        s.f[d] = Rounded<float>(mode.host, [&] {
          asm volatile("" : "+r"(x));
          return static_cast<float>(x);
        });
      });
    case 5:
      return Emit("cvt.f64.f32", absl::StrCat("%fd", d, ", %f", a), [=](State& s) { s.fd[d] = s.f[a]; });
    case 6:
      return Emit("cvt.sat.s8.s32", absl::StrCat("%r", d, ", %r", a), [=](State& s) {
        s.r[d] = static_cast<uint32_t>(std::clamp(static_cast<int32_t>(s.r[a]), -128, 127));
      });
    case 7:
      return Emit("cvt.s64.s8", absl::StrCat("%rd", d, ", %r", a),
                  [=](State& s) { s.rd[d] = static_cast<uint64_t>(int64_t{static_cast<int8_t>(s.r[a])}); });
    default:
      return Emit("cvt.f32.f16", absl::StrCat("%f", d, ", %h", a),
                  [=](State& s) { s.f[d] = static_cast<float>(HalfToDouble(s.h[a])); });
  }
}

}  // namespace heddle::tracegen
