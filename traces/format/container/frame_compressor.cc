#include "traces/format/container/frame_compressor.h"

#include <zstd.h>

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "traces/base/status_macros.h"
#include "traces/format/container/frame_sections.h"

namespace heddle::trace {

namespace {

// A thread-instruction of a regular kernel, or of one that does little but branch, takes so few bytes that its frame is
// small whatever it took to record; a level that would be too slow for large frames then costs a millisecond or two
// for a million of them, and saves up to a fifth. Likewise, less of it, for frames of middling size, unless most of
// them is bits that no level makes smaller, or the usual level shows that they do not shrink much: then the higher one
// takes 2.5 to 6 times the time to save 2 %.
constexpr size_t kSmallFrame = 32u << 10;
constexpr int kSmallFrameLevel = 15;
constexpr size_t kMiddlingFrame = 384u << 10;
constexpr int kMiddlingFrameLevel = 9;
// Level 9 takes a byte 6 to 10 times the time of the usual one, level 12 with long matches 9 to 25, level 16 60 times:
// what says much in few bytes may have it. The first entry counts that a frame comes up to. What repeats much does so
// in long matches; level 12 with these alone saves what level 13 does, in a third of its time.
struct Raised {
  uint64_t instructions_per_byte;  // before compression
  size_t shrinking;                // at the usual level
  int level;
  int min_match;  // bytes; 0: the level's own
};
constexpr Raised kRaised[] = {{18, 3, 16, 0}, {7, 6, 12, 6}, {4, 3, kMiddlingFrameLevel, 0}};
constexpr int kUsualLevel = 3;  // below it, somebody wants to be fast
// Scattered addresses take so many bytes per thread-instruction that the usual level would take longer than the kernel
// and everything else that records it; it would save a tenth.
constexpr int kScatteredLevel = 1;
constexpr uint64_t kScatteredInstructionsPerByte = 6;
// Of threads that do little but branch, parts are joined to frames that are small beside what they say, and the highest
// level takes some milliseconds for a million of their thread-instructions.
constexpr size_t kTerseFrame = 128u << 10;
constexpr uint64_t kTerseInstructionsPerByte = 32;
constexpr int kTerseFrameLevel = 22;

int LevelFor(int level, size_t raw_bytes, const FrameSections& sections) {
  if (level < kUsualLevel) return level;
  // What counts is the time per thread-instruction, and chunks have about as many of these whether they share a frame
  // or not.
  const size_t chunk_bytes = raw_bytes / std::max<uint64_t>(sections.chunks, 1);
  if (chunk_bytes <= kSmallFrame) return std::max(level, kSmallFrameLevel);
  const bool terse = sections.thread_instructions / kTerseInstructionsPerByte >= raw_bytes;
  if (raw_bytes <= kTerseFrame && terse) return kTerseFrameLevel;
  const bool scattered = sections.chunks != 0 && !sections.MostlyRandom(raw_bytes) &&
                         sections.thread_instructions < kScatteredInstructionsPerByte * raw_bytes;
  return level == kUsualLevel && scattered ? kScatteredLevel : level;
}

// How a frame that took `size` bytes at `level` is worth another try, if `usual` is the usual level; null if it is not.
const Raised* WorthMore(int usual, int level, size_t size, size_t raw_bytes, const FrameSections& sections) {
  const size_t chunk_bytes = raw_bytes / std::max<uint64_t>(sections.chunks, 1);
  if (usual < kUsualLevel || level >= kMiddlingFrameLevel || chunk_bytes > kMiddlingFrame ||
      sections.MostlyRandom(raw_bytes) || ZSTD_isError(size)) {
    return nullptr;
  }
  for (const Raised& raised : kRaised) {
    if (sections.thread_instructions >= raised.instructions_per_byte * raw_bytes &&
        size * raised.shrinking <= raw_bytes) {
      return &raised;
    }
  }
  return nullptr;
}

}  // namespace

// A Zstandard context, with the same parameters in every thread.
struct FrameCompressor::Context {
  explicit Context(int zstd_level) : usual_level(zstd_level), zstd(ZSTD_createCCtx()) {
    ZSTD_CCtx_setParameter(zstd, ZSTD_c_checksumFlag, 1);
    ZSTD_CCtx_setParameter(zstd, ZSTD_c_contentSizeFlag, 1);
  }
  ~Context() { ZSTD_freeCCtx(zstd); }

