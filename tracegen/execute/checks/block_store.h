// Keeps what the threads of blocks have recorded in a file without a name, to be compared with later.
#ifndef HEDDLE_TRACEGEN_EXECUTE_CHECKS_BLOCK_STORE_H_
#define HEDDLE_TRACEGEN_EXECUTE_CHECKS_BLOCK_STORE_H_

#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "traces/format/write/writer.h"

namespace heddle::tracegen {

// What a block's threads did, by thread.
struct StoredBlock {
  std::vector<uint8_t> decisions;
  std::vector<uint64_t> addresses;
  std::vector<uint64_t> first_decision;  // one more than threads
  std::vector<uint64_t> first_address;

  std::span<const uint8_t> decisions_of(size_t thread) const {
    return std::span(decisions).subspan(first_decision[thread], first_decision[thread + 1] - first_decision[thread]);
  }
  std::span<const uint64_t> addresses_of(size_t thread) const {
    return std::span(addresses).subspan(first_address[thread], first_address[thread + 1] - first_address[thread]);
  }
};

// Blocks are compressed; memory is that of one block, and 24 bytes per block that is there.
class BlockStore {
 public:
  // The file takes disk space in `folder` until the store is gone. Errors: it cannot be created.
  static absl::StatusOr<std::unique_ptr<BlockStore>> Create(const std::string& folder);
  ~BlockStore();
  BlockStore(const BlockStore&) = delete;
  BlockStore& operator=(const BlockStore&) = delete;

  // Errors: no space.
  absl::Status Put(uint64_t block, std::span<const trace::ThreadRecord> records);
  bool Has(uint64_t block) const { return places_.contains(block); }
  // The block, which is there; valid until the next call.
  absl::StatusOr<const StoredBlock*> Get(uint64_t block);
  // All that are there, ascending.
  std::vector<uint64_t> Blocks() const;

 private:
  struct Place {
    uint64_t offset = 0;
    uint64_t bytes = 0;
  };
  explicit BlockStore(int file) : file_(file) {}

  int file_;
  uint64_t end_ = 0;
  std::map<uint64_t, Place> places_;
  std::vector<uint64_t> raw_;
  std::vector<char> packed_;
  StoredBlock block_;
};

}  // namespace heddle::tracegen

#endif  // HEDDLE_TRACEGEN_EXECUTE_CHECKS_BLOCK_STORE_H_
