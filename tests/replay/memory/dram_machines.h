// DRAM parameters for tests.
#ifndef HEDDLE_TESTS_REPLAY_MEMORY_DRAM_MACHINES_H_
#define HEDDLE_TESTS_REPLAY_MEMORY_DRAM_MACHINES_H_

#include <cstdint>

#include "proto/machine.pb.h"
#include "tests/random/random.h"

namespace heddle::replay {

// GDDR3 as in Table 5.2 of Fung's thesis; CCD, WL and WTR are GPGPU-Sim 2.1's defaults. One burst is two cycles.
inline machine::v1::Dram Gddr3Dram(machine::v1::Dram::Scheduler scheduler = machine::v1::Dram::FR_FCFS) {
  machine::v1::Dram dram;
  dram.set_controllers(1);
  dram.set_chips_per_controller(1);
  dram.set_scheduler(scheduler);
  dram.set_queue(32);
  dram.set_banks(4);
  dram.set_bus_bytes(4);
  dram.set_burst_length(4);
  dram.set_data_rate(2);
  machine::v1::DramTiming& t = *dram.mutable_timing();
  t.set_cl(9);
  t.set_wl(4);
  t.set_rcd(12);
  t.set_ras(21);
  t.set_rp(13);
  t.set_rc(34);
  t.set_rrd(8);
  t.set_ccd(2);
  t.set_wtr(5);
  return dram;
}

// The GTX480 configuration of GPGPU-Sim 3.2.2, with its bank groups.
inline machine::v1::Dram Gtx480Dram() {
  machine::v1::Dram dram;
  dram.set_controllers(6);
  dram.set_chips_per_controller(2);
  dram.set_queue(16);
  dram.set_banks(16);
  dram.set_bank_groups(4);
  dram.set_bus_bytes(4);
  dram.set_burst_length(8);
  dram.set_data_rate(4);
  machine::v1::DramTiming& t = *dram.mutable_timing();
  t.set_cl(12);
  t.set_wl(4);
  t.set_rcd(12);
  t.set_rcd_write(7);
  t.set_ras(28);
  t.set_rp(12);
  t.set_rc(40);
  t.set_rrd(6);
  t.set_ccd(2);
  t.set_ccd_group(3);
  t.set_wtr(5);
  t.set_wtr_from_data(true);
  t.set_wr(12);
  t.set_rtp(2);
  t.set_rtp_group(2);
  return dram;
}

// Anything that DramParameters accepts.
inline machine::v1::Dram RandomDram(Random& random) {
  machine::v1::Dram dram;
  dram.set_controllers(1);
  dram.set_chips_per_controller(random.In(1, 2));
  dram.set_scheduler(random.OneOf({machine::v1::Dram::FR_FCFS, machine::v1::Dram::FIFO}));
  dram.set_queue(random.OneOf({0, 1, 2, 5, 16, 32}));
  dram.set_starvation_cap(random.OneOf({0, 0, 1, 2, 7}));
  const uint32_t groups = random.OneOf({0, 1, 2, 4});
  dram.set_bank_groups(groups);
  if (random.Chance(50)) dram.set_bank_grouping(machine::v1::Dram::INTERLEAVED);
  dram.set_banks((groups == 0 ? 1 : groups) * random.In(1, random.Chance(5) ? 16 : 4));
  dram.set_bus_bytes(random.OneOf({4, 8}));
  dram.set_burst_length(random.OneOf({4, 8}));
  dram.set_data_rate(random.OneOf({2, 4}));
  machine::v1::DramTiming& t = *dram.mutable_timing();
  t.set_cl(random.In(1, 14));
  t.set_wl(random.In(1, 14));
  t.set_rcd(random.In(1, 14));
  t.set_rcd_write(random.OneOf({0, 0, 3, 9}));
  t.set_ras(random.In(1, 30));
  t.set_rp(random.In(1, 14));
  t.set_rc(random.In(1, 42));
  t.set_rrd(random.In(1, 9));
  t.set_ccd(random.In(1, 4));
  t.set_ccd_group(random.OneOf({0, 0, 2, 5}));
  t.set_wtr(random.In(0, 8));
  t.set_wtr_from_data(random.Chance(50));
  t.set_rtw(random.OneOf({0, 0, 1, 7}));
  t.set_wr(random.OneOf({0, 0, 6, 12}));
  t.set_rtp(random.OneOf({0, 0, 2, 8}));
  t.set_rtp_group(random.OneOf({0, 0, 3}));
  return dram;
}

}  // namespace heddle::replay

#endif  // HEDDLE_TESTS_REPLAY_MEMORY_DRAM_MACHINES_H_
