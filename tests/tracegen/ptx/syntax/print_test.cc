// What is printed reads back to the same tree.
#include "tracegen/ptx/syntax/print.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/tracegen/ptx/syntax/snippet.h"

namespace heddle::tracegen::ptx {
namespace {

using ::testing::HasSubstr;

TEST(Print, Modules) {
  ExpectSameTree(ModuleText(R"(
.file 1 "a.cu", 5, 6
.visible .global .align 16 .b8 bytes[40] = {1, 2, 0, 4};
.global .u32 rows[3][2] = {{}, {2, 3}};
.global .v2 .f32 vectors[2] = {{0f3F800000}, {0f00000000, 0f40000000}};
.weak .const .f64 pi = 0d400921FB54442D18;
.global .attribute(.managed) .u64 managed_word = 0;
.global .attribute(.unified(19, 95)) .align 4 .b32 unified_word;
.const[3] .u8 banked = 255;
.extern .shared .b8 dynamic[];
.func .attribute(.unified(1, 2)) unified_function { ret; }
.global .u64 table[4] = {bytes, generic(bytes)+8, unified_function, bytes-4};
.global .b8 parts[2] = {0xFF(generic(bytes)), 0xFF00(bytes+4)};
.global .samplerref s = { addr_mode_0 = wrap, filter_mode = nearest };
.func (.param .b32 r) f (.param .b32 a, .param .align 8 .b8 rest[]);
.pragma "module";
.visible .entry k(.param .u64 .ptr .global .align 16 p, .param .u64 .ptr q)
.maxntid 256, 1
.noreturn
.pragma "nounroll";
{ ret; }
.func (.param .b32 r) f (.param .b32 a, .param .align 8 .b8 rest[]) .noreturn { ret; }
.alias f, f;
.section .debug_str { .b8 1 }
)"));
}

TEST(Print, Bodies) {
  ExpectSameTree(KernelText(R"(
	.reg .v4 .f32 v, w;
	targets: .branchtargets A, B;
	.loc 1 2 3, function_name $L__info+8, inlined_at 1 5 6
	@!%p1 brx.idx %r1, targets;
A:	{
		.reg .b32 %r1;
		.param .b64 p0;
		.param .b32 p1, r0;
		prototype: .callprototype (.param .b32 _) _ (.param .b64 _, .param .b32 _) .noreturn;
		call (r0), %rd1, (p0, p1), prototype;
		call.uni (r0), f, (p0, p1);
		mov.b32 %r1, -5;
	}
B:	tex.2d.v4.f32.f32 {v.x, _, v.w, %f1}, [picture, {%f5, %f6}];
	setp.lt.and.s32 %p1|_, %r1, 7, !%p3;
	ld.global.L2::cache_hint.v2.f32 {%f1, %f2}, [%rd1+-8], %rd2;
	vmad.s32.s32.u32.sat %r1, %r2.b0, -%r3.h1, %r4;
	mov.f64 %fd1, 0dBFF0000000000000;
	fma.rn.f32 %f1, %f2, 0f3F800000, %f3;
	mov.u32 %r1, WARP_SZ;
	mov.u64 %rd1, words+12;
	ld.shared.u32 %r1, [64];
	mov.v4.u32 {%r1, %r2, %r3, %r4}, %tid;
	ld.param.b64 %rd1, [by_value+16].unified;
	.pragma "a", "b";
	ret;
)"));
}

TEST(Print, OneInstruction) {
  const Module module = ParsedKernel("@!%p1  ld.global.v2.f32\t{%f1,%f2}, [ %rd1 +8];");
  const Function& k = KernelOf(module);
  EXPECT_EQ(Print(module, k, *InstructionsOf(k)[0]), "@!%p1 ld.global.v2.f32 {%f1, %f2}, [%rd1+8];");
}

TEST(Print, SparseValuesStaySmall) {
  const Module module = ParsedModule(ModuleText(".global .u32 y[1000000][1000] = {{7}};"));
  EXPECT_THAT(Print(module), HasSubstr("y[1000000][1000] = {{7}};"));
}

}  // namespace
}  // namespace heddle::tracegen::ptx
