#include "replay/memory/sm/coalescer.h"

#include <bit>
#include <limits>

#include "replay/seams/lane_mask.h"

namespace heddle::replay {
namespace {

constexpr uint32_t kSector = 32;

// The bits of the address in which lanes differ from `address`.
uint64_t Differences(uint64_t address, LaneMask lanes, const LaneAddresses& addresses) {
  uint64_t differences = 0;
  if (const LaneMask from_low = lanes >> std::countr_zero(lanes); (from_low & (from_low + 1)) == 0) {  // neighbours
    const uint64_t* first = &addresses[std::countr_zero(lanes)];
    const int count = std::popcount(lanes);
    for (int i = 0; i < count; ++i) differences |= first[i] ^ address;
    return differences;
  }
  ForEachLane(lanes, [&](int lane) { differences |= addresses[lane] ^ address; });
  return differences;
}

// Halves a transaction while all bytes of its lanes lie in one half, down to a sector.
void Shrink(uint32_t bytes, const LaneAddresses& addresses, Transaction& transaction) {
  const uint64_t address = addresses[std::countr_zero(transaction.lanes)];
  const uint64_t differences = Differences(address, transaction.lanes, addresses);
  // What is aligned to its size lies in one half, so that the bit of the half tells in which.
  const bool aligned = ((address | differences) & (bytes - 1)) == 0;
  uint64_t low = ~uint64_t{0};
  uint64_t high = 0;
  if (!aligned) {
    ForEachLane(transaction.lanes, [&](int lane) {
      low = std::min(low, addresses[lane]);
      high = std::max(high, addresses[lane] + bytes - 1);
    });
  }
  while (transaction.bytes > kSector) {
    const uint16_t half = transaction.bytes / 2;
    const uint64_t middle = transaction.address + half;
    const bool all_above = aligned ? (differences & half) == 0 && (address & half) != 0 : low >= middle;
    const bool some_above = aligned ? ((differences | address) & half) != 0 : high >= middle;
    if (all_above) {
      transaction.address = middle;
    } else if (some_above) {
      return;
    }
    transaction.bytes = half;
  }
}

// The most lanes on one address.
uint8_t MostOnOneAddress(LaneMask lanes, const LaneAddresses& addresses) {
  int most = 0;
  while (lanes != 0) {
    const uint64_t address = addresses[std::countr_zero(lanes)];
    LaneMask same = 0;
    ForEachLane(lanes, [&](int lane) { same |= static_cast<LaneMask>(addresses[lane] == address) << lane; });
    most = std::max(most, std::popcount(same));
    lanes &= ~same;
  }
  return static_cast<uint8_t>(most);
}

}  // namespace

Coalescer::Coalescer(Mode mode, uint32_t warp_size, uint32_t line_bytes, uint32_t largest)
    : mode_(mode), warp_size_(warp_size), line_bytes_(line_bytes), largest_(largest) {}

namespace {

// Sorts by insertion, which is quick while there are few pieces; gives up, false, if there are more.
bool GroupFew(uint32_t bytes, LaneMask lanes, const LaneAddresses& addresses, TransactionList& out) {
  constexpr uint32_t kFew = 8;
  const uint64_t base = ~uint64_t{bytes - 1};
  const uint32_t first = out.size();
  uint32_t last = first;  // where the last lane went
  for (; lanes != 0; lanes &= lanes - 1) {
    const int lane = std::countr_zero(lanes);
    const uint64_t address = addresses[lane] & base;
    const LaneMask bit = LaneMask{1} << lane;
    if (out.size() > first && out[last].address == address) {
      out[last].lanes |= bit;
      continue;
    }
    uint32_t place = out.size();
    while (place > first && out[place - 1].address > address) --place;
    if (place > first && out[place - 1].address == address) {
      last = place - 1;
      out[last].lanes |= bit;
      continue;
    }
    if (out.size() - first == kFew) {
      out.resize(first);
      return false;
    }
    out.push_back({});
    for (uint32_t index = out.size() - 1; index > place; --index) out[index] = out[index - 1];
    out[place] = {.address = address, .lanes = bit, .bytes = static_cast<uint16_t>(bytes)};
    last = place;
  }
  return true;
}

// Counts for each lane how many come before it, without a branch that cannot be predicted; lanes of one piece have as
// many. A Key holds all bits in which the addresses differ: the narrower it is, the more of them are compared at a
// time.
template <typename Key>
void GroupMany(uint32_t bytes, LaneMask lanes, const LaneAddresses& addresses, TransactionList& out) {
  const uint64_t base = ~uint64_t{bytes - 1};
  std::array<Key, kMaxLanes> key;
  uint32_t count = 0;
  ForEachLane(lanes, [&](int lane) {
    key[count++] = static_cast<Key>(addresses[lane] & base & uint64_t{std::numeric_limits<Key>::max()});
  });
  std::array<LaneMask, kMaxLanes> pieces{};  // by the number of lanes before them
  const Key* next = key.data();
  ForEachLane(lanes, [&](int lane) {
    const Key mine = *next++;
    Key before = 0;
    for (uint32_t other = 0; other < count; ++other) before += key[other] < mine ? 1 : 0;
    pieces[before] |= LaneMask{1} << lane;
  });
  for (uint32_t place = 0; place < count; ++place) {
    const LaneMask piece = pieces[place];
    if (piece == 0) continue;
    const uint64_t address = addresses[std::countr_zero(piece)] & base;
    out.push_back({.address = address, .lanes = piece, .bytes = static_cast<uint16_t>(bytes)});
  }
}

}  // namespace

void GroupLanes(uint32_t bytes, LaneMask lanes, const LaneAddresses& addresses, TransactionList& out) {
  const uint64_t base = ~uint64_t{bytes - 1};
  const uint64_t first = addresses[std::countr_zero(lanes)];
  const uint64_t differences = Differences(first, lanes, addresses);
  if ((differences & base) == 0) {
    out.push_back({.address = first & base, .lanes = lanes, .bytes = static_cast<uint16_t>(bytes)});
  } else if (!GroupFew(bytes, lanes, addresses, out)) {
    if (differences <= uint64_t{std::numeric_limits<int32_t>::max()}) {
      GroupMany<int32_t>(bytes, lanes, addresses, out);
    } else {
      GroupMany<uint64_t>(bytes, lanes, addresses, out);
    }
  }
}

uint32_t Coalescer::SegmentBytes(Kind kind, uint32_t bytes) const {
  uint32_t segment = 128;
  if (mode_ == machine::v1::Hierarchy::COALESCING_OFF) {
    segment = line_bytes_;
  } else if (mode_ == machine::v1::Hierarchy::COMPUTE_13) {
    segment = bytes == 1 ? 32 : bytes == 2 ? 64 : 128;
  } else if (line_bytes_ == 0 && kind != Kind::kAtomic) {
    segment = kSector;
  }
  return std::min(segment, largest_);
}

void Coalescer::Coalesce(Kind kind, uint32_t bytes, LaneMask lanes, const LaneAddresses& addresses,
                         TransactionList& out) const {
  const uint32_t first = out.size();
  if (mode_ == machine::v1::Hierarchy::COALESCING_OFF && (line_bytes_ == 0 || kind == Kind::kAtomic)) {
    ForEachLane(lanes, [&](int lane) {
      out.push_back({.address = addresses[lane], .lanes = LaneMask{1} << lane, .bytes = static_cast<uint16_t>(bytes)});
    });
    return;
  }
  const uint32_t segment = SegmentBytes(kind, bytes);
  uint32_t parts = 1;
  if (mode_ == machine::v1::Hierarchy::COMPUTE_13) {
    parts = WarpParts(2, bytes);
  } else if (mode_ == machine::v1::Hierarchy::COMPUTE_20) {
    parts = WarpParts(1, bytes);
  }
  for (uint32_t part = 0; part < parts; ++part) {
    const LaneMask mask = lanes & PartLanes(part, parts, warp_size_);
    if (mask != 0) GroupLanes(segment, mask, addresses, out);
  }
  const bool shrinks = mode_ == machine::v1::Hierarchy::COMPUTE_13 ||
                       (mode_ == machine::v1::Hierarchy::COMPUTE_20 && kind == Kind::kWrite);
  if (!shrinks && kind != Kind::kAtomic) return;
  for (uint32_t index = first; index < out.size(); ++index) {
    if (shrinks) Shrink(bytes, addresses, out[index]);
    if (kind == Kind::kAtomic) out[index].passes = MostOnOneAddress(out[index].lanes, addresses);
  }
}

}  // namespace heddle::replay
