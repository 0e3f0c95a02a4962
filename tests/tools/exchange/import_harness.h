// A configuration of GPGPU-Sim of our own wording, and what becomes of it or of one like it.
#ifndef HEDDLE_TESTS_TOOLS_EXCHANGE_IMPORT_HARNESS_H_
#define HEDDLE_TESTS_TOOLS_EXCHANGE_IMPORT_HARNESS_H_

#include <gtest/gtest.h>

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "tools/exchange/gpgpusim/import_machine.h"

namespace heddle::tools {

// A Fermi-like machine in the names of 3.x; the values are those of a GeForce GTX 480.
inline constexpr char kFermi[] = R"(
# A machine for this test.
-gpgpu_n_clusters 15   -gpgpu_n_cores_per_cluster 1  # two options on a line
-gpgpu_n_mem 6
-gpgpu_n_sub_partition_per_mchannel 2
-gpgpu_clock_domains 700.0:700.0:700.0:924.0
-gpgpu_shader_registers 32768
-gpgpu_shader_core_pipeline 1536:32
-gpgpu_shader_cta 8
-gpgpu_num_sched_per_core 2
-gpgpu_max_insn_issue_per_warp 1
-gpgpu_num_sp_units 2
-gpgpu_num_sfu_units 1
-gpgpu_shmem_size 49152
-gpgpu_shmem_num_banks 32
-gpgpu_shmem_warp_parts 1
-gpgpu_shmem_limited_broadcast 0
-gpgpu_coalesce_arch 20
-gpgpu_operand_collector_num_units_sp 6
-gpgpu_operand_collector_num_units_sfu 8
-gpgpu_num_reg_banks 16
-gpgpu_reg_bank_use_warp_id 1
-ptx_opcode_latency_int 4,13,4,5,145
-ptx_opcode_initiation_int 1,2,2,1,8
-ptx_opcode_latency_fp 4,13,4,5,39
-ptx_opcode_initiation_fp 1,2,1,1,4
-ptx_opcode_latency_dp 8,19,8,8,330
-ptx_opcode_initiation_dp 8,16,8,8,130
-gpgpu_cache:dl1 32:128:4,L:L:m:N:L,A:32:8,8
-gpgpu_cache:dl2 64:128:8,L:B:m:W:L,A:32:4,4
-gpgpu_cache:dl2_texture_only 0
-gpgpu_cache:il1 4:128:4,L:R:f:N:L,A:2:32,4
-gpgpu_tex_cache:l1 4:128:24,L:R:m:N:L,F:128:4,128:2
-gpgpu_const_cache:l1 64:64:2,L:R:f:N:L,A:2:32,4
-network_mode 1
-inter_config_file fermi.icnt
-rop_latency 120
-dram_latency 100
-gpgpu_dram_scheduler 1
-gpgpu_frfcfs_dram_sched_queue_size 16
-gpgpu_n_mem_per_ctrlr 2
-gpgpu_dram_buswidth 4
-gpgpu_dram_burst_length 8
-dram_data_command_freq_ratio 4
-gpgpu_mem_addr_mapping dramid@8;00000000.00000000.00000000.00000000.0000RRRR.RRRRRRRR.BBBCCCCB.CCSSSSSS
-gpgpu_dram_timing_opt "nbk=16:CCD=2:RRD=6:RCD=12:RAS=28:RP=12:RC=40:
   CL=12:WL=4:CDLR=5:WR=12:nbkgrp=4:CCDL=3:RTPL=2"
)";
inline constexpr char kFermiNetwork[] = R"(
// A crossbar.
topology = fly; n = 1;
flit_size = 32;
num_vcs = 1;
vc_buf_size = 8;
sw_allocator = islip;
alloc_iters = 1;
input_speedup = 2;
)";

inline std::optional<std::string> NoNetwork(const std::string&) { return std::nullopt; }
inline std::optional<std::string> FermiNetwork(const std::string& file) {
  EXPECT_EQ(file, "fermi.icnt");
  return kFermiNetwork;
}

inline ImportedMachine Import(
    const std::string& text, const std::function<std::optional<std::string>(const std::string&)>& network = NoNetwork) {
  absl::StatusOr<ImportedMachine> imported = ImportMachine({{"", text}}, "imported", network);
  EXPECT_TRUE(imported.ok()) << imported.status();
  return imported.ok() ? *std::move(imported) : ImportedMachine();
}
// The message of the refusal.
inline std::string Refusal(const std::string& text) {
  const absl::StatusOr<ImportedMachine> imported = ImportMachine({{"", text}}, "imported", NoNetwork);
  return imported.ok() ? "accepted" : std::string(imported.status().message());
}
inline std::vector<std::string> Options(const ImportedMachine& imported, ImportOutcome outcome) {
  std::vector<std::string> options;
  for (const ImportNote& note : imported.notes) {
    if (note.outcome == outcome) options.push_back(note.option.substr(0, note.option.find(' ')));
  }
  return options;
}
inline std::string NoteOn(const ImportedMachine& imported, const std::string& option) {
  for (const ImportNote& note : imported.notes) {
    if (note.option.substr(0, note.option.find(' ')) == option) return note.place + ": " + note.what;
  }
  return "no note";
}

// A configuration with one line in place of that which begins with the same name, or added.
inline std::string With(std::string text, const std::string& line) {
  const std::string name = "\n" + line.substr(0, line.find(' ') + 1);
  if (const size_t at = text.find(name); at != std::string::npos) {
    return text.replace(at + 1, text.find('\n', at + 1) - at - 1, line);
  }
  return text + line + "\n";
}
inline std::string FermiWith(const std::string& line) { return With(kFermi, line); }

}  // namespace heddle::tools

#endif  // HEDDLE_TESTS_TOOLS_EXCHANGE_IMPORT_HARNESS_H_
