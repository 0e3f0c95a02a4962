// Errors on the way up: what is said in every function that calls one which may fail.
#ifndef HEDDLE_TRACES_BASE_STATUS_MACROS_H_
#define HEDDLE_TRACES_BASE_STATUS_MACROS_H_

#include <utility>

#include "absl/base/optimization.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"

// Returns the status that `expression` comes to, if it is an error.
#define HEDDLE_RETURN_IF_ERROR(expression)                                                    \
  do {                                                                                        \
    if (absl::Status heddle_status = (expression); ABSL_PREDICT_FALSE(!heddle_status.ok())) { \
      return heddle_status;                                                                   \
    }                                                                                         \
  } while (false)

// Declares or assigns `target` from the absl::StatusOr that `expression` comes to, or returns its error:
//   HEDDLE_ASSIGN_OR_RETURN(const std::string text, ReadFile(path));
// A type with a comma in it needs an alias.
#define HEDDLE_ASSIGN_OR_RETURN(target, expression) \
  HEDDLE_ASSIGN_OR_RETURN_AS(HEDDLE_STATUS_NAME(heddle_status_or_, __LINE__), target, expression)

// A declaration and a name stand where no parentheses may.
// NOLINTBEGIN(bugprone-macro-parentheses)
#define HEDDLE_ASSIGN_OR_RETURN_AS(name, target, expression)           \
  auto name = (expression);                                            \
  if (ABSL_PREDICT_FALSE(!name.ok())) return std::move(name).status(); \
  target = *std::move(name)
// NOLINTEND(bugprone-macro-parentheses)
#define HEDDLE_STATUS_NAME(prefix, line) HEDDLE_STATUS_JOIN(prefix, line)
#define HEDDLE_STATUS_JOIN(prefix, line) prefix##line

#endif  // HEDDLE_TRACES_BASE_STATUS_MACROS_H_
