#include "tracegen/execute/threads/split_waits.h"

#include "absl/strings/str_cat.h"
#include "tracegen/instrument/cluster_window.h"

namespace heddle::tracegen {
namespace {

uint64_t InOwnWindow(uint64_t address) { return kSharedBase + PlaceInCluster(address).offset; }

bool MayBeRemote(Transaction operation) {
  switch (operation) {
    case Transaction::kArrive:
    case Transaction::kArriveDrop:
    case Transaction::kExpect:
    case Transaction::kArriveExpect:
    case Transaction::kArriveDropExpect:
      return true;
    default:
      return false;
  }
}

std::string OnlyArrivals(uint64_t address) {
  return absl::StrCat("transaction barrier 0x", absl::Hex(address),
                      " lies in another block of the cluster, where a thread can only arrive");
}

}  // namespace

uint64_t SplitWaits::OwnAddress(uint64_t address) const {
  if (live == nullptr || !IsInClusterWindow(address)) return address;
  const uint32_t rank = PlaceInCluster(address).rank;
  return rank < live->blocks.size() && live->blocks[rank] == this ? InOwnWindow(address) : address;
}

std::string SplitWaits::Transact(Transaction operation, uint64_t address, uint32_t number, uint64_t* before) {
  const uint64_t own = OwnAddress(address);
  if (!IsInClusterWindow(own)) return transactions.Apply(operation, own, number, before);
  const uint32_t rank = PlaceInCluster(own).rank;
  if (live == nullptr || rank >= live->blocks.size()) {
    return absl::StrCat("transaction barrier 0x", absl::Hex(own), " lies in no block of the cluster");
  }
  if (!MayBeRemote(operation)) return OnlyArrivals(own);
  TransactionBarriers& owner = live->blocks[rank]->transactions;
  std::string wrong = owner.ApplyFrom(own, operation, InOwnWindow(own), number, before);
  if (live->phase.on_end) live->phase.on_end();
  return wrong;
}

std::string SplitWaits::WhyNoWait(uint64_t own) const {
  return IsInClusterWindow(own) ? OnlyArrivals(own) : transactions.WhyRefused(own);
}

}  // namespace heddle::tracegen
