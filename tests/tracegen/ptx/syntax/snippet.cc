#include "tests/tracegen/ptx/syntax/snippet.h"

#include "absl/strings/str_cat.h"
#include "tracegen/ptx/syntax/print.h"

namespace heddle::tracegen::ptx {
namespace {

void ForgetLines(std::vector<Variable>& variables) {
  for (Variable& variable : variables) {
    variable.line = 0;
    for (InitialValue& value : variable.initial) value.line = 0;
  }
}

void ForgetLines(Operand& operand) {
  operand.line = 0;
  for (Operand& element : operand.elements) ForgetLines(element);
}

void ForgetLines(std::vector<Directive>& directives) {
  for (Directive& directive : directives) directive.line = 0;
}

void ForgetLines(Function& function) {
  function.line = function.end_line = 0;
  ForgetLines(function.returns);
  ForgetLines(function.parameters);
  ForgetLines(function.variables);
  ForgetLines(function.directives);
  for (RegisterDeclaration& declaration : function.registers) declaration.line = 0;
  for (Label& label : function.labels) label.line = 0;
  for (Table& table : function.tables) {
    table.line = 0;
    ForgetLines(table.returns);
    ForgetLines(table.parameters);
    ForgetLines(table.directives);
  }
  for (Statement& statement : function.body) {
    statement.line = 0;
    auto* instruction = std::get_if<Instruction>(&statement.what);
    if (instruction == nullptr) continue;
    if (instruction->guard) ForgetLines(*instruction->guard);
    for (Operand& operand : instruction->operands) ForgetLines(operand);
  }
}

}  // namespace

std::string ModuleText(std::string_view text) {
  return absl::StrCat(".version 8.5\n.target sm_90, debug\n.address_size 64\n", std::string(text));
}

std::string KernelText(std::string_view body) {
  return ModuleText(absl::StrCat(R"(
.extern .shared .align 16 .b8 dynamic[];
.global .align 4 .b32 words[16];
.global .texref picture;
.extern .func (.param .b32 result) f (.param .b64 a, .param .b32 b);
.visible .entry k(.param .u64 out, .param .align 8 .b8 by_value[24])
{
	.reg .pred %p<8>;
	.reg .b16 %rs<8>;
	.reg .b32 %r<100>;
	.reg .b64 %rd<20>;
	.reg .b128 %rq<4>;
	.reg .f32 %f<40>;
	.reg .f64 %fd<8>;
	.reg .b16 %h<8>;
	.local .align 8 .b8 frame[64];
	.shared .align 4 .b8 buffer[128];
)",
                                 std::string(body), "\n}\n"));
}

Module ParsedModule(std::string_view text) {
  absl::StatusOr<Module> module = ParseModule(text);
  EXPECT_TRUE(module.ok()) << module.status() << "\n" << text;
  return module.ok() ? *std::move(module) : Module();
}

Module ParsedKernel(std::string_view body) { return ParsedModule(KernelText(body)); }

std::string ModuleError(std::string_view text, const ParseOptions& options) {
  const absl::StatusOr<Module> module = ParseModule(text, options);
  EXPECT_FALSE(module.ok()) << text;
  return module.ok() ? "" : std::string(module.status().message());
}

std::string KernelError(std::string_view body) { return ModuleError(KernelText(body)); }

const Function& KernelOf(const Module& module) {
  static const Function& nothing = *new Function();
  for (const Function& function : module.functions) {
    if (function.is_kernel) return function;
  }
  ADD_FAILURE() << "no kernel";
  return nothing;
}

std::vector<const Instruction*> InstructionsOf(const Function& function) {
  std::vector<const Instruction*> instructions;
  for (const Statement& statement : function.body) {
    if (const Instruction* instruction = statement.instruction()) instructions.push_back(instruction);
  }
  return instructions;
}

void ExpectSameTree(std::string_view text) {
  absl::StatusOr<Module> first = ParseModule(text);
  ASSERT_TRUE(first.ok()) << first.status();
  const std::string printed = Print(*first);
  absl::StatusOr<Module> second = ParseModule(printed);
  ASSERT_TRUE(second.ok()) << second.status();
  ForgetLines(*first);
  ForgetLines(*second);
  EXPECT_TRUE(*first == *second);
  EXPECT_EQ(Print(*second), printed);
}

void ForgetLines(Module& module) {
  ForgetLines(module.variables);
  for (Function& function : module.functions) ForgetLines(function);
  for (Alias& alias : module.aliases) alias.line = 0;
  for (SourceFile& file : module.files) file.line = 0;
  for (Section& section : module.sections) section.line = 0;
}

}  // namespace heddle::tracegen::ptx
