// What holds up each command, and which of the wanted ones comes first: beside models that look at all that was issued.
#include "replay/memory/dram/dram_command_search.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <optional>
#include <random>
#include <vector>

#include "replay/memory/dram/command_bounds.h"
#include "replay/memory/dram/wanted_commands.h"
#include "tests/replay/memory/dram_machines.h"

namespace heddle::replay {
namespace {

constexpr DramCommand kCommands[] = {DramCommand::kRead, DramCommand::kWrite, DramCommand::kPrecharge,
                                     DramCommand::kActivate};

DramParameters MustMake(const machine::v1::Dram& dram) {
  const absl::StatusOr<DramParameters> parameters = DramParameters::Make(dram);
  EXPECT_TRUE(parameters.ok()) << parameters.status();
  return *parameters;
}

bool Column(DramCommand command) { return command == DramCommand::kRead || command == DramCommand::kWrite; }

// The span after `first` in which `second` is not allowed: at the same bank, in the same group, anywhere.
Bound SpanOf(const DramTiming& timing, DramCommand first, DramCommand second, bool same_bank, bool same_group) {
  const auto one = static_cast<size_t>(first), other = static_cast<size_t>(second);
  Bound span;
  if (Column(first) && Column(second)) {
    span = timing.column_to_column[one][other];
    if (same_group) span = std::max(span, timing.column_to_column_in_group[one][other]);
  }
  if (Column(first) && second == DramCommand::kPrecharge) {
    const bool read = first == DramCommand::kRead;
    if (same_bank) span = std::max(span, read ? timing.read_to_precharge : timing.write_to_precharge);
    if (same_group && read) span = std::max(span, timing.read_to_precharge_in_group);
  }
  if (first == DramCommand::kPrecharge && second == DramCommand::kActivate && same_bank) {
    span = timing.precharge_to_activate;
  }
  if (first == DramCommand::kActivate) {
    if (second == DramCommand::kActivate) span = timing.activate_to_activate_any_bank;
    if (same_bank) span = std::max(span, timing.activate_to[other]);
  }
  return span;
}

struct Issue {
  uint32_t bank;
  DramCommand command;
  uint64_t cycle;
};

Bound AllowedAfter(const std::vector<Issue>& issued, const DramParameters& parameters, const CommandBounds& bounds,
                   uint32_t bank, DramCommand command) {
  Bound allowed;
  for (const Issue& issue : issued) {
    const Bound span = SpanOf(parameters.timing, issue.command, command, issue.bank == bank,
                              bounds.group(issue.bank) == bounds.group(bank));
    if (span.cycle() != 0) allowed = std::max(allowed, Bound(issue.cycle + span.cycle(), span.because()));
  }
  return allowed;
}

TEST(CommandBounds, AreThoseOfAllThatWasIssued) {
  for (const machine::v1::Dram& dram : {Gddr3Dram(), Gtx480Dram()}) {
    const DramParameters parameters = MustMake(dram);
    CommandBounds bounds(parameters);
    std::vector<Issue> issued;
    std::mt19937 random(3);
    uint64_t base = 0, cycle = 0;
    for (int step = 0; step < 300; ++step) {
      cycle += 1 + random() % 8;
      if (random() % 8 == 0) {
        bounds.MoveBase(static_cast<CommandBounds::Time>(cycle - base));
        base = cycle;
      }
      const Issue issue = {static_cast<uint32_t>(random() % parameters.banks), kCommands[random() % 4], cycle};
      bounds.Issued(issue.bank, issue.command, static_cast<CommandBounds::Time>(cycle - base));
      issued.push_back(issue);
      for (uint32_t bank = 0; bank < parameters.banks; ++bank) {
        for (const DramCommand command : kCommands) {
          const Bound expected = AllowedAfter(issued, parameters, bounds, bank, command);
          const CommandBounds::Time allowed = bounds.Allowed(bank, command);
          // What is over by now may be forgotten.
          ASSERT_EQ(std::max(base + CommandBounds::CycleOf(allowed), cycle), std::max(expected.cycle(), cycle));
          if (expected.cycle() > cycle) {
            ASSERT_EQ(CommandBounds::ConstraintOf(CommandBounds::RankOf(allowed)), expected.because());
          }
        }
      }
    }
    bounds.Reset();
    EXPECT_EQ(CommandBounds::CycleOf(bounds.Allowed(0, DramCommand::kActivate)), 0);
  }
}

// Beside a plain list of what each bank wants.
TEST(WantedCommands, GiveTheFirstCycleAndTheBanksThatAreReadyThen) {
  constexpr uint32_t kBanks = 37;  // parts of several vectors
  WantedCommands wanted(kBanks);
  struct Want {
    DramCommand command;
    BankLane allowed;
  };
  std::vector<std::optional<Want>> expected(kBanks);
  for (uint32_t bank = 0; bank < kBanks; ++bank) wanted.SetGroup(bank, bank % 3);
  EXPECT_EQ(wanted.First(), WantedCommands::kNever);
  std::mt19937 random(9);
  for (int step = 0; step < 5'000; ++step) {
    const uint32_t bank = random() % kBanks;
    switch (random() % 8) {
      case 0:
        wanted.Forget(bank);
        expected[bank].reset();
        break;
      case 1: {
        // Nobody, then nobody of the group.
        BankLanes until;
        for (uint32_t i = 0; i < 2 * kDramCommands; ++i) until[i] = static_cast<BankLane>(random() % 500);
        until[static_cast<int>(DramCommand::kPrecharge)] = 0;  // banks precharge whatever other groups do
        until[kDramCommands + static_cast<int>(DramCommand::kActivate)] = 0;
        wanted.Hold(until, bank % 3);
        for (uint32_t other = 0; other < kBanks; ++other) {
          if (!expected[other]) continue;
          const int command = static_cast<int>(expected[other]->command);
          BankLane& allowed = expected[other]->allowed;
          allowed = std::max<BankLane>(allowed, until[command]);
          if (other % 3 == bank % 3) allowed = std::max<BankLane>(allowed, until[kDramCommands + command]);
        }
        break;
      }
      case 2: {
        const auto by = static_cast<BankLane>(random() % 50);
        wanted.MoveBase(by);
        for (auto& want : expected) {
          if (want) want->allowed = std::max<BankLane>(0, want->allowed - by);
        }
        break;
      }
      default: {
        const Want want = {kCommands[random() % 4], static_cast<BankLane>(random() % 500)};
        wanted.Want(bank, want.command, want.allowed);
        expected[bank] = want;
      }
    }
    BankLane first = WantedCommands::kNever;
    for (const auto& want : expected) first = want ? std::min(first, want->allowed) : first;
    ASSERT_EQ(wanted.First(), first);
    uint64_t ready = 0;
    for (uint32_t other = 0; other < kBanks; ++other) {
      ready |= uint64_t{expected[other] && expected[other]->allowed <= first} << other;
    }
    ASSERT_EQ(wanted.ReadyIn(first), ready);
  }
}

TEST(DramCommandSearch, FindsWhatIsAllowedFirstAndWhy) {
  DramCommandSearch search(MustMake(Gddr3Dram()));
  EXPECT_EQ(search.cycle(), kNeverCycle);
  search.Want(0, DramCommand::kActivate);
  search.FindWith(0, 5);
  EXPECT_EQ(search.cycle(), 5u);
  EXPECT_EQ(search.ready(), 1u);
  search.Issued(0, 5);
  search.Want(0, DramCommand::kRead);      // RCD: 12
  search.Want(1, DramCommand::kActivate);  // RRD: 8
  search.Find(6);
  EXPECT_EQ(search.cycle(), 13u);
  EXPECT_EQ(search.ready(), 2u);
  EXPECT_EQ(search.because(), DramConstraint::kRrd);
  EXPECT_EQ(search.AllowedFrom(0), Bound(17, DramConstraint::kRcd));
  search.Forget(1);
  search.Find(13);
  EXPECT_EQ(search.cycle(), 17u);
  EXPECT_EQ(search.because(), DramConstraint::kRcd);
  search.Forget(0);
  search.Reset();
  search.Find(0);
  EXPECT_EQ(search.cycle(), kNeverCycle);
}

}  // namespace
}  // namespace heddle::replay
