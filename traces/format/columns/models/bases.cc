#include "traces/format/columns/models/bases.h"

namespace heddle::trace {
namespace {

template <typename Base>
void StoreBasesOf(size_t threads, const Base& base, v1::AddressColumn& record) {
  record.mutable_base_dd()->Reserve(static_cast<int>(threads));
  ForSecondDifferences(threads, base, [&](int64_t second) { record.mutable_base_dd()->AddAlreadyReserved(second); });
}

// Sums of sums: what base_dd and step_dd store. Returns the bits that all sums have, and those that any has: none is
// below the former or above the latter.
AddressReach SumTwice(const google::protobuf::RepeatedField<int64_t>& second_differences, uint64_t* out) {
  uint64_t value = 0;
  uint64_t delta = 0;
  uint64_t all = ~uint64_t{0};
  uint64_t any = 0;
#pragma GCC unroll 4
  for (int64_t second : second_differences) {
    delta += static_cast<uint64_t>(second);
    value += delta;
    *out++ = value;
    all &= value;
    any |= value;
  }
  return {all, any};
}

}  // namespace

void StoreBases(const ColumnView& column, v1::AddressColumn& record) {
  StoreBasesOf(column.threads(), [&](size_t t) { return column.values[column.starts[t]]; }, record);
}

void StoreBases(std::span<const uint64_t> bases, v1::AddressColumn& record) {
  StoreBasesOf(bases.size(), [&](size_t t) { return bases[t]; }, record);
}

void StoreSteps(std::span<const uint64_t> longest, v1::AddressColumn& record) {
  record.mutable_step_dd()->Reserve(static_cast<int>(longest.size()));
  uint64_t delta = 0;
  for (size_t k = 1; k < longest.size(); ++k) {
    const uint64_t step = longest[k] - longest[k - 1];
    record.mutable_step_dd()->AddAlreadyReserved(static_cast<int64_t>(step - delta));
    delta = step;
  }
}

void ReadBases(const v1::AddressColumn& record, ColumnStorage& storage) {
  storage.bases.resize(static_cast<size_t>(record.base_dd_size()));
  storage.bases_reach = SumTwice(record.base_dd(), storage.bases.data());
}

void SetBaseSource(DecoderColumns& columns, uint32_t index) {
  columns.cursors[index].separable = true;
  columns.cursors[index].source = columns.BaseSlot(index);
  columns.storage[index].biases[0] = 0;
}

void ReadBasesAndSteps(const v1::AddressColumn& record, DecoderColumns& columns, uint32_t index) {
  ColumnStorage& storage = columns.storage[index];
  ReadBases(record, storage);
  storage.addends.resize(static_cast<size_t>(record.step_dd_size()) + 1);
  storage.addends[0] = 0;
  SumTwice(record.step_dd(), storage.addends.data() + 1);
  storage.first = storage.addends.data();
  ColumnCursor& cursor = columns.cursors[index];
  cursor.base = MiddleBase(storage.bases[0]);
  cursor.based = true;
  cursor.stride = sizeof(uint64_t);
}

}  // namespace heddle::trace
