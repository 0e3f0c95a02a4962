#include "tools/hardware/programs/card.h"

#include <string>

#include "tools/hardware/programs/driver.h"
#include "tools/hardware/programs/json_line.h"

namespace heddle::hardware {

void PrintCard() {
  const CUdevice device = UseFirstDevice();
  const Driver& driver = GetDriver();
  char name[200] = "";
  Expect(driver.cuDeviceGetName(name, sizeof(name) - 1, device), "cuDeviceGetName");
  size_t memory = 0;
  Expect(driver.cuDeviceTotalMem(&memory, device), "cuDeviceTotalMem");
  int version = 0;
  Expect(driver.cuDriverGetVersion(&version), "cuDriverGetVersion");
  JsonLine line;
#ifdef HEDDLE_STAND_IN
  line.Truth("stand_in", true);
#endif
  line.Text("name", name).Whole("memory_bytes", static_cast<int64_t>(memory)).Whole("cuda_driver", version);
  // What a driver does not know is left out.
  const auto add = [&](const char* key, CUdevice_attribute attribute, int divisor) {
    int value = 0;
    if (driver.cuDeviceGetAttribute(&value, attribute, device) == CUDA_SUCCESS) line.Whole(key, value / divisor);
  };
  add("compute_major", CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR, 1);
  add("compute_minor", CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR, 1);
  add("sms", CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT, 1);
  add("warp_size", CU_DEVICE_ATTRIBUTE_WARP_SIZE, 1);
  add("max_threads_per_sm", CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_MULTIPROCESSOR, 1);
  add("max_blocks_per_sm", CU_DEVICE_ATTRIBUTE_MAX_BLOCKS_PER_MULTIPROCESSOR, 1);
  add("registers_per_sm", CU_DEVICE_ATTRIBUTE_MAX_REGISTERS_PER_MULTIPROCESSOR, 1);
  add("shared_bytes_per_sm", CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_MULTIPROCESSOR, 1);
#ifndef HEDDLE_STAND_IN
  add("shared_bytes_reserved", CU_DEVICE_ATTRIBUTE_RESERVED_SHARED_MEMORY_PER_BLOCK, 1);
#endif
  add("l2_bytes", CU_DEVICE_ATTRIBUTE_L2_CACHE_SIZE, 1);
  add("memory_bus_bits", CU_DEVICE_ATTRIBUTE_GLOBAL_MEMORY_BUS_WIDTH, 1);
  add("max_sm_mhz", CU_DEVICE_ATTRIBUTE_CLOCK_RATE, 1000);
  add("max_memory_mhz", CU_DEVICE_ATTRIBUTE_MEMORY_CLOCK_RATE, 1000);
  line.Print();
}

}  // namespace heddle::hardware
