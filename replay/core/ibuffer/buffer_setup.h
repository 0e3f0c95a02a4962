// What the machine says about the front end with instruction buffers.
#ifndef HEDDLE_REPLAY_CORE_IBUFFER_BUFFER_SETUP_H_
#define HEDDLE_REPLAY_CORE_IBUFFER_BUFFER_SETUP_H_

#include <cstdint>
#include <span>

#include "proto/machine.pb.h"
#include "replay/core/ibuffer/register_ports.h"
#include "replay/core/issue_table.h"
#include "replay/core/launch_context.h"
#include "traces/format/program/program.h"

namespace heddle::replay {

// Worked out once per launch.
struct BufferSetup {
  BufferSetup(const trace::Program& program, std::span<const Step> steps, const machine::v1::Machine& machine);

  IssueTable table;
  RegisterReads register_reads;
  machine::v1::ExecutionUnits units;
  uint8_t entries = 0;  // of a buffer
  uint8_t fetch_instructions = 0;
  uint32_t fetches_per_cycle = 1;
  bool fetch_when_free_slot = false;
  uint32_t reformed_warp_cycles = 0;
  uint32_t memory_interval = 1;    // of memory instructions, times their lane groups
  uint32_t line_instructions = 0;  // of the instruction cache; 0 = no cache, fetches reach as far as they like
  uint32_t simd_width = 0;
  bool skip_empty_groups = false;
  bool ports_in_turn = false;
  bool branches_at_issue = false;
};

}  // namespace heddle::replay

#endif  // HEDDLE_REPLAY_CORE_IBUFFER_BUFFER_SETUP_H_
