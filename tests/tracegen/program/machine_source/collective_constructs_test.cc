// Tiles of matrices and asynchronous copies as machine code of sm_80 and sm_90, beside their PTX.
#include <algorithm>

#include "tests/tracegen/program/machine_source/construct_fixture.h"

namespace heddle::tracegen {
namespace {

namespace v1 = ::heddle::trace::v1;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

class MachineCollectivesTest : public MachineConstructsTest {
 protected:
  std::vector<v1::Instruction> All(v1::OpClass op) const {
    std::vector<v1::Instruction> all;
    for (const v1::Instruction& instruction : reader_->programs()[0].proto().instruction()) {
      if (instruction.op() == op) all.push_back(instruction);
    }
    return all;
  }

  // The kernel must be refused as machine code, with a line that has all of this.
  void Refused(const std::string& header, const std::string& body, const std::string& architecture,
               const std::vector<std::string>& parts) {
    options_.machine_code = true;
    options_.machine_level.architecture = architecture;
    Fails(absl::StrCat(header, ".shared .align 16 .b8 cells[4096];\n", kBegin, body, "  ret;\n}\n"),
          Recipe([](uint32_t) { return std::vector<double>{}; }, 1), parts, "ptx");
  }
};

// Four tiles for each warp, of which each thread writes one row. Elements are 1000 * warp, and where they lie. %r4 is
// the thread's row.
constexpr char kTiles[] = R"(
  .reg .b32 %w<8>; shr.u32 %w0, %r0, 5; and.b32 %w1, %r0, 31; mul.lo.u32 %w2, %w0, 1000; shl.b32 %w3, %w1, 3;
  add.u32 %w2, %w2, %w3; shl.b32 %w4, %w2, 16; add.u32 %w2, %w2, %w4; add.u32 %w2, %w2, 0x00010000;
  add.u32 %w3, %w2, 0x00020002; add.u32 %w4, %w2, 0x00040004; add.u32 %w5, %w2, 0x00060006;
  mov.u32 %r4, cells; shl.b32 %w6, %r0, 4; add.u32 %r4, %r4, %w6; st.shared.v4.u32 [%r4], {%w2, %w3, %w4, %w5};
  bar.sync 0;
)";
constexpr char kCells[] = ".shared .align 16 .b8 cells[4096];\n";

// What a thread holds of a tile.
double Held(uint32_t thread, uint32_t tile, bool transposed) {
  const uint32_t line = thread % 32 / 4, at = 2 * (thread % 4), base = thread / 32 * 1000 + 64 * tile;
  const uint32_t low = base + (transposed ? 8 * at + line : 8 * line + at);
  return low | (low + (transposed ? 8 : 1)) << 16;
}

TEST_F(MachineCollectivesTest, FourTiles) {
  Both(kCells, absl::StrCat(kTiles, R"(
  ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%r5, %r6, %r7, %r8}, [%r4];
  st.global.v4.u32 [%d], {%r5, %r6, %r7, %r8};
)"),
       [](uint32_t t) {
         return std::vector<double>{Held(t, 0, false), Held(t, 1, false), Held(t, 2, false), Held(t, 3, false)};
       });
  const trace::Program& program = reader_->programs()[0];
  EXPECT_TRUE(program.proto().uses_warp_operations());
  std::vector<v1::Instruction> loads = All(v1::OP_LOAD);
  std::erase_if(loads, [](const v1::Instruction& load) { return !load.has_matrix(); });
  ASSERT_EQ(loads.size(), 1u);
  EXPECT_EQ(loads[0].mnemonic(), "LDSM.16.M88.4");
  EXPECT_EQ(loads[0].matrix().role(), v1::Matrix::LOAD);
  EXPECT_EQ(loads[0].matrix().tiles(), 4u);
  EXPECT_EQ(loads[0].space(), v1::SPACE_SHARED);
  EXPECT_EQ(loads[0].access_bytes(), 16u);
  // Each thread has recorded the address of its own row. The code has no branches, so numbers are in its order.
  const auto load = std::ranges::find_if(program.accesses(),
                                         [&program](trace::Pc pc) { return program.instruction(pc).has_matrix(); });
  const auto at = static_cast<size_t>(load - program.accesses().begin());
  const std::vector<std::vector<uint64_t>> addresses = Addresses();
  for (uint32_t t = 0; t < kThreads; ++t) EXPECT_EQ(addresses[t][at] - addresses[0][at], 16 * t) << t;
}

