#include "tracegen/recipe/recipe_buffers.h"

#include <unistd.h>

#include <cstring>
#include <utility>

#include "absl/strings/str_cat.h"
#include "tracegen/instrument/thread_context.h"
#include "tracegen/recipe/fill.h"

namespace heddle::tracegen {

absl::StatusOr<RecipeBuffers> RecipeBuffers::Make(const RecipeFile& file, DeviceMemory& memory) {
  const recipe::v1::Recipe& recipe = file.recipe;
  const uint64_t physical = static_cast<uint64_t>(sysconf(_SC_PHYS_PAGES)) * sysconf(_SC_PAGESIZE);
  RecipeBuffers buffers;
  uint64_t total = 0;
  for (int i = 0; i < recipe.buffer_size(); ++i) {
    const recipe::v1::Buffer& buffer = recipe.buffer(i);
    uint64_t size = ScalarBytes(buffer.type());
    // The host holds the contents before the first launch, and the device's copy.
    total += buffer.count() > kGlobalBytes / size ? kGlobalBytes : buffer.count() * size;
    if (total > physical / 2) {
      return file.Error(
          "buffer", i,
          absl::StrCat(
              "buffer '", buffer.name(), "' has ", buffer.count(), " elements of ", size,
              " bytes: this machine's memory of ", physical,
              " bytes cannot hold all buffers up to this one twice, which capture needs; choose smaller ones"));
    }
    if (buffer.count() > kGlobalBytes / size) {
      return file.Error("buffer", i, absl::StrCat("buffer '", buffer.name(), "' is larger than device memory"));
    }
    absl::StatusOr<uint64_t> address = memory.Allocate(buffer.count() * size, buffer.name());
    if (!address.ok()) return file.Error("buffer", i, std::string(address.status().message()));
    absl::StatusOr<std::string> contents = MakeContents(buffer.fill(), buffer.type(), buffer.count(), file);
    if (absl::IsCancelled(contents.status())) return contents.status();
    if (!contents.ok()) {
      return file.Error("buffer", i,
                        absl::StrCat("buffer '", buffer.name(), "': ", std::string(contents.status().message())));
    }
    BufferContents entry;
    entry.name = buffer.name();
    entry.type = buffer.type();
    entry.count = buffer.count();
    entry.before = *std::move(contents);
    entry.after = reinterpret_cast<void*>(*address);
    buffers.addresses_[buffer.name()] = *address;
    buffers.contents_.push_back(std::move(entry));
  }
  return buffers;
}

uint64_t RecipeBuffers::AddressOf(const std::string& name) const {
  const auto found = addresses_.find(name);
  return found == addresses_.end() ? 0 : found->second;
}

void RecipeBuffers::Reset() {
  for (BufferContents& buffer : contents_) {
    std::memcpy(const_cast<void*>(buffer.after), buffer.before.data(), buffer.before.size());
  }
}

absl::Status RecipeBuffers::RecordTransfers(const RecipeFile& file, trace::TraceWriter& writer) const {
  for (size_t i = 0; i < contents_.size(); ++i) {
    const bool zeros = file.recipe.buffer(static_cast<int>(i)).fill().has_zeros();
    absl::Status status =
        RecordTransfer(zeros ? trace::v1::Transfer::FILL : trace::v1::Transfer::HOST_TO_DEVICE,
                       reinterpret_cast<uint64_t>(contents_[i].after), contents_[i].before.size(), writer);
    if (!status.ok()) return status;
  }
  return absl::OkStatus();
}

void RecipeBuffers::KeepNativeResults() {
  native_results_.clear();
  for (const BufferContents& buffer : contents_) {
    native_results_.emplace_back(static_cast<const char*>(buffer.after), buffer.before.size());
  }
}

absl::Status RecipeBuffers::CompareWithNative() const {
  for (size_t i = 0; i < native_results_.size(); ++i) {
    const char* recorded = static_cast<const char*>(contents_[i].after);
    const std::string& native = native_results_[i];
    for (size_t byte = 0; byte < native.size(); ++byte) {
      if (native[byte] == recorded[byte]) continue;
      return absl::FailedPreconditionError(absl::StrCat("recording has changed the result: buffer '", contents_[i].name,
                                                        "' differs at element ", byte / ScalarBytes(contents_[i].type),
                                                        " from a run without recording"));
    }
  }
  return absl::OkStatus();
}

void RecipeBuffers::Damage(const std::string& name) {
  for (const BufferContents& buffer : contents_) {
    if (buffer.name != name) continue;
    auto* const bytes = static_cast<uint8_t*>(const_cast<void*>(buffer.after));
    const uint64_t size = ScalarBytes(buffer.type);
    // Turns bits that are no rounding error, whatever the type.
    for (uint64_t i = buffer.count * 7 / 16 * size; i < (buffer.count * 9 / 16 + 1) * size; ++i) {
      if (i < buffer.count * size) bytes[i] ^= 0x3f;
    }
  }
}

absl::Status RecordTransfer(trace::v1::Transfer::Direction direction, uint64_t address, uint64_t bytes,
                            trace::TraceWriter& writer) {
  trace::v1::Transfer transfer;
  transfer.set_direction(direction);
  transfer.set_address(address);
  transfer.set_bytes(bytes);
  return writer.AddTransfer(transfer);
}

}  // namespace heddle::tracegen
