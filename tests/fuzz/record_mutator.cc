#include "tests/fuzz/record_mutator.h"

#include <google/protobuf/descriptor.h>
#include <google/protobuf/message.h>

#include <algorithm>
#include <map>
#include <memory>
#include <random>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "traces/format/chunk/walk.h"
#include "traces/format/columns/decision_planes.h"
#include "traces/format/limits.h"

namespace heddle::trace::testing {
namespace {

using google::protobuf::FieldDescriptor;
using google::protobuf::Message;
using google::protobuf::Reflection;

class Mutator {
 public:
  explicit Mutator(uint64_t seed) : random_(seed) {}

  uint64_t Below(uint64_t n) { return random_() % n; }

  void Mutate(v1::TraceFile& file) {
    messages_.clear();
    Collect(file);
    Message& message = *messages_[Below(messages_.size())];
    const auto& descriptor = *message.GetDescriptor();
    if (descriptor.field_count() == 0) return;
    const FieldDescriptor& field =
        *descriptor.field(static_cast<int>(Below(static_cast<uint64_t>(descriptor.field_count()))));
    if (field.is_map()) return;
    // Setting another member of a oneof would destroy the one that is there, with all that was collected within it.
    if (field.containing_oneof() != nullptr && !message.GetReflection()->HasField(message, &field)) return;
    if (field.is_repeated()) {
      MutateList(message, field);
    } else if (field.cpp_type() == FieldDescriptor::CPPTYPE_MESSAGE) {
      if (Below(4) == 0) {
        message.GetReflection()->ClearField(&message, &field);
      } else {
        Replace(*message.GetReflection()->MutableMessage(&message, &field));
      }
    } else {
      SetNumber(message, field, -1);
    }
  }

 private:
  // Messages are as likely to be chosen however many there are of their type within one parent, so that a program's
  // thousand instructions do not hide a chunk's one path table.
  void Collect(Message& message) {
    messages_.push_back(&message);
    const Reflection& reflection = *message.GetReflection();
    std::vector<const FieldDescriptor*> fields;
    reflection.ListFields(message, &fields);
    for (const FieldDescriptor* field : fields) {
      if (field->cpp_type() != FieldDescriptor::CPPTYPE_MESSAGE || field->is_map()) continue;
      if (!field->is_repeated()) {
        Collect(*reflection.MutableMessage(&message, field));
        continue;
      }
      const int size = reflection.FieldSize(message, field);
      const int most = message.GetDescriptor() == v1::TraceFile::descriptor() ? size : 3;
      for (int i = 0; i < std::min(size, most); ++i) {
        const int at = size <= most ? i : static_cast<int>(Below(static_cast<uint64_t>(size)));
        Collect(*reflection.MutableRepeatedMessage(&message, field, at));
      }
    }
  }

  uint64_t Number(uint64_t before) {
    switch (Below(6)) {
      case 0:
        return before + 1;
      case 1:
        return before - 1;
      case 2:
        return uint64_t{1} << Below(64);
      case 3:
        return (uint64_t{1} << Below(64)) - 1;
      case 4:
        return Below(8);
      default:
        return before ^ (uint64_t{1} << Below(64));
    }
  }

  std::string Bytes(std::string before) {
    const size_t at = before.empty() ? 0 : Below(before.size());
    switch (Below(5)) {
      case 0:
        before.insert(at, 1 + Below(4), static_cast<char>(Number(0)));
        break;
      case 1:
        before.resize(at);
        break;
      case 2:
        before.append(1 + Below(16), '\xff');
        break;
      default:
        if (!before.empty()) before[at] = static_cast<char>(before[at] ^ (1 << Below(8)));
        break;
    }
    return before;
  }