TEST_F(MachineCollectivesTest, FourTilesTransposed) {
  Both(kCells, absl::StrCat(kTiles, R"(
  ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%r5, %r6, %r7, %r8}, [%r4];
  st.global.v4.u32 [%d], {%r5, %r6, %r7, %r8};
)"),
       [](uint32_t t) {
         return std::vector<double>{Held(t, 0, true), Held(t, 1, true), Held(t, 2, true), Held(t, 3, true)};
       });
}

TEST_F(MachineCollectivesTest, FewerTilesAndTilesInRegisters) {
  Both(kCells, absl::StrCat(kTiles, R"(
  ldmatrix.sync.aligned.m8n8.x2.trans.shared.b16 {%r5, %r6}, [%r4]; ldmatrix.sync.aligned.m8n8.x1.shared.b16 {%r7}, [%r4];
  movmatrix.sync.aligned.m8n8.trans.b16 %r8, %r7; st.global.v4.u32 [%d], {%r5, %r6, %r7, %r8};
)"),
       [](uint32_t t) {
         return std::vector<double>{Held(t, 0, true), Held(t, 1, true), Held(t, 0, false), Held(t, 0, true)};
       });
  ASSERT_EQ(All(v1::OP_TENSOR).size(), 1u);
  EXPECT_EQ(All(v1::OP_TENSOR)[0].matrix().role(), v1::Matrix::MOVE);
}

// Two tiles change their rows and columns, and the others stay.
TEST_F(MachineCollectivesTest, TilesAreStored) {
  Sm90(kCells, absl::StrCat(kTiles, R"(
  ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%r5, %r6, %r7, %r8}, [%r4]; bar.sync 0;
  stmatrix.sync.aligned.m8n8.x2.trans.shared.b16 [%r4], {%r5, %r6}; bar.sync 0;
  ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%r9, %r10, %r11, %r12}, [%r4]; bar.sync 0;
  stmatrix.sync.aligned.m8n8.x1.shared.b16 [%r4], {%r12}; bar.sync 0;
  ldmatrix.sync.aligned.m8n8.x1.shared.b16 {%r13}, [%r4]; bar.sync 0;
  stmatrix.sync.aligned.m8n8.x4.shared.b16 [%r4], {%r12, %r11, %r10, %r9}; bar.sync 0;
  ldmatrix.sync.aligned.m8n8.x2.shared.b16 {%r14, %r15}, [%r4];
  st.global.v4.u32 [%d], {%r9, %r10, %r13, %r15};
)"),
       [](uint32_t t) {
         return std::vector<double>{Held(t, 0, true), Held(t, 1, true), Held(t, 3, false), Held(t, 2, false)};
       });
}

// Words of `table` are 7 * their place. %r4: the thread's 16 bytes of `cells`, which hold 5, 5, 5, 5 before. %e4: its
// 16 bytes of the table.
constexpr char kTable[] = ".global .align 16 .u32 table[512];\n.shared .align 16 .b8 cells[4096];\n";
constexpr char kPrepare[] = R"(
  .reg .b32 %w<8>; mul.lo.u32 %w0, %r0, 28; add.u32 %w1, %w0, 7; add.u32 %w2, %w0, 14; add.u32 %w3, %w0, 21;
  mul.wide.u32 %e3, %r0, 16; mov.u64 %e4, table; add.u64 %e4, %e4, %e3;
  st.global.v4.u32 [%e4], {%w0, %w1, %w2, %w3}; st.global.v4.u32 [%e4+1024], {%w3, %w2, %w1, %w0};
  shl.b32 %r4, %r0, 4; mov.u32 %w4, cells; add.u32 %r4, %r4, %w4; mov.u32 %w5, 5;
  st.shared.v4.u32 [%r4], {%w5, %w5, %w5, %w5}; st.shared.v4.u32 [%r4+1024], {%w5, %w5, %w5, %w5}; bar.sync 0;
)";

