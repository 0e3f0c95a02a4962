#include "tools/study/reproduce/claims.h"

#include <algorithm>
#include <filesystem>
#include <set>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "tools/study/reproduce/ledger.h"
#include "tools/study/reproduce/metrics.h"
#include "tools/study/sweep/folder.h"
#include "traces/base/proto_text.h"
#include "traces/base/status_macros.h"
#include "traces/base/suggest.h"

#ifndef HEDDLE_SOURCE_CLAIMS_DIR
#define HEDDLE_SOURCE_CLAIMS_DIR "tools/study/reproduce/claims"
#endif
#ifndef HEDDLE_INSTALLED_CLAIMS_DIR
#define HEDDLE_INSTALLED_CLAIMS_DIR "../share/heddle/claims"
#endif

namespace heddle::tools::reproduce {
namespace {

namespace fs = std::filesystem;
namespace v1 = claims::v1;

constexpr char kEnding[] = ".textproto";

absl::Status Refuse(const std::string& what) { return absl::InvalidArgumentError(what); }

fs::path ClaimsFolder() {
  std::error_code error;
  const fs::path here = fs::read_symlink("/proc/self/exe", error).parent_path();
  const fs::path installed = (here / HEDDLE_INSTALLED_CLAIMS_DIR).lexically_normal();
  return fs::is_directory(installed, error) ? installed : fs::path(HEDDLE_SOURCE_CLAIMS_DIR);
}

// Fields that `run` leaves empty, from `base`; settings of `base` go first.
v1::Run Inherit(const v1::Run& base, const v1::Run& run) {
  v1::Run all = base;
  all.MergeFrom(run);  // strings that are empty do not replace, repeated ones are appended
  all.set_like("");
  all.set_baseline(run.baseline());
  return all;
}

// Of kernels that are missing an original may be there.
bool MayBeThere(const v1::Kernel& kernel) { return kernel.missing().empty() || kernel.has_original(); }

class Checker {
 public:
  explicit Checker(PaperClaims& all) : all_(all), paper_(all.paper) {}

  absl::Status Check() {
    if (paper_.name().empty() || paper_.title().empty()) return Refuse("it needs a name and a title");
    if (!sweep::IsSweepName(paper_.name())) {  // its runs are a sweep of that name
      return Refuse(
          absl::StrCat("name: \"", paper_.name(), "\" has other characters than letters, digits, '_', '-', '.'"));
    }
    HEDDLE_RETURN_IF_ERROR(Kernels());
    HEDDLE_RETURN_IF_ERROR(Runs());
    for (const v1::Variation& variation : paper_.variation()) {
      if (!variations_.insert(variation.id()).second) return Refuse(absl::StrCat("two variations ", variation.id()));
      const bool swept =
          variation.set_size() + variation.policy_size() + variation.without_size() + variation.paper_size_size() != 0;
      if (swept != variation.not_swept().empty()) {
        return Refuse(absl::StrCat("variation ", variation.id(), " needs settings or the reason why it is not swept"));
      }
      for (const auto& kernels : {variation.without(), variation.paper_size()}) {
        for (const std::string& name : kernels) {
          if (all_.kernel.contains(name)) continue;
          return Refuse(absl::StrCat("variation ", variation.id(), ": no kernel is called ", name));
        }
      }
    }
    std::set<std::string> ids;
    for (const v1::Claim& claim : paper_.claim()) {
      if (claim.id().empty() || !ids.insert(claim.id()).second) {
        return Refuse(absl::StrCat("two claims are called \"", claim.id(), "\""));
      }
      if (absl::Status status = Claim(claim); !status.ok()) {
        return absl::Status(status.code(), absl::StrCat("claim ", claim.id(), ": ", status.message()));
      }
    }
    for (const v1::Variation& variation : paper_.variation()) {
      for (const std::string& id : variation.claim()) {
        if (!ids.contains(id)) return Refuse(absl::StrCat("variation ", variation.id(), ": there is no claim ", id));
      }
    }
    HEDDLE_RETURN_IF_ERROR(Deviations(ids));
    HEDDLE_RETURN_IF_ERROR(Fits());
    for (const v1::Finding& finding : paper_.finding()) {
      if (finding.text().empty() || finding.claim().empty()) return Refuse("a finding needs a text and claims");
      for (const std::string& id : finding.claim()) {
        if (!ids.contains(id)) return Refuse(absl::StrCat("a finding is about claim ", id, ", which there is not"));
      }
    }
    return absl::OkStatus();
  }

