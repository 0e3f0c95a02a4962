#include "tracegen/execute/launch_arguments.h"

#include <algorithm>
#include <cstring>
#include <limits>

#include "absl/strings/str_cat.h"

namespace heddle::tracegen {
namespace {

using recipe::v1::Argument;

// Limits of compute capability 7.0 (CUDA C++ Programming Guide, table of technical specifications).
constexpr uint32_t kMaxThreads = 1024;
constexpr uint32_t kMaxBlock[3] = {1024, 1024, 64};
constexpr uint32_t kMaxGrid[3] = {2147483647, 65535, 65535};
constexpr uint32_t kMaxStaticShared = 48 << 10;
constexpr uint32_t kMaxShared = 96 << 10;

std::string KindOf(const KernelParameter& parameter) {
  switch (parameter.kind) {
    case ParameterKind::kGlobalPointer:
      return "a pointer";
    case ParameterKind::kSharedPointer:
      return "a pointer to local memory of the work-group";
    case ParameterKind::kByValue:
      return absl::StrCat("a structure of ", parameter.bytes, " bytes by value");
    case ParameterKind::kScalar:
      break;
  }
  return absl::StrCat(parameter.floating_point ? "a floating-point number of " : "an integer of ", parameter.bytes,
                      " bytes");
}

std::string KindOf(const Argument& argument) {
  switch (argument.kind_case()) {
    case Argument::kBuffer:
      return "buffer";
    case Argument::kI32:
      return "i32";
    case Argument::kU32:
      return "u32";
    case Argument::kI64:
      return "i64";
    case Argument::kU64:
      return "u64";
    case Argument::kF32:
      return "f32";
    case Argument::kF64:
      return "f64";
    case Argument::kLocalBytes:
      return "local_bytes";
    case Argument::kI8:
      return "i8";
    case Argument::kI16:
      return "i16";
    case Argument::KIND_NOT_SET:
      break;
  }
  return "nothing";
}

uint32_t BytesOf(const Argument& argument) {
  switch (argument.kind_case()) {
    case Argument::kI8:
      return 1;
    case Argument::kI16:
      return 2;
    case Argument::kI32:
    case Argument::kU32:
    case Argument::kF32:
      return 4;
    default:
      return 8;
  }
}

bool Fits(const Argument& argument) {
  auto within = [](int64_t value, int64_t low, int64_t high) { return value >= low && value <= high; };
  switch (argument.kind_case()) {
    case Argument::kI8:
      return within(argument.i8(), -128, 255);
    case Argument::kI16:
      return within(argument.i16(), -32768, 65535);
    case Argument::kI32:
      return within(argument.i32(), std::numeric_limits<int32_t>::min(), std::numeric_limits<int32_t>::max());
    case Argument::kU32:
      return argument.u32() <= std::numeric_limits<uint32_t>::max();
    default:
      return true;
  }
}

bool Matches(const Argument& argument, const KernelParameter& parameter) {
  bool floating = argument.kind_case() == Argument::kF32 || argument.kind_case() == Argument::kF64;
  switch (parameter.kind) {
    case ParameterKind::kGlobalPointer:
      return argument.kind_case() == Argument::kBuffer || argument.kind_case() == Argument::kU64;
    case ParameterKind::kSharedPointer:
      return argument.kind_case() == Argument::kLocalBytes;
    case ParameterKind::kByValue:
      return false;
    case ParameterKind::kScalar:
      return argument.kind_case() != Argument::kBuffer && argument.kind_case() != Argument::kLocalBytes &&
             floating == parameter.floating_point && BytesOf(argument) == parameter.bytes;
  }
  return false;
}

// The argument's value as the low bytes of a word.
uint64_t ValueOf(const Argument& argument) {
  switch (argument.kind_case()) {
    case Argument::kI32:
      return static_cast<uint64_t>(argument.i32());
    case Argument::kU32:
      return argument.u32();
    case Argument::kI64:
      return static_cast<uint64_t>(argument.i64());
    case Argument::kU64:
      return argument.u64();
    case Argument::kI8:
      return static_cast<uint64_t>(argument.i8());
    case Argument::kI16:
      return static_cast<uint64_t>(argument.i16());
    case Argument::kF32: {
      float value = argument.f32();
      uint32_t bits;
      std::memcpy(&bits, &value, sizeof(bits));
      return bits;
    }
    case Argument::kF64: {
      double value = argument.f64();
      uint64_t bits;
      std::memcpy(&bits, &value, sizeof(bits));
      return bits;
    }
    default:
      return 0;
  }
}

uint64_t RoundUp(uint64_t value, uint64_t step) { return (value + step - 1) / step * step; }

}  // namespace

absl::StatusOr<PreparedLaunch> PrepareLaunch(const RecipeFile& recipe, int index, const InstrumentedKernel& kernel,
                                             const std::function<uint64_t(const std::string&)>& address_of) {
  const recipe::v1::Launch& launch = recipe.recipe.launch(index);
  PreparedLaunch prepared;
  Geometry& geometry = prepared.geometry;
  auto dimensions = [](const recipe::v1::Dim3& from, uint32_t* to) {
    to[0] = from.x() == 0 ? 1 : from.x();
    to[1] = from.y() == 0 ? 1 : from.y();
    to[2] = from.z() == 0 ? 1 : from.z();
  };
  dimensions(launch.grid(), geometry.grid);
  dimensions(launch.block(), geometry.block);
  for (int i = 0; i < 3; ++i) {
    if (geometry.grid[i] > kMaxGrid[i]) {
      return recipe.Error("launch", index,
                          absl::StrCat("grid dimension ", i, " is ", geometry.grid[i], ", but at most ", kMaxGrid[i],
                                       " blocks are possible"));
    }
    if (geometry.block[i] > kMaxBlock[i]) {
      return recipe.Error("launch", index,
                          absl::StrCat("block dimension ", i, " is ", geometry.block[i], ", but at most ", kMaxBlock[i],
                                       " threads are possible"));
    }
  }
  uint64_t threads = uint64_t{geometry.block[0]} * geometry.block[1] * geometry.block[2];
  if (threads > kMaxThreads) {
    return recipe.Error("launch", index,
                        absl::StrCat("a block of ", threads, " threads, but at most ", kMaxThreads, " are possible"));
  }
  if (kernel.max_threads != 0 && threads > kernel.max_threads) {
    return recipe.Error("launch", index,
                        absl::StrCat("a block of ", threads, " threads, but kernel '", launch.kernel(),
                                     "' is declared for at most ", kernel.max_threads, " (__launch_bounds__)"));
  }
  const uint32_t* required = kernel.required_block;
  if (required[0] != 0 && !std::equal(required, required + 3, geometry.block)) {
    auto shape = [](const uint32_t* size) { return absl::StrCat("(", size[0], ",", size[1], ",", size[2], ")"); };
    return recipe.Error("launch", index,
                        absl::StrCat("a block of ", shape(geometry.block), " threads, but kernel '", launch.kernel(),
                                     "' is declared for exactly ", shape(required), " (reqd_work_group_size)"));
  }
  if (static_cast<size_t>(launch.argument_size()) != kernel.parameters.size()) {
    return recipe.Error("launch", index,
                        absl::StrCat("kernel '", launch.kernel(), "' has ", kernel.parameters.size(),
                                     " parameters, but ", launch.argument_size(), " arguments are given"));
  }
  uint64_t dynamic_shared = launch.dynamic_shared_bytes();
  uint64_t shared_start = RoundUp(kernel.static_shared_bytes, 16);
  for (int a = 0; a < launch.argument_size(); ++a) {
    const Argument& argument = launch.argument(a);
    const KernelParameter& parameter = kernel.parameters[static_cast<size_t>(a)];
    if (!Matches(argument, parameter)) {
      return recipe.Error("launch", index, "argument", a,
                          absl::StrCat("argument ", a + 1, " of kernel '", launch.kernel(), "' is ", KindOf(argument),
                                       ", but the parameter is ", KindOf(parameter)));
    }
    if (!Fits(argument)) {
      return recipe.Error("launch", index, "argument", a,
                          absl::StrCat("argument ", a + 1, " does not fit its type ", KindOf(argument)));
    }
    uint64_t value = ValueOf(argument);
    if (argument.has_buffer()) value = address_of(argument.buffer());
    if (argument.kind_case() == Argument::kLocalBytes) {
      dynamic_shared = RoundUp(dynamic_shared, 16);
      value = kSharedBase + shared_start + dynamic_shared;
      if (argument.local_bytes() > kMaxShared) {
        return recipe.Error("launch", index, "argument", a,
                            absl::StrCat("more than ", kMaxShared, " bytes of local memory"));
      }
      dynamic_shared += argument.local_bytes();
    }
    uint64_t offset = RoundUp(prepared.parameters.size(), parameter.alignment);
    prepared.parameters.resize(offset + parameter.bytes);
    std::memcpy(prepared.parameters.data() + offset, &value, std::min<size_t>(parameter.bytes, sizeof(value)));
    prepared.offsets.push_back(offset);
  }
  if (kernel.static_shared_bytes > kMaxStaticShared || shared_start + dynamic_shared > kMaxShared) {
    return recipe.Error(
        "launch", index,
        absl::StrCat("kernel '", launch.kernel(), "' needs ", kernel.static_shared_bytes, " + ", dynamic_shared,
                     " bytes of shared memory (static + dynamic), but a block has at most ", kMaxStaticShared,
                     " static and ", kMaxShared, " in all"));
  }
  geometry.dynamic_shared_bytes = static_cast<uint32_t>(dynamic_shared);
  return prepared;
}

}  // namespace heddle::tracegen