// Without a wait the old data are there, and of two groups that are under way the first may be waited for alone.
TEST_F(MachineCollectivesTest, CopiesCompleteGroupByGroup) {
  Both(kTable, absl::StrCat(kPrepare, R"(
  cp.async.cg.shared.global [%r4], [%e4], 16; cp.async.commit_group;
  cp.async.ca.shared.global [%r4+1024], [%e4+1024], 4; cp.async.commit_group;
  ld.volatile.shared.u32 %r5, [%r4+4];
  cp.async.wait_group 1; ld.volatile.shared.u32 %r6, [%r4+4]; ld.volatile.shared.u32 %r7, [%r4+1024];
  cp.async.wait_group 0; ld.volatile.shared.u32 %r8, [%r4+1024];
  st.global.v4.u32 [%d], {%r5, %r6, %r7, %r8};
)"),
       [](uint32_t t) { return std::vector<double>{5, 28.0 * t + 7, 5, 28.0 * t + 21}; });
  std::vector<v1::Instruction> all = All(v1::OP_ASYNC);
  std::vector<v1::Async::Role> roles;
  for (const v1::Instruction& instruction : all) roles.push_back(instruction.async().role());
  EXPECT_THAT(roles, ElementsAre(v1::Async::COPY, v1::Async::COMMIT, v1::Async::COPY, v1::Async::COMMIT,
                                 v1::Async::WAIT_GROUP, v1::Async::WAIT_GROUP));
  ASSERT_EQ(all.size(), 6u);
  EXPECT_EQ(all[0].mnemonic(), "LDGSTS.E.BYPASS.128");
  ASSERT_EQ(all[0].operand_size(), 2);
  EXPECT_EQ(all[0].operand(0).space(), v1::SPACE_GLOBAL);
  EXPECT_EQ(all[0].operand(1).space(), v1::SPACE_SHARED);
  EXPECT_EQ(all[0].operand(1).bytes(), 16u);
  EXPECT_EQ(all[4].async().most_pending(), 1u);
  EXPECT_EQ(all[5].async().most_pending(), 0u);
}

// As at the level of PTX, a thread that ends without having waited is told.
TEST_F(MachineCollectivesTest, AMissingWaitShowsAndIsTold) {
  const std::string ptx = absl::StrCat(kHeader, kTable, kBegin, kPrepare, R"(
  cp.async.ca.shared.global [%r4], [%e4], 8; cp.async.commit_group;
  ld.volatile.shared.v2.u32 {%r5, %r6}, [%r4]; st.global.v2.u32 [%d], {%r5, %r6}; ret;
}
)");
  const std::vector<CaptureSummary> summaries =
      Try(ptx, Recipe([](uint32_t) { return std::vector<double>{5, 5}; }, 1), {"", "sm_80", "sm_90"});
  for (const CaptureSummary& summary : summaries) {
    EXPECT_THAT(summary.warnings, ::testing::Contains(HasSubstr("without having waited")));
  }
}

TEST_F(MachineCollectivesTest, AWaitForAllIsForTheOpenGroupToo) {
  Both(kTable, absl::StrCat(kPrepare, R"(
  cp.async.ca.shared.global [%r4], [%e4], 16; cp.async.wait_all; bar.sync 0;
  xor.b32 %r5, %r4, 16; ld.shared.v4.u32 {%r5, %r6, %r7, %r8}, [%r5]; st.global.v4.u32 [%d], {%r5, %r6, %r7, %r8};
)"),
       [](uint32_t t) {
         const double first = 28.0 * (t ^ 1);
         return std::vector<double>{first, first + 7, first + 14, first + 21};
       });
}