 private:
  absl::Status Kernels() {
    for (const v1::Kernel& kernel : paper_.kernel()) {
      if (kernel.trace().empty() == kernel.missing().empty()) {
        return Refuse(absl::StrCat("kernel ", kernel.name(), " needs a trace, or the reason why it is missing"));
      }
      if (!all_.kernel.emplace(kernel.name(), kernel).second) {
        return Refuse(absl::StrCat("two kernels are called ", kernel.name()));
      }
      all_.lists[kernel.name()];
      if (MayBeThere(kernel)) all_.lists[kernel.name()].push_back(kernel.name());
      if (kernel.has_original() && (kernel.original().suite().empty() || kernel.original().program().empty())) {
        return Refuse(absl::StrCat("kernel ", kernel.name(), ": its original needs a suite and a program"));
      }
    }
    for (const v1::List& list : paper_.list()) {
      std::vector<std::string> kernels;
      for (const std::string& name : list.kernel()) {
        const auto kernel = all_.kernel.find(name);
        if (kernel == all_.kernel.end())
          return Refuse(absl::StrCat("list ", list.name(), ": no kernel is called ", name));
        if (MayBeThere(kernel->second)) kernels.push_back(name);
      }
      if (!all_.lists.emplace(list.name(), std::move(kernels)).second) {
        return Refuse(absl::StrCat("two lists or kernels are called ", list.name()));
      }
    }
    return absl::OkStatus();
  }

  absl::Status Runs() {
    for (const v1::Run& run : paper_.run()) {
      v1::Run resolved = run;
      if (!run.like().empty()) {
        const auto base = all_.runs.find(run.like());
        if (base == all_.runs.end()) {
          return Refuse(absl::StrCat("run ", run.name(), ": no run before it is called ", run.like()));
        }
        resolved = Inherit(base->second, run);
      }
      const auto fill = [](std::string* field, const char* value) {
        if (field->empty()) *field = value;
      };
      fill(resolved.mutable_divergence(), "pdom");
      fill(resolved.mutable_scheduler(), "lrr");
      fill(resolved.mutable_dispatch(), "thread_blocks");
      fill(resolved.mutable_fetch(), "round_robin");
      fill(resolved.mutable_memory(), "lru");
      if (resolved.machine().empty() && !resolved.has_limits()) {
        return Refuse(absl::StrCat("run ", run.name(), " needs a machine"));
      }
      if (run.name().empty() || !all_.runs.emplace(run.name(), std::move(resolved)).second) {
        return Refuse(absl::StrCat("two runs are called \"", run.name(), "\""));
      }
    }
    return absl::OkStatus();
  }

  absl::Status Deviations(const std::set<std::string>& ids) {
    std::set<std::string> known;
    for (const v1::Deviation& deviation : paper_.deviation()) {
      if (deviation.id().empty() || !known.insert(deviation.id()).second) {
        return Refuse(absl::StrCat("two deviations are called \"", deviation.id(), "\""));
      }
      if (deviation.where().empty() || deviation.theirs().empty() || deviation.ours().empty() ||
          deviation.effect().empty() || deviation.bias() == v1::Deviation::BIAS_UNSPECIFIED) {
        return Refuse(absl::StrCat("deviation ", deviation.id(), " needs where, theirs, ours, effect and bias"));
      }
      for (const std::string& id : deviation.claim()) {
        if (!ids.contains(id)) return Refuse(absl::StrCat("deviation ", deviation.id(), ": there is no claim ", id));
      }
    }
    return absl::OkStatus();
  }

  // What a fit is made to must be a baseline's alone: a policy whose column was fitted would prove nothing.
  absl::Status Fits() {
    for (const v1::Fit& fit : paper_.fit()) {
      if (fit.what().empty() || fit.claim().empty() || fit.date().empty()) {
        return Refuse("a fit needs what, claims and a date");
      }
      for (const std::string& id : fit.claim()) {
        const auto claim =
            std::ranges::find_if(all_.claims, [&](const CheckedClaim& one) { return one.claim->id() == id; });
        if (claim == all_.claims.end()) return Refuse(absl::StrCat("a fit is to claim ", id, ", which there is not"));
        for (const Need& need : claim->Needs()) {
          if (all_.runs.find(need.run)->second.baseline()) continue;
          return Refuse(absl::StrCat("claim ", id, " cannot be fitted to: run ", need.run, " is no baseline"));
        }
      }
    }
    return absl::OkStatus();
  }

  absl::Status Add(CheckedClaim& checked, const std::string& text, const std::string& kernel) {
    HEDDLE_ASSIGN_OR_RETURN(Expression expression, Expression::Parse(text, all_.lists));
    for (const Need& need : expression.Needs(kernel)) {
      const auto run = all_.runs.find(need.run);
      if (run == all_.runs.end()) {
        std::vector<std::string> known;
        for (const auto& [name, other] : all_.runs) known.push_back(name);
        return Refuse(UnknownNameMessage("run", need.run, known));
      }
      if (need.kernel.empty() != IsWithoutKernel(run->second)) {
        return Refuse(absl::StrCat(need.path, "@", need.run,
                                   need.kernel.empty()
                                       ? " is of one kernel: put it into a mean, or into of(KERNEL, ...)"
                                       : " is of no kernel"));
      }
      HEDDLE_RETURN_IF_ERROR(CheckMetric(need.path, run->second));
    }
    checked.expressions.push_back(std::move(expression));
    return absl::OkStatus();
  }

