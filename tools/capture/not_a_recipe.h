// What to do about a file that is no recipe.
#ifndef HEDDLE_TOOLS_CAPTURE_NOT_A_RECIPE_H_
#define HEDDLE_TOOLS_CAPTURE_NOT_A_RECIPE_H_

#include <string>

namespace heddle::tracegen {

// Whether a file can be run: an ELF file or a script.
bool IsProgram(const std::string& path);

// Of a file that stands where a recipe belongs, but is a program or device code: what it is, and how it is captured.
// Empty for everything else.
std::string WhyNoRecipe(const std::string& path);

}  // namespace heddle::tracegen

#endif  // HEDDLE_TOOLS_CAPTURE_NOT_A_RECIPE_H_
