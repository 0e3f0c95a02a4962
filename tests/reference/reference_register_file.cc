#include "tests/reference/reference_register_file.h"

#include <algorithm>
#include <optional>

#include "traces/format/program/control_bits.h"

namespace heddle::replay {

namespace v1 = trace::v1;

std::vector<ReferenceRegisterFile::Operand> ReferenceRegisterFile::OperandsOf(Pc pc) const {
  const v1::Instruction& instruction = program_.instruction(pc);
  const std::optional<trace::ControlBits> bits = trace::UnpackControl(instruction.control());
  const std::set<v1::OpClass> variable = {v1::OP_LOAD, v1::OP_STORE, v1::OP_ATOMIC, v1::OP_TEXTURE, v1::OP_ASYNC};
  if (!bits.has_value() || bits->write_barrier != trace::ControlBits::kNoBarrier ||
      variable.contains(instruction.op())) {
    return {};
  }
  std::vector<uint32_t> listed(instruction.src().begin(), instruction.src().end());
  if ((instruction.flags() & v1::FLAG_GUARDED) != 0) {
    for (int i = 0; i < instruction.dst_size() && !listed.empty(); ++i) listed.pop_back();
  }
  const auto function = static_cast<int>(program_.block(program_.block_of(pc)).function);
  const v1::Function& names = program_.proto().function(function);
  std::vector<std::vector<uint32_t>> operands;  // each with one register, or the two of a pair
  std::set<uint32_t> seen;
  for (const uint32_t number : listed) {
    if (number > names.register_file().size()) return {};
    if (names.register_file()[number - 1] != v1::FILE_GENERAL) continue;
    const uint32_t reg = static_cast<uint8_t>(names.register_number()[number - 1]);
    if (!seen.insert(reg).second) continue;
    if (reg % 2 == 1 && !operands.empty() && operands.back().back() == reg - 1) {
      operands.back().push_back(reg);
    } else {
      operands.push_back({reg});
    }
  }
  std::vector<uint32_t> places;
  for (uint32_t i = 0; i < operands.size(); ++i) places.push_back(std::min(i, 2u));
  const std::set<uint32_t> marked = [&] {
    std::set<uint32_t> places_of_marks;
    for (uint32_t place = 0; place < 3; ++place) {
      if ((bits->reuse >> place & 1) != 0) places_of_marks.insert(place);
    }
    return places_of_marks;
  }();
  // Marks tell the places of registers between which constants stand.
  if (places.size() == 1 && !marked.empty()) places = {*marked.begin()};
  if (places.size() == 2 && marked.contains(2)) {
    places = {marked.contains(1) && !marked.contains(0) ? 1u : 0u, 2u};
  }
  std::vector<Operand> all;
  for (size_t i = 0; i < operands.size(); ++i) {
    for (const uint32_t reg : operands[i]) all.push_back({reg, places[i], file_.cache() && marked.contains(places[i])});
  }
  return all;
}

Cycle ReferenceRegisterFile::Read(int port, uint32_t hw_warp, Pc pc, Cycle now) {
  if (file_.banks() == 0) return 0;
  const std::vector<Operand> operands = OperandsOf(pc);
  auto& kept = kept_[port];
  std::vector<std::pair<Place, std::optional<std::pair<uint32_t, uint32_t>>>> afterwards;
  Cycle last = now;
  for (const Operand& operand : operands) {
    const uint32_t bank = operand.number % file_.banks();
    std::optional<uint32_t> found;
    for (uint32_t place = 0; place < 3; ++place) {
      const auto there = kept.find({bank, place});
      if (there != kept.end() && there->second == std::pair(hw_warp, operand.number)) found = place;
    }
    const uint32_t place = operand.keep || !found.has_value() ? operand.place : *found;
    afterwards.push_back({{bank, place}, std::nullopt});
    if (operand.keep) afterwards.back().second = {hw_warp, operand.number};
    if (found.has_value()) continue;
    std::set<Cycle>& busy = reads_[port][bank];
    const Cycle read = std::max(now, busy.empty() ? 0 : *busy.rbegin()) + 1;
    busy.insert(read);
    last = std::max(last, read);
  }
  for (const auto& [place, what] : afterwards) {
    kept.erase(place);
    if (what.has_value() && file_.cache()) kept[place] = *what;
  }
  Cycle late = 0;
  while (now + file_.read_cycles() + late < last) ++late;
  return late;
}

}  // namespace heddle::replay
