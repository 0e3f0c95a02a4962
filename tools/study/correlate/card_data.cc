#include "tools/study/correlate/card_data.h"

#include <algorithm>
#include <filesystem>
#include <map>
#include <set>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "traces/base/status_macros.h"
#include "traces/base/suggest.h"

namespace heddle::tools::correlate {
namespace {

namespace hw = hardware::v1;

constexpr std::pair<const char*, hw::CodeSource> kCodes[] = {
    {"ptx", hw::TRACE_PTX}, {"cuda", hw::CUDA_SOURCE}, {"cubin", hw::CUBIN}};

std::string NameOf(const hw::Kernel& kernel) {
  return kernel.size().empty() ? kernel.workload() : absl::StrCat(kernel.workload(), "-", kernel.size());
}

absl::StatusOr<hw::CodeSource> CodeOf(const std::string& name) {
  for (const auto& [known, source] : kCodes) {
    if (name == known) return source;
  }
  return absl::InvalidArgumentError(absl::StrCat("--code: ", UnknownNameMessage("source of code", name, CodeNames())));
}

}  // namespace

std::vector<std::string> CodeNames() {
  std::vector<std::string> names;
  for (const auto& [name, source] : kCodes) names.emplace_back(name);
  return names;
}

std::string CodeBeside(bool machine_code) { return CodeName(machine_code ? hw::CUDA_SOURCE : hw::TRACE_PTX); }

std::string CodeName(hw::CodeSource source) {
  for (const auto& [name, known] : kCodes) {
    if (source == known) return name;
  }
  return "unknown";
}

absl::StatusOr<CardData> LoadCard(const std::string& path, const std::string& code) {
  CardData card;
  HEDDLE_ASSIGN_OR_RETURN(card.source, CodeOf(code));
  HEDDLE_ASSIGN_OR_RETURN(const std::vector<std::string> files, FindVisits(path));
  for (const std::string& file : files) {
    HEDDLE_ASSIGN_OR_RETURN(HardwareVisit visit, ReadVisit(file));
    card.visits.push_back(std::move(visit));
  }
  std::ranges::stable_sort(card.visits, std::greater<>(),
                           [](const HardwareVisit& one) { return one.visit.conditions().date(); });
  const hw::Visit& newest = card.visits.front().visit;
  std::set<std::string> sources;
  std::set<std::string> names;
  for (const HardwareVisit& visit : card.visits) {
    if (visit.visit.card().name() != newest.card().name()) {
      return absl::InvalidArgumentError(absl::StrCat(path, ": has visits to ", newest.card().name(), " and to ",
                                                     visit.visit.card().name(), "; name the folder of one card"));
    }
    card.cold = card.cold || visit.visit.conditions().cache_control() == "all";
    if (card.made_up.empty()) card.made_up = visit.visit.made_up();
    size_t older = 0;
    for (const hw::Kernel& kernel : visit.visit.kernel()) {
      sources.insert(CodeName(kernel.source()));
      if (kernel.source() != card.source) continue;
      if (names.insert(NameOf(kernel)).second) {
        card.kernels.push_back({NameOf(kernel), &kernel, &visit});
      } else {
        ++older;
      }
    }
    if (older != 0) card.notes.push_back(absl::StrCat(visit.file, ": ", older, " kernels were measured again later"));
  }
  if (card.kernels.empty()) {
    return absl::InvalidArgumentError(
        absl::StrCat(path, ": no kernel with code from ", code,
                     sources.empty() ? "" : absl::StrCat("; --code ", absl::StrJoin(sources, " or "), " has some")));
  }
  return card;
}

Applications ApplicationsOf(const CardData& card) {
  Applications applications;
  std::set<std::string> names;
  for (const HardwareVisit& visit : card.visits) {
    for (const hw::Application& one : visit.visit.application()) {
      const std::string name =
          absl::StrCat(one.name(), one.argument().empty() ? "" : " ", absl::StrJoin(one.argument(), " "));
      if (!names.insert(name).second) continue;
      if (one.equal()) {
        ++applications.equal;
      } else {
        applications.different.push_back(
            absl::StrCat(name, ": ", one.difference().empty() ? "the output differs" : one.difference()));
      }
    }
  }
  return applications;
}

const CardKernel* KernelOf(const CardData& card, const trace::TraceReader& trace) {
  for (const CardKernel& kernel : card.kernels) {
    if (kernel.kernel->trace_digest() == trace.digest()) return &kernel;
  }
  const std::string stem = std::filesystem::path(trace.name()).stem().string();
  for (const CardKernel& kernel : card.kernels) {
    // The smallest size has no name on the card.
    if (kernel.name == stem || (kernel.kernel->size().empty() && absl::StrCat(kernel.name, "-small") == stem)) {
      return &kernel;
    }
  }
  return nullptr;
}

}  // namespace heddle::tools::correlate
