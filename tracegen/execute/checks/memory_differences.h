// What runs in other orders leave in memory, compared with what the run in the usual order has left.
#ifndef HEDDLE_TRACEGEN_EXECUTE_CHECKS_MEMORY_DIFFERENCES_H_
#define HEDDLE_TRACEGEN_EXECUTE_CHECKS_MEMORY_DIFFERENCES_H_

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "proto/trace.pb.h"
#include "tracegen/execute/checks/global_accesses.h"
#include "traces/format/program/program.h"

namespace heddle::tracegen {

class MemoryDifferences {
 public:
  // Whose units of memory these are; must outlive the object.
  explicit MemoryDifferences(const GlobalAccesses& accesses) : accesses_(accesses) {}

  // When memory is what the usual order has left: keeps the contents of a range of it.
  void Keep(uint64_t address, uint64_t bytes);
  // When memory is what another order has left.
  void CompareRun();

  // Whether a unit has differed in some run; whether any has; and whether there were runs at all.
  bool Contains(uint64_t unit) const { return units_.contains(unit); }
  bool empty() const { return units_.empty(); }
  bool has_runs() const { return !runs_.empty(); }
  // An instruction stores to the unit; the first one is told.
  void NoteWriter(uint64_t unit, trace::Pc writer) {
    if (Contains(unit)) writers_.try_emplace(unit, writer);
  }

  // Adds to the certificate, for each allocation, the run that has changed most of it.
  void AddTo(const std::vector<trace::v1::Allocation>& allocations, trace::v1::Certificate& certificate) const;

 private:
  static constexpr size_t kMostDifferent = size_t{1} << 20;  // bytes of a run

  const GlobalAccesses& accesses_;
  std::map<uint64_t, std::string> kept_;  // by address
  std::unordered_set<uint64_t> units_;
  std::vector<std::vector<uint64_t>> runs_;          // of each: addresses of bytes that differ, ascending
  std::unordered_map<uint64_t, trace::Pc> writers_;  // of units that differ: an instruction that stores there
};

}  // namespace heddle::tracegen

#endif  // HEDDLE_TRACEGEN_EXECUTE_CHECKS_MEMORY_DIFFERENCES_H_
