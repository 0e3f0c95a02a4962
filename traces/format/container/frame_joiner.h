// Decides which chunks of a launch share a frame.
#ifndef HEDDLE_TRACES_FORMAT_CONTAINER_FRAME_JOINER_H_
#define HEDDLE_TRACES_FORMAT_CONTAINER_FRAME_JOINER_H_

#include <zstd.h>

#include <cstddef>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"

namespace heddle::trace {

// Takes the serialized records of chunks in their order, and hands on the contents of frames. The first chunks of a
// launch are tried: if one frame of them is 3.7 times smaller than what is in it, and a tenth less than each by itself,
// chunks go on to share frames, up to the limits of shared_frames.h; if not, each has its own. It is tried again some
// frames, or chunks, later. What is decided depends on the contents alone. Memory: one shared frame.
class FrameJoiner {
 public:
  // Takes the contents of a frame, and how many records they are. Its errors are those of Add and Close.
  using Sink = std::function<absl::Status(absl::string_view raw, size_t records)>;

  explicit FrameJoiner(Sink sink) : sink_(std::move(sink)) {}

  absl::Status Add(absl::string_view raw);

  // Hands on what is kept; the next chunk is that of another launch.
  absl::Status Close();

  // Forgets what is kept.
  void Discard();

 private:
  struct Free {
    void operator()(ZSTD_CCtx* context) const { ZSTD_freeCCtx(context); }
  };

  size_t CompressedSize(absl::string_view raw);
  bool Pays();
  // Finds out whether what is kept had better be one frame, unless that is known. If not, hands it on.
  absl::Status Decide();
  absl::Status EndFrame();

  const Sink sink_;
  std::string raw_;
  std::vector<size_t> ends_;  // of the records in it
  bool pays_ = false;         // known of what is kept
  size_t alone_ = 0;          // further chunks that are not tried
  size_t together_ = 0;       // further frames that are not
  std::unique_ptr<ZSTD_CCtx, Free> zstd_;
  std::string compressed_;
};

}  // namespace heddle::trace

#endif  // HEDDLE_TRACES_FORMAT_CONTAINER_FRAME_JOINER_H_