// How many bytes are read: by a register, a number, a predicate; or no copy at all. Zeros take the place of the others.
TEST_F(MachineCollectivesTest, CopiesOfLess) {
  Both(kTable, absl::StrCat(kPrepare, R"(
  rem.u32 %r5, %r0, 5; shl.b32 %r5, %r5, 2; cp.async.cg.shared.global [%r4], [%e4], 16, %r5;
  setp.gt.u32 %p0, %r0, 20; cp.async.ca.shared.global [%r4+1024], [%e4+4], 4, %p0;
  cp.async.ca.shared.global [%r4+1032], [%e4+8], 8, 4; @%p0 cp.async.ca.shared.global [%r4+1028], [%e4+1024], 4;
  cp.async.wait_all; ld.shared.v4.u32 {%r5, %r6, %r7, %r8}, [%r4]; ld.shared.v4.u32 {%r9, %r10, %r11, %r12}, [%r4+1024];
  mul.lo.u32 %r5, %r5, 3; mad.lo.u32 %r5, %r6, 5, %r5; mad.lo.u32 %r5, %r7, 11, %r5; mad.lo.u32 %r5, %r8, 17, %r5;
  mad.lo.u32 %r11, %r12, 1000, %r11; st.global.v4.u32 [%d], {%r5, %r9, %r10, %r11};
)"),
       [](uint32_t t) {
         const double weights[] = {3, 5, 11, 17};
         double sum = 0;
         for (uint32_t i = 0; i < t % 5; ++i) sum += weights[i] * (28.0 * t + 7 * i);
         return std::vector<double>{sum, t > 20 ? 0 : 28.0 * t + 7, t > 20 ? 28.0 * t + 21 : 5, 28.0 * t + 14};
       });
  // The trace has the sources as they are, null where nothing is read, and the bytes.
  const std::vector<v1::Instruction> all = All(v1::OP_ASYNC);
  ASSERT_GE(all.size(), 2u);
  EXPECT_EQ(all[0].operand_size(), 3);
  EXPECT_EQ(all[0].operand(2).kind(), v1::Operand::BYTES);
}

// The bytes that are read may be known, and none of them.
TEST_F(MachineCollectivesTest, CopiesOfNothing) {
  const std::string ptx = absl::StrCat(kHeader, kCells, kBegin, R"(
  shl.b32 %r4, %r0, 4; mov.u32 %r5, cells; add.u32 %r4, %r4, %r5; mov.u32 %r6, 5; st.global.v2.u32 [%d], {%r6, %r6};
  cp.async.ca.shared.global [%r4], [%d], 8, 0; cp.async.wait_all; ld.shared.v2.u32 {%r5, %r6}, [%r4];
  st.global.v2.u32 [%d+8], {%r5, %r6}; ret;
}
)");
  // That of sm_80 comes last, and has no branches.
  Try(ptx, Recipe([](uint32_t) { return std::vector<double>{5, 5, 0, 0}; }, 1), {"", "sm_90", "sm_80"});
  const std::vector<v1::Instruction> all = All(v1::OP_ASYNC);
  ASSERT_GE(all.size(), 1u);
  ASSERT_EQ(all[0].operand_size(), 3);
  EXPECT_TRUE(all[0].operand(2).constant());
  for (const std::vector<uint64_t>& thread : Addresses()) EXPECT_THAT(thread, ::testing::Contains(0u));
}

// A function waits for the copies of its caller.
TEST_F(MachineCollectivesTest, FunctionsWaitForCopies) {
  Both(absl::StrCat(kTable, R"(
.func (.param .b32 r) await(.param .b32 a) {
  .reg .b32 %x<4>; ld.param.b32 %x0, [a]; cp.async.wait_group 0; ld.shared.u32 %x1, [%x0]; st.param.b32 [r], %x1; ret;
}
)"),
       absl::StrCat(kPrepare, R"(
  cp.async.ca.shared.global [%r4], [%e4+4], 4; cp.async.commit_group;
  { .param .b32 u; .param .b32 w; st.param.b32 [u], %r4; call (w), await, (u); ld.param.b32 %r5, [w]; }
  st.global.u32 [%d], %r5;
)"),
       [](uint32_t t) { return std::vector<double>{28.0 * t + 7}; });
}

