#include "tracegen/execute/block/record_arena.h"

#include <sys/mman.h>

#include <cerrno>
#include <cstring>
#include <new>

#include "absl/strings/str_cat.h"

namespace heddle::tracegen {
namespace {

constexpr uint64_t kControlBytes = 4096;  // a page

uint64_t RoundUp(uint64_t value) { return (value + 7) / 8 * 8; }

absl::Status Full() { return absl::ResourceExhaustedError("no room for the records of a worker's blocks"); }

}  // namespace

absl::StatusOr<std::unique_ptr<RecordArena>> RecordArena::Create(uint64_t bytes) {
  void* memory =
      mmap(nullptr, bytes + kControlBytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (memory == MAP_FAILED) {
    return absl::ResourceExhaustedError(absl::StrCat("no memory for the records of workers: ", strerror(errno)));
  }
  return std::unique_ptr<RecordArena>(new RecordArena(static_cast<char*>(memory), bytes));
}

RecordArena::RecordArena(char* memory, uint64_t bytes)
    : memory_(memory), control_(new(memory) Control), data_(memory + kControlBytes), bytes_(bytes) {}

RecordArena::~RecordArena() { munmap(memory_, bytes_ + kControlBytes); }

void RecordArena::Clear() { control_->used = 0; }

uint64_t RecordArena::BytesOf(uint64_t threads, uint64_t addresses, uint64_t decisions) {
  return sizeof(Header) + threads * sizeof(ThreadHeader) + addresses * 8 + RoundUp(decisions);
}

absl::Status RecordArena::Put(const Header& header, std::span<const trace::ThreadRecord> threads) {
  uint64_t addresses = 0;
  uint64_t decisions = 0;
  for (const trace::ThreadRecord& thread : threads) {
    addresses += thread.addresses.size();
    decisions += thread.decisions.size();
  }
  const uint64_t bytes = BytesOf(threads.size(), addresses, decisions);
  if (bytes > bytes_left()) return Full();
  char* at = data_ + control_->used;
  const auto put = [&at](const void* from, size_t size) {
    if (size != 0) std::memcpy(at, from, size);
    at += size;
  };
  put(&header, sizeof(header));
  for (const trace::ThreadRecord& thread : threads) {
    const ThreadHeader counts = {thread.addresses.size(), static_cast<uint32_t>(thread.decisions.size()),
                                 thread.exited};
    put(&counts, sizeof(counts));
  }
  for (const trace::ThreadRecord& thread : threads) put(thread.addresses.data(), thread.addresses.size_bytes());
  for (const trace::ThreadRecord& thread : threads) put(thread.decisions.data(), thread.decisions.size());
  control_->used += bytes;
  return absl::OkStatus();
}

absl::Status RecordArena::PutBlock(uint64_t block, std::span<const trace::ThreadRecord> threads,
                                   uint64_t thread_instructions) {
  return Put({Kind::kBlock, block, thread_instructions, threads.size()}, threads);
}

absl::Status RecordArena::PutPart(uint64_t block, std::span<const trace::ThreadRecord> threads, bool last) {
  return Put({last ? Kind::kLastPart : Kind::kPart, block, 0, threads.size()}, threads);
}

absl::Status RecordArena::PutText(std::string_view text) {
  const Header header = {Kind::kText, 0, 0, text.size()};
  const uint64_t bytes = sizeof(header) + RoundUp(text.size());
  if (bytes > bytes_left()) return Full();
  std::memcpy(data_ + control_->used, &header, sizeof(header));
  if (!text.empty()) std::memcpy(data_ + control_->used + sizeof(header), text.data(), text.size());
  control_->used += bytes;
  return absl::OkStatus();
}

absl::Status RecordArena::Deliver(BlockSink& sink, const std::function<void(std::string_view)>& text) const {
  std::vector<trace::ThreadRecord> threads;
  std::vector<uint64_t> consumed;
  for (uint64_t used = 0; used < control_->used;) {
    const char* at = data_ + used;
    Header header;
    std::memcpy(&header, at, sizeof(header));
    at += sizeof(header);
    if (header.kind == Kind::kText) {
      text(std::string_view(at, header.count));
      used += sizeof(header) + RoundUp(header.count);
      continue;
    }
    const auto* counts = reinterpret_cast<const ThreadHeader*>(at);
    uint64_t addresses = 0;
    uint64_t decisions = 0;
    for (uint64_t t = 0; t < header.count; ++t) {
      addresses += counts[t].addresses;
      decisions += counts[t].decisions;
    }
    const auto* address = reinterpret_cast<const uint64_t*>(counts + header.count);
    const auto* decision = reinterpret_cast<const uint8_t*>(address + addresses);
    threads.clear();
    for (uint64_t t = 0; t < header.count; ++t) {
      threads.push_back({{decision, counts[t].decisions}, {address, counts[t].addresses}, counts[t].exited != 0});
      address += counts[t].addresses;
      decision += counts[t].decisions;
    }
    absl::Status status;
    if (header.kind == Kind::kBlock) {
      BlockRecords records(threads);
      status = sink.AddBlock(header.block, records, header.thread_instructions);
    } else {
      consumed.assign(threads.size(), 0);
      status = sink.AddBlockPart(header.block, threads, header.kind == Kind::kLastPart, consumed);
    }
    if (!status.ok()) return status;
    used += BytesOf(header.count, addresses, decisions);
  }
  return absl::OkStatus();
}

}  // namespace heddle::tracegen
