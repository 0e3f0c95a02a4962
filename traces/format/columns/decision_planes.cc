#include "traces/format/columns/decision_planes.h"

#include <zstd.h>

#include <algorithm>
#include <vector>

namespace heddle::trace {
namespace {

constexpr uint32_t kGroup = 8;  // decisions, and paths, that are turned at once

// Swaps rows and columns of 8 x 8 bits: bit c of byte r becomes bit r of byte c.
uint64_t Transposed(uint64_t x) {
  uint64_t t = (x ^ (x >> 7)) & 0x00aa00aa00aa00aa;
  x ^= t ^ (t << 7);
  t = (x ^ (x >> 14)) & 0x0000cccc0000cccc;
  x ^= t ^ (t << 14);
  t = (x ^ (x >> 28)) & 0x00000000f0f0f0f0;
  return x ^ t ^ (t << 28);
}

// Lets `copy` copy all decisions, by squares of 8 decisions of 8 paths, or bit by bit where a path ends among the 8.
template <typename Copy>
void Turn(std::span<const uint32_t> counts, const Copy& copy) {
  std::vector<uint64_t> first_byte(counts.size());  // of each path
  std::vector<uint32_t> active;                     // paths that have decisions left
  uint64_t bytes = 0;
  for (uint32_t p = 0; p < counts.size(); ++p) {
    first_byte[p] = bytes;
    bytes += (uint64_t{counts[p]} + 7) / 8;
    if (counts[p] > 0) active.push_back(p);
  }
  uint64_t place = 0;  // of the next plane
  for (uint64_t decision = 0; !active.empty(); decision += kGroup) {
    uint32_t fewest = ~uint32_t{0};
    for (uint32_t p : active) fewest = std::min(fewest, counts[p]);
    const uint64_t plane_bytes = (active.size() + 7) / 8;
    if (fewest >= decision + kGroup) {
      for (size_t first = 0; first < active.size(); first += kGroup) {
        const size_t paths = std::min<size_t>(kGroup, active.size() - first);
        uint64_t at[kGroup];
        for (size_t i = 0; i < paths; ++i) at[i] = first_byte[active[first + i]] + decision / 8;
        copy.Block(std::span(at, paths), place + first / 8, plane_bytes);
      }
      place += kGroup * plane_bytes;
    } else {
      std::vector<uint32_t> left = active;
      for (uint64_t d = decision; d < decision + kGroup && !left.empty(); ++d) {
        for (size_t i = 0; i < left.size(); ++i) {
          copy.Bit(first_byte[left[i]] + d / 8, static_cast<unsigned>(d % 8), place + i / 8,
                   static_cast<unsigned>(i % 8));
        }
        place += (left.size() + 7) / 8;
        std::erase_if(left, [&](uint32_t p) { return counts[p] <= d + 1; });
      }
    }
    if (fewest <= decision + kGroup) std::erase_if(active, [&](uint32_t p) { return counts[p] <= decision + kGroup; });
  }
}

// Copies into `to`, whose bytes are 0 at first: `kFromPaths` from paths to planes, else from planes to paths. Places
// are numbers of bytes.
template <bool kFromPaths>
struct Copier {
  std::string_view from;
  std::string& to;

  void Block(std::span<const uint64_t> paths, uint64_t plane, uint64_t plane_bytes) const {
    uint64_t square = 0;
    const auto get = [&](size_t row, uint64_t at) { square |= uint64_t{static_cast<uint8_t>(from[at])} << (8 * row); };
    const auto put = [&](size_t row, uint64_t at) { to[at] = static_cast<char>(square >> (8 * row)); };
    if constexpr (kFromPaths) {
      for (size_t i = 0; i < paths.size(); ++i) get(i, paths[i]);
      square = Transposed(square);
      for (size_t i = 0; i < kGroup; ++i) put(i, plane + i * plane_bytes);
    } else {
      for (size_t i = 0; i < kGroup; ++i) get(i, plane + i * plane_bytes);
      square = Transposed(square);
      for (size_t i = 0; i < paths.size(); ++i) put(i, paths[i]);
    }
  }

  void Bit(uint64_t path, unsigned path_bit, uint64_t plane, unsigned plane_bit) const {
    if constexpr (kFromPaths) {
      to[plane] = static_cast<char>(to[plane] | (((from[path] >> path_bit) & 1) << plane_bit));
    } else {
      to[path] = static_cast<char>(to[path] | (((from[plane] >> plane_bit) & 1) << path_bit));
    }
  }
};

size_t CompressedSize(std::string_view bytes) {
  constexpr int kLevel = 3;  // quick; higher ones come to the same choice
  std::string out(ZSTD_compressBound(bytes.size()), '\0');
  const size_t size = ZSTD_compress(out.data(), out.size(), bytes.data(), bytes.size(), kLevel);
  return ZSTD_isError(size) ? bytes.size() : size;
}

}  // namespace

uint64_t PathBytes(std::span<const uint32_t> counts) {
  uint64_t bytes = 0;
  for (uint32_t count : counts) bytes += (uint64_t{count} + 7) / 8;
  return bytes;
}

uint64_t PlaneBytes(std::span<const uint32_t> counts) {
  std::vector<uint32_t> sorted(counts.begin(), counts.end());
  std::sort(sorted.begin(), sorted.end());
  uint64_t bytes = 0;
  uint64_t planes = 0;
  for (size_t i = 0; i < sorted.size(); ++i) {
    bytes += (sorted[i] - planes) * ((sorted.size() - i + 7) / 8);
    planes = sorted[i];
  }
  return bytes;
}

std::string PlanesOf(std::span<const uint32_t> counts, std::string_view bits) {
  std::string planes(PlaneBytes(counts), '\0');
  Turn(counts, Copier<true>{bits, planes});
  return planes;
}

std::string PathsOf(std::span<const uint32_t> counts, std::string_view planes) {
  std::string bits(PathBytes(counts), '\0');
  Turn(counts, Copier<false>{planes, bits});
  return bits;
}

bool PlanesPay(std::span<const uint32_t> counts, std::string_view bits) {
  // Older readers cannot read planes, and turning them takes time: a little less is not enough.
  constexpr size_t kLeastGain = 512;  // bytes
  constexpr double kShare = 0.75;
  if (bits.size() < kLeastGain || PlaneBytes(counts) > 2 * bits.size()) return false;
  const size_t before = CompressedSize(bits);
  if (before < kLeastGain) return false;
  const size_t after = CompressedSize(PlanesOf(counts, bits));
  return after + kLeastGain <= before && static_cast<double>(after) <= kShare * static_cast<double>(before);
}

}  // namespace heddle::trace
