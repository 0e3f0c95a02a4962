#include "tests/reference/small_machine.h"

#include "google/protobuf/text_format.h"
#include "gtest/gtest.h"

namespace heddle::replay {

machine::v1::Machine SmallIBufferMachine() {
  machine::v1::Machine machine;
  EXPECT_TRUE(google::protobuf::TextFormat::ParseFromString(
      R"pb(
        name: "small"
        sms: 1
        core {
          front_end: IBUFFER
          warp_size: 4
          simd_width: 4
          schedulers: 1
          pipeline_depth: 1
          max_threads: 64
          max_blocks: 8
          shared_memory_bytes: 49152
          ibuffer { entries: 2 fetch_instructions: 2 reformed_warp_cycles: 2 }
          units {
            sp: 1
            sfu: 1
            memory_issue_latency: 1
            memory_initiation_interval: 1
            timing { operation: INT_ALU latency: 4 initiation_interval: 1 }
            timing { operation: SFU latency: 10 initiation_interval: 3 unit: SFU_UNIT }
          }
        }
        memory {
          fixed {
            global_cycles: 20
            shared_cycles: 5
            local_cycles: 20
            constant_cycles: 5
            param_cycles: 5
            texture_cycles: 20
            atomic_cycles: 20
          }
        }
        dispatch {}
      )pb",
      &machine));
  return machine;
}

}  // namespace heddle::replay
