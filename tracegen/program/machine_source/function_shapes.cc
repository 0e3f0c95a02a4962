#include "tracegen/program/machine_source/function_shapes.h"

#include <algorithm>
#include <set>
#include <string_view>
#include <utility>

#include "absl/strings/match.h"
#include "tracegen/program/machine_source/constant_banks.h"

namespace heddle::tracegen {
namespace {

using machine::Register;
using machine::RegisterFile;

// By file and number.
using RegisterSet = std::set<std::pair<RegisterFile, uint8_t>>;

struct Touched {
  RegisterSet all;
  RegisterSet written;
  std::set<int64_t> words;
  std::set<uint32_t> callees;
  bool calls_pointers = false;
  bool meets = false;
  bool calls_without_end = false;

  size_t size() const { return all.size() + written.size() + words.size(); }
};

// Whether what it does depends on the threads of the warp that are together.
bool MeetsWarp(const machine::Instruction& instruction) {
  static constexpr std::string_view kMeet[] = {"SHFL",  "VOTE",     "VOTEU", "MATCH", "REDUX",
                                               "ELECT", "WARPSYNC", "NOP",   "SYNCS"};
  const std::string_view opcode = instruction.opcode();
  if (opcode == "BRA") return instruction.Has("DIV") || instruction.Has("CONV");
  return std::find(std::begin(kMeet), std::end(kMeet), opcode) != std::end(kMeet);
}

// What calls lead to from these functions on, themselves included only if a call does.
std::set<uint32_t> CalledFrom(const std::vector<Touched>& all, std::vector<uint32_t> due) {
  std::set<uint32_t> called;
  while (!due.empty()) {
    const uint32_t caller = due.back();
    due.pop_back();
    for (const uint32_t callee : all[caller].callees) {
      if (called.insert(callee).second) due.push_back(callee);
    }
  }
  return called;
}

// Of the functions that a kernel runs, all meet if one does: who is together stays so through calls.
void LookAtCalls(const machine::MachineProgram& program, std::vector<Touched>& all) {
  for (uint32_t i = 0; i < all.size(); ++i) {
    if (!program.functions[i].is_kernel) continue;
    const std::set<uint32_t> called = CalledFrom(all, {i});
    bool meets = all[i].meets;
    for (const uint32_t function : called) {
      meets |= all[function].meets;
      all[i].calls_without_end |= all[function].calls_pointers || CalledFrom(all, {function}).contains(function);
    }
    all[i].calls_without_end |= all[i].calls_pointers;
    all[i].meets = meets;
    for (const uint32_t function : called) all[function].meets |= meets;
  }
}

Touched TouchedBy(const machine::MachineProgram& program, const machine::ProgramFunction& function) {
  Touched touched;
  for (const Register& reg : function.registers) touched.all.emplace(reg.file, reg.number);
  for (uint32_t i = 0; i < function.block_count; ++i) {
    const machine::ProgramBlock& block = program.blocks[function.first_block + i];
    touched.callees.insert(block.callees.begin(), block.callees.end());
    touched.calls_pointers |= block.terminator == trace::v1::CALL_INDIRECT;
    for (uint32_t k = 0; k < block.instruction_count; ++k) {
      const machine::ProgramInstruction& instruction = program.instructions[block.first_instruction + k];
      touched.meets |= MeetsWarp(instruction.text);
      const std::vector<int64_t> words = ParameterWordsOf(instruction.text, program.architecture);
      touched.words.insert(words.begin(), words.end());
      for (const uint32_t number : instruction.dst) {
        const Register& reg = function.registers[number - 1];
        touched.written.emplace(reg.file, reg.number);
      }
    }
  }
  return touched;
}

std::vector<Register> AsList(const RegisterSet& set) {
  std::vector<Register> list;
  for (const auto& [file, number] : set) list.push_back({file, number, false});
  return list;
}

}  // namespace

std::vector<uint32_t> PointedFunctions(const machine::MachineProgram& program, const std::string& section) {
  std::vector<uint32_t> pointed;
  for (uint32_t i = 0; i < program.functions.size(); ++i) {
    const machine::ProgramFunction& function = program.functions[i];
    if (function.section != section || function.is_kernel || absl::StartsWith(function.name, "$__internal_")) continue;
    pointed.push_back(i);
  }
  return pointed;
}

std::vector<FunctionShape> ShapesOf(const machine::MachineProgram& program) {
  std::vector<Touched> all;
  for (const machine::ProgramFunction& function : program.functions) all.push_back(TouchedBy(program, function));
  for (size_t i = 0; i < all.size(); ++i) {
    if (!all[i].calls_pointers) continue;
    const std::vector<uint32_t> pointed = PointedFunctions(program, program.functions[i].section);
    all[i].callees.insert(pointed.begin(), pointed.end());
    for (const uint32_t callee : pointed) all[callee].callees.insert(pointed.begin(), pointed.end());
  }
  LookAtCalls(program, all);
  for (bool grew = true; grew;) {
    grew = false;
    for (Touched& one : all) {
      const size_t before = one.size();
      for (const uint32_t callee : one.callees) {
        one.all.insert(all[callee].all.begin(), all[callee].all.end());
        one.written.insert(all[callee].written.begin(), all[callee].written.end());
        one.words.insert(all[callee].words.begin(), all[callee].words.end());
      }
      grew |= one.size() > before;
    }
  }
  std::vector<FunctionShape> shapes;
  for (const Touched& one : all) {
    shapes.push_back(
        {{one.words.begin(), one.words.end()}, AsList(one.all), AsList(one.written), one.meets, one.calls_without_end});
  }
  return shapes;
}

llvm::Type* TypeOf(llvm::LLVMContext& context, const Register& reg) {
  const bool is_predicate = reg.file == RegisterFile::kPredicate || reg.file == RegisterFile::kUniformPredicate;
  return is_predicate ? llvm::Type::getInt1Ty(context) : llvm::Type::getInt32Ty(context);
}

llvm::FunctionType* FunctionTypeOf(llvm::LLVMContext& context, const FunctionShape& shape) {
  std::vector<llvm::Type*> parameters = {llvm::Type::getInt64Ty(context)};
  parameters.insert(parameters.end(), shape.words.size(), llvm::Type::getInt32Ty(context));
  for (const Register& reg : shape.passed) parameters.push_back(TypeOf(context, reg));
  std::vector<llvm::Type*> results;
  for (const Register& reg : shape.returned) results.push_back(TypeOf(context, reg));
  llvm::Type* result = results.empty() ? llvm::Type::getVoidTy(context)
                                       : static_cast<llvm::Type*>(llvm::StructType::get(context, results));
  return llvm::FunctionType::get(result, parameters, /*isVarArg=*/false);
}

}  // namespace heddle::tracegen
