#include "tracegen/recipe/card_plan.h"

#include <algorithm>
#include <cctype>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/escaping.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/str_split.h"
#include "tracegen/contents/kind_text.h"
#include "tracegen/contents/sparse_matrix.h"
#include "tracegen/recipe/fill.h"
#include "traces/base/sha256.h"
#include "traces/base/status_macros.h"

namespace heddle::tracegen {
namespace {

using recipe::v1::Fill;

absl::Status WriteFile(const std::filesystem::path& path, std::string_view bytes) {
  std::ofstream out(path, std::ios::binary | std::ios::trunc);
  out.write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
  out.close();
  if (out) return absl::OkStatus();
  return absl::UnavailableError(absl::StrCat(path.string(), ": cannot be written"));
}

// Whether a name can be one word of a line and part of a file's name.
bool IsWord(std::string_view name) {
  return !name.empty() && std::ranges::all_of(name, [](unsigned char c) {
    return std::isalnum(c) != 0 || c == '_' || c == '-' || c == '.' || c == '$';
  });
}

// The PTX as a card is to run it. Accesses that capture made volatile, so that they stay where the trace has them, are
// what the program wrote again: a card would take them past its L1. Variables become visible, so that the driver finds
// them by name. Lines of numbers for our own use are left out.
std::string PtxForCards(const RecipeCode& code) {
  const std::string_view text = code.ptx();
  std::string out;
  uint32_t number = 0;
  for (size_t begin = 0; begin < text.size();) {
    const size_t end = std::min(text.find('\n', begin), text.size());
    const std::string line(text.substr(begin, end - begin));
    begin = end + 1;
    if (absl::StartsWith(line, "\t.loc")) {
      // ".loc FILE LINE COLUMN", in a column of its own.
      const std::vector<std::string> words = absl::StrSplit(line, absl::ByAnyChar(" \t"), absl::SkipEmpty());
      if (uint32_t loc = 0; words.size() > 2 && absl::SimpleAtoi(words[2], &loc)) {
        number = loc;
        continue;
      }
    }
    if (absl::StartsWith(line, ".global") || absl::StartsWith(line, ".const")) out += ".visible ";
    if (code.MadeVolatile(number)) {
      absl::StrAppend(&out, absl::StrReplaceAll(line, {{"ld.volatile.", "ld."}, {"st.volatile.", "st."}}), "\n");
    } else {
      absl::StrAppend(&out, line, "\n");
    }
  }
  return out;
}

// The lines of a plan, and the files beside it.
class PlanWriter {
 public:
  PlanWriter(std::filesystem::path folder, const RecipeFile& recipe) : folder_(std::move(folder)), recipe_(recipe) {}

  template <typename... Words>
  void Line(const Words&... words) {
    absl::StrAppend(&text_, words...);
    text_ += '\n';
  }

  absl::Status Buffers(const RecipeBuffers& buffers) {
    const std::vector<BufferContents>& contents = buffers.contents();
    for (size_t i = 0; i < contents.size(); ++i) {
      const BufferContents& buffer = contents[i];
      if (!IsWord(buffer.name)) {
        return recipe_.Error("buffer", static_cast<int>(i),
                             absl::StrCat("buffer '", buffer.name, "': a plan needs a name of letters and digits"));
      }
      const std::string_view after(static_cast<const char*>(buffer.after), buffer.before.size());
      HEDDLE_ASSIGN_OR_RETURN(const std::string kind, Kind(recipe_.recipe.buffer(static_cast<int>(i)).fill(),
                                                           buffer.before, absl::StrCat("buffer-", buffer.name)));
      Line("buffer ", buffer.name, " ", recipe::v1::ScalarType_Name(buffer.type), " ", buffer.count, " ",
           HexSha256(buffer.before), " ", HexSha256(after), " ", kind);
    }
    return absl::OkStatus();
  }

  absl::Status Launch(int index, const PreparedLaunch& prepared, RecipeCode& code) {
    const recipe::v1::Launch& launch = recipe_.recipe.launch(index);
    const RecipeKernel& kernel = code.kernel(launch.kernel());
    const Geometry& geometry = prepared.geometry;
    for (int s = 0; s < launch.symbol_size(); ++s) {
      const recipe::v1::Symbol& symbol = launch.symbol(s);
      const PlacedGlobal* global = code.FindVariable(symbol.name());
      const uint64_t count = global->bytes / ScalarBytes(symbol.type());
      HEDDLE_ASSIGN_OR_RETURN(const std::string bytes, MakeContents(symbol.fill(), symbol.type(), count, recipe_));
      if (!IsWord(symbol.name())) {
        return recipe_.Error("launch", index, "symbol", s, "a plan needs a name of letters and digits");
      }
      HEDDLE_ASSIGN_OR_RETURN(const std::string kind,
                              Kind(symbol.fill(), bytes, absl::StrCat("symbol-", index, "-", symbol.name())));
      Line("symbol ", symbol.name(), " ", recipe::v1::ScalarType_Name(symbol.type()), " ", count, " ", HexSha256(bytes),
           " ", kind);
    }
    Line("launch ", kernel.unit.function->getName().str(), " ", geometry.grid[0], " ", geometry.grid[1], " ",
         geometry.grid[2], " ", geometry.block[0], " ", geometry.block[1], " ", geometry.block[2], " ",
         geometry.dynamic_shared_bytes, " ", std::max(1U, launch.repeat()), " ", launch.unrecorded() ? 0 : 1);
    Line("name ", kernel.unit.program.name());
    for (int a = 0; a < launch.argument_size(); ++a) {
      const recipe::v1::Argument& argument = launch.argument(a);
      const KernelParameter& parameter = kernel.recorded.kernel.parameters[static_cast<size_t>(a)];
      if (argument.has_buffer()) {
        Line("argument buffer ", argument.buffer());
      } else if (argument.kind_case() == recipe::v1::Argument::kLocalBytes) {
        Line("argument local ", argument.local_bytes());
      } else {
        Line("argument value ", absl::BytesToHexString(prepared.parameters.substr(parameter.offset, parameter.bytes)));
      }
    }
    return absl::OkStatus();
  }

