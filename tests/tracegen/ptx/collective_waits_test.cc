// What a trace says of barriers, asynchronous copies and transaction barriers.
#include "tracegen/ptx/collective_waits.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "absl/strings/str_cat.h"

namespace heddle::tracegen {
namespace {

namespace v1 = ::heddle::trace::v1;
using Kind = WrittenOperand::Kind;

constexpr WrittenOperand kRegister = {Kind::kRegister, 0}, kPredicate = {Kind::kPredicate, 0},
                         kAddress = {Kind::kAddress, 0};

WrittenOperand Number(uint64_t value) { return {Kind::kConstant, value}; }

// Operands in words: "address16 bytes=4 count".
std::string Operands(const v1::Instruction& instruction) {
  std::string text;
  for (const v1::Operand& operand : instruction.operand()) {
    absl::StrAppend(&text, text.empty() ? "" : " ", v1::Operand::Kind_Name(operand.kind()));
    if (operand.bytes() != 0) absl::StrAppend(&text, operand.bytes(), v1::MemorySpace_Name(operand.space()));
    if (operand.constant()) absl::StrAppend(&text, "=", operand.value());
  }
  return text;
}

std::string Described(std::string_view mnemonic, const std::vector<WrittenOperand>& operands) {
  const auto made = DescribeWaiting(mnemonic, operands);
  if (made == nullptr) return "nothing";
  std::string role =
      made->has_async() ? v1::Async::Role_Name(made->async().role()) : v1::BarrierRole_Name(made->barrier_role());
  if (made->async().most_pending() != 0) absl::StrAppend(&role, "<=", made->async().most_pending());
  if (made->barrier_id() != 0) absl::StrAppend(&role, " ", made->barrier_id());
  if (made->barrier_threads() != 0) absl::StrAppend(&role, " of ", made->barrier_threads());
  if (made->barrier_scope() == v1::SCOPE_CLUSTER) absl::StrAppend(&role, " of the cluster");
  const std::string list = Operands(*made);
  return list.empty() ? role : absl::StrCat(role, ": ", list);
}

TEST(CollectiveWaits, BarriersThatAllWaitAtNeedNothing) {
  EXPECT_EQ(Described("bar.sync", {Number(0)}), "nothing");
  EXPECT_EQ(Described("barrier.sync.aligned", {Number(3), Number(64)}), "nothing");
  EXPECT_EQ(Described("bar.red.popc.u32", {kRegister, Number(0), kPredicate}), "nothing");
  EXPECT_EQ(Described("bar.warp.sync", {kRegister}), "nothing");
}

TEST(CollectiveWaits, OtherBarriers) {
  EXPECT_EQ(Described("bar.arrive", {Number(1), Number(64)}), "BARRIER_ARRIVE 1 of 64");
  EXPECT_EQ(Described("bar.sync", {kRegister}), "BARRIER_SYNC: BARRIER");
  EXPECT_EQ(Described("barrier.sync", {Number(2), kRegister}), "BARRIER_SYNC 2: COUNT");
  EXPECT_EQ(Described("barrier.arrive", {kRegister, kRegister}), "BARRIER_ARRIVE: BARRIER COUNT");
  EXPECT_EQ(Described("bar.red.and.pred", {kPredicate, Number(2), Number(64), kPredicate}), "BARRIER_REDUCE 2 of 64");
  EXPECT_EQ(Described("barrier.cluster.arrive.relaxed.aligned", {}), "BARRIER_ARRIVE of the cluster");
  EXPECT_EQ(Described("barrier.cluster.wait", {}), "BARRIER_WAIT of the cluster");
}

TEST(CollectiveWaits, Copies) {
  const std::string copy16 = "COPY: ADDRESS16SPACE_GLOBAL ADDRESS16SPACE_SHARED";
  EXPECT_EQ(Described("cp.async.cg.shared.global", {kAddress, kAddress, Number(16)}), copy16);
  EXPECT_EQ(Described("cp.async.cg.shared.global", {kAddress, kAddress, Number(16), Number(16)}), copy16);
  EXPECT_EQ(Described("cp.async.ca.shared.global.L2::cache_hint", {kAddress, kAddress, Number(16), kRegister}), copy16);
  EXPECT_EQ(Described("cp.async.ca.shared.global", {kAddress, kAddress, Number(16), Number(3)}), copy16 + " BYTES=3");
  EXPECT_EQ(Described("cp.async.ca.shared.global", {kAddress, kAddress, Number(16), kPredicate}), copy16 + " BYTES");
  EXPECT_EQ(Described("cp.async.commit_group", {}), "COMMIT");
  EXPECT_EQ(Described("cp.async.wait_group", {Number(8)}), "WAIT_GROUP<=8");
  EXPECT_EQ(Described("cp.async.wait_all", {}), "WAIT_ALL");
  EXPECT_EQ(Described("cp.async.mbarrier.arrive.noinc.shared.b64", {kAddress}), "BARRIER_COPIES: ADDRESS8SPACE_SHARED");
}

TEST(CollectiveWaits, WhatATraceDoesNotHave) {
  EXPECT_EQ(Described("cp.async.wait_group", {Number(9)}), "nothing");
  EXPECT_EQ(Described("cp.async.cg.shared.global", {kAddress, kAddress, Number(8)}), "nothing");
  EXPECT_EQ(Described("cp.async.ca.shared.global", {kAddress, kAddress, Number(5)}), "nothing");
  EXPECT_EQ(Described("cp.async.ca.shared.global", {kAddress, kAddress, Number(4), Number(5)}), "nothing");
  EXPECT_EQ(Described("cp.async.bulk.commit_group", {}), "nothing");
  EXPECT_EQ(Described("cp.async.ca.shared.global", {}), "nothing");
  EXPECT_EQ(Described("mbarrier.init.shared.b64", {kAddress}), "nothing");
  EXPECT_EQ(Described("mbarrier.test_wait.shared.b64", {}), "nothing");
  EXPECT_EQ(Described("bar.arrive", {}), "nothing");
}

TEST(CollectiveWaits, TransactionBarriers) {
  EXPECT_EQ(Described("mbarrier.init.shared::cta.b64", {kAddress, Number(128)}),
            "BARRIER_INIT: ADDRESS8SPACE_SHARED COUNT=128");
  EXPECT_EQ(Described("mbarrier.inval.b64", {kAddress}), "BARRIER_INVALIDATE: ADDRESS8SPACE_GENERIC");
  EXPECT_EQ(Described("mbarrier.arrive.shared.b64", {kRegister, kAddress}), "BARRIER_ARRIVE: ADDRESS8SPACE_SHARED");
  EXPECT_EQ(Described("mbarrier.arrive.release.cluster.shared::cluster.b64", {kRegister, kAddress}),
            "BARRIER_ARRIVE: ADDRESS8SPACE_CLUSTER_SHARED");
  EXPECT_EQ(Described("mbarrier.arrive_drop.shared.b64", {kRegister, kAddress, kRegister}),
            "BARRIER_ARRIVE: ADDRESS8SPACE_SHARED COUNT");
  EXPECT_EQ(Described("mbarrier.arrive.expect_tx.shared.b64", {kRegister, kAddress, Number(64)}),
            "BARRIER_ARRIVE: ADDRESS8SPACE_SHARED BYTES=64");
  EXPECT_EQ(Described("mbarrier.expect_tx.shared.b64", {kAddress, kRegister}),
            "BARRIER_EXPECT: ADDRESS8SPACE_SHARED BYTES");
  EXPECT_EQ(Described("mbarrier.try_wait.parity.shared.b64", {kPredicate, kAddress, kRegister}),
            "BARRIER_WAIT: ADDRESS8SPACE_SHARED COUNT");
}

}  // namespace
}  // namespace heddle::tracegen
