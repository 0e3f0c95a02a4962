#include "replay/policies/divergence/shared/convergence_barriers.h"

#include <algorithm>
#include <bit>

#include "absl/strings/str_cat.h"

namespace heddle::replay {
namespace {

// The members of a list for which `is_over` is true go; the others keep their order.
template <typename List, typename Predicate>
void Drop(List& list, Predicate is_over) {
  list.erase(std::remove_if(list.begin(), list.end(), is_over), list.end());
}

}  // namespace

void ConvergenceBarriers::Reset() {
  live_.clear();
  names_.clear();
  saved_.clear();
}

size_t ConvergenceBarriers::IndexOf(Id id) const {
  for (size_t i = live_.size(); i-- > 0;) {
    if (live_[i].id == id) return i;
  }
  return live_.size();
}

LaneMask ConvergenceBarriers::MembersOf(Id id) const {
  const size_t index = IndexOf(id);
  return index == live_.size() ? 0 : live_[index].members;
}

void ConvergenceBarriers::Remove(Id id) {
  Drop(live_, [id](const Live& one) { return one.id == id; });
  Drop(names_, [id](const Name& one) { return one.id == id; });
}

void ConvergenceBarriers::Leave(Id id, LaneMask lanes) {
  const size_t index = IndexOf(id);
  if (index == live_.size()) return;
  live_[index].members &= ~lanes;
  live_[index].waiting &= ~lanes;
  if (live_[index].members == 0) Remove(id);
}

LaneMask ConvergenceBarriers::NamedElsewhere(Id id) const {
  LaneMask lanes = 0;
  for (const Name& name : names_) lanes |= name.id == id ? name.lanes : 0;
  for (const Saved& saved : saved_) lanes |= saved.id == id ? saved.lanes : 0;
  return lanes;
}

void ConvergenceBarriers::Forget(uint8_t barrier, LaneMask lanes, bool leaves) {
  struct Left {
    Id id;
    LaneMask lanes;
  };
  absl::InlinedVector<Left, 2> left;
  for (Name& name : names_) {
    if (name.barrier != barrier || (name.lanes & lanes) == 0) continue;
    left.push_back({name.id, name.lanes & lanes});
    name.lanes &= ~lanes;
  }
  if (left.empty()) return;
  Drop(names_, [](const Name& name) { return name.lanes == 0; });
  if (!leaves) return;
  for (const Left& one : left) Leave(one.id, one.lanes & ~NamedElsewhere(one.id));
}

void ConvergenceBarriers::Set(uint8_t barrier, LaneMask lanes) {
  if (lanes == 0) return;
  Forget(barrier, lanes, /*leaves=*/true);
  ++latest_;
  live_.push_back({latest_, lanes, 0});
  names_.push_back({latest_, lanes, barrier});
}

ConvergenceBarriers::Id ConvergenceBarriers::Find(uint8_t barrier, LaneMask& lanes) const {
  const LaneMask lowest = lanes & -lanes;
  LaneMask named = 0;
  for (const Name& name : names_) {
    if (name.barrier != barrier) continue;
    named |= name.lanes;
    if ((name.lanes & lowest) == 0) continue;
    const LaneMask members = MembersOf(name.id);
    const bool is_member = (members & lowest) != 0;
    lanes &= name.lanes & (is_member ? members : ~members);
    return is_member ? name.id : 0;
  }
  lanes &= ~named;
  return 0;
}

void ConvergenceBarriers::Wait(Id id, LaneMask lanes) {
  const size_t index = IndexOf(id);
  if (index < live_.size()) live_[index].waiting |= lanes & live_[index].members;
}

void ConvergenceBarriers::Break(uint8_t barrier, LaneMask lanes) {
  while (lanes != 0) {
    LaneMask part = lanes;
    if (const Id id = Find(barrier, part); id != 0) Leave(id, part);
    lanes &= ~part;
  }
}

void ConvergenceBarriers::Exit(LaneMask lanes) {
  for (Live& barrier : live_) {
    barrier.members &= ~lanes;
    barrier.waiting &= ~lanes;
  }
  for (Name& name : names_) name.lanes &= ~lanes;
  for (Saved& saved : saved_) saved.lanes &= ~lanes;
  Drop(live_, [](const Live& one) { return one.members == 0; });
  Drop(names_, [](const Name& one) { return one.lanes == 0; });
  Drop(saved_, [](const Saved& one) { return one.lanes == 0; });
}

LaneMask ConvergenceBarriers::TakeComplete() {
  for (const Live& barrier : live_) {
    if (barrier.waiting != barrier.members) continue;
    const LaneMask members = barrier.members;
    Remove(barrier.id);
    return members;
  }
  return 0;
}

void ConvergenceBarriers::Save(uint8_t barrier, uint32_t depth, uint8_t general, LaneMask lanes, bool clears) {
  for (Saved& saved : saved_) {
    if (saved.depth == depth && saved.general == general) saved.lanes &= ~lanes;
  }
  Drop(saved_, [](const Saved& one) { return one.lanes == 0; });
  for (const Name& name : names_) {
    if (name.barrier != barrier || (name.lanes & lanes) == 0) continue;
    saved_.push_back({name.id, name.lanes & lanes, depth, general, barrier});
  }
  if (clears) Forget(barrier, lanes, /*leaves=*/false);
}

void ConvergenceBarriers::Restore(uint8_t barrier, uint32_t depth, uint8_t general, LaneMask lanes) {
  Forget(barrier, lanes, /*leaves=*/true);
  for (const bool exact : {true, false}) {
    for (size_t i = saved_.size(); i-- > 0 && lanes != 0;) {
      const Saved& saved = saved_[i];
      if (saved.depth != depth || (exact ? saved.general != general : saved.barrier != barrier)) continue;
      const LaneMask found = saved.lanes & lanes;
      if (found == 0) continue;
      names_.push_back({saved.id, found, barrier});
      lanes &= ~found;
    }
  }
}

void ConvergenceBarriers::Return(uint32_t depth, LaneMask lanes) {
  for (Saved& saved : saved_) {
    if (saved.depth >= depth) saved.lanes &= ~lanes;
  }
  Drop(saved_, [](const Saved& one) { return one.lanes == 0; });
}

std::string ConvergenceBarriers::Text() const {
  constexpr size_t kShown = 4;
  std::string text;
  size_t shown = 0;
  for (const Live& barrier : live_) {
    if (++shown > kShown) break;
    const auto name = std::ranges::find(names_, barrier.id, &Name::id);
    absl::StrAppend(&text, text.empty() ? "" : ", ", name == names_.end() ? "a saved barrier" : "B",
                    name == names_.end() ? "" : absl::StrCat(name->barrier), ": ", std::popcount(barrier.waiting),
                    " of ", std::popcount(barrier.members), " wait");
  }
  if (live_.size() > kShown) absl::StrAppend(&text, ", and ", live_.size() - kShown, " more");
  return text;
}

}  // namespace heddle::replay
