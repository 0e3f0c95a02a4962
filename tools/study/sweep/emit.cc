#include "tools/study/sweep/emit.h"

#include <algorithm>
#include <cmath>
#include <filesystem>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/str_split.h"
#include "tools/console/json.h"
#include "traces/base/status_macros.h"

namespace heddle::tools::sweep {
namespace {

constexpr double kSecondsBesideReplay = 0.02;  // start, trace, result: measured on a local disk

std::string Absolute(const std::string& path) {
  std::error_code error;
  const std::filesystem::path absolute = std::filesystem::absolute(path, error).lexically_normal();
  std::string text = error ? path : absolute.string();
  while (text.size() > 1 && text.ends_with('/')) text.pop_back();
  return text;
}

std::string Range(const Chunk& chunk) {
  return chunk.first == chunk.last ? absl::StrCat(chunk.first) : absl::StrCat(chunk.first, "-", chunk.last);
}

// The command that runs the points in `points`, a text that the shell sees as it is.
std::string Command(const SweepFolder& folder, const EmitOptions& options, const std::string& points,
                    const std::string& jobs) {
  std::string libraries;
  for (const std::string& library : options.libraries) {
    absl::StrAppend(&libraries, " --policy-library ", ShellQuoted(Absolute(library)));
  }
  return absl::StrCat(ShellQuoted(options.program), " sweep run ", ShellQuoted(Absolute(folder.path())), libraries,
                      " --quiet --plan ", folder.plan().points_digest.substr(0, 12), " --jobs ", jobs, " --points ",
                      points, options.retry_failed ? " --retry-failed" : "");
}

std::string SlurmText(const SweepFolder& folder, const std::vector<Chunk>& chunks, const EmitOptions& options) {
  std::string text = "#!/bin/bash\n# Made by `heddle sweep emit --slurm`: sbatch THIS_FILE\n";
  absl::StrAppend(&text, "#SBATCH --job-name=", folder.plan().name, "\n");
  absl::StrAppend(&text, "#SBATCH --array=1-", chunks.size(), "%", options.throttle, "\n");
  absl::StrAppend(&text, "#SBATCH --ntasks=1 --cpus-per-task=", options.cores, "\n");
  absl::StrAppend(&text, "#SBATCH --requeue --open-mode=append\n");
  absl::StrAppend(&text, "#SBATCH --output=\"", Absolute(folder.path()), "/log/%A_%a.log\"\n");
  for (const absl::string_view extra : absl::StrSplit(options.extra, ' ', absl::SkipEmpty())) {
    absl::StrAppend(&text, "#SBATCH ", extra, "\n");
  }
  absl::StrAppend(&text, "set -u\npoints=(");
  for (const Chunk& chunk : chunks) absl::StrAppend(&text, "\n  ", Range(chunk));
  absl::StrAppend(
      &text, "\n)\nchunk=${points[SLURM_ARRAY_TASK_ID - 1]}\n",
      "echo \"$(date -u +%FT%TZ) points $chunk on ${SLURMD_NODENAME:-?}, restart ${SLURM_RESTART_COUNT:-0}\"\n",
      Command(folder, options, "\"$chunk\"", "\"${SLURM_CPUS_PER_TASK:-1}\""), R"(
status=$?
echo "$(date -u +%FT%TZ) points $chunk ended with $status"
# Killed by a signal (out of memory, say): once more, three times at most. Points that are done stay done.
if [ $status -gt 128 ] && [ "${SLURM_RESTART_COUNT:-0}" -lt 3 ]; then
  scontrol requeue "${SLURM_ARRAY_JOB_ID}_${SLURM_ARRAY_TASK_ID}" && sleep 60
fi
exit $status
)");
  return text;
}

std::string SnakemakeText(const SweepFolder& folder, const std::vector<Chunk>& chunks, const EmitOptions& options) {
  const std::string marks =
      absl::StrCat(Absolute(folder.path()), "/snakemake/", folder.plan().points_digest.substr(0, 12), "/");
  // JSON texts are Python texts.
  const auto python = [](const std::string& value) { return nlohmann::json(value).dump(); };
  std::string text =
      "# Made by `heddle sweep emit --snakemake`: snakemake --keep-going --snakefile THIS_FILE --cores N\n"
      "# A mark says that a chunk has been run; what is missing then, `heddle sweep status` tells.\n";
  absl::StrAppend(&text, "MARKS = ", python(marks), "\n\nrule all:\n    input:\n");
  for (const Chunk& chunk : chunks) absl::StrAppend(&text, "        MARKS + \"", Range(chunk), "\",\n");
  for (const Chunk& chunk : chunks) {
    // In a shell text Snakemake reads braces as its own.
    const std::string command =
        absl::StrReplaceAll(Command(folder, options, Range(chunk), "JOBS"), {{"{", "{{"}, {"}", "}}"}});
    absl::StrAppend(&text, "\nrule points_", chunk.first, "_", chunk.last, ":\n    output: touch(MARKS + \"",
                    Range(chunk), "\")\n    threads: ", options.cores, "\n    retries: 2\n    shell: ",
                    python(absl::StrReplaceAll(command, {{"--jobs JOBS", "--jobs {threads}"}})), "\n");
  }
  return text;
}

}  // namespace

absl::StatusOr<std::vector<Chunk>> MissingChunks(const SweepFolder& folder, const ChunkOptions& options) {
  HEDDLE_ASSIGN_OR_RETURN(const std::vector<NumberedPoint> points, folder.Points(NumberRanges()));
  HEDDLE_ASSIGN_OR_RETURN(const auto results, folder.Results());
  HEDDLE_ASSIGN_OR_RETURN(const auto failures, folder.Failures());

  std::vector<std::pair<uint64_t, double>> missing;  // number, seconds
  double all = 0;
  for (const auto& [number, point] : points) {
    if (results.contains(point.key) || (failures.contains(point.key) && !options.retry_failed)) continue;
    const PlannedTrace* trace = folder.plan().FindTrace(point.trace);
    const double instructions = trace == nullptr ? 0 : static_cast<double>(trace->thread_instructions);
    missing.emplace_back(number, kSecondsBesideReplay + instructions / options.instructions_per_second);
    all += missing.back().second;
  }
  if (missing.empty()) return std::vector<Chunk>();

  const double most = static_cast<double>(options.most_chunks);
  const double seconds = std::max(options.minutes * 60, all / most * 1.01);
  uint64_t count = options.points;
  if (count != 0) count = std::max<uint64_t>(count, (missing.size() + options.most_chunks - 1) / options.most_chunks);
  std::vector<Chunk> chunks;
  double in_chunk = 0;
  uint64_t points_in_chunk = 0;
  for (const auto& [number, takes] : missing) {
    // The last chunk takes what is left, so that rounding never makes one too many.
    const bool full = count != 0 ? points_in_chunk == count : in_chunk + takes / 2 > seconds;
    if (chunks.empty() || (full && chunks.size() < options.most_chunks)) {
      chunks.push_back({number, number});
      in_chunk = 0;
      points_in_chunk = 0;
    }
    chunks.back().last = number;
    in_chunk += takes;
    ++points_in_chunk;
  }
  return chunks;
}

std::string EmitText(Engine engine, const SweepFolder& folder, const std::vector<Chunk>& chunks,
                     const EmitOptions& options) {
  if (engine == Engine::kSlurm) return SlurmText(folder, chunks, options);
  if (engine == Engine::kSnakemake) return SnakemakeText(folder, chunks, options);
  std::string text;
  for (const Chunk& chunk : chunks) {
    absl::StrAppend(&text, Command(folder, options, Range(chunk), absl::StrCat(options.cores)), "\n");
  }
  return text;
}

std::string ShellQuoted(const std::string& text) {
  const bool plain = !text.empty() && std::ranges::all_of(text, [](unsigned char c) {
    return std::isalnum(c) != 0 || c == '/' || c == '.' || c == '_' || c == '-' || c == '+';
  });
  return plain ? text : absl::StrCat("'", absl::StrReplaceAll(text, {{"'", "'\\''"}}), "'");
}

}  // namespace heddle::tools::sweep
