// Which parts of the OpenCL headers are left out: only what a source certainly does not use.
#include "tracegen/frontend/opencl_parts.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace heddle::tracegen {
namespace {

using ::testing::Contains;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::SizeIs;

TEST(OpenClParts, APlainKernelNeedsNoneOfThem) {
  EXPECT_THAT(UnusedOpenClParts("kernel void add(global float *a) { a[0] += 1; }"), SizeIs(7));
}

TEST(OpenClParts, AWordKeepsItsPartAlone) {
  EXPECT_THAT(UnusedOpenClParts("frexp(x, &e)"), SizeIs(6));
  EXPECT_THAT(UnusedOpenClParts("frexp(x, &e)"), Not(Contains("-DHEDDLE_OPENCL_WITHOUT_MORE_MATH")));
  EXPECT_THAT(UnusedOpenClParts("isless(x, y)"), Not(Contains("-DHEDDLE_OPENCL_WITHOUT_RELATIONS")));
  EXPECT_THAT(UnusedOpenClParts("vload4(i, p)"), Not(Contains("-DHEDDLE_OPENCL_WITHOUT_DATA")));
  EXPECT_THAT(UnusedOpenClParts("convert_uchar4_sat(x)"), SizeIs(5));
  EXPECT_THAT(UnusedOpenClParts("convert_uchar4_sat(x)"), Not(Contains("-DHEDDLE_OPENCL_WITHOUT_DATA")));
  EXPECT_THAT(UnusedOpenClParts("convert_uchar4_sat(x)"), Not(Contains("-DHEDDLE_OPENCL_WITHOUT_CONVERSIONS")));
  EXPECT_THAT(UnusedOpenClParts("vload_half(0, p)"), Not(Contains("-DHEDDLE_OPENCL_WITHOUT_HALF")));
  EXPECT_THAT(UnusedOpenClParts("shuffle2(a, b, m)"), Not(Contains("-DHEDDLE_OPENCL_WITHOUT_GROUP")));
  EXPECT_THAT(UnusedOpenClParts("wait_group_events(1, &e)"), Not(Contains("-DHEDDLE_OPENCL_WITHOUT_GROUP")));
  EXPECT_THAT(UnusedOpenClParts("read_only image2d_t i"), Not(Contains("-DHEDDLE_OPENCL_WITHOUT_IMAGES")));
}

TEST(OpenClParts, WhatCannotBeSeenKeepsEverything) {
  EXPECT_THAT(UnusedOpenClParts("#include \"helper.cl\"\nkernel void k() {}"), IsEmpty());
  EXPECT_THAT(UnusedOpenClParts("#  include <helper.cl>"), IsEmpty());
  EXPECT_THAT(UnusedOpenClParts("#define CALL(name, type) name##type(x)"), IsEmpty());
}

}  // namespace
}  // namespace heddle::tracegen