  // Sets a field, or element `index` of a list.
  void SetNumber(Message& message, const FieldDescriptor& field, int index) {
    const Reflection& r = *message.GetReflection();
    const bool element = index >= 0;
    switch (field.cpp_type()) {
      case FieldDescriptor::CPPTYPE_BOOL:
        element ? r.SetRepeatedBool(&message, &field, index, Below(2) == 0)
                : r.SetBool(&message, &field, !r.GetBool(message, &field));
        break;
      case FieldDescriptor::CPPTYPE_ENUM: {
        const int value = static_cast<int>(Below(12));
        element ? r.SetRepeatedEnumValue(&message, &field, index, value) : r.SetEnumValue(&message, &field, value);
        break;
      }
      case FieldDescriptor::CPPTYPE_STRING: {
        std::string value = Bytes(element ? r.GetRepeatedString(message, &field, index) : r.GetString(message, &field));
        if (field.type() == FieldDescriptor::TYPE_STRING) {
          for (char& c : value) c = static_cast<char>(c & 0x7f);  // strings are UTF-8
        }
        element ? r.SetRepeatedString(&message, &field, index, value) : r.SetString(&message, &field, value);
        break;
      }
      case FieldDescriptor::CPPTYPE_UINT64: {
        const uint64_t value =
            Number(element ? r.GetRepeatedUInt64(message, &field, index) : r.GetUInt64(message, &field));
        element ? r.SetRepeatedUInt64(&message, &field, index, value) : r.SetUInt64(&message, &field, value);
        break;
      }
      case FieldDescriptor::CPPTYPE_INT64: {
        const int64_t value = static_cast<int64_t>(Number(
            static_cast<uint64_t>(element ? r.GetRepeatedInt64(message, &field, index) : r.GetInt64(message, &field))));
        element ? r.SetRepeatedInt64(&message, &field, index, value) : r.SetInt64(&message, &field, value);
        break;
      }
      case FieldDescriptor::CPPTYPE_UINT32: {
        const uint32_t value = static_cast<uint32_t>(
            Number(element ? r.GetRepeatedUInt32(message, &field, index) : r.GetUInt32(message, &field)));
        element ? r.SetRepeatedUInt32(&message, &field, index, value) : r.SetUInt32(&message, &field, value);
        break;
      }
      case FieldDescriptor::CPPTYPE_INT32: {
        const int32_t value = static_cast<int32_t>(Number(
            static_cast<uint64_t>(element ? r.GetRepeatedInt32(message, &field, index) : r.GetInt32(message, &field))));
        element ? r.SetRepeatedInt32(&message, &field, index, value) : r.SetInt32(&message, &field, value);
        break;
      }
      default:
        break;
    }
  }

  void AddElement(Message& message, const FieldDescriptor& field) {
    const Reflection& r = *message.GetReflection();
    switch (field.cpp_type()) {
      case FieldDescriptor::CPPTYPE_MESSAGE:
        Replace(*r.AddMessage(&message, &field));
        return;
      case FieldDescriptor::CPPTYPE_BOOL:
        return r.AddBool(&message, &field, false);
      case FieldDescriptor::CPPTYPE_ENUM:
        return r.AddEnumValue(&message, &field, 0);
      case FieldDescriptor::CPPTYPE_STRING:
        return r.AddString(&message, &field, "");
      case FieldDescriptor::CPPTYPE_UINT64:
        return r.AddUInt64(&message, &field, Number(0));
      case FieldDescriptor::CPPTYPE_INT64:
        return r.AddInt64(&message, &field, static_cast<int64_t>(Number(0)));
      case FieldDescriptor::CPPTYPE_UINT32:
        return r.AddUInt32(&message, &field, static_cast<uint32_t>(Number(0)));
      case FieldDescriptor::CPPTYPE_INT32:
        return r.AddInt32(&message, &field, static_cast<int32_t>(Number(0)));
      default:
        return;
    }
  }

  void MutateList(Message& message, const FieldDescriptor& field) {
    const Reflection& r = *message.GetReflection();
    const int size = r.FieldSize(message, &field);
    const auto any = [&] { return static_cast<int>(Below(static_cast<uint64_t>(size))); };
    const uint64_t choice = Below(8);
    if (size == 0 || choice == 0) {
      AddElement(message, field);
    } else if (choice == 1) {
      r.RemoveLast(&message, &field);
    } else if (choice == 2) {
      r.SwapElements(&message, &field, any(), any());
    } else if (choice == 3 && size > 1) {
      r.SwapElements(&message, &field, any(), size - 1);
      r.RemoveLast(&message, &field);
    } else if (field.cpp_type() == FieldDescriptor::CPPTYPE_MESSAGE) {
      Replace(*r.MutableRepeatedMessage(&message, &field, any()));
    } else {
      SetNumber(message, field, any());
    }
  }

  // Puts another message of the same type there, if there is one.
  void Replace(Message& message) {
    std::vector<const Message*> same;
    for (const Message* other : messages_) {
      if (other != &message && other->GetDescriptor() == message.GetDescriptor()) same.push_back(other);
    }
    if (same.empty()) return;
    std::unique_ptr<Message> copy(message.New());  // the other one may lie within this one
    copy->CopyFrom(*same[Below(same.size())]);
    message.CopyFrom(*copy);
  }

