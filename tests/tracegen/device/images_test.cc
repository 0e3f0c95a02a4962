// Textures and surfaces: what a fetch reads, and what the trace holds of it.
#include <bit>
#include <cmath>
#include <random>

#include "tests/tracegen/execute/capture_fixture.h"
#include "tracegen/execute/code/half_precision.h"
#include "tracegen/execute/code/image_unit.h"
#include "tracegen/execute/memory/device_memory.h"

namespace heddle::tracegen {
namespace {

constexpr uint32_t kWidth = 5;
constexpr uint32_t kHeight = 4;
constexpr uint32_t kDepth = 3;
constexpr uint64_t kRowBytes = 64;
constexpr uint64_t kSliceBytes = kRowBytes * kHeight;

uint64_t Bits(float value) { return std::bit_cast<uint32_t>(value); }
bool ReadsAsInteger(uint32_t channel_type) { return channel_type < HEDDLE_CHANNEL_SNORM_8; }
float Float(uint64_t bits) { return std::bit_cast<float>(static_cast<uint32_t>(bits)); }

class ImageTest : public ::testing::Test {
 protected:
  ImageTest() {
    memory_ = *DeviceMemory::Create();
    const uint64_t data = *memory_->Allocate(kSliceBytes * kDepth, "texels");
    handle_ = *memory_->Allocate(sizeof(HeddleImage), "image");
    image_ = reinterpret_cast<HeddleImage*>(handle_);
    *image_ = HeddleImage{};
    image_->data = data;
    image_->row_bytes = kRowBytes;
    image_->slice_bytes = kSliceBytes;
    image_->width = kWidth;
    image_->height = kHeight;
    image_->depth = kDepth;
    image_->layers = 1;
    image_->channel_type = HEDDLE_CHANNEL_FLOAT;
    image_->texel_bytes = 4;
    for (uint32_t& mode : image_->sampler.address_mode) mode = HEDDLE_ADDRESS_CLAMP;
    for (uint32_t z = 0; z < kDepth; ++z) {
      for (uint32_t y = 0; y < kHeight; ++y) {
        for (uint32_t x = 0; x < kWidth; ++x) Texel(x, y, z) = static_cast<float>(x + 10 * y + 100 * z);
      }
    }
  }
  float& Texel(uint32_t x, uint32_t y, uint32_t z) {
    return *reinterpret_cast<float*>(image_->data + x * 4 + y * kRowBytes + z * kSliceBytes);
  }
  // Carries out the intrinsic on operands behind the handle; returns its results.
  std::vector<uint64_t> Run(const std::string& intrinsic, std::vector<uint64_t> operands) {
    const std::optional<ImageOperation> operation = ParseImageOperation(intrinsic);
    EXPECT_TRUE(operation.has_value()) << intrinsic;
    const ImageOperation decoded = ImageOperation::Decode(operation->Encode());
    operands.insert(operands.begin(), handle_);
    operands.resize(16);
    wrong_ = AccessImage(decoded, operands.data(), &address_);
    return operands;
  }
  float Fetch(float x, float y) { return Float(Run("tex.unified.2d.v4f32.f32", {Bits(x), Bits(y)})[0]); }
  uint64_t AddressOf(uint64_t x, uint64_t y) const { return image_->data + 4 * x + kRowBytes * y; }

