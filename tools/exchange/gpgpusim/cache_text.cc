#include "tools/exchange/gpgpusim/cache_text.h"

#include <string_view>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_split.h"

namespace heddle::tools {
namespace {

using Pieces = std::vector<std::string>;

bool ReadNumber(const Pieces& pieces, size_t index, uint64_t& number) {
  return index < pieces.size() && absl::SimpleAtoi(pieces[index], &number);
}

// A letter out of `allowed`; a piece that is not there leaves it 0.
bool ReadLetter(const Pieces& pieces, size_t index, std::string_view allowed, char& letter) {
  if (index >= pieces.size()) return true;
  if (pieces[index].size() != 1 || allowed.find(pieces[index][0]) == std::string_view::npos) return false;
  letter = pieces[index][0];
  return true;
}

// REPLACEMENT:WRITE:ALLOCATE:WRITE ALLOCATE:SET INDEX from `first` on; the last ones may be missing.
bool ReadPolicies(const Pieces& pieces, size_t first, CacheText& cache) {
  return ReadLetter(pieces, first, "LF", cache.replacement) && ReadLetter(pieces, first + 1, "RBTEL", cache.write) &&
         ReadLetter(pieces, first + 2, "mfs", cache.allocate) &&
         ReadLetter(pieces, first + 3, "NWFL", cache.write_allocate) &&
         ReadLetter(pieces, first + 4, "LHPCX", cache.set_index) && pieces.size() <= first + 5;
}

// What follows the ways where colons stand throughout: REPLACEMENT:WRITE:ALLOCATE:MSHR KIND:WRITE
// ALLOCATE:MSHRS:MERGES: MISS QUEUE, perhaps with the result queue of a texture cache behind it, and with P or S (a
// private or shared cache) before WRITE ALLOCATE.
bool ReadColons(const Pieces& pieces, CacheText& cache) {
  if (!ReadPolicies({pieces.begin(), pieces.begin() + 6}, 3, cache) ||
      !ReadLetter(pieces, 6, "FTAS", cache.mshr_kind)) {
    return false;
  }
  size_t next = 7;
  char scope = 0;
  if (ReadLetter(pieces, next, "PS", scope)) ++next;
  if (!ReadLetter(pieces, next, "NWFL", cache.write_allocate)) return false;
  ++next;
  uint64_t results = 0;
  return ReadNumber(pieces, next, cache.mshrs) && cache.mshrs != 0 && ReadNumber(pieces, next + 1, cache.merges) &&
         ReadNumber(pieces, next + 2, cache.miss_queue) &&
         (pieces.size() == next + 3 || (pieces.size() == next + 4 && ReadNumber(pieces, next + 3, results)));
}

// Pieces with REPLACEMENT:WRITE:ALLOCATE behind the shape, and with what follows where colons stand throughout.
constexpr size_t kPiecesUpTo31 = 6;
constexpr size_t kLeastPiecesOfColons = 9;

}  // namespace

std::optional<CacheText> ParseCacheText(const std::string& text) {
  CacheText cache;
  if (text == "none") {
    cache.none = true;
    return cache;
  }
  std::vector<Pieces> groups;
  for (const absl::string_view group : absl::StrSplit(text, ',')) groups.push_back(absl::StrSplit(group, ':'));

  Pieces& shape = groups[0];
  if (shape[0] == "N" || shape[0] == "S") {
    cache.sectors = shape[0] == "S";
    shape.erase(shape.begin());
  }
  if (!ReadNumber(shape, 0, cache.sets) || !ReadNumber(shape, 1, cache.line_bytes) ||
      !ReadNumber(shape, 2, cache.ways)) {
    return std::nullopt;
  }
  if (cache.sets == 0 || cache.line_bytes == 0 || cache.ways == 0) return std::nullopt;
  size_t next = 1;
  cache.one_way_to_write = shape.size() == kPiecesUpTo31 || shape.size() >= kLeastPiecesOfColons;
  if (shape.size() >= kLeastPiecesOfColons) {
    Pieces all = shape;  // a comma may stand for any of the last colons
    for (size_t group = 1; group < groups.size(); ++group) {
      all.insert(all.end(), groups[group].begin(), groups[group].end());
    }
    return ReadColons(all, cache) ? std::optional(cache) : std::nullopt;
  }
  if (shape.size() > 3) {  // up to 3.1 the policies follow in the same group
    if (!ReadPolicies(shape, 3, cache)) return std::nullopt;
    if (groups.size() == 1) return cache;  // 2.x ends here, and so do the first texts of 3.0
  } else {
    if (groups.size() < 2 || groups[1].size() < 3 || !ReadPolicies(groups[1], 0, cache)) return std::nullopt;
    next = 2;
  }
  if (groups.size() < next + 2 || groups.size() > next + 3) return std::nullopt;
  const Pieces& mshrs = groups[next];
  if (mshrs.size() != 3 || !ReadLetter(mshrs, 0, "FTAS", cache.mshr_kind) || !ReadNumber(mshrs, 1, cache.mshrs) ||
      !ReadNumber(mshrs, 2, cache.merges) || cache.mshrs == 0) {
    return std::nullopt;
  }
  const Pieces& queue = groups[next + 1];  // its second number is the texture cache's result queue
  uint64_t results = 0;
  if (queue.size() > 2 || !ReadNumber(queue, 0, cache.miss_queue) ||
      (queue.size() == 2 && !ReadNumber(queue, 1, results))) {
    return std::nullopt;
  }
  if (groups.size() == next + 3 &&
      (groups[next + 2].size() != 1 || !ReadNumber(groups[next + 2], 0, cache.data_port_bytes))) {
    return std::nullopt;
  }
  return cache;
}

}  // namespace heddle::tools
