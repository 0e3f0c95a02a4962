#include "tracegen/execute/threads/transaction_barriers.h"

#include <algorithm>
#include <cstring>

#include "absl/strings/str_cat.h"

namespace heddle::tracegen {
namespace {

constexpr uint32_t kCountBits = kTransactionCountBits;
static_assert(kTransactionPendingBit == kCountBits, "arrivals that are to come lie behind those that are expected");
constexpr uint32_t kBytesBits = 22;
constexpr uint64_t kCountMask = (uint64_t{1} << kCountBits) - 1;
constexpr uint64_t kBytesMask = (uint64_t{1} << kBytesBits) - 1;
constexpr uint32_t kMarkBit = 63;

std::string Name(uint64_t address) { return absl::StrCat("transaction barrier 0x", absl::Hex(address)); }

}  // namespace

TransactionBarriers::State TransactionBarriers::State::Load(uint64_t address) {
  uint64_t bits = 0;
  std::memcpy(&bits, reinterpret_cast<const void*>(address), sizeof(bits));
  State state;
  state.expected = static_cast<uint32_t>(bits & kCountMask);
  state.arrivals = static_cast<uint32_t>(bits >> kCountBits & kCountMask);
  const auto bytes = static_cast<uint32_t>(bits >> 2 * kCountBits & kBytesMask);
  state.bytes = static_cast<int32_t>(bytes << (32 - kBytesBits)) >> (32 - kBytesBits);
  state.parity = ParityOf(bits);
  state.is_barrier = bits >> kMarkBit != 0;
  return state;
}

uint64_t TransactionBarriers::State::Bits() const {
  const uint64_t low = expected | uint64_t{arrivals} << kCountBits;
  const uint64_t high = (static_cast<uint64_t>(bytes) & kBytesMask) << 2 * kCountBits;
  return low | high | parity << kParityBit | uint64_t{is_barrier} << kMarkBit;
}

void TransactionBarriers::State::Store(uint64_t address) const {
  const uint64_t bits = Bits();
  std::memcpy(reinterpret_cast<void*>(address), &bits, sizeof(bits));
}

void TransactionBarriers::BeginBlock() {
  waiting_.clear();
  phases_.clear();
  std::fill(waits_.begin(), waits_.end(), Wait{});
  std::fill(has_failed_.begin(), has_failed_.end(), false);
}

std::string TransactionBarriers::WhyRefused(uint64_t address) const {
  if (address % sizeof(uint64_t) != 0) return absl::StrCat(Name(address), ": its address is no multiple of 8");
  if (State::Load(Place(address)).is_barrier) return "";
  return absl::StrCat(Name(address), " has not been initialized");
}

std::string TransactionBarriers::Apply(Transaction operation, uint64_t address, uint32_t number, uint64_t* before) {
  if (operation == Transaction::kInit) {
    if (address % sizeof(uint64_t) != 0) return WhyRefused(address);
    if (number == 0 || number > kMostCount) {
      return absl::StrCat(Name(address), " is to expect ", number, " arrivals; 1 to ", kMostCount, " are possible");
    }
    State{number, number, 0, 0, true}.Store(Place(address));
    phases_[address] = 0;
    return "";
  }
  if (operation == Transaction::kInvalidateOfWarp) {
    if (!WhyRefused(address).empty()) return "";
    operation = Transaction::kInvalidate;
  }
  if (std::string why = WhyRefused(address); !why.empty()) return why;
  State state = State::Load(Place(address));
  *before = state.Bits();
  switch (operation) {
    case Transaction::kInvalidate:
      std::memset(reinterpret_cast<void*>(Place(address)), 0, sizeof(uint64_t));
      return "";
    case Transaction::kExpect:
    case Transaction::kArriveExpect:
    case Transaction::kArriveDropExpect:
      if (number > kMostBytes || state.bytes + static_cast<int64_t>(number) > int64_t{kMostBytes}) {
        return absl::StrCat(Name(address), " is to expect more than ", kMostBytes, " bytes");
      }
      state.bytes += static_cast<int32_t>(number);
      number = operation == Transaction::kExpect ? 0 : 1;
      break;
    case Transaction::kCopiesCounted:
      if (state.arrivals == kMostCount) return absl::StrCat(Name(address), " expects too many arrivals");
      ++state.arrivals;
      break;
    default:
      break;
  }
  if (operation == Transaction::kArriveDrop || operation == Transaction::kArriveDropExpect) {
    state.expected -= std::min(state.expected, number);
  }
  return ArriveAt(address, state, number);
}

std::string TransactionBarriers::ApplyFrom(uint64_t seen_at, Transaction operation, uint64_t address, uint32_t number,
                                           uint64_t* before) {
  shift_ = seen_at - address;
  std::string wrong = Apply(operation, address, number, before);
  shift_ = 0;
  return wrong;
}

std::string TransactionBarriers::ArriveAt(uint64_t address, State& state, uint32_t arrivals) {
  if (arrivals > state.arrivals) {
    return absl::StrCat(Name(address), " gets ", arrivals, " arrivals, but its phase waits for ", state.arrivals);
  }
  state.arrivals -= arrivals;
  if (state.arrivals == 0 && state.bytes == 0) {
    EndPhase(address, state);
  } else {
    state.Store(Place(address));
  }
  return "";
}

void TransactionBarriers::EndPhase(uint64_t address, State& state) {
  state.parity ^= 1;
  state.arrivals = state.expected;
  state.Store(Place(address));
  const uint64_t over = ++phases_[address];
  std::fill(has_failed_.begin(), has_failed_.end(), false);
  std::erase_if(waiting_, [&](uint32_t thread) {
    if (waits_[thread].address != address || waits_[thread].parity == state.parity) return false;
    Release(thread, over + 1);
    return true;
  });
}

void TransactionBarriers::Release(uint32_t thread, uint64_t result) {
  waits_[thread].address = 0;
  threads_[thread].result = result;
  warps_.Unblock(thread);
  threads_.Release(thread);
}

uint64_t TransactionBarriers::Test(const Wait& wait) {
  const uint32_t self = threads_.running();
  if (State::Load(Place(wait.address)).parity != wait.parity) return phases_[wait.address] + 1;
  if (waits_.size() < threads_.count()) {
    waits_.resize(threads_.count());
    has_failed_.resize(threads_.count());
  }
  waits_[self] = wait;
  waiting_.push_back(self);
  threads_.current().state = ThreadState::kAtPhase;
  warps_.Block(self);
  if (warps_.NeedsCheck(self)) warps_.Check(self);
  return 0;
}

bool TransactionBarriers::FailOne() {
  const auto found = std::ranges::find_if(waiting_, [this](uint32_t thread) { return !has_failed_[thread]; });
  if (found == waiting_.end()) return false;
  const uint32_t thread = *found;
  waiting_.erase(found);
  has_failed_[thread] = true;
  Release(thread, 0);
  return true;
}

std::string TransactionBarriers::Describe(uint32_t thread, const std::string& place) const {
  const State state = State::Load(Place(waits_[thread].address));
  std::string text = absl::StrCat(Name(waits_[thread].address), " at ", place, " (", state.arrivals, " arrivals");
  if (state.bytes != 0) absl::StrAppend(&text, " and ", state.bytes, " bytes");
  return absl::StrCat(text, " are to come)");
}

}  // namespace heddle::tracegen
