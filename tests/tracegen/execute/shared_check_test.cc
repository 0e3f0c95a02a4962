// The check of shared memory takes short ways; here it is compared with its definition, access by access.
#include "tracegen/execute/checks/shared_check.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <optional>
#include <random>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "tests/traces/program_builder.h"
#include "tracegen/instrument/thread_context.h"

namespace heddle::tracegen {
namespace {

using HandOffs = std::map<HandOff, uint64_t>;
using trace::Program;
using trace::testing::RandomProgram;
using trace::testing::RandomThread;
using trace::testing::ThreadTrace;

constexpr uint32_t kWords = 24;

struct Access {
  uint64_t barriers = 0;         // that the thread has passed
  uint64_t warp_operations = 0;  // warp operations since
  trace::Pc pc = 0;
  trace::v1::OpClass op = trace::v1::OP_LOAD;
  uint64_t address = 0;
  auto when() const { return std::tuple(barriers, warp_operations, pc); }  // where no function is called
};

struct Found {
  HandOffs hand_offs;
  std::optional<std::tuple<trace::Pc, uint64_t, uint32_t>> uninitialized;
};

bool IsShared(uint64_t address) { return address >= kSharedBase && address < kSharedBase + 4 * kWords; }

std::vector<Access> SharedAccessesOf(const Program& program, const ThreadTrace& thread) {
  std::vector<Access> accesses;
  Access next;
  size_t position = 0;
  for (uint32_t block : thread.blocks) {
    const trace::Block& range = program.block(block);
    for (next.pc = range.first; next.pc < range.first + range.count; ++next.pc) {
      const trace::v1::Instruction& instruction = program.instruction(next.pc);
      next.op = instruction.op();
      if (next.op == trace::v1::OP_BARRIER) {
        ++next.barriers;
        next.warp_operations = 0;
      }
      if (next.op == trace::v1::OP_WARP) ++next.warp_operations;
      if (!Program::HasAddress(instruction)) continue;
      next.address = thread.addresses[position++];
      if (IsShared(next.address)) accesses.push_back(next);
    }
  }
  return accesses;
}

// What happened to a word in an interval: the threads that run an instruction together have the same step.
struct Event {
  uint64_t step = 0;
  trace::Pc pc = 0;
  size_t lane = 0;
  trace::v1::OpClass op = trace::v1::OP_LOAD;
};

// The events of the latest step of a kind before `step`.
std::vector<Event> LatestStep(const std::vector<Event>& events, trace::v1::OpClass op, uint64_t step) {
  std::vector<Event> latest;
  for (const Event& event : events) {
    if (event.op != op || event.step >= step) continue;
    if (!latest.empty() && latest[0].step != event.step) latest.clear();
    latest.push_back(event);
  }
  return latest;
}

bool HasLane(const std::vector<Event>& events, size_t lane) {
  return std::any_of(events.begin(), events.end(), [lane](const Event& event) { return event.lane == lane; });
}

// One warp in lockstep: of all threads' next accesses those of the earliest interval, and there of the lowest
// instruction, go first.
void AddHandOffs(const std::vector<std::vector<Access>>& lanes, const std::vector<uint32_t>& constants,
                 HandOffs& found) {
  std::vector<size_t> next(lanes.size(), 0);
  std::map<uint64_t, std::vector<Event>> words;
  std::tuple<uint64_t, uint64_t> interval;
  for (uint64_t step = 1;; ++step) {
    const Access* first = nullptr;
    for (size_t l = 0; l < lanes.size(); ++l) {
      if (next[l] == lanes[l].size()) continue;
      if (first == nullptr || lanes[l][next[l]].when() < first->when()) first = &lanes[l][next[l]];
    }
    if (first == nullptr) return;
    const auto when = first->when();
    if (interval != std::tuple(first->barriers, first->warp_operations)) words.clear();
    interval = {first->barriers, first->warp_operations};
    std::map<uint64_t, std::vector<Event>> now;
    for (size_t l = 0; l < lanes.size(); ++l) {
      if (next[l] == lanes[l].size() || lanes[l][next[l]].when() != when) continue;
      const Access& access = lanes[l][next[l]++];
      now[access.address].push_back({step, access.pc, l, access.op});
    }
    for (auto& [address, events] : now) {
      std::vector<Event>& word = words[address];
      const trace::Pc pc = events[0].pc;
      const trace::v1::OpClass op = events[0].op;
      const bool loads = op != trace::v1::OP_STORE;
      const bool stores = op != trace::v1::OP_LOAD;
      const bool is_atomic = loads && stores;
      std::vector<Event> stored = LatestStep(word, trace::v1::OP_STORE, step);
      const std::vector<Event> changed = LatestStep(word, trace::v1::OP_ATOMIC, step);
      for (const Event& event : events) {
        const auto reads = [&](const std::vector<Event>& written) {
          if (!written.empty() && !HasLane(written, event.lane)) ++found[{written[0].pc, pc}];
        };
        if (loads) reads(stored);
        if (loads && !is_atomic) reads(changed);
        const auto overwrites = [&](trace::v1::OpClass read) {
          for (auto other = word.rbegin(); other != word.rend(); ++other) {
            if (other->op != read || other->lane == event.lane) continue;
            ++found[{pc, other->pc}];
            return;
          }
        };
        if (stores) overwrites(trace::v1::OP_LOAD);
        if (stores && !is_atomic) overwrites(trace::v1::OP_ATOMIC);
      }
      if (op == trace::v1::OP_STORE && !stored.empty()) {
        const uint32_t constant = constants[pc];
        if (constant != 0 && constants[stored[0].pc] == constant) {
          for (const Event& event : stored) {
            if (!HasLane(events, event.lane)) events.push_back({step, pc, event.lane, op});
          }
        } else if (std::any_of(stored.begin(), stored.end(),
                               [&](const Event& event) { return !HasLane(events, event.lane); })) {
          ++found[{pc, stored[0].pc}];
        }
      }
      word.insert(word.end(), events.begin(), events.end());
    }
  }
}

void AddBlock(uint64_t block, const std::vector<std::vector<Access>>& threads, const std::vector<uint32_t>& constants,
              Found& found) {
  for (size_t first = 0; first < threads.size(); first += kWarpWidth) {
    const size_t end = std::min<size_t>(threads.size(), first + kWarpWidth);
    AddHandOffs({threads.begin() + static_cast<ptrdiff_t>(first), threads.begin() + static_cast<ptrdiff_t>(end)},
                constants, found.hand_offs);
  }
  const auto is_stored_before = [&](const Access& load) {
    for (const std::vector<Access>& accesses : threads) {
      for (const Access& other : accesses) {
        const bool counts =
            other.op == trace::v1::OP_STORE || (other.op == trace::v1::OP_ATOMIC && load.op == trace::v1::OP_LOAD);
        if (counts && other.address == load.address && other.barriers <= load.barriers) return true;
      }
    }
    return false;
  };
  for (uint32_t t = 0; t < threads.size() && !found.uninitialized.has_value(); ++t) {
    for (const Access& access : threads[t]) {
      if (access.op == trace::v1::OP_STORE || is_stored_before(access)) continue;
      found.uninitialized = {access.pc, block, t};
      break;
    }
  }
}

struct Case {
  uint64_t seed;
  uint32_t threads;
  uint32_t alike;       // threads of a group decide alike
  bool in_order;        // addresses follow the thread's number, so that much is stored to before it is loaded
  double shared_share;  // of the accesses
};

void ExpectTheSame(const Case& c) {
  SCOPED_TRACE(::testing::Message() << "seed " << c.seed << ", " << c.threads << " threads");
  std::mt19937_64 random(c.seed);
  const auto below = [&random](uint64_t bound) { return random() % bound; };
  trace::v1::KernelProgram proto = RandomProgram(c.seed, {.depth = 2, .barriers = true});
  for (trace::v1::Instruction& instruction : *proto.mutable_instruction()) {
    if (instruction.op() == trace::v1::OP_INT_ALU && below(8) == 0) {
      instruction.set_op(trace::v1::OP_WARP);
      instruction.set_mnemonic("bar.warp.sync");
    }
    if (!Program::HasAddress(instruction)) continue;
    instruction.set_space(below(2) == 0 ? trace::v1::SPACE_SHARED : trace::v1::SPACE_GENERIC);
    instruction.set_access_bytes(4);
  }
  absl::StatusOr<Program> program = Program::Create(proto);
  ASSERT_TRUE(program.ok()) << program.status();
  std::vector<uint32_t> constants(program->instruction_count());
  for (uint32_t& constant : constants) constant = static_cast<uint32_t>(below(3));  // 0: it stores none
  SharedMemoryCheck check(*program, c.threads, 4 * kWords, constants);
  Found expected;
  for (uint64_t b = 0; b < 3; ++b) {
    const uint64_t block = 16 * b;  // stores alone are looked at in these
    std::vector<ThreadTrace> threads;
    std::vector<trace::ThreadRecord> records;
    std::vector<uint64_t> consumed;
    std::vector<std::vector<Access>> accesses;
    for (uint32_t t = 0; t < c.threads; ++t) {
      threads.push_back(
          RandomThread(*program, c.seed, block * c.threads + t, {.most_instructions = 200, .alike = c.alike}));
      for (uint64_t& address : threads.back().addresses) {
        const bool is_shared = static_cast<double>(below(1000)) < 1000 * c.shared_share;
        const uint64_t word = c.in_order ? t % kWords : below(kWords);
        address = is_shared ? kSharedBase + 4 * word : kGlobalBase + 4 * below(1000);
      }
      accesses.push_back(SharedAccessesOf(*program, threads.back()));
    }
    for (const ThreadTrace& thread : threads) {
      records.push_back(thread.record());
      consumed.push_back(thread.addresses.size());
    }
    BlockRecords whole(records);
    ASSERT_EQ(check.AddBlock(block, whole, consumed, true), absl::OkStatus());
    AddBlock(block, accesses, constants, expected);
  }
  EXPECT_EQ(check.hand_offs(), expected.hand_offs);
  ASSERT_EQ(check.uninitialized().has_value(), expected.uninitialized.has_value());
  if (expected.uninitialized.has_value()) {
    EXPECT_EQ(std::tuple(check.uninitialized()->pc, check.uninitialized()->block, check.uninitialized()->thread),
              *expected.uninitialized);
  }
}

TEST(SharedMemoryCheck, FindsWhatItsDefinitionSays) {
  for (uint64_t seed = 1; seed <= 60; ++seed) {
    ExpectTheSame({seed, 40, 1, false, 0.9});   // threads on their own, in a whole warp and a part of one
    ExpectTheSame({seed, 64, 64, false, 1.0});  // all threads together
    ExpectTheSame({seed, 64, 64, true, 1.0});
    ExpectTheSame({seed, 33, 16, true, 0.5});
  }
}

// A kernel as most are: everything is stored to before a barrier, and loaded behind it.
TEST(SharedMemoryCheck, ABarrierOrdersStoresAndLoads) {
  using trace::testing::ProgramBuilder;
  for (const bool with_barrier : {true, false}) {
    ProgramBuilder builder("k");
    builder.Block("b").Store(trace::v1::SPACE_SHARED);
    if (with_barrier) builder.Barrier();
    const Program program = builder.Load(trace::v1::SPACE_SHARED).Exit().Create();
    SharedMemoryCheck check(program, 32, 128);
    std::vector<std::vector<uint64_t>> addresses;
    std::vector<trace::ThreadRecord> records;
    for (uint64_t t = 0; t < 32; ++t) addresses.push_back({kSharedBase + 4 * t, kSharedBase + 4 * (31 - t)});
    for (const std::vector<uint64_t>& thread : addresses) records.push_back({{}, thread});
    BlockRecords whole(records);
    ASSERT_EQ(check.AddBlock(0, whole, std::vector<uint64_t>(32, 2), true), absl::OkStatus());
    const HandOffs none;
    const HandOffs all = {{{0, 1}, 32}};
    EXPECT_EQ(check.hand_offs(), with_barrier ? none : all);
    EXPECT_FALSE(check.uninitialized().has_value());
  }
}

// What a warp of threads does that each run the same instructions, with addresses of their own; without a barrier.
HandOffs FoundIn(const Program& program, const std::vector<std::vector<uint64_t>>& words,
                 std::vector<uint32_t> constants = {}, uint64_t block = 0) {
  const auto threads = static_cast<uint32_t>(words.size());
  SharedMemoryCheck check(program, threads, 256, std::move(constants));
  std::vector<std::vector<uint64_t>> addresses = words;
  std::vector<trace::ThreadRecord> records;
  for (std::vector<uint64_t>& thread : addresses) {
    for (uint64_t& address : thread) address = kSharedBase + 4 * address;
    records.push_back({{}, thread});
  }
  BlockRecords whole(records);
  EXPECT_EQ(check.AddBlock(block, whole, std::vector<uint64_t>(threads, words[0].size()), true), absl::OkStatus());
  return check.hand_offs();
}

// s[i] += s[i ^ 8], whichever of the two is loaded first: the thread's own load does not hide the other one's.
TEST(SharedMemoryCheck, AStoreToWhatAnotherThreadHasLoadedIsFoundBehindOwnLoads) {
  using trace::testing::ProgramBuilder;
  constexpr auto kShared = trace::v1::SPACE_SHARED;
  const Program program = ProgramBuilder("k").Block("b").Load(kShared).Load(kShared).Store(kShared).Exit().Create();
  for (const bool own_first : {true, false}) {
    std::vector<std::vector<uint64_t>> words;
    for (uint64_t t = 0; t < 32; ++t) words.push_back({own_first ? t : t ^ 8, own_first ? t ^ 8 : t, t});
    EXPECT_EQ(FoundIn(program, words), (HandOffs{{{2, own_first ? 1 : 0}, 32}}));
  }
  std::vector<std::vector<uint64_t>> own;
  for (uint64_t t = 0; t < 32; ++t) own.push_back({t, t, t});
  EXPECT_EQ(FoundIn(program, own), HandOffs());
}

// Every thread stores to all words, then to its own one.
TEST(SharedMemoryCheck, AStoreOverThoseOfOtherThreadsIsFound) {
  using trace::testing::ProgramBuilder;
  constexpr auto kShared = trace::v1::SPACE_SHARED;
  const Program program = ProgramBuilder("k").Block("b").Store(kShared).Store(kShared).Store(kShared).Exit().Create();
  std::vector<std::vector<uint64_t>> words;
  for (uint64_t t = 0; t < 2; ++t) words.push_back({0, 1, t});
  EXPECT_EQ(FoundIn(program, words), (HandOffs{{{2, 0}, 1}, {{2, 1}, 1}}));
  EXPECT_EQ(FoundIn(program, words, {7, 7, 7}), HandOffs()) << "the same constant";
  EXPECT_EQ(FoundIn(program, words, {7, 7, 8}), (HandOffs{{{2, 0}, 1}, {{2, 1}, 1}}));
  // All threads store to one word, several times: each one's last store is that of all.
  EXPECT_EQ(FoundIn(program, {{5, 5, 5}, {5, 5, 5}}), HandOffs());
  // Words of their own, in turn.
  EXPECT_EQ(FoundIn(program, {{0, 2, 0}, {1, 3, 1}}), HandOffs());
  // Where a warp does nothing but store, one block in 16 stands for all.
  EXPECT_EQ(FoundIn(program, words, {}, 1), HandOffs());
  EXPECT_EQ(FoundIn(program, words, {}, 32), (HandOffs{{{2, 0}, 1}, {{2, 1}, 1}}));
}

// Processes that share the blocks hand their findings over in any order.
TEST(SharedMemoryCheck, OfCopiesWithoutAWaitTheFirstOfTheProgramIsTold) {
  const absl::StatusOr<Program> program = Program::Create(RandomProgram(4));
  ASSERT_TRUE(program.ok()) << program.status();
  const auto findings = [](uint64_t unwaited) {
    const uint64_t words[] = {0, unwaited};  // 1 + its number
    return std::string(reinterpret_cast<const char*>(words), sizeof(words));
  };
  SharedMemoryCheck check(*program, 32, 4 * kWords, {});
  check.AddFindings(findings(0));
  EXPECT_EQ(check.unwaited(), std::nullopt);
  for (const uint64_t unwaited : {8u, 6u, 0u, 7u}) check.AddFindings(findings(unwaited));
  EXPECT_EQ(check.unwaited(), std::optional<trace::Pc>(5));
  EXPECT_EQ(check.TakeFindings(), findings(6));
}

}  // namespace
}  // namespace heddle::tracegen
