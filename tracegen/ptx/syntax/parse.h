// Reads PTX text, from whoever made it.
#ifndef HEDDLE_TRACEGEN_PTX_SYNTAX_PARSE_H_
#define HEDDLE_TRACEGEN_PTX_SYNTAX_PARSE_H_

#include <cstdint>
#include <string_view>

#include "absl/status/statusor.h"
#include "tracegen/ptx/syntax/module.h"

namespace heddle::tracegen::ptx {

// PTX comes from strangers. What is larger than this is refused; time and memory are in proportion to the text.
struct ParseLimits {
  uint64_t text_bytes = 256u << 20;
  uint32_t nodes = 12u << 20;                  // statements, operands and initial values together: 2 GB at the worst
  uint32_t nesting = 256;                      // scopes, parentheses, braces of initialisers
  uint32_t registers_per_function = 4u << 20;  // %r<N> counts N
  uint64_t variable_bytes = uint64_t{1} << 40;
};

struct ParseOptions {
  ParseLimits limits;
  bool keep_comments = false;
};

// Errors: InvalidArgument "PTX line 12: what is wrong: 'the text'". What is not known is refused so too, and never
// passed over. Messages hold printable characters only.
absl::StatusOr<Module> ParseModule(std::string_view text, const ParseOptions& options = {});

// The text of an asm statement as LLVM has it: statements with arguments $0, $1 (kArgument), and $$ for a dollar. The
// result is a module whose only function, without a name, is the statement's body. Names that the text does not declare
// are looked up in `symbols`, which may be null; what is not there either is refused.
absl::StatusOr<Module> ParseInline(std::string_view text, const Module* symbols = nullptr,
                                   const ParseOptions& options = {});

}  // namespace heddle::tracegen::ptx

#endif  // HEDDLE_TRACEGEN_PTX_SYNTAX_PARSE_H_
