// Matrix instructions against a scalar model, for every form and random operands.
#include "tracegen/matrix/execute.h"

#include <cstring>

#include "gtest/gtest.h"
#include "tests/tracegen/matrix/scalar_model.h"
#include "tracegen/matrix/operation.h"

namespace heddle::tracegen {
namespace {

constexpr uint32_t kAll = ~uint32_t{0};

TEST(MatrixExecuteTest, ProductsOfAllForms) {
  std::mt19937 random(7);
  size_t forms = 0;
  for (const ProductForm& form : AllProductForms()) {
    const std::optional<MatrixOperation> operation = ParseMatrixOperation(form.mnemonic);
    ASSERT_TRUE(operation.has_value()) << form.mnemonic;
    ++forms;
    for (int turn = 0; turn < 20; ++turn) {
      const LaneWords operands = RandomOperands(form, random);
      LaneRegisters lanes[32];
      for (size_t lane = 0; lane < 32; ++lane) {
        ASSERT_LE(operands[lane].size(), LaneRegisters::kWords) << form.mnemonic;
        std::copy(operands[lane].begin(), operands[lane].end(), lanes[lane].words);
      }
      ExecuteMatrixOperation(Encode(*operation), kAll, lanes);
      const LaneWords expected = ScalarProduct(form, operands);
      for (size_t lane = 0; lane < 32; ++lane) {
        for (size_t i = 0; i < expected[lane].size(); ++i) {
          ASSERT_EQ(lanes[lane].words[i], expected[lane][i]) << form.mnemonic << " lane " << lane << " register " << i;
        }
      }
    }
  }
  EXPECT_EQ(forms, 98u);
}

TEST(MatrixExecuteTest, FragmentsComeBackAsTheyWere) {
  std::mt19937 random(8);
  for (const char* shape : {"m16n16k16", "m32n8k16", "m8n32k16"}) {
    for (const char* load_layout : {"row", "col"}) {
      for (const char* store_layout : {"row", "col"}) {
        const std::string load = std::string("wmma.load.c.sync.aligned.") + load_layout + "." + shape + ".f32";
        const std::string store = std::string("wmma.store.d.sync.aligned.") + store_layout + "." + shape + ".f32";
        const MatrixOperation from = *ParseMatrixOperation(load), to = *ParseMatrixOperation(store);
        const uint32_t rows = from.rows(), columns = from.columns(), stride = 40;
        std::vector<uint32_t> memory(stride * 40), back(stride * 40);
        for (uint32_t& word : memory) word = random();
        LaneRegisters lanes[32];
        for (LaneRegisters& lane : lanes) {
          lane.address = reinterpret_cast<uint64_t>(memory.data());
          lane.stride = stride;
        }
        ExecuteMatrixOperation(Encode(from), kAll, lanes);
        for (LaneRegisters& lane : lanes) lane.address = reinterpret_cast<uint64_t>(back.data());
        ExecuteMatrixOperation(Encode(to), kAll, lanes);
        const auto at = [&](bool by_columns, uint32_t i, uint32_t j) {
          return by_columns ? j * stride + i : i * stride + j;
        };
        for (uint32_t i = 0; i < rows; ++i) {
          for (uint32_t j = 0; j < columns; ++j) {
            ASSERT_EQ(back[at(to.by_columns, i, j)], memory[at(from.by_columns, i, j)]) << load << " " << i << " " << j;
          }
        }
        size_t untouched = 0;
        for (const uint32_t word : back) untouched += word == 0;
        EXPECT_GE(untouched, back.size() - rows * columns);
      }
    }
  }
}

// The shares of the lanes are the whole matrix, and no byte twice.
TEST(MatrixExecuteTest, SharesCoverTheMatrix) {
  for (const char* text : {"wmma.load.a.sync.aligned.row.m16n16k16.f16", "wmma.load.a.sync.aligned.col.m32n8k16.f16",
                           "wmma.load.b.sync.aligned.col.m8n8k128.b1", "wmma.load.b.sync.aligned.row.m8n8k4.f64",
                           "wmma.store.d.sync.aligned.row.m16n16k16.f32", "wmma.load.a.sync.aligned.row.m8n32k16.u8"}) {
    const MatrixOperation operation = *ParseMatrixOperation(text);
    const uint32_t lines = operation.by_columns ? operation.columns() : operation.rows();
    const uint32_t line_bytes = operation.line() * trace::MatrixElementBits(operation.a) / 8;
    std::vector<int> covered(lines * line_bytes, 0);
    for (uint32_t lane = 0; lane < 32; ++lane) {
      const uint32_t line = lane / operation.shares_of_line();
      const uint32_t from = lane % operation.shares_of_line() * operation.share_bytes();
      ASSERT_LE(from + operation.share_bytes(), line_bytes) << text;
      for (uint32_t i = 0; i < operation.share_bytes(); ++i) ++covered.at(line * line_bytes + from + i);
    }
    EXPECT_EQ(covered, std::vector<int>(covered.size(), 1)) << text;
  }
}

TEST(MatrixExecuteTest, TilesBothWays) {
  std::mt19937 random(9);
  alignas(16) uint16_t tiles[4][8][8];
  for (auto& tile : tiles) {
    for (auto& row : tile) {
      for (uint16_t& element : row) element = static_cast<uint16_t>(random());
    }
  }
  for (const bool transposed : {false, true}) {
    const std::string suffix = std::string(".sync.aligned.m8n8.x4") + (transposed ? ".trans" : "") + ".shared.b16";
    LaneRegisters lanes[32];
    for (uint32_t lane = 0; lane < 32; ++lane)
      lanes[lane].address = reinterpret_cast<uint64_t>(tiles[lane / 8][lane % 8]);
    ExecuteMatrixOperation(Encode(*ParseMatrixOperation("ldmatrix" + suffix)), kAll, lanes);
    for (uint32_t lane = 0; lane < 32; ++lane) {
      for (uint32_t t = 0; t < 4; ++t) {
        for (uint32_t e = 0; e < 2; ++e) {
          const uint32_t line = lane / 4, at = 2 * (lane % 4) + e;
          ASSERT_EQ(lanes[lane].words[t] >> 16 * e & 0xffff, transposed ? tiles[t][at][line] : tiles[t][line][at]);
        }
      }
    }
    alignas(16) uint16_t back[4][8][8] = {};
    for (uint32_t lane = 0; lane < 32; ++lane)
      lanes[lane].address = reinterpret_cast<uint64_t>(back[lane / 8][lane % 8]);
    ExecuteMatrixOperation(Encode(*ParseMatrixOperation("stmatrix" + suffix)), kAll, lanes);
    EXPECT_EQ(std::memcmp(back, tiles, sizeof(back)), 0);
  }
}

TEST(MatrixExecuteTest, TransposingTwiceChangesNothing) {
  LaneRegisters lanes[32];
  for (uint32_t lane = 0; lane < 32; ++lane) lanes[lane].words[0] = 2 * lane | (2 * lane + 1) << 16;
  const uint64_t code = Encode(*ParseMatrixOperation("movmatrix.sync.aligned.m8n8.trans.b16"));
  ExecuteMatrixOperation(code, kAll, lanes);
  // Lane 0 has elements (0, 0) and (1, 0), which were elements 0 and 8 by rows.
  EXPECT_EQ(lanes[0].words[0], 8u << 16);
  ExecuteMatrixOperation(code, kAll, lanes);
  for (uint32_t lane = 0; lane < 32; ++lane) EXPECT_EQ(lanes[lane].words[0], 2 * lane | (2 * lane + 1) << 16);
}

// Threads that have exited bring zeros, and touch no memory.
TEST(MatrixExecuteTest, AbsentLanesBringZeros) {
  const ProductForm form = AllProductForms()[3];
  ASSERT_EQ(form.mnemonic, "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32");
  std::mt19937 random(10);
  LaneWords operands = RandomOperands(form, random);
  LaneRegisters lanes[32];
  for (size_t lane = 0; lane < 32; ++lane) std::copy(operands[lane].begin(), operands[lane].end(), lanes[lane].words);
  for (size_t lane = 16; lane < 32; ++lane) std::fill(operands[lane].begin(), operands[lane].end(), 0);
  ExecuteMatrixOperation(Encode(*ParseMatrixOperation(form.mnemonic)), 0xffff, lanes);
  const LaneWords expected = ScalarProduct(form, operands);
  for (size_t lane = 0; lane < 16; ++lane) {
    for (size_t i = 0; i < 4; ++i) EXPECT_EQ(lanes[lane].words[i], expected[lane][i]);
  }
  LaneRegisters none[32];  // null pointers
  ExecuteMatrixOperation(Encode(*ParseMatrixOperation("ldmatrix.sync.aligned.m8n8.x1.shared.b16")), 0, none);
  EXPECT_EQ(none[5].words[0], 0u);
}

}  // namespace
}  // namespace heddle::tracegen
