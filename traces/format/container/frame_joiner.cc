#include "traces/format/container/frame_joiner.h"

#include "traces/base/status_macros.h"
#include "traces/format/container/frame_sections.h"
#include "traces/format/container/shared_frames.h"

namespace heddle::trace {
namespace {

// Chunks that are tried together: enough of them that parts of a block are followed by those of the next one.
constexpr size_t kTrialRecords = 8;
constexpr size_t kTrialBytes = 512u << 10;
// Chunks between two trials if the first did not pay.
constexpr size_t kAlone = 56;
// Frames between two trials if the first paid. A trial compresses its chunks twice, which for a frame of a few large
// chunks is as much as the frame itself takes.
constexpr size_t kTogether = 15;
// A reader has to decompress all of a frame for each of its chunks: a few bytes less are not enough.
constexpr size_t kLeastGain = 1024;  // bytes
constexpr double kMostShare = 0.9;
// What shrinks less takes Zstandard twice the time in a large frame, and must gain more by it. (Scattered loads, whose
// files get a seventh smaller that way, are at 2.7 to 3.6.)
constexpr double kLeastShrinking = 3.7;
constexpr double kMostShareOfLittleShrinking = 0.75;

}  // namespace

size_t FrameJoiner::CompressedSize(absl::string_view raw) {
  if (zstd_ == nullptr) zstd_.reset(ZSTD_createCCtx());
  constexpr int kQuickLevel = 2;
  const size_t bound = ZSTD_compressBound(raw.size());
  if (compressed_.size() < bound) compressed_.resize(bound);
  const size_t size =
      ZSTD_compressCCtx(zstd_.get(), compressed_.data(), compressed_.size(), raw.data(), raw.size(), kQuickLevel);
  return ZSTD_isError(size) ? raw.size() : size;
}

bool FrameJoiner::Pays() {
  if (FindFrameSections(raw_).MostlyRandom(raw_.size())) return false;
  const size_t together = CompressedSize(raw_);
  const bool shrinks = static_cast<double>(together) * kLeastShrinking <= static_cast<double>(raw_.size());
  size_t apart = 0;
  size_t begin = 0;
  for (size_t end : ends_) {
    apart += CompressedSize(absl::string_view(raw_).substr(begin, end - begin));
    begin = end;
  }
  const double most = (shrinks ? kMostShare : kMostShareOfLittleShrinking) * static_cast<double>(apart);
  return together + kLeastGain <= apart && static_cast<double>(together) <= most;
}

absl::Status FrameJoiner::Decide() {
  if (pays_ || ends_.size() < 2) return absl::OkStatus();
  pays_ = Pays();
  if (pays_) {
    together_ = kTogether;
    return absl::OkStatus();
  }
  alone_ = kAlone;
  size_t begin = 0;
  for (size_t end : ends_) {
    const absl::Status status = sink_(absl::string_view(raw_).substr(begin, end - begin), 1);
    if (!status.ok()) return status;
    begin = end;
  }
  raw_.clear();
  ends_.clear();
  return absl::OkStatus();
}

absl::Status FrameJoiner::EndFrame() {
  HEDDLE_RETURN_IF_ERROR(Decide());
  if (ends_.empty()) return absl::OkStatus();
  const absl::Status status = sink_(raw_, ends_.size());
  raw_.clear();
  ends_.clear();
  pays_ = pays_ && together_ > 0;
  if (pays_) --together_;
  return status;
}

absl::Status FrameJoiner::Add(absl::string_view raw) {
  if (raw_.size() + raw.size() > kSharedFrameBytes || ends_.size() == kMaxSharedRecords) {
    HEDDLE_RETURN_IF_ERROR(EndFrame());
  }
  if (alone_ > 0) {
    --alone_;
    return sink_(raw, 1);
  }
  raw_.append(raw.data(), raw.size());
  ends_.push_back(raw_.size());
  return ends_.size() == kTrialRecords || raw_.size() >= kTrialBytes ? Decide() : absl::OkStatus();
}

absl::Status FrameJoiner::Close() {
  const absl::Status status = EndFrame();
  Discard();
  return status;
}

void FrameJoiner::Discard() {
  raw_.clear();
  ends_.clear();
  pays_ = false;
  alone_ = 0;
  together_ = 0;
}

}  // namespace heddle::trace
