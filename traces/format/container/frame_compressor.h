// Compresses frames on several threads and hands them on in their order.
#ifndef HEDDLE_TRACES_FORMAT_CONTAINER_FRAME_COMPRESSOR_H_
#define HEDDLE_TRACES_FORMAT_CONTAINER_FRAME_COMPRESSOR_H_

#include <condition_variable>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"

namespace heddle::trace {

// One Zstandard frame per call of Add, with content size and checksum. The frames do not depend on the number of
// threads. Memory: with n > 1 threads at most 2n frames, raw and compressed; with one thread one.
class FrameCompressor {
 public:
  // Takes a compressed frame and the size of its contents; called in the order of Add, by the thread that calls Add and
  // Flush. Its error ends the compressor.
  using Sink = std::function<absl::Status(absl::string_view compressed, size_t raw_bytes)>;

  // `level` is a Zstandard level; `threads` is at least 1, and 1 compresses within Add.
  FrameCompressor(int level, unsigned threads, Sink sink);
  ~FrameCompressor();
  FrameCompressor(const FrameCompressor&) = delete;
  FrameCompressor& operator=(const FrameCompressor&) = delete;

  // Compresses `raw`, now or later. Errors are those of the sink, for this frame or an earlier one.
  absl::Status Add(absl::string_view raw);

  // Hands on all frames.
  absl::Status Flush();

 private:
  struct Job {
    std::string raw;
    std::string compressed;
    size_t size = 0;  // of the compressed frame, or a Zstandard error
    bool done = false;
  };

  void Work();
  absl::Status Forward(Job& job);
  absl::Status ForwardFront();

  const int level_;
  const unsigned threads_;
  const Sink sink_;
  Job single_;  // one thread: its buffers stay
  struct Context;
  std::unique_ptr<Context> context_;

  std::mutex mutex_;
  std::condition_variable wanted_;  // a job waits, or the end has come
  std::condition_variable done_;
  std::deque<std::unique_ptr<Job>> jobs_;  // in the order of Add
  std::deque<Job*> waiting_;               // those of them that no thread has taken
  std::vector<std::unique_ptr<Job>> spare_;
  bool stop_ = false;
  std::vector<std::thread> workers_;
};

}  // namespace heddle::trace

#endif  // HEDDLE_TRACES_FORMAT_CONTAINER_FRAME_COMPRESSOR_H_
