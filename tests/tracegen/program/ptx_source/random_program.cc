#include "tests/tracegen/program/ptx_source/random_program.h"

#include <algorithm>
#include <bit>
#include <cfenv>
#include <cmath>
#include <cstring>
#include <limits>
#include <utility>

#include "absl/strings/str_cat.h"

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

double HalfToDouble(uint16_t bits) {
  const int exponent = bits >> 10 & 31;
  const double fraction = bits & 1023;
  double value = exponent == 0 ? std::ldexp(fraction, -24) : std::ldexp(fraction + 1024, exponent - 25);
  if (exponent == 31) value = fraction == 0 ? std::numeric_limits<double>::infinity() : std::nan("");
  return bits >> 15 ? -value : value;
}

// To the nearest, of a number that is exact, or close enough to one for no tie to be lost.
uint16_t DoubleToHalf(double value) {
  if (std::isnan(value)) return 0x7fff;
  const uint16_t sign = std::signbit(value) ? 0x8000 : 0;
  const double magnitude = std::fabs(value);
  if (magnitude >= 65520) return sign | 0x7c00;
  int exponent = 0;
  std::frexp(magnitude, &exponent);
  const int step = std::max(exponent - 11, -24);  // the weight of the last bit
  const double units = std::nearbyint(std::ldexp(magnitude, -step));
  const double rounded = std::ldexp(units, step);
  if (rounded == 0) return sign;
  std::frexp(rounded, &exponent);
  if (exponent - 11 < -24 || rounded < std::ldexp(1, -14)) {
    return static_cast<uint16_t>(sign | static_cast<int>(std::ldexp(rounded, 24)));
  }
  const auto fraction = static_cast<int>(std::ldexp(rounded, 11 - exponent)) - 1024;
  return static_cast<uint16_t>(sign | (exponent + 14) << 10 | fraction);
}
bool IsHalfNan(uint16_t bits) { return (bits & 0x7fff) > 0x7c00; }

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

RandomProgram::RandomProgram(uint64_t seed) : random_(seed) {
  Header();
  body_ = Body(12 + Pick(20), 0, true);
  Footer();
}

void RandomProgram::Line(const std::string& line) { absl::StrAppend(&text_, "\t", line, "\n"); }

// The functions, and a kernel whose registers begin with values that differ between threads.
void RandomProgram::Header() {
  text_ =
      ".version 8.0\n.target sm_80\n.address_size 64\n"
      ".shared .align 8 .b8 exchange[512];\n"
      ".func (.param .b32 result) mix(.param .b32 a, .param .align 8 .b8 pair[16])\n{\n"
      "\t.reg .b32 %x<4>;\n\t.reg .b64 %y<2>;\n\t.reg .pred %q;\n"
      "\tld.param.b32 %x0, [a];\n\tld.param.b32 %x1, [pair+4];\n\tld.param.b64 %y0, [pair+8];\n"
      "\tsetp.lt.u32 %q, %x0, %x1;\n\t@%q bra LESS;\n"
      "\tcvt.u32.u64 %x2, %y0;\n\txor.b32 %x3, %x0, %x2;\n\tst.param.b32 [result], %x3;\n\tret;\n"
      "LESS:\n\tmad.lo.u32 %x3, %x0, 5, %x1;\n\tst.param.b32 [result], %x3;\n\tret;\n}\n"
      ".visible .entry k(.param .u64 out)\n{\n";
  Line(absl::StrCat(".reg .b32 %r<", kRandomRegisters + 4, ">;"));
  Line(absl::StrCat(".reg .b64 %rd<", kRandomRegisters + 4, ">;"));
  Line(absl::StrCat(".reg .f32 %f<", kRandomRegisters + 2, ">;"));
  Line(absl::StrCat(".reg .f64 %fd<", kRandomRegisters + 2, ">;"));
  Line(absl::StrCat(".reg .b16 %h<", kRandomRegisters + 2, ">;"));
  Line(absl::StrCat(".reg .pred %p<", kRandomRegisters + 2, ">;"));
  Line(".reg .b32 %t<16>;");
  Line(".reg .pred %go;");
  Line("mov.u32 %t0, %tid.x;");
  for (unsigned i = 0; i < kRandomRegisters; ++i) {
    const uint32_t factor = 2654435761u * (i + 3), shift = Pick(28);
    Line(absl::StrCat("mad.lo.u32 %r", i, ", %t0, ", factor, ", ", i * 77, ";"));
    Line(absl::StrCat("shr.u32 %r", i, ", %r", i, ", ", shift, ";"));
    Line(absl::StrCat("mul.wide.u32 %rd", i, ", %r", i, ", ", factor, ";"));
    Line(absl::StrCat("cvt.rn.f32.s32 %f", i, ", %r", i, ";"));
    Line(absl::StrCat("mul.rn.f32 %f", i, ", %f", i, ", 0f3c23d70a;"));
    Line(absl::StrCat("cvt.rn.f64.u64 %fd", i, ", %rd", i, ";"));
    Line(absl::StrCat("and.b32 %t1, %r", i, ", 0xbbff;"));
    Line(absl::StrCat("cvt.u16.u32 %h", i, ", %t1;"));
    Line(absl::StrCat("setp.ne.u32 %p", i, ", %t0, ", i * 9, ";"));
    start_.push_back([i, factor, shift](State& s) {
      s.r[i] = (s.tid * factor + i * 77) >> shift;
      s.rd[i] = uint64_t{s.r[i]} * factor;
      s.f[i] = static_cast<float>(static_cast<int32_t>(s.r[i])) * std::bit_cast<float>(0x3c23d70au);
      s.fd[i] = static_cast<double>(s.rd[i]);
      s.h[i] = static_cast<uint16_t>(s.r[i] & 0xbbff);
      s.p[i] = s.tid != i * 9;
    });
  }
}

