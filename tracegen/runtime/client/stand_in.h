// Kernels that stand for a function of a closed library (tracegen/runtime/libraries).
#ifndef HEDDLE_TRACEGEN_RUNTIME_CLIENT_STAND_IN_H_
#define HEDDLE_TRACEGEN_RUNTIME_CLIENT_STAND_IN_H_

extern "C" {

// What this thread launches from here on stands for `function`, such as "cublasSgemm"; null = the program's own code.
// The text is kept, not copied. Returns what held before.
__attribute__((visibility("hidden"))) const char* heddleStandIn(const char* function);
}

namespace heddle::device {

// The function that launches of this thread stand for; empty if they are the program's own.
const char* StandInFunction();

}  // namespace heddle::device

#endif  // HEDDLE_TRACEGEN_RUNTIME_CLIENT_STAND_IN_H_
