// What of a plan needs no card: makes the contents of its buffers, and checks what a run has left there.
//
//   plan_host make PLAN CONTENTS                    writes CONTENTS/before-BUFFER.bin and CONTENTS/symbol-N.bin
//   plan_host check PLAN CONTENTS RESULTS [LIBRARY] checks RESULTS/after-BUFFER.bin; LIBRARY has the check program
//
// `check` prints one JSON object per check of the recipe, with "unchecked" where there is no verdict. Exit status 2:
// wrong usage; 1: files that are missing or wrong.
#include <dlfcn.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <string>
#include <variant>
#include <vector>

#include "tools/hardware/programs/json_line.h"
#include "tools/hardware/programs/plan.h"
#include "tracegen/contents/contents.h"
#include "traces/kernels/check.h"

namespace heddle::hardware {
namespace {

int Fail(const std::string& message) {
  std::fprintf(stderr, "plan_host: %s\n", message.c_str());
  return 1;
}

// The bytes that a source stands for; what is wrong, or nothing.
std::string MakeBytes(const Plan& plan, const Source& source, contents::Scalar type, uint64_t count,
                      std::string* bytes) {
  if (!source.file.empty()) {
    if (!ReadFile(plan.folder + "/" + source.file, bytes)) return source.file + ": cannot be read";
    if (bytes->size() == count * contents::ElementBytes(type)) return "";
    return source.file + ": is not as long as its buffer";
  }
  contents::Kind kind = source.kind;
  if (!source.lengths.empty()) {
    std::string words;
    auto* csr = std::get_if<contents::Csr>(&kind);
    if (csr == nullptr || !ReadFile(plan.folder + "/" + source.lengths, &words)) {
      return source.lengths + ": cannot be read, or is for no matrix";
    }
    for (size_t i = 0; i + 4 <= words.size(); i += 4) {
      uint32_t length = 0;
      std::memcpy(&length, words.data() + i, 4);
      csr->lengths.push_back(length);
    }
  }
  contents::Made made = contents::Make(kind, type, count, {}, nullptr);
  *bytes = std::move(made.bytes);
  return made.error;
}

int MakeAll(const Plan& plan, const std::string& folder) {
  for (const PlanBuffer& buffer : plan.buffers) {
    std::string bytes;
    if (std::string error = MakeBytes(plan, buffer.source, buffer.type, buffer.count, &bytes); !error.empty()) {
      return Fail(buffer.name + ": " + error);
    }
    if (!WriteFile(BeforeFile(folder, buffer), bytes)) return Fail(BeforeFile(folder, buffer) + ": cannot be written");
  }
  for (size_t i = 0; i < plan.symbols.size(); ++i) {
    const PlanSymbol& symbol = plan.symbols[i];
    std::string bytes;
    if (std::string error = MakeBytes(plan, symbol.source, symbol.type, symbol.count, &bytes); !error.empty()) {
      return Fail(symbol.name + ": " + error);
    }
    if (!WriteFile(SymbolFile(folder, i), bytes)) return Fail(SymbolFile(folder, i) + ": cannot be written");
  }
  return 0;
}

struct Loaded {
  std::string before;
  std::string after;
};

using CheckFunction = decltype(&heddle_check);

// The recipe's own check; null, and why, if there is none.
CheckFunction LoadProgram(const std::string& library, std::string* why) {
  if (library.empty()) {
    *why = "no check program was given";
    return nullptr;
  }
  void* handle = dlopen(library.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (handle == nullptr) {
    *why = std::string("the check program cannot be loaded: ") + dlerror();
    return nullptr;
  }
  const auto check = reinterpret_cast<CheckFunction>(dlsym(handle, "heddle_check"));
  if (check == nullptr) *why = "the check program does not define heddle_check";
  return check;
}

// The verdict of the recipe's own program; what is wrong, or nothing.
std::string RunProgram(const Plan& plan, const std::vector<Loaded>& loaded, CheckFunction check) {
  std::vector<heddle_buffer> list;
  for (size_t i = 0; i < plan.buffers.size(); ++i) {
    list.push_back(
        {plan.buffers[i].name.c_str(), plan.buffers[i].count, loaded[i].before.data(), loaded[i].after.data()});
  }
  std::string message(1024, '\0');
  if (check(list.data(), static_cast<int>(list.size()), message.data(), static_cast<int>(message.size())) == 0) {
    return "";
  }
  message.resize(std::strlen(message.c_str()));
  return message.empty() ? "the check program says so" : message;
}

// Compares as capture does (tracegen/recipe/output_check.h): bytes, and else within the tolerance.
void CompareExpected(const Plan& plan, const PlanCheck& check, const PlanBuffer& buffer, const std::string& after,
                     JsonLine& line) {
  std::string expected;
  if (std::string error = MakeBytes(plan, check.expected, buffer.type, buffer.count, &expected); !error.empty()) {
    line.Text("unchecked", "the expected contents cannot be made: " + error);
    return;
  }
  const uint64_t size = contents::ElementBytes(buffer.type);
  double largest = 0;
  std::string wrong;
  for (uint64_t i = 0; i < buffer.count; ++i) {
    if (std::memcmp(expected.data() + i * size, after.data() + i * size, size) == 0) continue;
    const double wanted = contents::ReadElement(expected.data(), buffer.type, i);
    const double found = contents::ReadElement(after.data(), buffer.type, i);
    const double difference = std::fabs(wanted - found);
    const double error = difference / std::max(1.0, std::fabs(wanted));
    if (!(error <= largest)) largest = error;
    if (difference <= check.tolerance || difference <= check.tolerance * std::fabs(wanted)) continue;
    if (!wrong.empty()) continue;
    char text[200];
    std::snprintf(text, sizeof(text), "%s[%llu] is %.9g, expected %.9g", buffer.name.c_str(),
                  static_cast<unsigned long long>(i), found, wanted);
    wrong = text;
  }
  line.Truth("right", wrong.empty()).Real("tolerance", check.tolerance).Real("largest_error", largest);
  if (!wrong.empty()) line.Text("wrong", wrong);
}

int CheckAll(const Plan& plan, const std::string& folder, const std::string& results, const std::string& library) {
  std::vector<Loaded> loaded(plan.buffers.size());
  for (size_t i = 0; i < plan.buffers.size(); ++i) {
    const PlanBuffer& buffer = plan.buffers[i];
    if (!ReadFile(BeforeFile(folder, buffer), &loaded[i].before)) return Fail(BeforeFile(folder, buffer) + ": missing");
    if (!ReadFile(AfterFile(results, buffer), &loaded[i].after)) return Fail(AfterFile(results, buffer) + ": missing");
    if (loaded[i].before.size() != buffer.bytes() || loaded[i].after.size() != buffer.bytes()) {
      return Fail(buffer.name + ": has another length");
    }
  }
  for (const PlanCheck& check : plan.checks) {
    JsonLine line;
    line.Text("buffer", check.buffer);
    if (!check.program.empty()) {
      std::string why;
      const CheckFunction program = LoadProgram(library, &why);
      if (program == nullptr) {
        line.Text("unchecked", why);
      } else {
        const std::string wrong = RunProgram(plan, loaded, program);
        line.Truth("right", wrong.empty());
        if (!wrong.empty()) line.Text("wrong", wrong);
      }
    } else {
      const auto i = static_cast<size_t>(plan.Find(check.buffer) - plan.buffers.data());
      CompareExpected(plan, check, plan.buffers[i], loaded[i].after, line);
    }
    line.Print();
  }
  return 0;
}

int Main(const std::vector<std::string>& words) {
  const bool make = words.size() == 3 && words[0] == "make";
  const bool check = (words.size() == 4 || words.size() == 5) && words[0] == "check";
  if (!make && !check) {
    std::fprintf(stderr, "usage: plan_host make PLAN CONTENTS | plan_host check PLAN CONTENTS RESULTS [LIBRARY]\n");
    return 2;
  }
  Plan plan;
  if (std::string error = ReadPlan(words[1], &plan); !error.empty()) return Fail(error);
  if (make) return MakeAll(plan, words[2]);
  return CheckAll(plan, words[2], words[3], words.size() == 5 ? words[4] : "");
}

}  // namespace
}  // namespace heddle::hardware

int main(int argc, char** argv) { return heddle::hardware::Main(std::vector<std::string>(argv + 1, argv + argc)); }
