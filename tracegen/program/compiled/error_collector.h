// Errors of LLVM, kept for a status.
#ifndef HEDDLE_TRACEGEN_PROGRAM_COMPILED_ERROR_COLLECTOR_H_
#define HEDDLE_TRACEGEN_PROGRAM_COMPILED_ERROR_COLLECTOR_H_

#include <string>

#include "llvm/IR/DiagnosticInfo.h"
#include "llvm/IR/DiagnosticPrinter.h"
#include "llvm/Support/raw_ostream.h"

namespace heddle::tracegen {

// Keeps the first error that LLVM reports instead of printing it.
class ErrorCollector : public llvm::DiagnosticHandler {
 public:
  explicit ErrorCollector(std::string* first) : first_(first) {}
  bool handleDiagnostics(const llvm::DiagnosticInfo& info) override {
    if (info.getSeverity() == llvm::DS_Error && first_->empty()) {
      llvm::raw_string_ostream stream(*first_);
      llvm::DiagnosticPrinterRawOStream printer(stream);
      info.print(printer);
    }
    return true;
  }

 private:
  std::string* first_;
};

}  // namespace heddle::tracegen

#endif  // HEDDLE_TRACEGEN_PROGRAM_COMPILED_ERROR_COLLECTOR_H_
