#include "tracegen/runtime/opencl/driver/object.h"

#include <deque>
#include <mutex>

namespace heddle::opencl {
namespace {

constexpr size_t kQuarantined = 1024;

struct Quarantine {
  std::mutex mutex;
  std::deque<void*> objects;
};

}  // namespace

void MoveToQuarantine(void* memory) {
  static auto& quarantine = *new Quarantine;  // never destroyed: objects are released until the very end of the program
  new (memory) Object(ObjectKind::kNone);
  void* oldest = nullptr;
  {
    std::lock_guard<std::mutex> lock(quarantine.mutex);
    quarantine.objects.push_back(memory);
    if (quarantine.objects.size() > kQuarantined) {
      oldest = quarantine.objects.front();
      quarantine.objects.pop_front();
    }
  }
  ::operator delete(oldest);
}

}  // namespace heddle::opencl
