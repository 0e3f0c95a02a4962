// When a writer tries all models of addresses anew.
#ifndef HEDDLE_TRACES_FORMAT_TRIAL_SCHEDULE_H_
#define HEDDLE_TRACES_FORMAT_TRIAL_SCHEDULE_H_

#include <algorithm>
#include <cstdint>

namespace heddle::trace {

// In the first two chunks of a program and the first of every further launch, then at sixteenths, and less often while
// trials find what was known: a trial takes ten times the time of a chunk whose models are known, and a regular kernel
// never changes its mind. Between trials the choices of the last one hold; a chunk that takes many more bytes than it
// did asks for the next trial.
class TrialSchedule {
 public:
  // Of a chunk.
  struct Size {
    uint64_t bytes = 0;  // as a message, before compression
    uint64_t accesses = 0;
  };

  // Whether the next chunk is to be a trial.
  bool IsDue() const { return chunks_ < 2 || (chunks_ % kOften == 0 && (chunks_ >= next_trial_ || grown_)); }
  // The chunk was a trial; `same`: all that it chose was known.
  void NoteTrial(bool same, Size size) {
    pause_ = same && !grown_ && chunks_ > 0 ? std::min(2 * pause_, kSeldom) : kOften;
    next_trial_ = chunks_ / kOften * kOften + pause_;
    at_trial_ = size;
    grown_ = false;
    ++chunks_;
  }
  // The chunk was none.
  void NoteChunk(Size size) {
    // What every chunk begins with does not tell anything about its accesses.
    constexpr uint64_t kBeginning = 1024;
    grown_ |= size.bytes > at_trial_.bytes + kBeginning &&
              8 * size.bytes * at_trial_.accesses > 9 * at_trial_.bytes * size.accesses;
    ++chunks_;
  }
  // A new launch of the program may have little in common with the one before it.
  void BeginLaunch() { chunks_ = std::min<uint64_t>(chunks_, 1); }

 private:
  static constexpr uint64_t kOften = 16;
  static constexpr uint64_t kSeldom = 256;

  uint64_t chunks_ = 0;
  uint64_t pause_ = kOften;  // chunks from one trial to the next
  uint64_t next_trial_ = 0;
  Size at_trial_;
  bool grown_ = false;
};

}  // namespace heddle::trace

#endif  // HEDDLE_TRACES_FORMAT_TRIAL_SCHEDULE_H_
