#include "tracegen/runtime/opencl/driver/object.h"

#include <deque>
#include <mutex>

namespace heddle::opencl {
namespace {

constexpr size_t kGraves = 1024;

struct Graveyard {
  std::mutex mutex;
  std::deque<void*> graves;
};

}  // namespace

void Bury(void* memory) {
  static auto& yard = *new Graveyard;  // never destroyed: objects are released until the very end of the program
  new (memory) Object(ObjectKind::kNone);
  void* oldest = nullptr;
  {
    std::lock_guard<std::mutex> lock(yard.mutex);
    yard.graves.push_back(memory);
    if (yard.graves.size() > kGraves) {
      oldest = yard.graves.front();
      yard.graves.pop_front();
    }
  }
  ::operator delete(oldest);
}

}  // namespace heddle::opencl