  std::mt19937_64 random_;
  std::vector<Message*> messages_;
};

// Thread-instructions and accesses of each path of a table; nothing if it cannot be walked.
bool WalkPaths(const v1::BlockChunk& chunk, const Program& program,
               std::vector<std::pair<uint64_t, uint64_t>>& totals) {
  const v1::PathTable& table = chunk.paths();
  const bool cut = chunk.part() > 0 || !chunk.last_part();
  std::string turned;
  if (!table.decision_planes().empty()) {
    const std::span<const uint32_t> counts(table.decision_count().data(),
                                           static_cast<size_t>(table.decision_count_size()));
    if (PlaneBytes(counts) != table.decision_planes().size()) return false;
    turned = PathsOf(counts, table.decision_planes());
  }
  const std::string& decision_bits = turned.empty() ? table.decision_bits() : turned;
  size_t bits = 0;
  int wide = 0, stack = 0;
  uint64_t budget = kMaxChunkThreadInstructions;
  for (int p = 0; p < table.decision_count_size(); ++p) {
    PathView path;
    path.decision_count = table.decision_count(p);
    if (bits + (uint64_t{path.decision_count} + 7) / 8 > decision_bits.size()) return false;
    path.decisions = reinterpret_cast<const uint8_t*>(decision_bits.data()) + bits;
    bits += (uint64_t{path.decision_count} + 7) / 8;
    path.wide_count = p < table.wide_count_size() ? table.wide_count(p) : 0;
    if (path.wide_count > static_cast<uint64_t>(table.wide_decision_size() - wide)) return false;
    path.wide = table.wide_decision().data() + wide;
    wide += static_cast<int>(path.wide_count);
    WalkState state;
    if (cut) {
      if (p >= table.start_block_size() || p >= table.extent_size() || p >= table.call_depth_size()) return false;
      state.block = table.start_block(p);
      if (state.block >= program.blocks().size()) return false;
      if (table.call_depth(p) > static_cast<uint64_t>(table.call_stack_size() - stack)) return false;
      for (uint32_t i = 0; i < table.call_depth(p); ++i) {
        state.stack.push_back(table.call_stack(stack++));
        if (state.stack.back() >= program.blocks().size()) return false;
        if (program.block(state.stack.back()).successor == kNoBlock) return false;
      }
      if (table.extent(p) == v1::PathTable::CUT) path.extent = Extent::kCut;
      if (table.extent(p) == v1::PathTable::ENDED) path.extent = Extent::kEnded;
    }
    PackedDecisions decisions(path);
    uint64_t instructions = 0, accesses = 0;
    (void)Walk(program, path.extent, decisions, state, budget, instructions,
               [&](uint32_t, const Block& block) { accesses += block.access_count; });
    budget -= std::min(budget, instructions);
    totals.push_back({instructions, accesses});
  }
  return true;
}

}  // namespace

void MutateRecords(v1::TraceFile& file, uint64_t seed) {
  Mutator mutator(seed);
  for (uint64_t changes = 1 + mutator.Below(4); changes > 0; --changes) mutator.Mutate(file);
}

void CrossRecords(v1::TraceFile& file, const v1::TraceFile& other, uint64_t seed) {
  Mutator mutator(seed);
  for (v1::Record& record : *file.mutable_record()) {
    if (mutator.Below(4) != 0) continue;
    for (const v1::Record& candidate : other.record()) {
      if (candidate.kind_case() == record.kind_case() && mutator.Below(2) == 0) record = candidate;
    }
  }
}

void FixTotals(v1::TraceFile& file) {
  std::map<uint32_t, Program> programs;
  const Program* program = nullptr;
  for (v1::Record& record : *file.mutable_record()) {
    if (record.has_program()) {
      auto created = Program::Create(record.program());
      if (created.ok()) programs.insert_or_assign(record.program().id(), *std::move(created));
    } else if (record.has_launch()) {
      const auto it = programs.find(record.launch().program());
      program = it == programs.end() ? nullptr : &it->second;
    } else if (record.has_chunk() && program != nullptr) {
      v1::BlockChunk& chunk = *record.mutable_chunk();
      std::vector<std::pair<uint64_t, uint64_t>> totals;
      if (!WalkPaths(chunk, *program, totals)) continue;
      uint64_t used = 0, instructions = 0, accesses = 0;
      const bool numbers = chunk.path_number_size() > 0;
      for (uint32_t reference : numbers ? chunk.path_number() : chunk.path_ref()) {
        if (reference > used || (reference == 0 && used == totals.size())) break;
        const uint64_t path = reference == 0 ? used++ : numbers ? reference - 1 : used - reference;
        instructions += totals[path].first;
        accesses += totals[path].second;
      }
      chunk.set_thread_instructions(instructions);
      chunk.set_accesses(accesses);
    }
  }
}

}  // namespace heddle::trace::testing
