#include "replay/policies/divergence/block_wide/block_stack_text.h"

#include <algorithm>
#include <span>
#include <vector>

#include "absl/strings/str_cat.h"

namespace heddle::replay {
namespace {

constexpr int kShownBlocks = 4;

std::string PcText(Position at) {
  if (at.is_exit()) return "-";
  return at.depth() == 0 ? absl::StrCat(at.pc() * 8) : absl::StrCat(at.pc() * 8, "@", at.depth());
}

std::string EntryText(const StackEntry& entry, uint32_t warp_size) {
  std::string threads;
  for (size_t static_warp = 0; static_warp < entry.threads.static_warps(); ++static_warp) {
    for (uint32_t lane = 0; lane < warp_size; ++lane)
      threads += (entry.threads[static_warp] >> lane & 1) != 0 ? '1' : '0';
  }
  return absl::StrCat("(", PcText(entry.next), ",", PcText(entry.rpc), ",", threads, ",", entry.wcnt, ")");
}

void AppendEntry(const BlockStacks& stacks, const StackEntry& entry, std::string& text) {
  const uint32_t warp_size = stacks.static_warps().warp_size();
  absl::StrAppend(&text, EntryText(entry, warp_size));
  if (entry.branch.paths.empty()) return;
  std::vector<StackEntryId> paths = entry.branch.paths;
  stacks.SortForPushing(paths);
  for (const StackEntryId path : paths) absl::StrAppend(&text, "+", EntryText(stacks.At(path), warp_size));
  absl::StrAppend(&text, " update mask ");
  const std::vector<bool>& bypassed = entry.branch.bypassed;
  for (uint32_t warp = 0; warp < entry.next_index; ++warp) {
    text += warp < bypassed.size() && bypassed[warp] ? '0' : '1';
  }
}

}  // namespace

std::string BlockStackText(const BlockStacks& stacks) {
  std::string text;
  int shown = 0;
  for (size_t block = 0; block < stacks.blocks(); ++block) {
    const std::span<const StackEntryId> stack = stacks.stack(static_cast<BlockId>(block));
    const bool staged =
        std::any_of(stack.begin(), stack.end(), [&](StackEntryId id) { return !stacks.At(id).branch.paths.empty(); });
    if ((stack.size() < 2 && !staged) || ++shown > kShownBlocks) continue;
    absl::StrAppend(&text, text.empty() ? "" : "; ", "block ", block, ": ");
    for (const StackEntryId id : stack) AppendEntry(stacks, stacks.At(id), text);
  }
  if (shown > kShownBlocks) absl::StrAppend(&text, "; and ", shown - kShownBlocks, " more blocks");
  return text;
}

}  // namespace heddle::replay
