#include "tracegen/recipe/prepare_launch.h"

#include <algorithm>
#include <cstring>
#include <limits>

#include "absl/strings/str_cat.h"
#include "tracegen/execute/launch/launch_limits.h"

namespace heddle::tracegen {
namespace {

using recipe::v1::Argument;

std::string KindOf(const KernelParameter& parameter) {
  if (parameter.any_argument) return absl::StrCat(parameter.bytes, " bytes");
  switch (parameter.kind) {
    case ParameterKind::kGlobalPointer:
    case ParameterKind::kConstantPointer:
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
  if (parameter.any_argument) {
    return argument.kind_case() != Argument::kLocalBytes && BytesOf(argument) == parameter.bytes;
  }
  switch (parameter.kind) {
    case ParameterKind::kGlobalPointer:
    case ParameterKind::kConstantPointer:
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
  constexpr uint32_t kAsCompiled[3] = {};
  absl::Status fits = CheckGeometry(launch.kernel(), kernel.bounds, geometry);
  if (fits.ok()) fits = ChooseClusters(launch.kernel(), kernel.bounds, kAsCompiled, &geometry);
  if (!fits.ok()) return recipe.Error("launch", index, std::string(fits.message()));
  if (static_cast<size_t>(launch.argument_size()) != kernel.parameters.size()) {
    return recipe.Error("launch", index,
                        absl::StrCat("kernel '", launch.kernel(), "' has ", kernel.parameters.size(),
                                     " parameters, but ", launch.argument_size(), " arguments are given"));
  }
  uint64_t dynamic_shared = launch.dynamic_shared_bytes();
  const uint64_t shared_start = DynamicSharedStart(kernel.static_shared_bytes);
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
    prepared.parameters.resize(parameter.offset + parameter.bytes);
    std::memcpy(prepared.parameters.data() + parameter.offset, &value,
                std::min<size_t>(parameter.bytes, sizeof(value)));
  }
  if (absl::Status status = CheckShared(launch.kernel(), kernel.static_shared_bytes, dynamic_shared); !status.ok()) {
    return recipe.Error("launch", index, std::string(status.message()));
  }
  geometry.dynamic_shared_bytes = static_cast<uint32_t>(dynamic_shared);
  return prepared;
}

}  // namespace heddle::tracegen
