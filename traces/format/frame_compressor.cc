#include "traces/format/frame_compressor.h"

#include <zstd.h>

#include <utility>

#include "absl/strings/str_cat.h"

namespace heddle::trace {

// A Zstandard context, with the same parameters in every thread.
struct FrameCompressor::Context {
  explicit Context(int level) : zstd(ZSTD_createCCtx()) {
    ZSTD_CCtx_setParameter(zstd, ZSTD_c_compressionLevel, level);
    ZSTD_CCtx_setParameter(zstd, ZSTD_c_checksumFlag, 1);
    ZSTD_CCtx_setParameter(zstd, ZSTD_c_contentSizeFlag, 1);
  }
  ~Context() { ZSTD_freeCCtx(zstd); }

  void Compress(absl::string_view raw, Job& job) {
    if (const size_t bound = ZSTD_compressBound(raw.size()); job.compressed.size() < bound)
      job.compressed.resize(bound);
    job.size = ZSTD_compress2(zstd, job.compressed.data(), job.compressed.size(), raw.data(), raw.size());
  }

  ZSTD_CCtx* zstd;
};

FrameCompressor::FrameCompressor(int level, unsigned threads, Sink sink)
    : level_(level), threads_(threads), sink_(std::move(sink)) {}

FrameCompressor::~FrameCompressor() {
  {
    std::lock_guard<std::mutex> lock(mutex_);
    stop_ = true;
  }
  wanted_.notify_all();
  for (std::thread& worker : workers_) worker.join();
}

void FrameCompressor::Work() {
  Context context(level_);
  std::unique_lock<std::mutex> lock(mutex_);
  for (;;) {
    wanted_.wait(lock, [this] { return stop_ || !waiting_.empty(); });
    if (stop_) return;
    Job& job = *waiting_.front();
    waiting_.pop_front();
    lock.unlock();
    context.Compress(job.raw, job);
    lock.lock();
    job.done = true;
    done_.notify_one();
  }
}

absl::Status FrameCompressor::HandOn(Job& job) {
  if (ZSTD_isError(job.size)) {
    return absl::InternalError(absl::StrCat("cannot compress a frame: ", ZSTD_getErrorName(job.size)));
  }
  return sink_(absl::string_view(job.compressed).substr(0, job.size), job.raw.size());
}

absl::Status FrameCompressor::HandOnFront() {
  std::unique_ptr<Job> job;
  {
    std::unique_lock<std::mutex> lock(mutex_);
    done_.wait(lock, [this] { return jobs_.front()->done; });
    job = std::move(jobs_.front());
    jobs_.pop_front();
  }
  const absl::Status status = HandOn(*job);
  spare_.push_back(std::move(job));
  return status;
}

absl::Status FrameCompressor::Add(absl::string_view raw) {
  if (threads_ <= 1) {
    if (context_ == nullptr) context_ = std::make_unique<Context>(level_);
    context_->Compress(raw, single_);
    if (ZSTD_isError(single_.size)) return HandOn(single_);
    return sink_(absl::string_view(single_.compressed).substr(0, single_.size), raw.size());
  }
  while (jobs_.size() >= 2 * threads_) {
    if (absl::Status status = HandOnFront(); !status.ok()) return status;
  }
  std::unique_ptr<Job> job;
  if (spare_.empty()) {
    job = std::make_unique<Job>();
  } else {
    job = std::move(spare_.back());
    spare_.pop_back();
  }
  job->raw.assign(raw.data(), raw.size());
  job->done = false;
  {
    std::lock_guard<std::mutex> lock(mutex_);
    waiting_.push_back(job.get());
    jobs_.push_back(std::move(job));
  }
  wanted_.notify_one();
  if (workers_.size() < threads_) workers_.emplace_back([this] { Work(); });
  return absl::OkStatus();
}

absl::Status FrameCompressor::Flush() {
  while (!jobs_.empty()) {
    if (absl::Status status = HandOnFront(); !status.ok()) return status;
  }
  return absl::OkStatus();
}

}  // namespace heddle::trace
