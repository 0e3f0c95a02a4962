#include "replay/policies/divergence/harp/harp.h"

#include <cstddef>

#include "absl/strings/str_cat.h"

namespace heddle::replay {

HarpPolicy::HarpPolicy(const DivergenceContext& context, const Parameters& parameters)
    : options_(HarpOptionsOf(context, parameters)),
      accepted_(kMaxSlots, 0),
      waits_for_memory_(context.program.instruction_count(), 0) {
  for (int port = 0; port < context.ports; ++port) {
    schedulers_.emplace_back(options_, static_cast<uint8_t>(port), counters_);
  }
  for (const trace::Block& block : context.program.blocks()) {
    for (Pc pc = block.first; pc < block.first + block.count; ++pc) {
      const trace::v1::MemorySpace space = context.program.instruction(pc).space();
      const bool decides =
          pc + 1 == block.first + block.count && block.terminator != trace::v1::Terminator::FALL_THROUGH;
      const bool global = space == trace::v1::SPACE_GLOBAL || space == trace::v1::SPACE_GENERIC;
      waits_for_memory_[pc] = global && !decides ? 1 : 0;
    }
  }
}

void HarpPolicy::Admit(const BlockAdmission& admission, WarpEditor& editor) {
  const size_t place = admission.block / schedulers_.size();  // of the block among those of its scheduler
  schedulers_[admission.block % schedulers_.size()].Admit(admission, place * admission.warps.size(), editor);
}

void HarpPolicy::Retire(BlockId block, WarpEditor& editor) {
  schedulers_[block % schedulers_.size()].Retire(editor.now());
}

Verdict HarpPolicy::Resolve(const Resolution& resolution, WarpEditor& editor) {
  accepted_[resolution.slot] = 0;
  schedulers_[editor.table().port[resolution.slot]].Resolve(resolution, editor);
  return Verdict::kAccepted;
}

Verdict HarpPolicy::AcceptIssue(SlotId slot, WarpEditor& editor) {
  if (accepted_[slot] != 0) return Verdict::kAccepted;  // the memory system had no room
  accepted_[slot] = 1;
  const WarpTable& table = editor.table();
  schedulers_[table.port[slot]].Issued(slot, waits_for_memory_[table.position[slot].pc()] != 0, editor);
  return Verdict::kAccepted;
}

void HarpPolicy::Timer(uint64_t tag, WarpEditor& editor) {
  const HarpTimer timer = HarpTimer::Of(tag);
  schedulers_[timer.port].Timer(timer, editor);
}

std::string HarpPolicy::Explain(const WarpTable& /*table*/) const {
  std::string text;
  for (size_t port = 0; port < schedulers_.size(); ++port) {
    const std::string barriers = schedulers_[port].Text();
    if (barriers.empty()) continue;
    absl::StrAppend(&text, text.empty() ? "" : "; ",
                    schedulers_.size() == 1 ? "" : absl::StrCat("scheduler ", port, ": "), barriers);
  }
  return text;
}

}  // namespace heddle::replay
