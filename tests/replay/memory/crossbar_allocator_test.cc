// Matchings: the example and the averages of parallel iterative matching, the pointers of iSLIP, and what every grant
// matrix must be.
#include "replay/memory/network/crossbar_allocator.h"

#include <gtest/gtest.h>

#include <array>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "replay/memory/network/islip_allocator.h"
#include "replay/memory/network/pim_allocator.h"
#include "tests/random/random.h"

namespace heddle::replay {
namespace {

// Three words, so that words other than the first are used, too.
constexpr uint32_t kWords = 3;
using Requests = BitMatrix<kWords>;
constexpr uint32_t kMost = 64 * kWords;  // grants

std::unique_ptr<CrossbarAllocator<kWords>> MakePim(uint32_t outputs, uint32_t iterations, uint64_t seed) {
  return std::make_unique<PimAllocator<kWords>>(outputs, iterations, seed);
}
std::unique_ptr<CrossbarAllocator<kWords>> MakeIslip(uint32_t buffers, uint32_t outputs, uint32_t iterations) {
  return std::make_unique<IslipAllocator<kWords>>(buffers, outputs, iterations);
}

// Rows of a matrix as in the papers: one string per row, '1' where there is a request.
Requests Matrix(const std::vector<std::string>& rows) {
  Requests matrix(rows.size());
  for (uint32_t row = 0; row < rows.size(); ++row) {
    for (uint32_t column = 0; column < rows[row].size(); ++column) {
      if (rows[row][column] == '1') matrix.Insert(row, column);
    }
  }
  return matrix;
}

// The request matrix of Fung's thesis, section 5.1.2.
const std::vector<std::string> kFungRequests = {"1101", "0110", "1011", "0001"};

std::vector<std::string> GrantMatrix(const CrossbarGrants& grants) {
  std::vector<std::string> matrix(4, "0000");
  for (const CrossbarGrant& grant : grants) matrix[grant.buffer][grant.output] = '1';
  return matrix;
}

// After the first step that Fung prints (outputs 4, 3, 1, 4), there are exactly two grant matrices, those
// printed.
TEST(Pim, TheFirstStepOfFungsExampleLeavesTwoGrantMatrices) {
  const Requests chosen = Matrix({"0001", "0010", "1000", "0001"});
  const auto pim = MakePim(4, 1, 7);
  std::set<std::vector<std::string>> seen;
  for (uint64_t edge = 0; edge < 1'000; ++edge) {
    CrossbarGrants grants(kMost);
    pim->Allocate(edge, chosen, grants);
    ASSERT_EQ(grants.size(), 3u);
    seen.insert(GrantMatrix(grants));
  }
  EXPECT_EQ(seen,
            (std::set<std::vector<std::string>>{{"0000", "0010", "1000", "0001"}, {"0001", "0010", "1000", "0000"}}));
}

// All 18 first steps of the example: 52 grants together, 2 of them in 4 cases, 3 in 12, 4 in 2.
TEST(Pim, AllFirstStepsOfTheExample) {
  int total = 0;
  std::array<int, 5> cases{};
  for (char first : {0, 1, 3}) {
    for (char second : {1, 2}) {
      for (char third : {0, 2, 3}) {
        Requests chosen(4);
        chosen.Insert(0, first);
        chosen.Insert(1, second);
        chosen.Insert(2, third);
        chosen.Insert(3, 3);
        CrossbarGrants grants(kMost);
        MakePim(4, 1, 1)->Allocate(0, chosen, grants);
        total += grants.size();
        ++cases[grants.size()];
      }
    }
  }
  EXPECT_EQ(total, 52);
  EXPECT_EQ(cases, (std::array<int, 5>{0, 0, 4, 12, 2}));
}

// Grants per edge: how often each number occurs.
std::array<double, 5> Distribution(uint32_t iterations) {
  constexpr int kEdges = 200'000;
  const Requests requests = Matrix(kFungRequests);
  const auto pim = MakePim(4, iterations, 3);
  std::array<double, 5> share{};
  CrossbarGrants grants(kMost);
  for (uint64_t edge = 0; edge < kEdges; ++edge) {
    grants.Clear();
    pim->Allocate(edge, requests, grants);
    share[grants.size()] += 1.0 / kEdges;
  }
  return share;
}

double Mean(const std::array<double, 5>& share) { return share[1] + 2 * share[2] + 3 * share[3] + 4 * share[4]; }

TEST(Pim, DrawsUniformly) {
  const std::array<double, 5> once = Distribution(1);
  EXPECT_NEAR(Mean(once), 52.0 / 18, 0.01);
  EXPECT_NEAR(once[2], 4.0 / 18, 0.005);
  EXPECT_NEAR(once[3], 12.0 / 18, 0.005);
  EXPECT_NEAR(once[4], 2.0 / 18, 0.005);
}

// More passes fill gaps, but never take a grant back: maximal, not maximum.
TEST(Pim, MorePassesComeCloserButNotToTheMaximum) {
  EXPECT_NEAR(Mean(Distribution(2)), 3.44, 0.01);
  EXPECT_NEAR(Mean(Distribution(3)), 3.45, 0.01);
  EXPECT_NEAR(Mean(Distribution(8)), 3.45, 0.01);
}

TEST(Pim, SeedAndEdgeDecide) {
  const Requests requests = Matrix(kFungRequests);
  const auto sequence = [&](uint64_t seed, uint64_t first_edge) {
    std::vector<std::vector<std::string>> sequence;
    const auto pim = MakePim(4, 1, seed);
    for (uint64_t edge = first_edge; edge < 100; ++edge) {
      CrossbarGrants grants(kMost);
      pim->Allocate(edge, requests, grants);
      sequence.push_back(GrantMatrix(grants));
    }
    return sequence;
  };
  EXPECT_EQ(sequence(1, 0), sequence(1, 0));
  EXPECT_NE(sequence(1, 0), sequence(2, 0));
  // Edges that are left out change nothing later.
  const auto all = sequence(1, 0);
  EXPECT_EQ(sequence(1, 40), decltype(all)(all.begin() + 40, all.end()));
}

// All ask for all: the pointers move apart, one more grant per edge, until every output is used.
TEST(Islip, PointersMoveApart) {
  const Requests requests = Matrix({"1111", "1111", "1111", "1111"});
  const auto islip = MakeIslip(4, 4, 1);
  std::vector<size_t> counts;
  for (uint64_t edge = 0; edge < 8; ++edge) {
    CrossbarGrants grants(kMost);
    islip->Allocate(edge, requests, grants);
    counts.push_back(grants.size());
  }
  EXPECT_EQ(counts, (std::vector<size_t>{1, 2, 3, 4, 4, 4, 4, 4}));
}

// Two buffers, one output: they take turns. (Rows are outputs.)
TEST(Islip, TakesTurns) {
  const Requests requests = Matrix({"11"});
  const auto islip = MakeIslip(2, 1, 1);
  std::vector<uint32_t> order;
  for (uint64_t edge = 0; edge < 4; ++edge) {
    CrossbarGrants grants(kMost);
    islip->Allocate(edge, requests, grants);
    ASSERT_EQ(grants.size(), 1u);
    order.push_back(grants[0].buffer);
  }
  EXPECT_EQ(order, (std::vector<uint32_t>{0, 1, 0, 1}));
}

// A grant that is not accepted moves no pointer; nor does one of a later iteration.
TEST(Islip, OnlyAcceptedGrantsOfTheFirstIterationMovePointers) {
  const auto islip = MakeIslip(2, 2, 2);
  const auto grants_of = [&](const Requests& requests) {
    CrossbarGrants grants(kMost);
    islip->Allocate(0, requests, grants);
    std::set<std::pair<uint32_t, uint32_t>> pairs;
    for (const CrossbarGrant& grant : grants) pairs.insert({grant.buffer, grant.output});
    return pairs;
  };
  using Pairs = std::set<std::pair<uint32_t, uint32_t>>;
  // Both outputs grant buffer 0, which accepts output 0; in the second iteration output 1 goes to buffer 1.
  EXPECT_EQ(grants_of(Matrix({"11", "11"})), (Pairs{{0, 0}, {1, 1}}));
  // Pointers now: output 0 prefers buffer 1, output 1 still buffer 0; buffer 0 prefers output 1, buffer 1 still output
  // 0.
  EXPECT_EQ(grants_of(Matrix({"11", "00"})), (Pairs{{1, 0}}));
  EXPECT_EQ(grants_of(Matrix({"00", "11"})), (Pairs{{0, 1}}));
}

// At most one grant per buffer and output, each of them requested; enough iterations leave no pair that could be added.
TEST(Allocators, FindMatchings) {
  Random random(5);
  for (int i = 0; i < 2'000; ++i) {
    const uint32_t buffers = random.In(1, i % 10 == 0 ? 150 : 9), outputs = random.In(1, i % 10 == 0 ? 150 : 9);
    const uint32_t iterations = random.OneOf({1u, 2u, 200u});
    const bool pim = random.Chance(50);
    const auto allocator = pim ? MakePim(outputs, iterations, i) : MakeIslip(buffers, outputs, iterations);
    ASSERT_EQ(allocator->rows_are_buffers(), pim);
    for (uint64_t edge = 0; edge < 3; ++edge) {
      std::vector<std::vector<bool>> wanted(buffers, std::vector<bool>(outputs));
      Requests requests(pim ? buffers : outputs);
      const uint64_t density = random.In(0, 100);
      for (uint32_t buffer = 0; buffer < buffers; ++buffer) {
        for (uint32_t output = 0; output < outputs; ++output) {
          if (!random.Chance(density)) continue;
          wanted[buffer][output] = true;
          pim ? requests.Insert(buffer, output) : requests.Insert(output, buffer);
        }
      }
      CrossbarGrants grants(kMost);
      allocator->Allocate(edge, requests, grants);
      std::set<uint32_t> used_buffers, used_outputs;
      for (const CrossbarGrant& grant : grants) {
        ASSERT_TRUE(wanted[grant.buffer][grant.output]);
        ASSERT_TRUE(used_buffers.insert(grant.buffer).second);
        ASSERT_TRUE(used_outputs.insert(grant.output).second);
      }
      if (iterations < 200) continue;
      for (uint32_t buffer = 0; buffer < buffers; ++buffer) {
        for (uint32_t output = 0; output < outputs; ++output) {
          ASSERT_FALSE(wanted[buffer][output] && !used_buffers.contains(buffer) && !used_outputs.contains(output));
        }
      }
    }
  }
}

}  // namespace
}  // namespace heddle::replay
