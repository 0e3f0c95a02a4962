#include "traces/format/edit/last_writer_tracker.h"

#include <algorithm>
#include <utility>

#include "traces/format/program/operands.h"

namespace heddle::trace {
namespace {

constexpr uint64_t kBarrierStep = uint64_t{1} << 32;  // of ThreadState::interval

// Bytes [first, end) of a word that begins at `word`.
uint64_t MaskOf(uint64_t word, uint64_t first, uint64_t end) {
  const uint64_t from = std::max(first, word) - word;
  const uint64_t to = std::min(end, word + 4) - word;
  return ((uint64_t{1} << to) - 1) & ~((uint64_t{1} << from) - 1);
}

}  // namespace

void LastWriterTracker::FindSize(const v1::Instruction& copy, Access& source) {
  uint8_t behind = 0;
  for (const v1::Operand& operand : copy.operand()) {
    if (operand.kind() == v1::Operand::BYTES) {
      if (operand.constant()) {
        source.bytes = static_cast<uint32_t>(std::min<uint64_t>(source.bytes, operand.value()));
      } else {
        source.size_behind = behind;
      }
    }
    behind = static_cast<uint8_t>(behind + !operand.constant());
  }
}

LastWriterTracker::LastWriterTracker(const Program& program, uint32_t threads,
                                     const google::protobuf::RepeatedPtrField<v1::AddressWindow>& windows,
                                     size_t most_pages)
    : program_(program), most_pages_(most_pages), states_(threads) {
  for (const v1::AddressWindow& window : windows) windows_.emplace_back(window.base(), window.bytes());
  const std::vector<Column> columns = ColumnsOf(program);
  for (const Block& block : program.blocks()) {
    first_division_.push_back(static_cast<uint32_t>(divisions_.size()));
    uint32_t position = 0;
    for (Pc pc = block.first; pc < block.first + block.count; ++pc) {
      const v1::Instruction& instruction = program.instruction(pc);
      const bool barrier = instruction.op() == v1::OP_BARRIER && instruction.barrier_role() != v1::BARRIER_ARRIVE;
      if (barrier || SynchronizesWarp(instruction)) divisions_.push_back({position, barrier});
      for (uint32_t c = CountColumns(instruction); c > 0; --c, ++position) {
        const Column& column = columns[accesses_.size()];
        uint8_t kinds = kRead;
        if (column.access == v1::OP_STORE) kinds = kWrite;
        if (column.access == v1::OP_ATOMIC) kinds = kRead | kWrite;
        if (column.access == v1::OP_UNKNOWN) kinds = 0;
        Access& access = accesses_.emplace_back(Access{pc, column.bytes, kinds});
        if (instruction.async().role() == v1::Async::COPY && column.operand == 0) FindSize(instruction, access);
      }
    }
  }
  first_division_.push_back(static_cast<uint32_t>(divisions_.size()));
}

bool LastWriterTracker::IsGlobal(uint64_t address) const {
  return std::none_of(windows_.begin(), windows_.end(),
                      [address](const auto& window) { return address - window.first < window.second; });
}

void LastWriterTracker::CollectThread(uint32_t thread, const ThreadRecord& record, bool last) {
  ThreadState& state = states_[thread];
  ByteDecisions decisions(record.decisions.data(), record.decisions.size());
  const bool to_exit = last || record.exited;
  uint64_t instructions = 0;
  uint32_t position = 0;
  (void)Walk(program_, to_exit ? Extent::kRunsToExit : Extent::kCut, decisions, state.walk, ~uint64_t{0}, instructions,
             [&](uint32_t index, const Block& block) {
               uint32_t division = first_division_[index];
               const auto divide = [&](uint32_t upto) {
                 for (; division < first_division_[index + 1] && divisions_[division].position <= upto; ++division) {
                   state.interval = divisions_[division].barrier ? (state.interval / kBarrierStep + 1) * kBarrierStep
                                                                 : state.interval + 1;
                 }
               };
               for (uint32_t i = 0; i < block.access_count; ++i, ++position) {
                 divide(i);
                 // A path that does not fit its record is refused by whoever takes the record next.
                 if (position >= record.addresses.size()) continue;
                 const uint64_t address = record.addresses[position];
                 if (!IsGlobal(address)) continue;
                 const Access& access = accesses_[block.first_access + i];
                 uint64_t bytes = access.bytes;
                 if (const size_t size = position + access.size_behind; size != position) {
                   bytes = size < record.addresses.size() ? std::min(bytes, record.addresses[size]) : 0;
                 }
                 if (bytes == 0) continue;
                 events_.push_back(
                     {state.interval, address, position, block.first_access + i, thread, static_cast<uint32_t>(bytes)});
               }
               divide(block.access_count);
             });
  state.in_part = position;  // the walk stops where the part does
}

std::span<const LastWriterTracker::Found> LastWriterTracker::AddBlock(uint64_t block, bool last,
                                                                      std::span<const ThreadRecord> records) {
  if (!in_block_) {
    for (ThreadState& state : states_) {
      state.walk.block = program_.entry_block();
      state.walk.stack.clear();
      state.walk.ended = false;
      state.interval = state.accesses = state.in_part = 0;
    }
  }
  in_block_ = !last;
  events_.clear();
  found_.clear();
  const auto threads = static_cast<uint32_t>(std::min(records.size(), states_.size()));
  for (uint32_t t = 0; t < threads; ++t) {
    states_[t].accesses += std::exchange(states_[t].in_part, 0);
    if (!states_[t].walk.ended) CollectThread(t, records[t], last);
  }
  if (!divisions_.empty()) {
    std::stable_sort(events_.begin(), events_.end(),
                     [](const Event& a, const Event& b) { return a.interval < b.interval; });
  }
  for (const Event& event : events_) {
    const uint8_t kinds = accesses_[event.access].kinds;
    if ((kinds & kRead) != 0) Read(block, event);
    if ((kinds & kWrite) != 0) Write(block, event);
  }
  // Those of a thread have been found in the order of its program.
  if (!divisions_.empty()) {
    std::stable_sort(found_.begin(), found_.end(), [](const Found& a, const Found& b) { return a.thread < b.thread; });
  }
  return found_;
}

LastWriterTracker::Page* LastWriterTracker::FindPage(uint64_t address) {
  const uint64_t number = address / kPageBytes;
  if (number == latest_number_) return latest_page_;
  const auto found = pages_.find(number);
  latest_number_ = number;
  latest_page_ = found == pages_.end() ? nullptr : found->second.get();
  return latest_page_;
}

LastWriterTracker::Page* LastWriterTracker::MakePage(uint64_t address) {
  if (Page* page = FindPage(address); page != nullptr) return page;
  if (pages_.size() >= most_pages_) {
    overflowed_ = true;
    return nullptr;
  }
  return latest_page_ = (pages_[latest_number_] = std::make_unique<Page>()).get();
}

void LastWriterTracker::Read(uint64_t block, const Event& event) {
  const Access& access = accesses_[event.access];
  const bool atomic = (access.kinds & kWrite) != 0;
  const uint64_t end = event.address + event.bytes;
  const Word* latest = nullptr;
  for (uint64_t at = event.address & ~(kWordBytes - 1); at < end; at += kWordBytes) {
    const Page* page = FindPage(at);
    if (page == nullptr) continue;
    const Word& word = (*page)[at % kPageBytes / kWordBytes];
    if ((word.mask & MaskOf(at, event.address, end)) == 0 || word.block == block || (atomic && word.atomic != 0)) {
      continue;
    }
    if (latest == nullptr || word.block > latest->block) latest = &word;
  }
  if (latest == nullptr) return;
  found_.push_back(
      {event.thread,
       event.position,
       access.pc,
       {latest->block, static_cast<uint32_t>(latest->thread), latest->access, static_cast<Pc>(latest->instruction)}});
}

void LastWriterTracker::Write(uint64_t block, const Event& event) {
  const Access& access = accesses_[event.access];
  const uint64_t end = event.address + event.bytes;
  for (uint64_t at = event.address & ~(kWordBytes - 1); at < end; at += kWordBytes) {
    Page* page = MakePage(at);
    if (page == nullptr) continue;
    Word& word = (*page)[at % kPageBytes / kWordBytes];
    word.block = block & ((uint64_t{1} << 48) - 1);
    word.thread = event.thread & 0x7ff;
    word.mask = MaskOf(at, event.address, end) & 0xf;
    word.atomic = (access.kinds & kRead) != 0;
    word.access = (states_[event.thread].accesses + event.position) & ((uint64_t{1} << 48) - 1);
    word.instruction = access.pc & 0xffff;
  }
}

}  // namespace heddle::trace
