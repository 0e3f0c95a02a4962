// Messages about names that nobody knows.
#ifndef HEDDLE_TRACES_BASE_SUGGEST_H_
#define HEDDLE_TRACES_BASE_SUGGEST_H_

#include <string>
#include <string_view>
#include <vector>

namespace heddle {

// The member of `known` that `name` was probably meant to be: the smallest number of inserted, deleted, replaced or
// swapped characters, at most a third of the name's length (at least one); else one that begins with `name` or with
// which `name` begins. Empty if nothing is near. Ties go to the first.
std::string NearestName(std::string_view name, const std::vector<std::string>& known);

// `unknown KIND "NAME": did you mean "NEAREST"? known: a, b, c`, the question only if something is near.
std::string UnknownNameMessage(std::string_view kind, std::string_view name, const std::vector<std::string>& known);

}  // namespace heddle

#endif  // HEDDLE_TRACES_BASE_SUGGEST_H_
