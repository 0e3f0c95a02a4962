// The caches: shared memory, first level, L2.
#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "replay/machine/machine_check_memory.h"
#include "tools/exchange/gpgpusim/cache_text.h"
#include "tools/exchange/gpgpusim/option_reader.h"

namespace heddle::tools {
namespace {

using enum ImportOutcome;

const std::string kHierarchy = "memory.hierarchy.";

constexpr uint64_t kKilobyte = 1024;
constexpr uint64_t kMaxKilobytes = 1u << 20;  // far above any machine, far from overflow
constexpr uint64_t kSectorBytes = 32;

enum class CacheRole { kData, kReadOnly, kL2 };

// What of a cache is here in another way, for its note.
std::vector<std::string> CacheDifferences(const CacheText& cache, CacheRole role, bool by_sectors) {
  std::vector<std::string> differences;
  if (by_sectors) {
    differences.push_back("sectors are lines of their own, in as many more sets: one gives way, not all of a line");
  } else if (cache.sectors) {
    differences.push_back("lines are fetched whole, not by sectors of 32 bytes");
  }
  if (cache.replacement == 'F') differences.push_back("the least recently used line goes, not the oldest");
  if (cache.allocate == 's') differences.push_back("a streaming cache: a line is found when it comes");
  if (cache.set_index != 0 && cache.set_index != 'L') differences.push_back("sets are taken in turn, not by a hash");
  if (cache.mshr_kind == 'F' || cache.mshr_kind == 'T') {
    differences.push_back("the entries of the fragment queue are MSHRs");
  }
  if (cache.data_port_bytes != 0 && cache.data_port_bytes < cache.line_bytes) {
    differences.push_back("a line passes the data port in one cycle");
  }
  const bool back = cache.write == 'B';
  if (role == CacheRole::kData && !back && cache.write_allocate != 0 && cache.write_allocate != 'N') {
    differences.push_back("stores that miss do not allocate");
  }
  if (role != CacheRole::kReadOnly && back && cache.write_allocate == 'N') {
    differences.push_back("stores that miss allocate");
  }
  if (role == CacheRole::kL2 && cache.one_way_to_write && cache.write_allocate == 0) {
    differences.push_back("the L2 writes back and allocates (versions 3.0 and 3.1: a global store drops the line)");
  } else if (role == CacheRole::kL2 && cache.write != 0 && !back) {
    differences.push_back("the L2 writes back");
  }
  if (role == CacheRole::kData && cache.one_way_to_write) {
    differences.push_back(absl::StrCat("global stores drop the line and go on",
                                       cache.write == 'E' ? "" : ", local ones write back and allocate",
                                       " (versions up to 3.1, whatever the letter; there no store that misses does)"));
  }
  return differences;
}

void SetCachePolicies(OptionReader& reader, const std::string& path, const CacheText& cache, CacheRole role,
                      const std::string& source) {
  reader.Set(path + ".allocate", cache.allocate == 'f' || cache.allocate == 's' ? "ON_FILL" : "ON_MISS", source);
  switch (role) {
    case CacheRole::kReadOnly:
      return reader.Set(path + ".global_write", "READ_ONLY", source);
    case CacheRole::kL2:
      return reader.Set(path + ".global_write", "WRITE_BACK", source);
    case CacheRole::kData:
      break;
  }
  if (cache.one_way_to_write) {
    reader.Set(path + ".global_write", "WRITE_EVICT", source);
    return reader.Set(path + ".local_write", cache.write == 'E' ? "WRITE_EVICT" : "WRITE_BACK", source);
  }
  const bool back = cache.write == 'B' || cache.write == 0;  // version 2.x writes back
  const bool through = cache.write == 'T';
  reader.Set(path + ".global_write", back ? "WRITE_BACK" : through ? "WRITE_UPDATE" : "WRITE_EVICT", source);
  const bool local_back = back || cache.write == 'L';
  reader.Set(path + ".local_write", local_back ? "WRITE_BACK" : through ? "WRITE_UPDATE" : "WRITE_EVICT", source);
}

// Numbers that stand elsewhere, and where from.
struct CacheExtras {
  uint64_t hit_cycles = 1;
  std::string hit_source = "GPGPU-Sim: the data of a hit come in the cycle of the access";
  uint64_t banks = 1;
  std::string banks_source = "GPGPU-Sim: one access per cycle";
  uint64_t copies = 1;  // in the machine
  // Lines are divided into sectors, each of which is fetched by itself.
  bool sectors = false;
};

// Where the L2 has sectors, requests for more than one are broken down in front of it. Here nothing does that, so that
// the other first-level caches get lines of a sector. An L1 data cache with whole lines keeps them, and so does the L2.
struct SectorUse {
  bool data = false;    // the L1 data cache has sectors
  bool beyond = false;  // the L2 has, and nobody asks it for more than one
};

SectorUse FindSectors(const OptionReader& reader) {
  const std::optional<CacheText> data = ParseCacheText(reader.Peek("-gpgpu_cache:dl1"));
  const std::optional<CacheText> l2 = ParseCacheText(reader.Peek("-gpgpu_cache:dl2"));
  SectorUse use;
  use.data = data.has_value() && data->sectors;
  use.beyond = l2.has_value() && l2->sectors && use.data;
  return use;
}

// Accesses per line on its way, or what of them fits into the model's memory. No program comes near: so many would have
// to wait for one line.
uint64_t MergesThatFit(OptionReader& reader, const OptionValue& option, const CacheText& cache, uint64_t copies) {
  const uint64_t fit = replay::kMaxWaiters / std::max<uint64_t>(1, cache.mshrs) / std::max<uint64_t>(1, copies);
  if (cache.merges <= fit || fit == 0) return cache.merges;
  reader.Note(kDifferent, option,
              absl::StrCat("at most ", fit, " accesses wait for a line, not ", cache.merges, ": in all ", copies,
                           " caches of this kind there is room for ", replay::kMaxWaiters));
  return fit;
}

// Returns whether there is such a cache.
bool SetCache(OptionReader& reader, const std::string& path, const OptionValue& option, CacheRole role,
              const CacheExtras& extras = {}) {
  const std::optional<CacheText> parsed = ParseCacheText(option.text);
  if (!parsed.has_value()) {
    reader.Error(option, absl::StrCat("\"", option.text, "\" is not a cache: ", kCacheForm));
    return false;
  }
  const CacheText& cache = *parsed;
  if (cache.none) {
    if (role != CacheRole::kL2) reader.Set(path + ".sets", 0, absl::StrCat(option.Source(), " (none)"));
    return false;
  }
  if (role == CacheRole::kData && cache.write == 'R' && !cache.one_way_to_write) {
    reader.Error(option, "a data cache must have a write policy: B, T, E or L in place of R");
    return false;
  }
  const std::string source = option.Source();
  const std::string missing = cache.mshrs == 0 ? "our choice: the text has none" : source;
  const bool by_sectors = extras.sectors && cache.line_bytes > kSectorBytes;
  const uint64_t sectors = by_sectors ? cache.line_bytes / kSectorBytes : 1;
  const std::string divided = by_sectors ? absl::StrCat(source, " (lines of ", sectors, " sectors)") : source;
  reader.Set(path + ".sets", cache.sets * sectors, divided);
  reader.Set(path + ".line_bytes", cache.line_bytes / sectors, divided);
  reader.Set(path + ".ways", cache.ways, source);
  reader.Set(path + ".mshrs", cache.mshrs == 0 ? 64 : cache.mshrs, missing);
  reader.Set(path + ".mshr_merges", cache.mshrs == 0 ? 8 : MergesThatFit(reader, option, cache, extras.copies),
             missing);
  reader.Set(path + ".miss_queue", cache.mshrs == 0 ? 8 : cache.miss_queue, missing);
  reader.Set(path + ".hit_cycles", extras.hit_cycles, extras.hit_source);
  reader.Set(path + ".banks", extras.banks, extras.banks_source);
  SetCachePolicies(reader, path, cache, role, source);
  if (const std::vector<std::string> differences = CacheDifferences(cache, role, by_sectors); !differences.empty()) {
    reader.Note(kDifferent, option, absl::StrJoin(differences, "; "));
  }
  return true;
}

void ImportSharedMemory(OptionReader& reader) {
  const std::string path = kHierarchy + "shared.";
  reader.SetNumber(path + "banks", reader.Take({"-gpgpu_shmem_num_banks"}, "16"));
  reader.SetNumber(path + "parts", reader.Take({"-gpgpu_shmem_warp_parts", "-gpgpu_shmem_pipe_speedup"}, "2"));
  const OptionValue limited = reader.Take({"-gpgpu_shmem_limited_broadcast"}, "1");
  reader.Set(path + "broadcast", "true", limited.Source());
  if (reader.Flag(limited)) reader.Note(kDifferent, limited, "any number of words is broadcast in a pass");
  const OptionValue latency = reader.Take({"-gpgpu_smem_latency", "-smem_latency"}, "3");
  if (reader.version2() && !latency.given()) {
    reader.Set(path + "latency", 1, "GPGPU-Sim 2.x: written back after the memory stage");
  } else {
    reader.Set(path + "latency", reader.Number(latency) + 1, absl::StrCat(latency.Source(), ", and write-back"));
  }
}

// Version 2.x: which caches merge the misses of different warps is a bit mask. Those of one warp are one access here.
struct MergingBetweenWarps {
  OptionValue option;
  uint64_t mask = 0;
};
enum MergingBit : uint64_t { kMergesData = 1, kMergesConstant = 2, kMergesTexture = 4 };

void SetMerging(OptionReader& reader, const std::string& path, const MergingBetweenWarps& merging, MergingBit bit) {
  if (!reader.version2()) return;
  reader.Set(path + ".pending_hits", (merging.mask & bit) != 0 ? "JOIN_MSHR" : "OWN_REQUEST",
             absl::StrCat(merging.option.Source(), " (bit ", static_cast<uint64_t>(bit), ")"));
}

// Sizes in KB, in any order; none after an error.
std::vector<uint64_t> SharedSizes(OptionReader& reader, const OptionValue& option) {
  std::vector<uint64_t> bytes;
  for (const absl::string_view part : absl::StrSplit(option.text, ',')) {
    uint64_t kilobytes = 0;
    if (!absl::SimpleAtoi(part, &kilobytes) || kilobytes > kMaxKilobytes) {
      reader.Error(option, absl::StrCat("\"", option.text, "\" is not a list of sizes in KB"));
      return {};
    }
    bytes.push_back(kilobytes * kKilobyte);
  }
  std::ranges::sort(bytes);
  const auto repeated = std::ranges::unique(bytes);
  bytes.erase(repeated.begin(), repeated.end());
  return bytes;
}

// Since 4.x the L1 may take what shared memory leaves of their common storage, kernel by kernel. Its sets stay, its
// ways become more. Versions before 4.0 have the sizes of Volta built in, under another name.
void ImportSplit(OptionReader& reader) {
  const OptionValue adaptive = reader.Take({"-gpgpu_adaptive_cache_config", "-gpgpu_adaptive_volta_cache_config"}, "0");
  const bool volta = adaptive.name == "-gpgpu_adaptive_volta_cache_config";
  const OptionValue unified = reader.Take({"-gpgpu_unified_l1d_size"}, volta ? "128" : "0");
  const OptionValue sizes = reader.Take({"-gpgpu_shmem_option"}, volta ? "0,8,16,32,64,96" : "0");
  if (!reader.Flag(adaptive)) {
    for (const OptionValue& option : {unified, sizes}) {
      if (option.given()) reader.Note(kNoTiming, option, "read with -gpgpu_adaptive_cache_config alone");
    }
    return;
  }
  const uint64_t kilobytes = reader.Number(unified);
  if (kilobytes > kMaxKilobytes) {
    return reader.Error(unified, absl::StrCat("\"", unified.text, "\" is not a size in KB"));
  }
  const machine::v1::Cache& cache = reader.machine().memory().hierarchy().l1_data();
  const uint64_t way_bytes = uint64_t{cache.sets()} * cache.line_bytes();
  if (kilobytes == 0 || way_bytes == 0) {
    return reader.Note(kNotRepresented, adaptive,
                       way_bytes == 0 ? "there is no L1 data cache to split"
                                      : "without -gpgpu_unified_l1d_size there is nothing to split");
  }
  const std::string path = kHierarchy + "l1_split.";
  const std::string source = absl::StrCat(unified.Source(), " (KB)");
  reader.Set(path + "bytes", kilobytes * kKilobyte, source);
  const std::vector<uint64_t> bytes = SharedSizes(reader, sizes);
  for (size_t i = 0; i < bytes.size(); ++i) {
    reader.Set(absl::StrCat(path, "shared_bytes[", i, "]"), bytes[i], absl::StrCat(sizes.Source(), " (KB)"));
  }
  reader.SetSource(path + "shared_bytes", sizes.Source());
  reader.Set(kHierarchy + "l1_data.ways", kilobytes * kKilobyte / way_bytes,
             absl::StrCat("all of ", unified.Source(), " in these sets"));
  reader.Note(kDifferent, adaptive,
              "shared memory is sized for as many blocks as an SM holds, also where the grid has fewer");
}

void ImportDataCache(OptionReader& reader, const MergingBetweenWarps& merging, const SectorUse& sectors) {
  const std::string path = kHierarchy + "l1_data";
  CacheExtras extras;
  extras.sectors = sectors.data;
  extras.copies = reader.machine().sms();
  OptionValue option = reader.Take({"-gpgpu_cache:dl1"}, reader.version2() ? "256:128:1:L" : "none");
  if (reader.version2()) {
    const OptionValue none = reader.Take({"-gpgpu_no_dl1"}, "0");
    if (reader.Flag(none)) option = {none.name, "none", none.place};
    const OptionValue banks = reader.Take({"-gpgpu_n_cache_bank"}, "1");
    extras.banks = reader.Number(banks);
    extras.banks_source = banks.Source();
    const OptionValue conflicts = reader.Take({"-gpgpu_cache_bkconflict"}, "0");
    const bool conflict = reader.Flag(conflicts);
    if (SetCache(reader, path, option, CacheRole::kData, extras)) {
      reader.Set(path + ".ideal_ports", conflict ? "false" : "true", conflicts.Source());
      SetMerging(reader, path, merging, kMergesData);
    }
    reader.Set(kHierarchy + "returns_per_cycle", 0, "GPGPU-Sim 2.x: the front end's own write-back is the limit");
    return;
  }
  const OptionValue latency = reader.Take({"-gpgpu_l1_latency", "-l1_latency"}, "1");
  const OptionValue banks = reader.Take({"-gpgpu_l1_banks", "-l1_banks"}, "1");
  extras.hit_cycles = reader.Number(latency);
  extras.hit_source = latency.Source();
  extras.banks = reader.Number(banks);
  extras.banks_source = banks.Source();
  SetCache(reader, path, option, CacheRole::kData, extras);
  ImportSplit(reader);
  // Hits of all banks go to the registers by themselves. Other data take turns at a port, but they come one by one.
  reader.Set(kHierarchy + "returns_per_cycle", std::max<uint64_t>(1, extras.banks),
             absl::StrCat(banks.Source(), " (a hit of each bank; one write-back port for other data)"));
}

void ImportReadOnlyCaches(OptionReader& reader, const MergingBetweenWarps& merging, const SectorUse& sectors) {
  const bool version2 = reader.version2();
  CacheExtras extras;
  extras.sectors = sectors.beyond;
  extras.copies = reader.machine().sms();
  if (SetCache(reader, kHierarchy + "l1_texture",
               reader.Take({"-gpgpu_tex_cache:l1"}, version2 ? "512:64:2:L" : "8:128:5,L:R:m:N,F:128:4,128:2"),
               CacheRole::kReadOnly, extras)) {
    SetMerging(reader, kHierarchy + "l1_texture", merging, kMergesTexture);
  }
  const OptionValue constant =
      reader.Take({"-gpgpu_const_cache:l1"}, version2 ? "64:64:2:L" : "64:64:2,L:R:f:N,A:2:32,4");
  const OptionValue instruction = reader.Take({"-gpgpu_cache:il1"}, version2 ? "none" : "4:256:4,L:R:f:N,A:2:32,4");
  const OptionValue perfect = reader.Take({"-gpgpu_perfect_inst_const_cache"}, "0");
  if (reader.Flag(perfect)) {
    reader.Set(kHierarchy + "l1_constant.sets", 0, absl::StrCat(perfect.Source(), " (always hits)"));
    reader.Set(kHierarchy + "l1_instruction.sets", 0, absl::StrCat(perfect.Source(), " (always hits)"));
    return;
  }
  if (SetCache(reader, kHierarchy + "l1_constant", constant, CacheRole::kReadOnly, extras)) {
    SetMerging(reader, kHierarchy + "l1_constant", merging, kMergesConstant);
  }
  SetCache(reader, kHierarchy + "l1_instruction", instruction, CacheRole::kReadOnly, extras);
}

}  // namespace

void ImportFirstLevels(OptionReader& reader) {
  const OptionValue coalescing = reader.Take({"-gpgpu_coalesce_arch"}, "13");
  const uint64_t arch = reader.Number(coalescing);
  const SectorUse sectors = FindSectors(reader);
  reader.Set(kHierarchy + "coalescing", arch < 20 ? "COMPUTE_13" : "COMPUTE_20", coalescing.Source());
  if (arch >= 40 && !sectors.data) {
    reader.Note(kDifferent, coalescing,
                "as 20: segments of 128 bytes (of a cache line where that is shorter), not of 32");
  }
  reader.Set(kHierarchy + "all_misses_or_none", "false", "GPGPU-Sim");
  ImportSharedMemory(reader);
  MergingBetweenWarps merging;
  if (reader.version2()) {
    merging.option = reader.Take({"-gpgpu_interwarp_mshr_merge"}, "0");
    merging.mask = reader.Number(merging.option);
  }
  ImportDataCache(reader, merging, sectors);
  ImportReadOnlyCaches(reader, merging, sectors);
  const OptionValue flush = reader.Take({"-gpgpu_flush_l1_cache", "-gpgpu_flush_cache"}, "0");
  if (flush.given() && !reader.Flag(flush)) {
    reader.Note(kDifferent, flush, "first-level caches are emptied between launches");
  }
}

void ImportL2(OptionReader& reader) {
  const std::string path = kHierarchy + "l2.";
  const OptionValue option =
      reader.Take({"-gpgpu_cache:dl2"}, reader.version2() ? "none" : "64:128:8,L:B:m:N,A:16:4,4");
  const OptionValue slices = reader.Take({"-gpgpu_n_sub_partition_per_mchannel"}, "1");
  CacheExtras extras;
  extras.copies = uint64_t{reader.machine().memory().hierarchy().dram().controllers()} * reader.Number(slices);
  // A copy: whatever sets a field makes a new machine.
  const machine::v1::Cache data = reader.machine().memory().hierarchy().l1_data();
  const std::optional<CacheText> text = ParseCacheText(option.text);
  extras.sectors = text.has_value() && text->sectors && data.sets() != 0 && data.line_bytes() == kSectorBytes;
  if (SetCache(reader, path + "cache", option, CacheRole::kL2, extras)) {
    reader.SetNumber(path + "slices_per_controller", slices);
  } else {
    reader.Set(path + "slices_per_controller", 0, absl::StrCat(option.Source(), " (none)"));
  }
  const bool version2 = reader.version2();
  const OptionValue texture = reader.Take({"-gpgpu_cache:dl2_texture_only"}, version2 ? "0" : "1");
  if (reader.Flag(texture)) reader.Note(kNotRepresented, texture, "the L2 serves all requests");
  // A miss of the L1 is known when the access has passed its pipeline. Here it leaves at once, and waits on its way.
  const OptionValue rop = reader.Take({"-gpgpu_l2_rop_latency", "-rop_latency"}, version2 ? "0" : "85");
  const uint32_t pipeline = data.sets() != 0 && data.hit_cycles() > 1 ? data.hit_cycles() : 0;
  reader.Set(path + "rop_cycles", reader.Number(rop) + pipeline,
             absl::StrCat(rop.Source(), pipeline == 0 ? "" : ", and the L1's pipeline, which misses pass, too"));
  reader.SetNumber(path + "dram_pipe_cycles", reader.Take({"-dram_latency"}, version2 ? "0" : "30"));
  const OptionValue queues = reader.Take({"-gpgpu_dram_partition_queues"}, "8:8:8:8");
  const std::vector<std::string> parts = absl::StrSplit(queues.text, ':');
  if (parts.size() != 4) {
    return reader.Error(queues, absl::StrCat("\"", queues.text, "\" is not four lengths of queues, A:B:C:D"));
  }
  reader.Set(path + "input_queue", reader.Number(queues, parts[0]), queues.Source());
  reader.Set(path + "dram_queue", reader.Number(queues, parts[1]), queues.Source());
  reader.Set(path + "output_queue", reader.Number(queues, parts[3]), queues.Source());
  if (queues.given()) {
    reader.Note(kDifferent, queues, "the third queue, from DRAM to the L2, has no limit");
  }
  const OptionValue flush = reader.Take({"-gpgpu_flush_l2_cache"}, "0");
  reader.Set(kHierarchy + "l2_between_launches", reader.Flag(flush) ? "FLUSH" : "KEEP", flush.Source());
}

}  // namespace heddle::tools
