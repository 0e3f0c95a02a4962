#include "tracegen/execute/checks/block_store.h"

#include <fcntl.h>
#include <unistd.h>
#include <zstd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>

#include "absl/strings/str_cat.h"

namespace heddle::tracegen {
namespace {

constexpr int kLevel = 1;

absl::Status Failed(const char* what) {
  return absl::ResourceExhaustedError(
      absl::StrCat("the file that other orders are compared with: ", what, ": ", strerror(errno)));
}

}  // namespace

absl::StatusOr<std::unique_ptr<BlockStore>> BlockStore::Create(const std::string& folder) {
  std::string name = absl::StrCat(folder.empty() ? "." : folder, "/.heddle-orders-XXXXXX");
  const int file = mkostemp(name.data(), O_CLOEXEC);
  if (file < 0) return Failed("cannot be created");
  unlink(name.c_str());
  return std::unique_ptr<BlockStore>(new BlockStore(file));
}

BlockStore::~BlockStore() { close(file_); }

// Words: number of threads, then per thread the numbers of decisions and addresses, then all addresses as differences
// to the thread's previous one, then all decisions.
absl::Status BlockStore::Put(uint64_t block, std::span<const trace::ThreadRecord> records) {
  raw_.assign(1, records.size());
  size_t decisions = 0;
  for (const trace::ThreadRecord& record : records) {
    raw_.push_back(record.decisions.size());
    raw_.push_back(record.addresses.size());
    decisions += record.decisions.size();
  }
  for (const trace::ThreadRecord& record : records) {
    uint64_t latest = 0;
    for (const uint64_t address : record.addresses) {
      raw_.push_back(address - latest);
      latest = address;
    }
  }
  const size_t words = raw_.size();
  raw_.resize(words + (decisions + 7) / 8, 0);
  auto* bytes = reinterpret_cast<uint8_t*>(raw_.data() + words);
  for (const trace::ThreadRecord& record : records) {
    if (!record.decisions.empty()) std::memcpy(bytes, record.decisions.data(), record.decisions.size());
    bytes += record.decisions.size();
  }
  packed_.resize(ZSTD_compressBound(raw_.size() * 8));
  const size_t size = ZSTD_compress(packed_.data(), packed_.size(), raw_.data(), raw_.size() * 8, kLevel);
  if (ZSTD_isError(size) != 0) return absl::InternalError(ZSTD_getErrorName(size));
  for (size_t done = 0; done < size;) {
    const ssize_t written = pwrite(file_, packed_.data() + done, size - done, static_cast<off_t>(end_ + done));
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) return Failed("cannot be written");
    done += static_cast<size_t>(written);
  }
  places_[block] = {end_, size};
  end_ += size;
  return absl::OkStatus();
}

absl::StatusOr<const StoredBlock*> BlockStore::Get(uint64_t block) {
  const Place place = places_.at(block);
  packed_.resize(place.bytes);
  for (size_t done = 0; done < place.bytes;) {
    const ssize_t got =
        pread(file_, packed_.data() + done, place.bytes - done, static_cast<off_t>(place.offset + done));
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) return Failed("cannot be read");
    done += static_cast<size_t>(got);
  }
  raw_.resize(ZSTD_getFrameContentSize(packed_.data(), packed_.size()) / 8);
  const size_t size = ZSTD_decompress(raw_.data(), raw_.size() * 8, packed_.data(), packed_.size());
  if (ZSTD_isError(size) != 0) return absl::InternalError(ZSTD_getErrorName(size));
  const size_t threads = raw_[0];
  block_.first_decision.assign(1, 0);
  block_.first_address.assign(1, 0);
  for (size_t t = 0; t < threads; ++t) {
    block_.first_decision.push_back(block_.first_decision.back() + raw_[1 + 2 * t]);
    block_.first_address.push_back(block_.first_address.back() + raw_[2 + 2 * t]);
  }
  const uint64_t* next = raw_.data() + 1 + 2 * threads;
  block_.addresses.resize(block_.first_address.back());
  for (size_t t = 0; t < threads; ++t) {
    uint64_t latest = 0;
    for (uint64_t i = block_.first_address[t]; i < block_.first_address[t + 1]; ++i) {
      latest += *next++;
      block_.addresses[i] = latest;
    }
  }
  block_.decisions.resize(block_.first_decision.back());
  if (!block_.decisions.empty()) std::memcpy(block_.decisions.data(), next, block_.decisions.size());
  return &block_;
}

std::vector<uint64_t> BlockStore::Blocks() const {
  std::vector<uint64_t> blocks;
  for (const auto& [block, place] : places_) blocks.push_back(block);
  return blocks;
}

}  // namespace heddle::tracegen