// All registers into memory; NaN is a number like any other, so that its bits do not matter.
void RandomProgram::Footer() {
  Line("ld.param.u64 %rd7, [out];");
  Line("cvta.to.global.u64 %rd7, %rd7;");
  Line(absl::StrCat("mad.wide.u32 %rd7, %t0, ", kRandomWords * 4, ", %rd7;"));
  unsigned at = 0;
  for (unsigned i = 0; i < kRandomRegisters; ++i) {
    Line(absl::StrCat("st.global.b32 [%rd7+", at, "], %r", i, ";"));
    Line(absl::StrCat("mov.b64 {%t1, %t2}, %rd", i, ";"));
    Line(absl::StrCat("st.global.v2.b32 [%rd7+", at + 8, "], {%t1, %t2};"));
    Line(absl::StrCat("testp.notanumber.f32 %go, %f", i, ";"));
    Line(absl::StrCat("selp.f32 %f6, 0f7fffffff, %f", i, ", %go;"));
    Line(absl::StrCat("st.global.f32 [%rd7+", at + 4, "], %f6;"));
    Line(absl::StrCat("testp.notanumber.f64 %go, %fd", i, ";"));
    Line(absl::StrCat("selp.f64 %fd6, 0d7fffffffffffffff, %fd", i, ", %go;"));
    Line(absl::StrCat("st.global.f64 [%rd7+", at + 16, "], %fd6;"));
    Line(absl::StrCat("setp.nan.f16 %go, %h", i, ", %h", i, ";"));
    Line(absl::StrCat("cvt.u32.u16 %t1, %h", i, ";"));
    Line("selp.b32 %t1, 0x7fff, %t1, %go;");
    Line(absl::StrCat("selp.u32 %t2, 1, 0, %p", i, ";"));
    Line(absl::StrCat("st.global.v2.u32 [%rd7+", at + 24, "], {%t1, %t2};"));
    at += 32;
  }
  Line("ret;");
  text_ += "}\n";
}

