#include "tools/show/order_check.h"

#include <algorithm>
#include <optional>

#include "absl/strings/str_cat.h"
#include "tools/show/instruction_text.h"
#include "traces/base/status_macros.h"
#include "traces/format/chunk/decoded_chunk.h"
#include "traces/format/columns/decode_chunk.h"
#include "traces/format/program/kernel_name.h"
#include "traces/format/program/operands.h"

namespace heddle::tools {
namespace {

absl::Status Missing(const trace::TraceReader& reader) {
  return absl::FailedPreconditionError(
      absl::StrCat("--check-order: ", reader.name(),
                   " does not say whose writes its reads saw; capture it with --record-writers (blocks that were "
                   "extracted from such a trace lose that)"));
}

// Its source line, or its PC.
std::string PlaceOf(const trace::TraceReader& reader, const trace::Program& program, trace::Pc pc) {
  const std::string place = SourcePlace(reader.header(), program.instruction(pc));
  return place == "-" ? absl::StrCat("PC ", uint64_t{pc} * replay::kInstructionBytes) : place;
}

}  // namespace

absl::Status CheckHasLastWriters(const trace::TraceReader& reader) {
  trace::v1::BlockChunk chunk;
  for (const trace::LaunchView& launch : reader.launches()) {
    if (launch.chunks.empty()) continue;
    HEDDLE_RETURN_IF_ERROR(reader.ReadChunk(launch.chunks.front(), chunk));
    if (!trace::HasLastWriters(chunk)) return Missing(reader);
  }
  return absl::OkStatus();
}

ReadOrder::Instruction ReadOrder::Total() const {
  Instruction total;
  for (const Instruction& one : instructions) {
    total.reads += one.reads;
    total.overtook += one.overtook;
    total.writer_absent += one.writer_absent;
  }
  return total;
}

const ReadOrder* OrderCheck::Find(uint32_t configuration, uint32_t launch) const {
  const auto found = found_.find({configuration, launch});
  return found == found_.end() ? nullptr : &found->second;
}

void OrderCheck::Begin(const Run& run) {
  run_ = run;
  launch_ = &reader_.launches()[run.second];
  const trace::Program& program = *launch_->program;
  order_ = &found_[run];
  order_->instructions.assign(program.instruction_count(), {});
  columns_.clear();
  for (trace::Pc pc = 0; pc < program.instruction_count(); ++pc) {
    columns_.push_back(static_cast<uint8_t>(trace::CountColumns(program.instruction(pc))));
  }
  blocks_.clear();
  ended_.clear();
  ending_.clear();
  is_recorded_.clear();
}

void OrderCheck::Issued(const replay::IssueEvent& event) {
  if (!status_.ok()) return;
  if (const Run run(event.configuration, event.launch); run != run_) Begin(run);
  if (event.cycle != ending_in_) {
    for (const uint64_t number : ending_) {
      blocks_.erase(number);
      ended_.insert(number);
    }
    ending_.clear();
    ending_in_ = event.cycle;
  }
  Block* block = nullptr;  // of the lane before: mostly the same
  uint64_t number = 0;
  for (const replay::IssueEvent::Lane& lane : event.lanes) {
    if (columns_[lane.pc] == 0) continue;
    if (block == nullptr || number != lane.block) {
      number = lane.block;
      block = FindBlock(number);
      if (block == nullptr) return;
    }
    Thread& thread = block->threads[lane.thread];
    for (uint32_t column = 0; column < columns_[lane.pc]; ++column) {
      if (thread.next_read != thread.end_read && block->reads[thread.next_read].access == thread.issued) {
        Check(lane, block->reads[thread.next_read++].write, event.cycle);
      }
      if (thread.cycle != event.cycle) {
        thread.before = thread.issued;
        thread.cycle = event.cycle;
      }
      ++thread.issued;
      if (--block->left == 0) ending_.push_back(number);
    }
  }
}

void OrderCheck::Check(const replay::IssueEvent::Lane& lane, const trace::WriteOf& write, replay::Cycle now) {
  ReadOrder::Instruction& instruction = order_->instructions[lane.pc];
  ++instruction.reads;
  if (!IsRecorded(write.block)) {
    ++instruction.writer_absent;
    return;
  }
  if (HasIssued(write, now)) return;
  ++instruction.overtook;
  if (instruction.examples.size() < kMostExamples) {
    instruction.examples.push_back({now, lane.block, lane.thread, write});
  }
}

bool OrderCheck::HasIssued(const trace::WriteOf& write, replay::Cycle now) const {
  const auto found = blocks_.find(write.block);
  if (found == blocks_.end()) return ended_.contains(write.block);
  const Thread& thread = found->second->threads[write.thread];
  return write.access < (thread.cycle == now ? thread.before : thread.issued);
}

bool OrderCheck::IsRecorded(uint64_t block) {
  if (launch_->totals.blocks() == launch_->grid_blocks) return true;
  const auto [known, is_new] = is_recorded_.emplace(block, false);
  if (is_new) known->second = reader_.FindChunk(*launch_, block).has_value();
  return known->second;
}

OrderCheck::Block* OrderCheck::FindBlock(uint64_t number) {
  const auto found = blocks_.find(number);
  if (found != blocks_.end()) return found->second.get();
  const std::optional<uint32_t> chunk = reader_.FindChunk(*launch_, number);
  status_ = chunk.has_value() ? Load(*chunk)
                              : absl::InternalError(absl::StrCat("--check-order: block ", number, " was not recorded"));
  return status_.ok() ? blocks_.at(number).get() : nullptr;
}

absl::Status OrderCheck::Load(uint32_t chunk) {
  trace::v1::BlockChunk encoded;
  trace::DecodedChunk decoded;
  std::vector<trace::WrittenRead> reads;
  const size_t threads = launch_->threads_per_block;
  for (;; ++chunk) {
    const trace::v1::ChunkReference& reference = launch_->chunks[chunk];
    HEDDLE_RETURN_IF_ERROR(reader_.ReadChunk(reference, encoded));
    if (!trace::HasLastWriters(encoded)) return Missing(reader_);
    absl::Status status = trace::DecodeChunk(encoded, *launch_->program, launch_->threads_per_block, decoded);
    if (status.ok()) {
      status = trace::DecodeLastWriters(encoded, *launch_->program, launch_->grid_blocks, threads, reads);
    }
    if (!status.ok()) {
      return absl::DataLossError(
          absl::StrCat(reader_.name(), ": frame ", reference.frame(), ", BlockChunk: ", status.message()));
    }
    auto read = reads.begin();
    for (size_t b = 0; b < decoded.blocks.size(); ++b) {
      std::unique_ptr<Block>& block = blocks_[decoded.blocks[b]];
      if (block == nullptr) {
        block = std::make_unique<Block>();
        block->threads.resize(threads);
      }
      for (size_t t = 0; t < threads; ++t) {
        const uint64_t first = decoded.first_address[b * threads + t];
        const uint64_t end = decoded.first_address[b * threads + t + 1];
        // While parts are read, `before` counts the accesses of those in front.
        uint64_t& earlier = block->threads[t].before;
        for (; read != reads.end() && read->position < end; ++read) {
          block->reads.push_back({static_cast<uint32_t>(t), earlier + (read->position - first), read->write});
        }
        earlier += end - first;
        block->left += end - first;
      }
    }
    if (reference.part() == 0 && decoded.last_part) break;
    if (decoded.last_part || chunk + 1 == launch_->chunks.size()) break;
  }
  for (const uint64_t number : decoded.blocks) {
    Block& block = *blocks_[number];
    std::stable_sort(block.reads.begin(), block.reads.end(),
                     [](const Read& a, const Read& b) { return a.thread < b.thread; });
    for (Thread& thread : block.threads) thread.before = 0;
    size_t at = 0;
    for (uint32_t t = 0; t < threads; ++t) {
      block.threads[t].next_read = at;
      while (at < block.reads.size() && block.reads[at].thread == t) ++at;
      block.threads[t].end_read = at;
    }
  }
  return absl::OkStatus();
}

std::string OrderCheck::Note(uint32_t configuration, uint32_t launch) const {
  const ReadOrder* order = Find(configuration, launch);
  if (order == nullptr) return "";
  const ReadOrder::Instruction total = order->Total();
  if (total.overtook == 0) return "";
  const trace::Program& program = *reader_.launches()[launch].program;
  const auto worst = std::max_element(
      order->instructions.begin(), order->instructions.end(),
      [](const ReadOrder::Instruction& a, const ReadOrder::Instruction& b) { return a.overtook < b.overtook; });
  const ReadOrder::Example& first = worst->examples.front();
  return absl::StrCat("launch ", launch, " (", trace::BriefKernelName(program.name()), "): ", total.overtook, " of ",
                      total.reads, " reads of what another block wrote overtook their writer; most at ",
                      PlaceOf(reader_, program, static_cast<trace::Pc>(worst - order->instructions.begin())),
                      ", first by block ", first.block, ", thread ", first.thread, " in cycle ", first.cycle,
                      ", of what block ", first.write.block, ", thread ", first.write.thread, " wrote at ",
                      PlaceOf(reader_, program, first.write.instruction),
                      "; in this order a device would read other data, and may take other paths");
}

void OrderCheck::AddTo(uint32_t configuration, nlohmann::ordered_json& result) const {
  for (nlohmann::ordered_json& launch : result["launch"]) {
    const auto number = launch["launch"].get<uint32_t>();
    const ReadOrder* order = Find(configuration, number);
    const ReadOrder::Instruction total = order != nullptr ? order->Total() : ReadOrder::Instruction();
    nlohmann::ordered_json list = nlohmann::ordered_json::array();
    const trace::Program& program = *reader_.launches()[number].program;
    const auto describe = [&](trace::Pc pc) {
      return nlohmann::ordered_json{{"pc", uint64_t{pc} * replay::kInstructionBytes},
                                    {"mnemonic", program.instruction(pc).mnemonic()},
                                    {"source", SourcePlace(reader_.header(), program.instruction(pc))}};
    };
    for (trace::Pc pc = 0; order != nullptr && pc < order->instructions.size(); ++pc) {
      const ReadOrder::Instruction& one = order->instructions[pc];
      if (one.reads == 0) continue;
      nlohmann::ordered_json json = describe(pc);
      json["reads"] = one.reads;
      json["overtook"] = one.overtook;
      json["example"] = nlohmann::ordered_json::array();
      for (const ReadOrder::Example& example : one.examples) {
        nlohmann::ordered_json writer = describe(example.write.instruction);
        writer["block"] = example.write.block;
        writer["thread"] = example.write.thread;
        json["example"].push_back({{"cycle", example.cycle},
                                   {"block", example.block},
                                   {"thread", example.thread},
                                   {"written_by", std::move(writer)}});
      }
      list.push_back(std::move(json));
    }
    launch["read_order"] = {{"reads", total.reads},
                            {"overtook", total.overtook},
                            {"writer_absent", total.writer_absent},
                            {"instruction", std::move(list)}};
  }
}

}  // namespace heddle::tools