  absl::Status Claim(const v1::Claim& claim) {
    const int contents =
        !claim.value().empty() + (claim.order_size() != 0) + (claim.row_size() != 0) + !claim.not_computed().empty();
    if (contents != 1) return Refuse("it needs one of value, order, row and not_computed");
    if (claim.kind() == v1::KIND_UNSPECIFIED) return Refuse("it needs a kind");
    if (claim.where().empty() || claim.statement().empty()) return Refuse("it needs a place and a statement");
    if (claim.order_size() == 1) return Refuse("an order needs two terms");
    if ((claim.row_size() != 0) != !claim.each().empty()) return Refuse("rows go with `each`");
    if (!claim.value().empty() && claim.kind() != v1::TREND && !claim.has_paper()) return Refuse("it needs a number");
    if (!claim.value().empty() && claim.kind() == v1::TREND && !claim.has_neutral()) {
      return Refuse("a trend needs the number that means no effect");
    }
    if (claim.kind() == v1::VALUE && contents == 1 && claim.not_computed().empty() && claim.order_size() == 0 &&
        claim.tolerance() == 0 && claim.tolerance_per_cent() == 0) {
      return Refuse("a value needs a tolerance");
    }
    for (const std::string& suspect : claim.suspect()) {
      if (!variations_.contains(suspect)) return Refuse(absl::StrCat("there is no variation ", suspect));
    }
    CheckedClaim checked;
    checked.claim = &claim;
    if (!claim.value().empty()) {
      HEDDLE_RETURN_IF_ERROR(Add(checked, claim.value(), ""));
    }
    for (const v1::Term& term : claim.order()) {
      HEDDLE_RETURN_IF_ERROR(Add(checked, term.value(), ""));
    }
    if (claim.row_size() != 0) {
      for (const v1::Row& row : claim.row()) {
        if (!all_.kernel.contains(row.kernel())) return Refuse(absl::StrCat("no kernel is called ", row.kernel()));
      }
      HEDDLE_RETURN_IF_ERROR(Add(checked, claim.each(), claim.row(0).kernel()));
    }
    all_.claims.push_back(std::move(checked));
    return absl::OkStatus();
  }

  PaperClaims& all_;
  const v1::Paper& paper_;
  std::set<std::string> variations_;
};

}  // namespace

bool IsWithoutKernel(const v1::Run& run) { return run.has_cost() || run.has_residency(); }

const std::string& PaperClaims::ProgramOf(const std::string& name) const {
  const v1::Kernel& of = kernel.find(name)->second;
  return of.program().empty() ? of.name() : of.program();
}

bool PaperClaims::IsFitted(const std::string& claim) const {
  return std::ranges::any_of(
      paper.fit(), [&](const v1::Fit& fit) { return std::ranges::find(fit.claim(), claim) != fit.claim().end(); });
}

std::set<Need> CheckedClaim::Needs() const {
  std::set<Need> all;
  if (claim->row_size() == 0) {
    for (const Expression& expression : expressions) all.merge(expression.Needs());
  }
  for (const v1::Row& row : claim->row()) all.merge(expressions[0].Needs(row.kernel()));
  return all;
}

std::vector<std::string> ListPapers() {
  std::vector<std::string> names;
  std::error_code error;
  for (fs::directory_iterator it(ClaimsFolder(), error), end; !error && it != end; it.increment(error)) {
    if (it->path().extension() == kEnding) names.push_back(it->path().stem().string());
  }
  std::ranges::sort(names);
  return names;
}

absl::StatusOr<std::unique_ptr<PaperClaims>> ReadPaper(const std::string& name) {
  std::string path = name;
  if (!name.ends_with(kEnding)) {
    const std::vector<std::string> known = ListPapers();
    if (std::ranges::find(known, name) == known.end()) {
      return absl::InvalidArgumentError(UnknownNameMessage("paper", name, known));
    }
    path = (ClaimsFolder() / (name + kEnding)).string();
  }
  const absl::StatusOr<std::string> text = sweep::ReadWholeFile(path);
  if (!text.ok()) return absl::NotFoundError(absl::StrCat(path, ": ", text.status().message()));
  auto all = std::make_unique<PaperClaims>();
  absl::Status status = ParseProtoText(*text, all->paper);
  if (status.ok()) status = Checker(*all).Check();
  if (const fs::path ledger = fs::path(path).replace_extension(".ledger"); status.ok() && fs::exists(ledger)) {
    HEDDLE_ASSIGN_OR_RETURN(all->ledger, ReadLedger(ledger.string()));
    status = CheckAgainstLedger(all->paper, *all->ledger);
  }
  if (!status.ok()) return absl::Status(status.code(), absl::StrCat(path, ": ", status.message()));
  return all;
}

}  // namespace heddle::tools::reproduce