  void Compress(absl::string_view raw, Job& job) {
    const FrameSections sections = FindFrameSections(raw);
    constexpr size_t kBlockOverhead = 64;
    const size_t bound = ZSTD_compressBound(raw.size()) + kBlockOverhead * (sections.ends.size() + 1);
    if (job.compressed.size() < bound) job.compressed.resize(bound);
    const int level = LevelFor(usual_level, raw.size(), sections);
    // Among bit lengths short matches come about by chance, and cost more than the Huffman codes that they replace. The
    // levels that weigh both need no such help.
    constexpr int kLevelThatWeighs = 13;
    constexpr int kLongMatch = 7;
    const bool by_chance = level < kLevelThatWeighs && sections.MostlyRandom(raw.size());
    Compress(raw, sections, level, by_chance ? kLongMatch : 0, job);
    const Raised* const raised = WorthMore(usual_level, level, job.size, raw.size(), sections);
    if (raised != nullptr) Compress(raw, sections, raised->level, raised->min_match, job);
  }

  // A block ends at each of the frame's sections.
  void Compress(absl::string_view raw, const FrameSections& sections, int level, int min_match, Job& job) {
    ZSTD_CCtx_setParameter(zstd, ZSTD_c_compressionLevel, level);
    ZSTD_CCtx_setParameter(zstd, ZSTD_c_minMatch, min_match);
    if (sections.ends.empty()) {
      job.size = ZSTD_compress2(zstd, job.compressed.data(), job.compressed.size(), raw.data(), raw.size());
      return;
    }
    ZSTD_CCtx_reset(zstd, ZSTD_reset_session_only);
    ZSTD_CCtx_setPledgedSrcSize(zstd, raw.size());
    ZSTD_outBuffer out{job.compressed.data(), job.compressed.size(), 0};
    ZSTD_inBuffer in{raw.data(), 0, 0};
    for (size_t section : sections.ends) {
      in.size = section;
      job.size = ZSTD_compressStream2(zstd, &out, &in, ZSTD_e_flush);
      if (ZSTD_isError(job.size)) return;
    }
    in.size = raw.size();
    job.size = ZSTD_compressStream2(zstd, &out, &in, ZSTD_e_end);
    if (ZSTD_isError(job.size)) return;
    // The bound leaves room for everything; 0 says that nothing was left.
    job.size = job.size == 0
                   ? out.pos
                   : ZSTD_compress2(zstd, job.compressed.data(), job.compressed.size(), raw.data(), raw.size());
  }

  const int usual_level;
  ZSTD_CCtx* const zstd;
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

absl::Status FrameCompressor::Forward(Job& job) {
  if (ZSTD_isError(job.size)) {
    return absl::InternalError(absl::StrCat("cannot compress a frame: ", ZSTD_getErrorName(job.size)));
  }
  return sink_(absl::string_view(job.compressed).substr(0, job.size), job.raw.size());
}

absl::Status FrameCompressor::ForwardFront() {
  std::unique_ptr<Job> job;
  {
    std::unique_lock<std::mutex> lock(mutex_);
    done_.wait(lock, [this] { return jobs_.front()->done; });
    job = std::move(jobs_.front());
    jobs_.pop_front();
  }
  const absl::Status status = Forward(*job);
  spare_.push_back(std::move(job));
  return status;
}

absl::Status FrameCompressor::Add(absl::string_view raw) {
  if (threads_ <= 1) {
    if (context_ == nullptr) context_ = std::make_unique<Context>(level_);
    context_->Compress(raw, single_);
    if (ZSTD_isError(single_.size)) return Forward(single_);
    return sink_(absl::string_view(single_.compressed).substr(0, single_.size), raw.size());
  }
  while (jobs_.size() >= 2 * threads_) {
    HEDDLE_RETURN_IF_ERROR(ForwardFront());
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
    HEDDLE_RETURN_IF_ERROR(ForwardFront());
  }
  return absl::OkStatus();
}

}  // namespace heddle::trace
