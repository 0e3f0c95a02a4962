#include "tracegen/execute/threads/async_copies.h"

#include <algorithm>
#include <cstring>

namespace heddle::tracegen {
namespace {

// Faults where nothing lies, as the copy would.
void Touch(uint64_t address) { static_cast<void>(*reinterpret_cast<const volatile uint8_t*>(address)); }

}  // namespace

void AsyncCopies::BeginBlock(uint32_t threads) {
  count_ = threads;
  for (Thread& thread : threads_) {
    thread.closed = 0;
    thread.copies.clear();
  }
}

void AsyncCopies::Copy(uint32_t thread, uint64_t to, uint64_t from, uint32_t bytes, uint32_t read) {
  bytes = std::min(bytes, kMostBytes);
  read = std::min(read, bytes);
  OnItsWay copy{to, 0, bytes, {}};
  Touch(to);
  Touch(to + bytes - 1);
  std::memcpy(copy.data.data(), reinterpret_cast<const void*>(from), read);
  if (threads_.size() < count_) threads_.resize(count_);
  Thread& owner = threads_[thread];
  if (owner.copies.size() == kMostOnTheirWay) Arrive(owner, owner.copies.size() / 2);
  copy.group = owner.closed;
  owner.copies.push_back(copy);
}

void AsyncCopies::Commit(uint32_t thread) {
  if (thread < threads_.size()) ++threads_[thread].closed;
}

void AsyncCopies::Arrive(Thread& thread, size_t count) {
  for (size_t i = 0; i < count; ++i) {
    const OnItsWay& copy = thread.copies[i];
    std::memcpy(reinterpret_cast<void*>(copy.to), copy.data.data(), copy.bytes);
  }
  thread.copies.erase(thread.copies.begin(), thread.copies.begin() + static_cast<std::ptrdiff_t>(count));
}

bool AsyncCopies::ArriveBelow(Thread& thread, uint32_t end) {
  // Groups are in ascending order.
  size_t count = 0;
  while (count < thread.copies.size() && thread.copies[count].group < end) ++count;
  Arrive(thread, count);
  return count != 0;
}

bool AsyncCopies::Wait(uint32_t thread, uint32_t pending) {
  if (thread >= threads_.size()) return false;
  Thread& waits = threads_[thread];
  return ArriveBelow(waits, waits.closed - std::min(pending, waits.closed));
}

bool AsyncCopies::WaitForAll(uint32_t thread) {
  return thread < threads_.size() && ArriveBelow(threads_[thread], ~uint32_t{0});
}

}  // namespace heddle::tracegen