// All threads of a warp make a product together, whichever way they came.
TEST_F(MachineCollectivesTest, ProductsBehindBranches) {
  Both("", R"(
  mov.u32 %r4, 0x01010101; and.b32 %r5, %r0, 3; setp.eq.u32 %p0, %r5, 1; @!%p0 bra A; mul.lo.u32 %r4, %r4, 2;
A: mov.u32 %r6, 1; mov.u32 %r7, 2;
  mma.sync.aligned.m8n8k16.row.col.s32.u8.u8.s32 {%r8, %r9}, {%r4}, {%r4}, {%r6, %r7};
  st.global.v2.u32 [%d], {%r8, %r9};
)",
       [](uint32_t) { return std::vector<double>{4 * (1 + 4 + 1 + 1) + 1, 4 * (1 + 4 + 1 + 1) + 2}; });
}

// A barrier of 64 arrivals at `cells`, and what goes round until a phase is over.
constexpr char kBarrier[] = R"(
  setp.ne.u32 %p9, %r0, 0; @%p9 bra READY; mbarrier.init.shared.b64 [cells], 64;
READY: bar.sync 0;
)";

// Phases by the state that an arrival gave, and by their parity. Each thread reads what another one wrote before.
TEST_F(MachineCollectivesTest, TransactionBarriersHavePhases) {
  Sm90(kCells, absl::StrCat(kBarrier, R"(
  shl.b32 %r4, %r0, 2; mov.u32 %r5, cells; add.u32 %r4, %r4, %r5; xor.b32 %r5, %r4, 132; st.shared.u32 [%r4+1024], %r0;
  mbarrier.arrive.shared.b64 %e0, [cells];
A: mbarrier.try_wait.shared.b64 %p0, [cells], %e0; @!%p0 bra A;
  ld.shared.u32 %r6, [%r5+1024]; mul.lo.u32 %r7, %r0, 3; st.shared.u32 [%r4+2048], %r7;
  mbarrier.arrive.shared.b64 _, [cells]; mov.u32 %r8, 1;
B: mbarrier.test_wait.parity.shared.b64 %p0, [cells], %r8; @!%p0 bra B;
  ld.shared.u32 %r7, [%r5+2048]; st.global.v2.u32 [%d], {%r6, %r7};
)"),
       [](uint32_t t) { return std::vector<double>{static_cast<double>(t ^ 33), 3.0 * (t ^ 33)}; });
  std::vector<v1::Async::Role> roles;
  for (const v1::Instruction& instruction : All(v1::OP_ASYNC)) roles.push_back(instruction.async().role());
  EXPECT_THAT(roles, ::testing::IsSupersetOf({v1::Async::BARRIER_INIT, v1::Async::BARRIER_ARRIVE,
                                              v1::Async::BARRIER_ARRIVE, v1::Async::BARRIER_WAIT}));
}