  std::unique_ptr<DeviceMemory> memory_;
  uint64_t handle_ = 0;
  HeddleImage* image_ = nullptr;
  uint64_t address_ = 0;
  const char* wrong_ = nullptr;
};

TEST_F(ImageTest, PointFetchTakesTheTexelThatTheCoordinateLiesIn) {
  EXPECT_EQ(Fetch(2.9f, 1.0f), 12);
  EXPECT_EQ(address_, AddressOf(2, 1));
  EXPECT_EQ(Fetch(-3.0f, 9.0f), 30) << "clamped to the edge";
  EXPECT_EQ(address_, AddressOf(0, 3));
}

TEST_F(ImageTest, SmallTexelsAreAddressedByTheWordThatHoldsThem) {
  image_->channel_type = HEDDLE_CHANNEL_UNSIGNED_8;
  image_->texel_bytes = 1;
  Texel(0, 1, 0) = Float(0x04030201);
  for (uint32_t x = 0; x < 4; ++x) {
    EXPECT_EQ(Run("tex.unified.2d.v4u32.f32", {Bits(static_cast<float>(x)), Bits(1.0f)})[0], x + 1);
    EXPECT_EQ(address_, AddressOf(0, 1)) << "an access to 4 bytes, which must be aligned";
  }
}

TEST_F(ImageTest, NormalisedCoordinatesWrapAndMirror) {
  image_->sampler.normalized = 1;
  image_->sampler.address_mode[0] = HEDDLE_ADDRESS_WRAP;
  image_->sampler.address_mode[1] = HEDDLE_ADDRESS_MIRROR;
  EXPECT_EQ(Fetch(1.3f, 0.3f), 11) << "0.3 of 5 columns, 0.3 of 4 rows";
  EXPECT_EQ(Fetch(-0.1f, 0.0f), 4);
  EXPECT_EQ(Fetch(0.0f, 1.1f), 30) << "1.1 is 0.9 mirrored: the last row";
  EXPECT_EQ(Fetch(0.0f, -0.3f), 10);
}

TEST_F(ImageTest, BorderColourOutsideAndAnAddressInside) {
  image_->sampler.address_mode[0] = HEDDLE_ADDRESS_BORDER;
  image_->sampler.border[0] = 7.5f;
  EXPECT_EQ(Fetch(-0.5f, 2.0f), 7.5f);
  EXPECT_EQ(address_, AddressOf(0, 2));
  EXPECT_EQ(Fetch(4.5f, 2.0f), 24);
}

TEST_F(ImageTest, LinearFetchIsTheWeightedMeanOfTheFootprint) {
  image_->sampler.filter_mode = HEDDLE_FILTER_LINEAR;
  EXPECT_EQ(Fetch(1.5f, 2.5f), 21) << "the centre of a texel";
  EXPECT_EQ(Fetch(2.0f, 1.0f), 6.5f) << "between four: 1, 2, 11, 12";
  EXPECT_EQ(address_, AddressOf(1, 0));
  // Against a plain mean, for random coordinates in and around the image.
  std::mt19937 random(7);
  std::uniform_real_distribution<float> anywhere(-2.0f, 7.0f);
  for (int i = 0; i < 300; ++i) {
    const float x = anywhere(random), y = anywhere(random);
    auto at = [&](double u, double v) {
      return static_cast<double>(Texel(static_cast<uint32_t>(std::clamp(u, 0.0, kWidth - 1.0)),
                                       static_cast<uint32_t>(std::clamp(v, 0.0, kHeight - 1.0)), 0));
    };
    const double u = std::floor(x - 0.5), v = std::floor(y - 0.5);
    const double a = std::nearbyint((x - 0.5 - u) * 256) / 256, b = std::nearbyint((y - 0.5 - v) * 256) / 256;
    const double mean = (1 - a) * (1 - b) * at(u, v) + a * (1 - b) * at(u + 1, v) + (1 - a) * b * at(u, v + 1) +
                        a * b * at(u + 1, v + 1);
    EXPECT_NEAR(Fetch(x, y), mean, 1e-4) << x << ", " << y;
  }
}

TEST_F(ImageTest, ThreeDimensionsLayersAndCubes) {
  auto fetch = [&](const char* intrinsic, const std::vector<uint64_t>& operands) {
    return Float(Run(intrinsic, operands)[0]);
  };
  EXPECT_EQ(fetch("tex.unified.3d.v4f32.f32", {Bits(1), Bits(2), Bits(2)}), 221);
  image_->sampler.filter_mode = HEDDLE_FILTER_LINEAR;
  EXPECT_EQ(fetch("tex.unified.3d.v4f32.f32", {Bits(1), Bits(1), Bits(1)}), 55.5f);
  image_->sampler.filter_mode = HEDDLE_FILTER_POINT;
  image_->depth = 1;
  image_->layers = 3;
  EXPECT_EQ(fetch("tex.unified.2d.array.v4f32.f32", {1, Bits(3), Bits(1)}), 113);
  EXPECT_EQ(fetch("tex.unified.2d.array.v4f32.f32", {9, Bits(3), Bits(1)}), 213) << "the last layer";
  // +y is face 2; straight up is its middle.
  EXPECT_EQ(fetch("tex.unified.cube.v4f32.f32", {Bits(0), Bits(1), Bits(0)}), 222);
}

TEST_F(ImageTest, GatherReadsOneComponentOfTheFootprintCounterclockwise) {
  const std::vector<uint64_t> got = Run("tld4.unified.r.2d.v4f32.f32", {Bits(2.0f), Bits(1.0f)});
  EXPECT_EQ(Float(got[0]), 11);
  EXPECT_EQ(Float(got[1]), 12);
  EXPECT_EQ(Float(got[2]), 2);
  EXPECT_EQ(Float(got[3]), 1);
}

TEST_F(ImageTest, MipmapsByLevelAndByGradient) {
  const uint64_t second = *memory_->Allocate(sizeof(HeddleImage), "level");
  auto* level = reinterpret_cast<HeddleImage*>(second);
  *level = *image_;
  level->data = image_->data + kSliceBytes;
  level->width = 2;
  level->height = 2;
  image_->next_level = second;
  image_->sampler.max_level = 10;
  image_->sampler.normalized = 1;
  auto at_level = [&](float l) {
    return Float(Run("tex.unified.2d.level.v4f32.f32", {Bits(0.9f), Bits(0.9f), Bits(l)})[0]);
  };
  EXPECT_EQ(at_level(0), 34);
  EXPECT_EQ(at_level(1), 111);
  EXPECT_EQ(at_level(5), 111) << "the last level";
  image_->sampler.level_filter = HEDDLE_FILTER_LINEAR;
  EXPECT_EQ(at_level(0.5f), 72.5f);
  // A step of two texels in x: level 1.
  const float step = 2.0f / kWidth;
  EXPECT_EQ(
      Float(Run("tex.unified.2d.grad.v4f32.f32", {Bits(0.9f), Bits(0.9f), Bits(step), Bits(0), Bits(0), Bits(0)})[0]),
      111);
}

TEST_F(ImageTest, ChannelTypesAndOrders) {
  auto* bytes = reinterpret_cast<uint8_t*>(image_->data);
  auto read = [&](uint32_t type, uint32_t order, uint32_t texel_bytes) {
    image_->channel_type = type;
    image_->channel_order = order;
    image_->texel_bytes = texel_bytes;
    return Run(ReadsAsInteger(type) ? "tex.unified.2d.v4u32.f32" : "tex.unified.2d.v4f32.f32", {Bits(0), Bits(0)});
  };
  bytes[0] = 255, bytes[1] = 0, bytes[2] = 51, bytes[3] = 128;
  std::vector<uint64_t> got = read(HEDDLE_CHANNEL_UNORM_8, HEDDLE_ORDER_RGBA, 4);
  EXPECT_EQ(Float(got[0]), 1.0f);
  EXPECT_FLOAT_EQ(Float(got[2]), 0.2f);
  got = read(HEDDLE_CHANNEL_UNORM_8, HEDDLE_ORDER_BGRA, 4);
  EXPECT_FLOAT_EQ(Float(got[0]), 0.2f);
  EXPECT_EQ(Float(got[2]), 1.0f);
  got = read(HEDDLE_CHANNEL_SIGNED_8, HEDDLE_ORDER_RG, 2);
  EXPECT_EQ(static_cast<int32_t>(got[0]), -1);
  EXPECT_EQ(got[3], 1) << "alpha that is missing";
  got = read(HEDDLE_CHANNEL_SNORM_8, HEDDLE_ORDER_INTENSITY, 1);
  EXPECT_FLOAT_EQ(Float(got[3]), -1.0f / 127);
  const uint16_t half = FloatToHalf(-1.5f);
  std::memcpy(bytes, &half, 2);
  EXPECT_EQ(Float(read(HEDDLE_CHANNEL_HALF, HEDDLE_ORDER_R, 2)[0]), -1.5f);
  const uint16_t packed = 31 << 11 | 0 << 5 | 31;
  std::memcpy(bytes, &packed, 2);
  got = read(HEDDLE_CHANNEL_UNORM_565, HEDDLE_ORDER_RGB, 2);
  EXPECT_EQ(Float(got[0]), 1.0f);
  EXPECT_EQ(Float(got[1]), 0.0f);
  EXPECT_EQ(Float(got[2]), 1.0f);
}

TEST_F(ImageTest, SamplerLiteralsOfOpenCl) {
  // CLK_NORMALIZED_COORDS_TRUE | CLK_ADDRESS_CLAMP | CLK_FILTER_NEAREST.
  EXPECT_EQ(Float(Run("tex.2d.v4f32.f32", {0x15, Bits(0.5f), Bits(0.99f)})[0]), 32);
  const std::vector<uint64_t> outside = Run("tex.2d.v4f32.f32", {0x15, Bits(1.5f), Bits(0.5f)});
  EXPECT_EQ(Float(outside[0]), 0.0f);
  EXPECT_EQ(Float(outside[3]), 1.0f) << "the border of images without alpha is opaque";
  // Whole coordinates, CLK_ADDRESS_CLAMP_TO_EDGE.
  EXPECT_EQ(Float(Run("tex.2d.v4f32.s32", {0x12, 7, 1})[0]), 14);
}

TEST_F(ImageTest, SurfacesCountBytesAndKeepTheirBounds) {
  EXPECT_EQ(Float(Run("suld.2d.i32.trap", {2 * 4, 3})[0]), 32);
  EXPECT_EQ(address_, AddressOf(2, 3));
  Run("suld.2d.i32.trap", {5 * 4, 0});
  EXPECT_STREQ(wrong_, "an access outside a surface");
  EXPECT_EQ(Float(Run("suld.2d.i32.clamp", {9 * 4, 1})[0]), 14);
  EXPECT_EQ(Run("suld.2d.i32.zero", {9 * 4, 1})[0], 0);
  Run("sust.b.2d.i32.trap", {4, 1, Bits(8.25f)});
  EXPECT_EQ(Texel(1, 1, 0), 8.25f);
  Run("sust.b.2d.i32.zero", {4, 99, Bits(1.0f)});
  EXPECT_EQ(Texel(1, 3, 0), 31) << "a store outside is dropped";
  image_->channel_type = HEDDLE_CHANNEL_UNORM_8;
  image_->channel_order = HEDDLE_ORDER_RGBA;
  Run("sust.p.2d.v4i32.trap", {0, 0, Bits(1.0f), Bits(0.5f), Bits(-1.0f), Bits(2.0f)});
  const auto* bytes = reinterpret_cast<const uint8_t*>(image_->data);
  EXPECT_EQ(bytes[0], 255);
  EXPECT_EQ(bytes[1], 128);
  EXPECT_EQ(bytes[2], 0);
  EXPECT_EQ(bytes[3], 255);
}

TEST_F(ImageTest, WhatIsBoundToNothingIsAnError) {
  *image_ = HeddleImage{};
  Fetch(0, 0);
  EXPECT_STREQ(wrong_, "a fetch from a texture to which nothing is bound");
  handle_ = 0;
  Run("suld.1d.i8.trap", {0});
  EXPECT_STREQ(wrong_, "an access to a surface to which nothing is bound");
}

// --- in kernels

std::string TwoLaunches(int outputs, const std::string& expected) {
  return absl::StrCat("include_dir: \"", HEDDLE_SOURCE_DIR, "\"\n", R"(
buffer { name: "out" type: F32 count: )",
                      outputs, R"( fill { zeros {} } }
buffer { name: "texels" type: F32 count: 64 fill { iota { start: 0 } } }
buffer { name: "image" type: U64 count: 16 fill { zeros {} } }
launch { kernel: "describe" argument { buffer: "image" } argument { buffer: "texels" } }
launch { kernel: "k" block { x: 8 } argument { buffer: "out" } argument { buffer: "image" } }
check { buffer: "out" expected { )",
                      expected, " } tolerance: 0.0001 }\n");
}

constexpr char kDescribe[] = R"(
#include "tracegen/runtime/protocol/device_image.h"
texture<float, 2, cudaReadModeElementType> reference;
__global__ void describe(HeddleImage* image, float* texels) {
  image->data = (unsigned long long)texels;
  image->row_bytes = 32;
  image->slice_bytes = 256;
  image->width = image->height = 8;
  image->depth = image->layers = 1;
  image->channel_type = HEDDLE_CHANNEL_FLOAT;
  image->channel_order = HEDDLE_ORDER_R;
  image->texel_bytes = 4;
  for (int i = 0; i < 3; ++i) image->sampler.address_mode[i] = HEDDLE_ADDRESS_CLAMP;
  image->sampler.filter_mode = HEDDLE_FILTER_LINEAR;
}
)";

TEST_F(CaptureTest, OneFetchIsOneInstructionAndOneAddress) {
  std::vector<double> expected;
  expected.reserve(8);
  for (int t = 0; t < 8; ++t) expected.push_back(8 * t + (t == 0 ? 0.0 : t - 0.5) + 1);
  Succeeds(std::string(kDescribe) + R"(
__global__ void k(float* out, HeddleImage* image) {
  int t = threadIdx.x;
  out[t] = tex2D<float>((cudaTextureObject_t)image, t, t + 0.5f) + 1;
})",
           TwoLaunches(8, Values(expected)));
  const trace::Program& program = *reader_->launches()[1].program;
  const trace::v1::Instruction* fetch = nullptr;
  for (trace::Pc pc : program.accesses()) {
    if (program.instruction(pc).op() == trace::v1::OP_TEXTURE) fetch = &program.instruction(pc);
  }
  ASSERT_NE(fetch, nullptr);
  EXPECT_EQ(fetch->mnemonic(), "tex.2d.v4.f32.f32");
  EXPECT_EQ(fetch->space(), trace::v1::SPACE_TEXTURE);
  EXPECT_EQ(Count(trace::v1::OP_TEXTURE), 1);
  // Texel (t - 1, t) is the lowest of the footprint; the fetch comes before the store.
  const std::vector<std::vector<uint64_t>> addresses = Addresses(1);
  ASSERT_EQ(addresses.size(), 8);
  const uint64_t texels = 0x2000'0000'0200 + 512 + 512;
  for (uint64_t t = 0; t < 8; ++t) EXPECT_EQ(addresses[t][0], texels + 32 * t + 4 * (t == 0 ? 0 : t - 1)) << t;
}

TEST_F(CaptureTest, TextureReferencesAndSurfacesInKernels) {
  std::vector<double> expected;
  expected.reserve(8);
  for (int t = 0; t < 8; ++t) expected.push_back(8 * t + t + (8 + t) + 100 + 0.5 * t);
  Succeeds(std::string(kDescribe) + R"(
__device__ float fetch(float x, float y) { return tex2D(reference, x + 0.5f, y + 0.5f); }
__global__ void k(float* out, HeddleImage* descriptor) {
  int t = threadIdx.x;
  cudaTextureObject_t image = (cudaTextureObject_t)descriptor;
  // What binding does on the host.
  unsigned long long bound;
  asm("mov.b64 %0, %1;" : "=l"(bound) : "l"(reference));
  surf2Dwrite(100.0f + 0.5f * t, (cudaSurfaceObject_t)image, 4 * t, 7, cudaBoundaryModeTrap);
  __syncthreads();
  out[t] = (bound == image ? fetch(t, t) : tex2D<float>(image, t + 0.5f, t + 0.5f)) +
           surf2Dread<float>((cudaSurfaceObject_t)image, 4 * t, 1) + surf2Dread<float>(image, 4 * t, 7) +
           (t == 7 ? 56 + 7 - 103.5f : 0);
})",
           TwoLaunches(8, Values(expected)));
  EXPECT_EQ(Count(trace::v1::OP_TEXTURE), 4);
}

}  // namespace
}  // namespace heddle::tracegen
