// `heddle corpus`: the commands are in this folder.
#include "tools/console/command.h"

namespace heddle::tools::corpus {
namespace {

constexpr char kFooter[] = R"(
  heddle corpus init mine --name mine --description "Two divergent kernels" --license Apache-2.0 --author "A. Uthor"
  heddle corpus add mine bfs.htrace --sources traces/kernels --recipe traces/kernels/bfs/bfs.textproto
  heddle corpus build suite --kernels traces/kernels --size tiny --jobs 8
  heddle corpus verify mine
  heddle corpus pack mine -o packed            # mine.tar, mine.tar.sha256, mine.ro-crate-metadata.json
  heddle corpus get https://example.org/mine.tar -o mine

A corpus is a BagIt bag (`sha256sum -c manifest-sha256.txt` checks it too) with RO-Crate 1.2 metadata in data/.)";

HEDDLE_COMMAND_GROUP(.name = "corpus", .place = 7,
                     .summary = "Collect traces to keep and to hand on, with licences and origins", .footer = kFooter);

}  // namespace
}  // namespace heddle::tools::corpus
