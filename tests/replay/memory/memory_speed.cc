// What the parts of the memory cost: nanoseconds of user time per line, one core.
//
//   memory_speed [network|dram [scale]]
#include <sys/resource.h>

#include <cstdio>
#include <string>
#include <vector>

#include "replay/memory/address_map.h"
#include "replay/memory/dram/dram_controller.h"
#include "replay/memory/network/crossbar.h"
#include "tests/random/random.h"
#include "tests/replay/memory/dram_machines.h"

namespace heddle::replay {
namespace {

using machine::v1::Network;

uint64_t g_scale = 100'000;  // of the runs: three edges, ten lines each

double UserSeconds() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return static_cast<double>(usage.ru_utime.tv_sec) + 1e-6 * static_cast<double>(usage.ru_utime.tv_usec);
}

// Every SM keeps `outstanding` requests of one flit under way to random slices, which answer with five flits.
void MeasureNetwork(const char* name, uint32_t sms, uint32_t slices, uint32_t outstanding,
                    Network::Allocator allocator) {
  Network network;
  network.set_flit_bytes(32);
  network.set_input_buffer_flits(8);
  network.set_output_buffer_flits(8);
  network.set_input_speedup(2);
  network.set_allocator(allocator);
  network.set_iterations(1);
  Crossbar up(sms, slices, network, 1), down(slices, sms, network, 2);
  Random random(1);
  std::vector<uint32_t> free(sms, outstanding);
  const double start = UserSeconds();
  const uint64_t kEdges = g_scale * 3;
  for (uint64_t edge = 0; edge < kEdges; ++edge) {
    if (up.has_work()) up.Tick(edge);
    if (down.has_work()) down.Tick(edge);
    for (uint32_t slice = 0; slice < slices; ++slice) {
      const MemoryRequest* request = up.Peek(slice);
      if (request == nullptr || !down.HasRoom(slice, request->sm, 5)) continue;
      down.Push(slice, request->sm, *request, 5, edge + 1);
      up.Pop(slice, edge + 1);
    }
    for (uint32_t sm = 0; sm < sms; ++sm) {
      if (down.Peek(sm) != nullptr) {
        down.Pop(sm, edge + 1);
        ++free[sm];
      }
      const uint32_t slice = random.Below(slices);
      if (free[sm] == 0 || !up.HasRoom(sm, slice, 1)) continue;
      up.Push(sm, slice, {.sm = static_cast<uint16_t>(sm)}, 1, edge + 1);
      --free[sm];
    }
  }
  const double seconds = UserSeconds() - start;
  const uint64_t lines = down.counters().messages;
  std::printf("network %-22s %6.1f ns per line (request and reply), %.2f lines per edge\n", name, 1e9 * seconds / lines,
              static_cast<double>(lines) / kEdges);
}

// One GTX480 controller that always has requests for lines of 128 bytes.
void MeasureDram(const char* name, bool random_rows, uint32_t write_per_cent) {
  const absl::StatusOr<DramParameters> parameters = DramParameters::Make(Gtx480Dram());
  DramController controller(*parameters);
  Random random(2);
  const double start = UserSeconds();
  uint64_t lines = 0, cycle = 0, events = 0;
  const uint64_t kLines = g_scale * 10;
  for (uint64_t next = 0; lines < kLines;) {
    for (; controller.HasRoom(); ++next) {
      const uint64_t place = random_rows ? random.Next() : next / 16;
      controller.Push({.row = static_cast<uint32_t>(place >> 4 & 0xfff),
                       .bytes = 128,
                       .bank = static_cast<uint16_t>(place & 15),
                       .write = write_per_cent != 0 && random.Chance(write_per_cent)},
                      cycle);
    }
    if (controller.NextEvent() > cycle) cycle = controller.NextEvent();
    controller.Tick(cycle);
    ++events;
    for (; controller.Reply(cycle) != nullptr; ++lines) controller.PopReply();
    ++cycle;
  }
  const double seconds = UserSeconds() - start;
  std::printf("dram    %-22s %6.1f ns per line, %.2f events per line, bus busy %.1f %%\n", name, 1e9 * seconds / lines,
              static_cast<double>(events) / lines, 100.0 * controller.counters().bus_busy / cycle);
}

void MeasureMap() {
  machine::v1::AddressMap text;
  text.set_text("dramid@8;00000000.00000000.00000000.00000000.0000RRRR.RRRRRRRR.BBBCCCCB.CCSSSSSS");
  text.set_slice_bit(7);
  const AddressMap map = *AddressMap::Make(text, Gtx480Dram(), 2);
  constexpr uint32_t kAddresses = 20'000'000;
  uint64_t sum = 0;
  const double start = UserSeconds();
  for (uint32_t i = 0; i < kAddresses; ++i) {
    const uint64_t address = uint64_t{i} * 0x9e3779b97f4a7c15 >> 32;
    sum += map.SliceOf(address) + map.Locate(address).row;
  }
  std::printf("address map %.1f ns per line (slice and location; %llu)\n", 1e9 * (UserSeconds() - start) / kAddresses,
              static_cast<unsigned long long>(sum));
}

}  // namespace
}  // namespace heddle::replay

int main(int argc, char** argv) {
  using namespace heddle::replay;  // NOLINT
  const std::string only = argc > 1 ? argv[1] : "";
  if (argc > 2) g_scale = std::stoull(argv[2]);
  if (only.empty() || only == "network") {
    MeasureNetwork("iSLIP 15x12, light", 15, 12, 1, Network::ISLIP);
    MeasureNetwork("iSLIP 15x12, full", 15, 12, 64, Network::ISLIP);
    MeasureNetwork("PIM 15x12, full", 15, 12, 64, Network::PIM);
    MeasureNetwork("iSLIP 80x48, full", 80, 48, 64, Network::ISLIP);
  }
  if (only.empty() || only == "dram") {
    MeasureDram("row hits", false, 0);
    MeasureDram("random rows", true, 0);
    MeasureDram("random rows, 30% write", true, 30);
  }
  if (only.empty()) MeasureMap();
}
