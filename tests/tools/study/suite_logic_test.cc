// Suites: placeholders, rules, sources, inputs, and what counts as right.
#include <gmock/gmock.h>
#include <google/protobuf/text_format.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <cstring>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "tools/study/suite/compare.h"
#include "tools/study/suite/data_store.h"
#include "tools/study/suite/inputs/generator.h"
#include "tools/study/suite/placeholders.h"
#include "tools/study/suite/result_store.h"
#include "tools/study/suite/source_tree.h"
#include "tools/study/suite/suite_file.h"
#include "traces/base/sha256.h"

namespace heddle::tools::suite {
namespace {

namespace fs = std::filesystem;
namespace v1 = ::heddle::suite::v1;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

template <typename Message>
Message Parse(const std::string& text) {
  Message message;
  EXPECT_TRUE(google::protobuf::TextFormat::ParseFromString(text, &message)) << text;
  return message;
}

class Folder : public ::testing::Test {
 protected:
  void SetUp() override {
    folder_ = fs::canonical(::testing::TempDir()).string() + absl::StrCat("/suite-", getpid());
    fs::create_directories(folder_);
  }
  void TearDown() override { fs::remove_all(folder_); }
  void Write(const std::string& name, const std::string& text) {
    fs::create_directories(fs::path(folder_ + "/" + name).parent_path());
    std::ofstream(folder_ + "/" + name) << text;
  }
  std::string Read(const std::string& name) {
    std::ifstream file(folder_ + "/" + name);
    std::stringstream text;
    text << file.rdbuf();
    return text.str();
  }
  std::string folder_;
};

// --- Placeholders

TEST(SuitePlaceholders, StandForValues) {
  Placeholders values;
  values.Set("data", "/d");
  values.Set("n", "{data}");
  EXPECT_EQ(*values.Expand("{data}/x{{y}{n}"), "/d/x{y}{data}") << "values are not expanded again";
  EXPECT_THAT(*PlaceholdersOf("a{b}c{{d}{e}"), ElementsAre("b", "e"));
}

TEST(SuitePlaceholders, RefuseWhatStandsForNothing) {
  EXPECT_THAT(std::string(Placeholders().Expand("{data}").status().message()), HasSubstr("stands for nothing"));
  for (const char* text : {"{", "{}", "a{b"}) EXPECT_FALSE(PlaceholdersOf(text).ok()) << text;
}

// --- Comparing

absl::Status Compared(const std::string& rules, const std::string& given, const std::string& right) {
  return CompareContents(Parse<v1::Compare>(rules), given, right);
}

TEST(SuiteCompare, TextIsComparedByWordsAndNumbers) {
  EXPECT_FALSE(Compared("", "cost: 1.0  [2]\n", "cost:1 2").ok()) << "cost:1 is one word";
  EXPECT_TRUE(Compared("", "cost 1.0  [2]\n", "cost 1 2").ok());
  EXPECT_TRUE(Compared("", "a=1, b=2", "a 1 b 2").ok());
  EXPECT_THAT(std::string(Compared("", "1 2 3", "1 5 6").message()),
              HasSubstr("2 of 3 differ, the first: word 1: 2 for 5"));
  EXPECT_FALSE(Compared("", "1 2", "1 2 3").ok());
}

TEST(SuiteCompare, NothingProvesNothing) {
  for (const char* format : {"format: TEXT", "format: BYTES", "format: FLOATS", "lines: 'none'"}) {
    EXPECT_FALSE(Compared(format, "", "").ok()) << format;
  }
  EXPECT_FALSE(Compared("relative: 1", "nan", "nan").ok());
  EXPECT_FALSE(Compared("absolute: 1e300", "inf", "inf").ok());
}

TEST(SuiteCompare, TolerancesAreMet) {
  EXPECT_TRUE(Compared("absolute: 0.11", "1.1", "1").ok());
  EXPECT_FALSE(Compared("absolute: 0.09", "1.1", "1").ok());
  EXPECT_TRUE(Compared("relative: 0.1", "110", "100").ok());
  EXPECT_FALSE(Compared("relative: 0.05", "110", "100").ok());
  EXPECT_TRUE(Compared("differing: 0.25", "1 2 3 4", "1 2 3 5").ok());
  EXPECT_FALSE(Compared("differing: 0.24", "1 2 3 4", "1 2 3 5").ok());
}

TEST(SuiteCompare, LinesAreChosen) {
  EXPECT_TRUE(Compared("lines: '^total'", "time 3 s\ntotal 7\n", "total 7\ntime 9 s").ok());
  EXPECT_TRUE(Compared("without: 'time'", "time 3 s\ntotal 7\n", "total 7\ntime 9 s").ok());
  EXPECT_TRUE(Compared("lines: '^X' reference_lines: '^Y' only_numbers: true", "X 1\n", "Y 1\n").ok());
  EXPECT_FALSE(Compared("lines: '^X' reference_lines: '^Y'", "X 1\n", "Y 1\n").ok());
}

TEST(SuiteCompare, BytesAndFloats) {
  EXPECT_TRUE(Compared("format: BYTES", "abc", "abc").ok());
  EXPECT_THAT(std::string(Compared("format: BYTES", "abc", "abd").message()), HasSubstr("byte 2 differs"));
  const float ours[2] = {1.0F, 2.0F};
  const float theirs[2] = {1.0F, 2.001F};
  const auto bytes = [](const float(&numbers)[2]) {
    return std::string(reinterpret_cast<const char*>(numbers), sizeof numbers);
  };
  EXPECT_TRUE(Compared("format: FLOATS relative: 1e-3", bytes(ours), bytes(theirs)).ok());
  EXPECT_FALSE(Compared("format: FLOATS relative: 1e-4", bytes(ours), bytes(theirs)).ok());
  EXPECT_FALSE(Compared("format: FLOATS", "abc", "abc").ok()) << "no whole number of them";
}

TEST(SuiteCompare, LinesPrintedAreHadAndLacked) {
  const auto check = Parse<v1::Check>("has: '^PASS' lacks: 'FAIL'");
  EXPECT_TRUE(CheckLines(check, "x\nPASSED\n").ok());
  EXPECT_FALSE(CheckLines(check, "x\n").ok());
  EXPECT_FALSE(CheckLines(check, "PASS\none FAILED").ok());
}

// --- Rules

constexpr char kGood[] = R"(
  name: "s" source { repository: "r" commit: "c" license: "MIT" }
  data { name: "in.txt" generator { name: "key_list" } }
  program {
    name: "p" path: "folder" sha256: "0000000000000000000000000000000000000000000000000000000000000000"
    build { argument: ["make", "{size}"] } run { argument: "./p" }
    check { how: "it says so" has: "PASS" }
    size { name: "tiny" argument: "{data}/in.txt" data: "in.txt" variable { name: "size" value: "1" } }
  })";

TEST(SuiteRules, AGoodSuiteBreaksNone) { EXPECT_THAT(BrokenRules(Parse<v1::Suite>(kGood)), IsEmpty()); }

TEST(SuiteRules, EachIsTold) {
  const std::pair<const char*, const char*> broken[] = {
      {"", "the suite: has no program"},
      {"program { name: '../x' missing: 'm' }", "needs a name of letters"},
      {"program { name: 'p' missing: 'a' } program { name: 'p' missing: 'b' }", "is there twice"},
      {"program { name: 'p' path: '../x' }", "path: "},
      {"program { name: 'p' path: 'x' }", "path needs `sha256`"},
      {"program { name: 'p' run { argument: '{nothing}' } }", "{nothing} is neither a known placeholder nor"},
      {"program { name: 'p' run { argument: '{' } }", "a brace begins"},
      {"program { name: 'p' run { folder: '/etc' argument: 'x' } }", "run.folder: "},
      {"program { name: 'p' file { path: '/etc/passwd' text: 'x' } }", "file: "},
      {"program { name: 'p' file { path: '{home}/../x' text: 'x' } }", "file: "},
      {"program { name: 'p' place { path: 'x' data: 'gone' } }", "there is no data gone"},
      {"program { name: 'p' check { has: 'x' } }", "check needs `how`"},
      {"program { name: 'p' check { how: 'h' has: '(' } }", "check.has: "},
      {"program { name: 'p' check { how: 'h' compare { reference_file: '-' } } }", "and the program no `reference`"},
      {"program { name: 'p' check { how: 'h' compare { source_file: 'x' relative: 2 } } }", "are from 0 to 1"},
      {"program { name: 'p' fault { what: 'w' option: '--output=/etc/x' } }", "is none of --allow-bounds"},
      {"program { name: 'p' size { name: 'paper' } }", "needs `paper`"},
      {"program { name: 'p' size { name: 'tiny' launch_numbers: '3-1' } }", "no A-B"},
      {"program { name: 'p' }", "has no size"},
      {"data { name: 'd' }", "needs `from` or `generator`"},
      {"data { name: '../d' generator { name: 'key_list' } }", "data ../d: "},
      {"data { name: 'd' from: 'x' }", "a file of the sources needs `sha256`"},
      {"data { name: 'd' generator { name: 'key_lists' } }", "did you mean \"key_list\"?"},
      {"data { name: 'd' generator { name: 'key_list' parameter { key: 'keys' value: 0 } } }", "is not from 1 to"},
  };
  for (const auto& [text, message] : broken) {
    const auto suite = Parse<v1::Suite>(text);
    EXPECT_THAT(absl::StrJoin(BrokenRules(suite), "\n"), HasSubstr(message)) << text;
  }
}

TEST_F(Folder, SuitesThatAreNoneAreRefusedWithTheirLine) {
  Write("bad.textproto", "name: \"x\"\nnonsense: 1\n");
  const auto suite = ReadSuite(folder_ + "/bad.textproto");
  EXPECT_THAT(std::string(suite.status().message()), HasSubstr("line 2"));
  EXPECT_TRUE(absl::IsNotFound(ReadSuite(folder_ + "/gone.textproto").status()));
  EXPECT_THAT(std::string(ReadSuite("exampl").status().message()), HasSubstr("did you mean \"example\"?"));
}

TEST(SuiteRules, ThoseOfHeddleAreGood) {
  const std::vector<std::string> suites = SuitesIn(SuitesFolder());
  EXPECT_THAT(suites, ::testing::Not(IsEmpty()));
  for (const std::string& path : suites) EXPECT_TRUE(ReadSuite(path).ok()) << ReadSuite(path).status();
}

// --- Sources

TEST_F(Folder, SourcesHaveTheDigestOfTheirContents) {
  Write("one/a/x.cu", "x");
  Write("one/make", "m");
  Write("two/a/x.cu", "x");
  Write("two/make", "m");
  const auto one = SourceTree::Open(folder_ + "/one");
  const auto two = SourceTree::Open(folder_ + "/two");
  ASSERT_TRUE(one.ok() && two.ok());
  const std::string digest = *one->Digest({"a", "make"});
  EXPECT_EQ(digest, *two->Digest({"make", "a"}));
  EXPECT_EQ(digest, *two->Digest({"make", "a", "a/x.cu"})) << "each file once";
  Write("two/a/x.cu", "y");
  EXPECT_NE(digest, *two->Digest({"a", "make"}));
  Write("two/a/x.cu", "x");
  Write("two/.git/config", "c");
  EXPECT_EQ(*one->Digest({"."}), *two->Digest({"."})) << "version control does not count";
  fs::permissions(folder_ + "/two/make", fs::perms::owner_exec, fs::perm_options::add);
  EXPECT_NE(digest, *two->Digest({"a", "make"}));
  EXPECT_TRUE(absl::IsNotFound(one->Digest({"gone"}).status()));
  EXPECT_TRUE(absl::IsNotFound(SourceTree::Open(folder_ + "/gone").status()));
}

TEST_F(Folder, CopiesAreWritableAndLinksStayInside) {
  Write("from/a/x.cu", "x");
  fs::permissions(folder_ + "/from/a/x.cu", fs::perms::owner_read);
  fs::create_symlink("x.cu", folder_ + "/from/a/link.cu");
  const auto tree = SourceTree::Open(folder_ + "/from");
  ASSERT_TRUE(tree->Copy({"a"}, folder_ + "/to").ok());
  EXPECT_EQ(Read("to/a/link.cu"), "x");
  EXPECT_FALSE(fs::is_symlink(folder_ + "/to/a/link.cu")) << "writing to the copy must not reach the sources";
  Write("to/a/x.cu", "changed");
  Write("secret", "s");
  fs::create_symlink("../../secret", folder_ + "/from/a/out.cu");
  EXPECT_THAT(std::string(tree->Copy({"a"}, folder_ + "/to").message()), HasSubstr("leaves the sources"));
  EXPECT_THAT(std::string(tree->Digest({"a/out.cu"}).status().message()), HasSubstr("leaves the sources"));
}

// --- Inputs

TEST_F(Folder, InputsAreMadeOrFoundAndHeldToTheirDigest) {
  Write("sources/in.txt", "abc");
  DataStore store(folder_ + "/data", *SourceTree::Open(folder_ + "/sources"));
  const std::string digest = HexSha256("abc");
  const auto found = store.Get(Parse<v1::Data>(absl::StrCat("name: 'd/i' from: 'in.txt' sha256: '", digest, "'")));
  ASSERT_TRUE(found.ok()) << found.status();
  EXPECT_EQ(Read("data/d/i"), "abc");
  EXPECT_TRUE(absl::IsNotFound(store.Get(Parse<v1::Data>("name: 'm' from: 'gone' sha256: 'x'")).status()));
  Write("sources/in.txt", "abd");
  DataStore other(folder_ + "/other", *SourceTree::Open(folder_ + "/sources"));
  EXPECT_TRUE(absl::IsDataLoss(
      other.Get(Parse<v1::Data>(absl::StrCat("name: 'd/i' from: 'in.txt' sha256: '", digest, "'"))).status()));
  const auto made =
      store.Get(Parse<v1::Data>("name: 'k' generator { name: 'key_list' parameter { key: 'keys' value: 3 } }"));
  ASSERT_TRUE(made.ok());
  EXPECT_THAT(Read("data/k"), HasSubstr("3\n"));
}

// Digests of inputs that the rows of studies depend on: a change of a generator has to be meant.
TEST(SuiteInputs, AreTheSameForEver) {
  std::string all;
  for (const auto& [name, generator] : InputGenerators()) {
    const auto once = MakeInput(name, 5, {});
    ASSERT_TRUE(once.ok());
    EXPECT_EQ(*once, *MakeInput(name, 5, {})) << name;
    EXPECT_NE(*once, *MakeInput(name, 6, {})) << name << ": the seed counts";
    absl::StrAppend(&all, name, " ", HexSha256(*once).substr(0, 16), "\n");
  }
  EXPECT_EQ(all, R"(adjacency_graph c18b1396d5d44669
bitmap d9ffc8560e040163
box_mesh 6c0113640c67bf5e
grey_picture 189c6950be5fa931
key_list 734c6c166adea492
number_lines ad8c302e04c35e55
random_bytes 12f3d286a9f07c58
raw_video 37364b131383ddf8
sequences 2e6cb207ff403420
)");
}

TEST(SuiteInputs, GraphsAreConnectedAndBalanced) {
  std::istringstream text(*MakeInput("adjacency_graph", 3, {{"nodes", 200}, {"degree", 4}}));
  size_t nodes = 0;
  text >> nodes;
  ASSERT_EQ(nodes, 200u);
  std::vector<std::pair<size_t, size_t>> list(nodes);
  for (auto& [first, count] : list) text >> first >> count;
  size_t start = 1;
  size_t edges = 0;
  text >> start >> edges;
  EXPECT_EQ(start, 0u);
  EXPECT_EQ(edges, nodes * 4);
  std::vector<size_t> ends(edges);
  size_t weight = 0;
  for (size_t& end : ends) text >> end >> weight;
  ASSERT_TRUE(static_cast<bool>(text));
  std::vector<size_t> reached = {0};
  std::vector<bool> seen(nodes);
  seen[0] = true;
  for (size_t i = 0; i < reached.size(); ++i) {
    const auto [first, count] = list[reached[i]];
    for (size_t edge = first; edge < first + count; ++edge) {
      if (!seen[ends[edge]]) reached.push_back(ends[edge]);
      seen[ends[edge]] = true;
    }
  }
  EXPECT_EQ(reached.size(), nodes);
}

TEST(SuiteInputs, ReadsAreOfTheReferenceWithTheSameSeed) {
  std::string reference = *MakeInput("sequences", 4, {{"bases", 500}});
  std::erase(reference, '\n');
  std::istringstream reads(*MakeInput("sequences", 4, {{"bases", 500}, {"reads", 20}, {"length", 30}, {"errors", 0}}));
  std::string name;
  std::string bases;
  int count = 0;
  for (; reads >> name >> bases; ++count) EXPECT_THAT(reference, HasSubstr(bases)) << name;
  EXPECT_EQ(count, 20);
}

TEST(SuiteInputs, MeshesAreSymmetricAndClosed) {
  std::istringstream text(*MakeInput("box_mesh", 1, {{"side", 5}}));
  int elements = 0;
  text >> elements;
  ASSERT_EQ(elements, 125);
  std::vector<std::vector<int>> neighbours(125);
  for (auto& list : neighbours) {
    double area = 0;
    text >> area;
    EXPECT_GT(area, 0);
    double sum[3] = {};
    for (int face = 0; face < 4; ++face) {
      list.push_back(0);
      text >> list.back();
      for (double& total : sum) {
        double normal = 0;
        text >> normal;
        total += normal;
      }
    }
    EXPECT_THAT(sum, ElementsAre(0, 0, 0)) << "the faces of an element are closed";
  }
  ASSERT_TRUE(static_cast<bool>(text));
  for (int element = 0; element < 125; ++element) {
    for (const int other : neighbours[static_cast<size_t>(element)]) {
      if (other < 0) continue;
      ASSERT_LE(other, 125);
      EXPECT_THAT(neighbours[static_cast<size_t>(other - 1)], ::testing::Contains(element + 1));
    }
  }
}

TEST(SuiteInputs, FilmsAndPicturesHaveTheSizesThatTheySay) {
  const std::string film = *MakeInput("raw_video", 1, {{"width", 16}, {"height", 8}, {"frames", 3}});
  const auto number = [](const std::string& bytes, size_t at) {
    uint32_t value = 0;
    std::memcpy(&value, bytes.data() + at, sizeof value);
    return value;
  };
  EXPECT_EQ(film.substr(0, 4), "RIFF");
  EXPECT_EQ(number(film, 4), film.size() - 8);
  EXPECT_EQ(film.substr(8, 8), "AVI LIST");
  size_t frames = 0;
  for (size_t at = film.find("movi"); (at = film.find("00db", at)) < film.find("idx1"); at += 4) ++frames;
  EXPECT_EQ(frames, 3u);
  const std::string picture = *MakeInput("bitmap", 1, {{"width", 5}, {"height", 3}});
  EXPECT_EQ(number(picture, 2), picture.size());
  EXPECT_EQ(picture.size(), 54u + 3 * 16);
}

// --- Results

TEST_F(Folder, OnlyResultsOfTheSameThingsWithTheirTraceAreTakenAgain) {
  const ResultStore store(folder_);
  auto result = Parse<v1::ProgramResult>("program: 'p' size: 'tiny' state: FAILED key: 'k'");
  ASSERT_TRUE(store.Keep(result).ok());
  EXPECT_FALSE(store.Find(result).has_value()) << "what failed is tried again";
  result = Parse<v1::ProgramResult>("program: 'p' size: 'tiny' state: RIGHT key: 'k' trace: 'gone.htrace'");
  ASSERT_TRUE(store.Keep(result).ok());
  EXPECT_FALSE(store.Find(result).has_value()) << "its trace is not there";
  Write("results/p.tiny.textproto", "nonsense");
  EXPECT_FALSE(store.Find(result).has_value());
}

}  // namespace
}  // namespace heddle::tools::suite
