#include "tools/hardware/programs/plan.h"

#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <optional>
#include <sstream>
#include <utility>

#include "tracegen/contents/kind_text.h"

namespace heddle::hardware {
namespace {

// The rest of a line, without the blank in front of it.
std::string Rest(std::istringstream& in) {
  std::string rest;
  std::getline(in >> std::ws, rest);
  return rest;
}

bool ReadSource(std::istringstream& in, Source* source) {
  std::string text = Rest(in);
  const auto is_name = [](const std::string& name) { return !name.empty() && name.find('/') == std::string::npos; };
  if (text.rfind("file ", 0) == 0) {
    source->file = text.substr(5);
    return is_name(source->file);
  }
  if (text.rfind("lengths ", 0) == 0) {
    const size_t end = text.find(' ', 8);
    if (end == std::string::npos) return false;
    source->lengths = text.substr(8, end - 8);
    if (!is_name(source->lengths)) return false;
    text = text.substr(end + 1);
  }
  std::optional<contents::Kind> kind = contents::KindFromText(text);
  if (!kind.has_value()) return false;
  source->kind = *std::move(kind);
  return true;
}

bool ReadType(std::istringstream& in, contents::Scalar* type) {
  std::string word;
  in >> word;
  const std::optional<contents::Scalar> found = contents::ScalarNamed(word);
  if (found.has_value()) *type = *found;
  return found.has_value();
}

bool ReadArgument(std::istringstream& in, PlanArgument* argument) {
  std::string kind, word;
  if (!(in >> kind >> word)) return false;
  if (kind == "buffer") {
    argument->kind = PlanArgument::Kind::kBuffer;
    argument->buffer = word;
    return true;
  }
  if (kind == "local") {
    argument->kind = PlanArgument::Kind::kLocal;
    return true;
  }
  if (kind != "value" || word.size() % 2 != 0) return false;
  for (size_t i = 0; i < word.size(); i += 2) {
    char* end = nullptr;
    const std::string digits = word.substr(i, 2);
    argument->value += static_cast<char>(std::strtoul(digits.c_str(), &end, 16));
    if (*end != '\0') return false;
  }
  return true;
}

bool ReadCheck(std::istringstream& in, PlanCheck* check) {
  std::string kind;
  if (!(in >> kind >> check->buffer)) return false;
  if (kind == "program") {
    check->program = Rest(in);
    return !check->program.empty();
  }
  std::string tolerance, digest;
  if (kind != "expected" || !(in >> tolerance >> digest)) return false;
  check->tolerance = std::strtod(tolerance.c_str(), nullptr);
  return ReadSource(in, &check->expected);
}

// One line; false if it is none of a plan. `symbols` collects those of the next launch.
bool ReadLine(const std::string& line, Plan* plan, std::vector<size_t>* symbols) {
  std::istringstream in(line);
  std::string word;
  in >> word;
  if (word == "recipe" || word == "ptx" || word == "source" || word == "unroll" || word == "resident" ||
      word == "define") {
    return true;
  }
  if (word == "buffer") {
    PlanBuffer buffer;
    if (!(in >> buffer.name) || !ReadType(in, &buffer.type)) return false;
    if (!(in >> buffer.count >> buffer.before >> buffer.after) || !ReadSource(in, &buffer.source)) return false;
    plan->buffers.push_back(std::move(buffer));
    return true;
  }
  if (word == "symbol") {
    PlanSymbol symbol;
    std::string digest;
    if (!(in >> symbol.name) || !ReadType(in, &symbol.type)) return false;
    if (!(in >> symbol.count >> digest) || !ReadSource(in, &symbol.source)) return false;
    symbols->push_back(plan->symbols.size());
    plan->symbols.push_back(std::move(symbol));
    return true;
  }
  if (word == "launch") {
    PlanLaunch launch;
    int recorded = 0;
    in >> launch.kernel;
    for (unsigned& size : launch.grid) in >> size;
    for (unsigned& size : launch.block) in >> size;
    if (!(in >> launch.shared_bytes >> launch.repeat >> recorded)) return false;
    launch.symbols.swap(*symbols);
    plan->launches.push_back(std::move(launch));
    return true;
  }
  if (word == "check") {
    PlanCheck check;
    if (!ReadCheck(in, &check)) return false;
    plan->checks.push_back(std::move(check));
    return true;
  }
  if (plan->launches.empty()) return false;
  if (word == "name") {
    plan->launches.back().name = Rest(in);
    return true;
  }
  PlanArgument argument;
  if (word != "argument" || !ReadArgument(in, &argument)) return false;
  plan->launches.back().arguments.push_back(std::move(argument));
  return true;
}

}  // namespace

const PlanBuffer* Plan::Find(const std::string& name) const {
  for (const PlanBuffer& buffer : buffers) {
    if (buffer.name == name) return &buffer;
  }
  return nullptr;
}

std::string ReadPlan(const std::string& folder, Plan* plan) {
  const std::string path = folder + "/plan.txt";
  std::string text;
  if (!ReadFile(path, &text)) return path + ": cannot be read";
  plan->folder = folder;
  std::istringstream in(text);
  std::string line;
  std::vector<size_t> symbols;
  if (!std::getline(in, line) || line != "heddle-plan 1") return path + ":1: is no plan of version 1";
  for (int number = 2; std::getline(in, line); ++number) {
    if (!ReadLine(line, plan, &symbols)) return path + ":" + std::to_string(number) + ": is no line of a plan: " + line;
  }
  for (const PlanLaunch& launch : plan->launches) {
    for (const PlanArgument& argument : launch.arguments) {
      if (argument.kind == PlanArgument::Kind::kBuffer && plan->Find(argument.buffer) == nullptr) {
        return path + ": an argument is buffer '" + argument.buffer + "', which there is not";
      }
    }
  }
  for (const PlanCheck& check : plan->checks) {
    if (plan->Find(check.buffer) == nullptr)
      return path + ": a check is of buffer '" + check.buffer + "', which there is not";
  }
  return plan->launches.empty() ? path + ": has no launch" : "";
}

bool ReadFile(const std::string& path, std::string* bytes) {
  std::ifstream in(path, std::ios::binary);
  if (!in) return false;
  std::ostringstream all;
  all << in.rdbuf();
  *bytes = std::move(all).str();
  return !in.bad();
}

bool WriteFile(const std::string& path, const std::string& bytes) {
  std::ofstream out(path, std::ios::binary | std::ios::trunc);
  out.write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
  out.close();
  return static_cast<bool>(out);
}

std::string BeforeFile(const std::string& folder, const PlanBuffer& buffer) {
  return folder + "/before-" + buffer.name + ".bin";
}

std::string AfterFile(const std::string& folder, const PlanBuffer& buffer) {
  return folder + "/after-" + buffer.name + ".bin";
}

std::string SymbolFile(const std::string& folder, size_t symbol) {
  return folder + "/symbol-" + std::to_string(symbol) + ".bin";
}

}  // namespace heddle::hardware
