// Pieces of PTX for tests of the syntax tree.
#ifndef HEDDLE_TESTS_TRACEGEN_PTX_SYNTAX_SNIPPET_H_
#define HEDDLE_TESTS_TRACEGEN_PTX_SYNTAX_SNIPPET_H_

#include <string>
#include <string_view>
#include <vector>

#include "gtest/gtest.h"
#include "tracegen/ptx/syntax/module.h"
#include "tracegen/ptx/syntax/parse.h"

namespace heddle::tracegen::ptx {

// A module with these directives behind its head.
std::string ModuleText(std::string_view text);
// A kernel with registers of all kinds (%p, %rs, %r, %rd, %rq, %f, %fd, %h), variables and this body.
std::string KernelText(std::string_view body);

// Fail the test if the text is refused.
Module ParsedModule(std::string_view text);
Module ParsedKernel(std::string_view body);

// What the text is refused with; fails the test if it is not.
std::string ModuleError(std::string_view text, const ParseOptions& options = {});
std::string KernelError(std::string_view body);

// The kernel of ParsedKernel and its instructions in order.
const Function& KernelOf(const Module& module);
std::vector<const Instruction*> InstructionsOf(const Function& function);

// Fails the test unless the text is right, and is printed as a text that reads to the same tree.
void ExpectSameTree(std::string_view text);

// All lines 0, to compare trees of texts that differ in their lines only.
void ForgetLines(Module& module);

}  // namespace heddle::tracegen::ptx

#endif  // HEDDLE_TESTS_TRACEGEN_PTX_SYNTAX_SNIPPET_H_
