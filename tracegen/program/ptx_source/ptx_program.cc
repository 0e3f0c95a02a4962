#include "tracegen/program/ptx_source/ptx_program.h"

#include <openssl/evp.h>

#include <algorithm>
#include <cstdint>
#include <memory>
#include <optional>
#include <set>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "tracegen/program/device_calls.h"
#include "tracegen/program/prepare.h"
#include "tracegen/program/ptx_source/libdevice.h"
#include "tracegen/program/ptx_source/producer.h"
#include "tracegen/ptx/opcode.h"
#include "tracegen/ptx/syntax/link_modules.h"
#include "tracegen/ptx/syntax/parse.h"
#include "traces/base/status_macros.h"

namespace heddle::tracegen {
namespace {

using Kind = ptx::Operand::Kind;

// Why a function without a body cannot be called; empty if the device has it.
std::string ExplainMissing(std::string_view function) {
  const std::string name(function);
  if (IsFailureCall(name) || MathMicroOps(name) || SystemCallMicroOps(name) || !LibdeviceSignature(name).empty()) {
    return "";
  }
  return ExplainUndefined(name);
}

absl::StatusOr<ptx::Module> Parse(const PtxText& text) {
  absl::StatusOr<ptx::Module> module = ptx::ParseModule(text.text);
  if (module.ok()) return module;
  return absl::Status(module.status().code(), absl::StrCat(text.name, ": ", module.status().message()));
}

// Calls `visit` with each function that an instruction names, and whether it is its callee.
template <typename Visit>
void ForEachFunction(const ptx::Instruction& instruction, const Visit& visit) {
  const auto inside = [&](const auto& again, const ptx::Operand& operand, bool is_callee) -> void {
    if (operand.kind == Kind::kSymbol && operand.symbol == ptx::SymbolKind::kFunction) visit(operand.index, is_callee);
    for (const ptx::Operand& element : operand.elements) again(again, element, false);
  };
  const bool is_call = instruction.opcode() == "call";
  for (size_t i = 0; i < instruction.operands.size(); ++i) inside(inside, instruction.operands[i], is_call && i == 1);
}

bool TakesAddresses(const ptx::Module& module) {
  const auto named_by = [](const ptx::Variable& variable) {
    return std::any_of(variable.initial.begin(), variable.initial.end(), [](const ptx::InitialValue& value) {
      return value.kind == ptx::InitialValue::Kind::kAddress && value.symbol == ptx::SymbolKind::kFunction;
    });
  };
  bool takes = std::any_of(module.variables.begin(), module.variables.end(), named_by);
  for (const ptx::Function& function : module.functions) {
    takes |= std::any_of(function.variables.begin(), function.variables.end(), named_by);
    for (const ptx::Statement& statement : function.body) {
      const ptx::Instruction* instruction = statement.instruction();
      if (instruction == nullptr) continue;
      ForEachFunction(*instruction, [&takes](uint32_t, bool is_callee) { takes |= !is_callee; });
    }
  }
  return takes;
}

// A function and all that it calls, directly or not.
WantedFunctions ReachOf(const ptx::Module& module, uint32_t start) {
  WantedFunctions reached(module.functions.size());
  std::vector<uint32_t> work = {start};
  const auto reach = [&](uint32_t function) {
    if (!reached[function]) work.push_back(function);
    reached[function] = true;
  };
  reached[start] = true;
  while (!work.empty()) {
    const uint32_t index = work.back();
    work.pop_back();
    for (const ptx::Alias& alias : module.aliases) {
      if (alias.function == index) reach(alias.aimed);
    }
    const ptx::Function& function = module.functions[index];
    for (const ptx::Table& table : function.tables) {
      for (const uint32_t target : table.functions) reach(target);
    }
    for (const ptx::Statement& statement : function.body) {
      const ptx::Instruction* instruction = statement.instruction();
      if (instruction != nullptr) ForEachFunction(*instruction, [&](uint32_t callee, bool) { reach(callee); });
    }
  }
  return reached;
}

}  // namespace

absl::Status PtxProgram::Check(const PtxText& text) { return Parse(text).status(); }

absl::StatusOr<PtxProgram> PtxProgram::Read(const std::vector<PtxText>& texts) {
  PtxProgram program;
  ptx::ModuleLinker linker(ExplainMissing);
  const std::unique_ptr<EVP_MD_CTX, decltype(&EVP_MD_CTX_free)> digest(EVP_MD_CTX_new(), EVP_MD_CTX_free);
  EVP_DigestInit_ex(digest.get(), EVP_sha256(), nullptr);
  std::set<std::string> producers;
  for (const PtxText& text : texts) {
    HEDDLE_ASSIGN_OR_RETURN(ptx::Module module, Parse(text));
    EVP_DigestUpdate(digest.get(), text.text.data(), text.text.size());
    linker.Add(text.name, std::move(module));
    producers.insert(ProducerOf(text.text));
  }
  program.sha256_.resize(static_cast<size_t>(EVP_MD_get_size(EVP_sha256())));
  EVP_DigestFinal_ex(digest.get(), reinterpret_cast<unsigned char*>(program.sha256_.data()), nullptr);
  program.producer_ = absl::StrJoin(producers, ", ");
  program.name_ = texts.size() == 1 ? texts[0].name : "PTX";
  absl::StatusOr<ptx::Module> linked = linker.Link();
  if (!linked.ok()) {
    const std::string prefix = texts.size() == 1 ? absl::StrCat(texts[0].name, ": ") : "";
    return absl::Status(linked.status().code(), absl::StrCat(prefix, linked.status().message()));
  }
  program.module_ = *std::move(linked);
  program.takes_addresses_ = TakesAddresses(program.module_);
  return program;
}

std::vector<std::string> PtxProgram::kernels() const {
  std::vector<std::string> names;
  for (const ptx::Function& function : module_.functions) {
    if (function.is_kernel && function.is_defined) names.push_back(function.name);
  }
  return names;
}

absl::StatusOr<CanonicalModule> PtxProgram::Declare() const { return DeclarePtx(module_, name_); }

absl::StatusOr<CanonicalModule> PtxProgram::Lower() const {
  return Lower(WantedFunctions(module_.functions.size(), true));
}

absl::StatusOr<CanonicalModule> PtxProgram::Lower(const WantedFunctions& wanted) const {
  HEDDLE_ASSIGN_OR_RETURN(CanonicalModule canonical, LowerPtx(module_, wanted, name_, sha256_));
  canonical.producer = producer_;
  return canonical;
}

absl::StatusOr<CanonicalModule> PtxProgram::LowerKernel(std::string_view kernel) const {
  const std::optional<uint32_t> index = module_.FindFunction(kernel);
  if (!index || !module_.functions[*index].is_kernel) {
    return absl::NotFoundError(absl::StrCat(name_, ": there is no kernel '", std::string(kernel), "'"));
  }
  return Lower(ReachOf(module_, *index));
}

}  // namespace heddle::tracegen