  absl::Status Check(int index) {
    const recipe::v1::Check& check = recipe_.recipe.check(index);
    if (!check.program().empty()) Line("check program ", check.buffer(), " ", check.program());
    if (!check.has_expected()) return absl::OkStatus();
    for (const recipe::v1::Buffer& buffer : recipe_.recipe.buffer()) {
      if (buffer.name() != check.buffer()) continue;
      HEDDLE_ASSIGN_OR_RETURN(const std::string bytes,
                              MakeContents(check.expected(), buffer.type(), buffer.count(), recipe_));
      HEDDLE_ASSIGN_OR_RETURN(const std::string kind,
                              Kind(check.expected(), bytes, absl::StrCat("check-", index, "-", buffer.name())));
      Line("check expected ", check.buffer(), " ", absl::StrFormat("%a", check.tolerance()), " ", HexSha256(bytes), " ",
           kind);
    }
    return absl::OkStatus();
  }

  absl::Status Write() const { return WriteFile(folder_ / "plan.txt", text_); }
  const std::filesystem::path& folder() const { return folder_; }

 private:
  // How the machine with the card gets these bytes: by a generator, or from the file `name` beside the plan.
  absl::StatusOr<std::string> Kind(const Fill& fill, const std::string& bytes, const std::string& name) {
    if (!fill.has_file()) {
      HEDDLE_ASSIGN_OR_RETURN(const contents::Kind kind, KindOf(fill));
      if (contents::NeedsNoFunctions(kind)) return contents::KindAsText(kind);
      if (const auto* csr = std::get_if<contents::Csr>(&kind)) {
        // The rest of it can be made there.
        std::string lengths;
        for (const uint64_t length : contents::SkewedRowLengths(*csr, GeneratorFunctions())) {
          const auto word = static_cast<uint32_t>(length);
          lengths.append(reinterpret_cast<const char*>(&word), sizeof(word));
        }
        HEDDLE_RETURN_IF_ERROR(WriteFile(folder_ / (name + ".bin"), lengths));
        return absl::StrCat("lengths ", name, ".bin ", contents::KindAsText(kind));
      }
    }
    const std::string file = absl::StrCat(name, ".bin");
    HEDDLE_RETURN_IF_ERROR(WriteFile(folder_ / file, bytes));
    return absl::StrCat("file ", file);
  }

  std::filesystem::path folder_;
  const RecipeFile& recipe_;
  std::string text_;
};

}  // namespace

absl::Status WriteCardPlan(const std::string& folder, const RecipeFile& recipe, RecipeCode& code,
                           const RecipeBuffers& buffers, const std::vector<PreparedLaunch>& launches) {
  std::error_code error;
  std::filesystem::create_directories(folder, error);
  if (error) return absl::UnavailableError(absl::StrCat(folder, ": cannot be made: ", error.message()));
  PlanWriter plan(folder, recipe);
  plan.Line("heddle-plan 1");
  plan.Line("recipe ", HexSha256(recipe.text));
  plan.Line("ptx ", HexSha256(code.ptx()));
  plan.Line("source ", recipe.recipe.source());
  plan.Line("unroll ", recipe.recipe.no_unroll() ? 0 : 1);
  plan.Line("resident ", std::max(1U, recipe.recipe.resident_blocks()));
  for (const std::string& define : recipe.recipe.define()) plan.Line("define ", define);
  HEDDLE_RETURN_IF_ERROR(plan.Buffers(buffers));
  for (int i = 0; i < recipe.recipe.launch_size(); ++i) {
    HEDDLE_RETURN_IF_ERROR(plan.Launch(i, launches[static_cast<size_t>(i)], code));
  }
  for (int i = 0; i < recipe.recipe.check_size(); ++i) HEDDLE_RETURN_IF_ERROR(plan.Check(i));
  HEDDLE_RETURN_IF_ERROR(WriteFile(plan.folder() / "kernels.ptx", PtxForCards(code)));
  return plan.Write();
}

}  // namespace heddle::tracegen
