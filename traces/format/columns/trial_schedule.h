// When a writer tries all models of addresses anew.
#ifndef HEDDLE_TRACES_FORMAT_COLUMNS_TRIAL_SCHEDULE_H_
#define HEDDLE_TRACES_FORMAT_COLUMNS_TRIAL_SCHEDULE_H_

#include <algorithm>
#include <cstdint>

namespace heddle::trace {

// In the first two chunks of a program, then at sixteenths, and less often while trials find what was known: a trial
// takes ten times the time of a chunk whose models are known, and a regular kernel never changes its mind. Between
// trials the choices of the last one hold; a chunk that takes many more bytes than it did asks for the next trial. The
// first chunk of a further launch is encoded with what is known, and again as a trial if it is not like the one that
// was tried last: the kernel of a search is a different one at every level.
class TrialSchedule {
 public:
  // Of a chunk.
  struct Size {
    uint64_t bytes = 0;  // as a message, before compression
    uint64_t accesses = 0;
  };

  // Whether the next chunk is to be a trial.
  bool IsDue() const {
    return !begins_launch_ && (chunks_ < 2 || (chunks_ % kOften == 0 && (chunks_ >= next_trial_ || grown_)));
  }
  // Whether the chunk, for which no trial was due, is to be encoded anew as one; `known`: trials have chosen models for
  // all its instructions.
  bool IsDueAfterAll(bool known, Size size) const {
    return begins_launch_ &&
           !(known && AreClose(size.bytes, at_trial_.bytes) && AreClose(size.accesses, at_trial_.accesses));
  }
  // The chunk was a trial; `same`: all that it chose was known.
  void NoteTrial(bool same, Size size) {
    pause_ = same && !grown_ && chunks_ > 0 ? std::min(2 * pause_, kSeldom) : kOften;
    next_trial_ = chunks_ / kOften * kOften + pause_;
    at_trial_ = size;
    grown_ = begins_launch_ = false;
    ++chunks_;
  }
  // The chunk was none.
  void NoteChunk(Size size) {
    // What every chunk begins with does not tell anything about its accesses.
    constexpr uint64_t kBeginning = 1024;
    grown_ |= size.bytes > at_trial_.bytes + kBeginning &&
              8 * size.bytes * at_trial_.accesses > 9 * at_trial_.bytes * size.accesses;
    begins_launch_ = false;
    ++chunks_;
  }
  // A new launch of the program may have little in common with the one before it.
  void BeginLaunch() {
    begins_launch_ = chunks_ >= 2;
    chunks_ = std::min<uint64_t>(chunks_, 1);
    next_trial_ = pause_;
  }

 private:
  static constexpr uint64_t kOften = 16;
  static constexpr uint64_t kSeldom = 256;
  // Within an eighth of each other.
  static bool AreClose(uint64_t a, uint64_t b) { return 8 * std::max(a, b) <= 9 * std::min(a, b); }

  uint64_t chunks_ = 0;
  uint64_t pause_ = kOften;  // chunks from one trial to the next
  uint64_t next_trial_ = 0;
  Size at_trial_;
  bool grown_ = false;
  bool begins_launch_ = false;  // the next chunk is the first of a further launch
};

}  // namespace heddle::trace

#endif  // HEDDLE_TRACES_FORMAT_COLUMNS_TRIAL_SCHEDULE_H_
