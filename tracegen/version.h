// What traces are signed with.
#ifndef HEDDLE_TRACEGEN_VERSION_H_
#define HEDDLE_TRACEGEN_VERSION_H_

namespace heddle::tracegen {

inline constexpr char kProducer[] = "heddle 0.1.0";

}  // namespace heddle::tracegen

#endif  // HEDDLE_TRACEGEN_VERSION_H_