RandomProgram::Node RandomProgram::Emit(const std::string& opcode, const std::string& operands, Effect effect) {
  Node node;
  std::string guard;
  if (Pick(4) == 0) {
    const unsigned p = Register();
    const bool negated = Pick(2) == 0;
    guard = absl::StrCat("@", negated ? "!" : "", "%p", p, " ");
    effect = [p, negated, inner = std::move(effect)](State& s) {
      if (s.p[p] != negated) inner(s);
    };
  }
  Line(absl::StrCat(guard, opcode, " ", operands, ";"));
  node.effect = std::move(effect);
  return node;
}

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
      return Emit("copysign.f32", two, [=](State& s) { s.f[d] = std::copysign(s.f[b], s.f[a]); });
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
  switch (Pick(5)) {
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
  switch (Pick(9)) {
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

RandomProgram::Node RandomProgram::Call() {
  const unsigned d = Register(), a = Register(), b = Register(), c = Register();
  Line("{");
  Line(".param .b32 arg0;");
  Line(".param .align 8 .b8 arg1[16];");
  Line(".param .b32 got;");
  Line(absl::StrCat("st.param.b32 [arg0], %r", a, ";"));
  Line(absl::StrCat("st.param.b32 [arg1+4], %r", b, ";"));
  Line(absl::StrCat("st.param.b64 [arg1+8], %rd", c, ";"));
  Line("call.uni (got), mix, (arg0, arg1);");
  Line(absl::StrCat("ld.param.b32 %r", d, ", [got];"));
  Line("}");
  Node node;
  node.effect = [=](State& s) {
    s.r[d] = s.r[a] < s.r[b] ? s.r[a] * 5 + s.r[b] : s.r[a] ^ static_cast<uint32_t>(s.rd[c]);
  };
  return node;
}

RandomProgram::Node RandomProgram::Choice(unsigned depth, bool common) {
  Node node;
  node.kind = Node::Kind::kIf;
  node.predicate = Register();
  node.negated = Pick(2) == 0;
  const std::string other = Label(), end = Label();
  Line(absl::StrCat("@", node.negated ? "" : "!", "%p", node.predicate, " bra ", other, ";"));
  (void)common;
  node.first = Body(1 + Pick(5), depth + 1, false);
  Line(absl::StrCat("bra.uni ", end, ";"));
  text_ += absl::StrCat(other, ":\n");
  node.second = Body(Pick(4), depth + 1, false);
  text_ += absl::StrCat(end, ":\n");
  return node;
}

RandomProgram::Node RandomProgram::Loop(unsigned depth, bool common) {
  Node node;
  node.kind = Node::Kind::kLoop;
  node.count = 1 + Pick(4);
  const std::string head = Label();
  const unsigned counter = 4 + depth;
  Line(absl::StrCat("mov.u32 %t", counter, ", 0;"));
  text_ += absl::StrCat(head, ":\n");
  node.first = Body(1 + Pick(5), depth + 1, common);
  Line(absl::StrCat("add.u32 %t", counter, ", %t", counter, ", 1;"));
  Line(absl::StrCat("setp.lt.u32 %go, %t", counter, ", ", node.count, ";"));
  Line(absl::StrCat("@%go bra ", head, ";"));
  return node;
}

// All threads of the block are here.
RandomProgram::Node RandomProgram::Exchange() {
  Node node;
  node.kind = Node::Kind::kExchange;
  node.source = Register();
  node.target = Register();
  node.shuffle = Pick(2) == 0;
  node.distance = 1 + Pick(node.shuffle ? 31 : kRandomThreads - 1);
  if (node.shuffle) {
    Line(absl::StrCat("xor.b32 %t1, %t0, ", node.distance, ";"));
    Line(absl::StrCat("shfl.sync.bfly.b32 %r", node.target, ", %r", node.source, ", ", node.distance,
                      ", 31, 0xffffffff;"));
    return node;
  }
  Line("shl.b32 %t1, %t0, 2;");
  Line("mov.u32 %t2, exchange;");
  Line("add.u32 %t1, %t1, %t2;");
  Line(absl::StrCat("st.shared.b32 [%t1], %r", node.source, ";"));
  Line("bar.sync 0;");
  Line(absl::StrCat("add.u32 %t1, %t0, ", node.distance, ";"));
  Line(absl::StrCat("and.b32 %t1, %t1, ", kRandomThreads - 1, ";"));
  Line("shl.b32 %t1, %t1, 2;");
  Line("add.u32 %t1, %t1, %t2;");
  Line(absl::StrCat("ld.shared.b32 %r", node.target, ", [%t1];"));
  Line("bar.sync 0;");
  return node;
}

RandomProgram::Node RandomProgram::Statement(unsigned depth, bool common) {
  const unsigned kind = Pick(24);
  if (kind < 2 && depth < 3) return Choice(depth, common);
  if (kind == 2 && depth < 3) return Loop(depth, common);
  if (kind == 3 && common) return Exchange();
  switch (kind) {
    case 4:
      return Call();
    case 5:
      return Carry();
    case 6:
    case 7:
      return Wide();
    case 8:
    case 9:
    case 10:
      return Bits();
    case 11:
    case 12:
    case 13:
      return Single();
    case 14:
    case 15:
      return Double();
    case 16:
    case 17:
      return Half();
    case 18:
    case 19:
      return Compare();
    case 20:
    case 21:
      return Convert();
    default:
      return Integer();
  }
}

std::vector<RandomProgram::Node> RandomProgram::Body(unsigned length, unsigned depth, bool common) {
  std::vector<Node> nodes;
  for (unsigned i = 0; i < length; ++i) nodes.push_back(Statement(depth, common));
  return nodes;
}

void RandomProgram::RunAll(const std::vector<Node>& nodes, std::vector<RandomState>& threads,
                           const std::vector<bool>& active) {
  for (const Node& node : nodes) {
    if (node.kind == Node::Kind::kLoop) {
      for (unsigned i = 0; i < node.count; ++i) RunAll(node.first, threads, active);
      continue;
    }
    if (node.kind == Node::Kind::kExchange) {
      const std::vector<RandomState> before = threads;
      for (unsigned t = 0; t < threads.size(); ++t) {
        const unsigned from = node.shuffle ? (t & ~31u) | ((t ^ node.distance) & 31u)
                                           : (t + node.distance) % static_cast<unsigned>(threads.size());
        threads[t].r[node.target] = before[from].r[node.source];
      }
      continue;
    }
    if (node.kind == Node::Kind::kIf) {
      std::vector<bool> yes(active.size()), no(active.size());
      for (size_t t = 0; t < threads.size(); ++t) {
        const bool taken = threads[t].p[node.predicate] != node.negated;
        yes[t] = active[t] && taken;
        no[t] = active[t] && !taken;
      }
      RunAll(node.first, threads, yes);
      RunAll(node.second, threads, no);
      continue;
    }
    for (size_t t = 0; t < threads.size(); ++t) {
      if (active[t]) node.effect(threads[t]);
    }
  }
}

std::vector<uint32_t> RandomProgram::Run() const {
  std::vector<RandomState> threads(kRandomThreads);
  for (unsigned t = 0; t < kRandomThreads; ++t) {
    threads[t].tid = t;
    for (const Effect& effect : start_) effect(threads[t]);
  }
  RunAll(body_, threads, std::vector<bool>(kRandomThreads, true));
  std::vector<uint32_t> words;
  for (const RandomState& s : threads) {
    for (unsigned i = 0; i < kRandomRegisters; ++i) {
      const uint64_t number = std::isnan(s.fd[i]) ? ~uint64_t{0} >> 1 : std::bit_cast<uint64_t>(s.fd[i]);
      words.push_back(s.r[i]);
      words.push_back(std::isnan(s.f[i]) ? 0x7fffffff : std::bit_cast<uint32_t>(s.f[i]));
      words.push_back(static_cast<uint32_t>(s.rd[i]));
      words.push_back(static_cast<uint32_t>(s.rd[i] >> 32));
      words.push_back(static_cast<uint32_t>(number));
      words.push_back(static_cast<uint32_t>(number >> 32));
      words.push_back(IsHalfNan(s.h[i]) ? 0x7fff : s.h[i]);
      words.push_back(s.p[i]);
    }
  }
  return words;
}

}  // namespace heddle::tracegen
