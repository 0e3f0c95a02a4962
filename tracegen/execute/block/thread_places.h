// Where threads are, in the words of messages.
#ifndef HEDDLE_TRACEGEN_EXECUTE_BLOCK_THREAD_PLACES_H_
#define HEDDLE_TRACEGEN_EXECUTE_BLOCK_THREAD_PLACES_H_

#include <cstdint>
#include <string>

#include "tracegen/execute/launch/geometry.h"
#include "tracegen/instrument/instrument.h"
#include "tracegen/instrument/thread_context.h"

namespace heddle::tracegen {

// The place with a number that generated code has passed to the runtime: "k.cu:12".
std::string SiteText(const InstrumentedKernel& kernel, uint32_t site);

// Of the launch and block that run.
class ThreadPlaces {
 public:
  // What runs now; must outlive the object.
  explicit ThreadPlaces(const ThreadContext& context) : context_(context) {}

  // `kernel` must live as long as the launch runs.
  void BeginLaunch(const InstrumentedKernel& kernel, const Geometry& geometry);

  // "kernel 'k'".
  std::string Kernel() const;
  // "kernel 'k', block (1,0,0)".
  std::string Block() const;
  // "(5,0,0)".
  std::string Coordinates(uint32_t thread) const;
  // "kernel 'k', block (1,0,0), thread (5,0,0)".
  std::string Thread(uint32_t thread) const;
  // Thread with ", near k.cu:12", if that is known of the IR block `location` (ThreadOwn::location).
  std::string ThreadNear(uint32_t thread, uint32_t location) const;
  // "k.cu:12".
  std::string Site(uint32_t site) const { return SiteText(*kernel_, site); }

  // Where the running thread is: the IR block; and, in it, the access that has failed with this address. Line 0 =
  // unknown.
  tracegen::Site RunningBlock() const;
  tracegen::Site LastAccess(const void* address) const;
  // What is wrong where one of the addresses in `record`, all those of the current IR block, is no multiple of the
  // access's size.
  std::string Misaligned(const uint64_t* record) const;

 private:
  const ThreadContext& context_;
  const InstrumentedKernel* kernel_ = nullptr;
  uint32_t block_[3] = {1, 1, 1};  // its dimensions
};

}  // namespace heddle::tracegen

#endif  // HEDDLE_TRACEGEN_EXECUTE_BLOCK_THREAD_PLACES_H_
