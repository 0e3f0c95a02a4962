// Where a file goes that is written under the name of a symbolic link.
#ifndef HEDDLE_TRACES_BASE_LINK_TARGET_H_
#define HEDDLE_TRACES_BASE_LINK_TARGET_H_

#include <string>

namespace heddle {

// What a path leads to, which need not exist. A writer that completes its file with a rename has to rename it to this:
// the link would be replaced otherwise, and what it leads to left as it was. A circle of links leads somewhere within
// itself, where nothing can be opened.
std::string LinkTarget(const std::string& path);

}  // namespace heddle

#endif  // HEDDLE_TRACES_BASE_LINK_TARGET_H_