// 16 threads bring two arrivals each, 16 bring one and drop out, and 16 more do not come before the second phase.
TEST_F(MachineCollectivesTest, ArrivalsOfSeveralAndOfThoseThatDropOut) {
  Sm90(kCells, R"(
  setp.ne.u32 %p9, %r0, 0; @%p9 bra READY; mov.u32 %r9, 48; mbarrier.init.shared.b64 [cells], %r9;
READY: bar.sync 0; shr.u32 %r4, %r0, 4; mov.u32 %r5, 0; mov.u32 %r6, 0; mov.u32 %r7, 2; setp.gt.u32 %p0, %r4, 1;
  @%p0 bra LATE; setp.eq.u32 %p1, %r4, 1; @%p1 bra DROP; mbarrier.arrive.shared.b64 %e0, [cells], %r7; bra WAIT;
DROP: mbarrier.arrive_drop.shared.b64 %e0, [cells];
WAIT: mbarrier.pending_count.b64 %r5, %e0; setp.gt.u32 %p2, %r5, 0; setp.le.u32 %p3, %r5, 48; and.pred %p2, %p2, %p3;
  selp.u32 %r5, 1, 0, %p2;
LATE: mov.u32 %r8, 0;
A: mbarrier.try_wait.parity.shared.b64 %p4, [cells], %r8; @!%p4 bra A;
  bar.sync 0; setp.eq.u32 %p5, %r4, 1; @%p5 bra E; setp.eq.u32 %p6, %r4, 3; @%p6 bra E; mbarrier.arrive.shared.b64 _, [cells];
  mov.u32 %r8, 1;
B: mbarrier.try_wait.parity.shared.b64 %p4, [cells], %r8; @!%p4 bra B; mov.u32 %r6, 7;
E: st.global.v2.u32 [%d], {%r5, %r6};
)",
       [](uint32_t t) {
         const uint32_t group = t / 16;
         return std::vector<double>{group < 2 ? 1.0 : 0.0, group == 0 || group == 2 ? 7.0 : 0.0};
       });
}

TEST_F(MachineCollectivesTest, CopiesArriveAtBarriers) {
  Sm90(kTable, absl::StrCat(kPrepare, R"(
  setp.ne.u32 %p9, %r0, 0; @%p9 bra READY; mbarrier.init.shared.b64 [cells+2048], 64;
READY: bar.sync 0; cp.async.ca.shared.global [%r4], [%e4], 16; cp.async.mbarrier.arrive.noinc.shared.b64 [cells+2048];
A: mbarrier.try_wait.parity.shared.b64 %p0, [cells+2048], 0; @!%p0 bra A;
  xor.b32 %r5, %r4, 528; ld.shared.u32 %r6, [%r5+4]; bar.sync 0; @%p9 bra E;
  mbarrier.inval.shared.b64 [cells+2048]; mbarrier.init.shared.b64 [cells+2048], 1;
  mbarrier.arrive.shared.b64 %e0, [cells+2048];
B: mbarrier.try_wait.shared.b64 %p0, [cells+2048], %e0; @!%p0 bra B;
E: st.global.u32 [%d], %r6;
)"),
       [](uint32_t t) { return std::vector<double>{28.0 * (t ^ 33) + 7}; });
}

TEST_F(MachineCollectivesTest, WhatIsNotExecutedIsRefusedByName) {
  Refused(kHeader, "  cp.async.wait_group 9;\n  cp.async.commit_group;\n", "sm_80",
          {"kernel.ptx: k+0x", "does not have in this form", "DEPBAR.LE SB0, 0x9"});
  Refused(kHeader, "  mov.u32 %r4, cells; cp.async.mbarrier.arrive.noinc.shared.b64 [%r4];\n", "sm_80",
          {"kernel.ptx: k+0x", "ARRIVES.LDGSTSBAR.64"});
  Refused(kHeader90, "  mbarrier.arrive.expect_tx.shared.b64 %e0, [cells], 16; st.global.u64 [%d], %e0;\n", "sm_90",
          {"SYNCS.ARRIVE.TRANS64"});
  Refused(kHeader,
          "  mma.sp.sync.aligned.m16n8k16.row.col.f16.f16.f16.f16 {%r4, %r5}, {%r4, %r5}, {%r6, %r7}, {%r4, %r5}, "
          "%r8, 0;\n  st.global.u32 [%d], %r4;\n",
          "sm_80", {"HMMA.SP"});
  const std::string header75 = ".version 8.0\n.target sm_75\n.address_size 64\n";
  Refused(header75,
          "  mma.sync.aligned.m8n8k4.row.col.f16.f16.f16.f16 {%r4, %r5, %r6, %r7}, {%r4, %r5}, {%r6, %r7}, {%r4, %r5, "
          "%r6, %r7};\n  st.global.u32 [%d], %r4;\n",
          "sm_75", {"HMMA.884"});
}

}  // namespace
}  // namespace heddle::tracegen
