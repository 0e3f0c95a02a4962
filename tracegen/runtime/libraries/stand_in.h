// What stand-ins for closed libraries share. Their kernels are plain CUDA code, recorded as any kernel, but the
// recording says which function of the library they stand for.
#ifndef HEDDLE_TRACEGEN_RUNTIME_LIBRARIES_STAND_IN_H_
#define HEDDLE_TRACEGEN_RUNTIME_LIBRARIES_STAND_IN_H_

// Part of the runtime (tracegen/runtime/client/stand_in.h).
extern "C" const char* heddleStandIn(const char* function);

namespace heddle::libraries {

// While one lives, what this thread launches is marked as standing for `function`, a text that stays. The outermost
// holds: a function of a library may call another.
class StandIn {
 public:
  explicit StandIn(const char* function) : before_(heddleStandIn(nullptr)) {
    heddleStandIn(before_ != nullptr ? before_ : function);
  }
  ~StandIn() { heddleStandIn(before_); }
  StandIn(const StandIn&) = delete;
  StandIn& operator=(const StandIn&) = delete;

 private:
  const char* before_;
};

}  // namespace heddle::libraries

#endif  // HEDDLE_TRACEGEN_RUNTIME_LIBRARIES_STAND_IN_H_
