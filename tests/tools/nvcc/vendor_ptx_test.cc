// --ptx-from: the vendor's compiler is found and asked, and its names of static symbols get clang's mark.
#include "tools/nvcc/vendor_ptx.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <optional>
#include <string>

#include "tools/nvcc/words.h"

namespace heddle::nvcc {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

namespace fs = std::filesystem;

Options Parse(const std::string& line) {
  std::string error;
  const std::optional<Options> options = ParseOptions(SplitWords(line), &error);
  EXPECT_TRUE(options.has_value()) << line << ": " << error;
  return options.value_or(Options());
}

// A program that answers as a compiler would.
fs::path MakeCompiler(const fs::path& folder, const std::string& version) {
  fs::create_directories(folder);
  const fs::path program = folder / "nvcc";
  std::ofstream(program) << "#!/bin/sh\ncase $1 in\n--version) echo '" << version
                         << "';;\n--list-gpu-arch) echo compute_75; echo compute_80; echo compute_120;;\nesac\n";
  fs::permissions(program, fs::perms::owner_all);
  return program;
}

constexpr char kVendors[] = "Cuda compilation tools, release 13.0, V13.0.88";

TEST(VendorPtx, IsFoundByNameOrPath) {
  const fs::path folder = fs::path(testing::TempDir()) / "vendor_ptx";
  const std::string vendors = MakeCompiler(folder / "cuda/bin", kVendors).string();
  const std::string ours = MakeCompiler(folder / "ours", "Heddle's stand-in. Cuda compilation tools").string();
  const char* const known = std::getenv("PATH");
  const std::string path = known == nullptr ? "" : known;
  std::string error;
  setenv("PATH", (folder / "ours").c_str(), 1);
  setenv("PATH", (path + ":" + (folder / "ours").string()).c_str(), 1);
  setenv("CUDA_HOME", (folder / "cuda").c_str(), 1);
  EXPECT_EQ(FindVendorNvcc(vendors, &error), vendors);
  EXPECT_EQ(FindVendorNvcc((folder / "cuda").string(), &error), vendors);
  EXPECT_THAT(FindVendorNvcc("nvcc", &error), Not(testing::StrEq(ours)));
  EXPECT_EQ(error, "");
  EXPECT_EQ(FindVendorNvcc(ours, &error), "");
  EXPECT_THAT(error, HasSubstr(ours));
  EXPECT_EQ(FindVendorNvcc("/no/such/nvcc", &error), "");
  setenv("PATH", path.c_str(), 1);
  unsetenv("CUDA_HOME");
}

TEST(VendorPtx, CompilesForTheCapabilityOrTheNextHigher) {
  const std::string nvcc = MakeCompiler(fs::path(testing::TempDir()) / "vendor_arch", kVendors).string();
  std::string note;
  EXPECT_EQ(VendorCapability(nvcc, Parse("a.cu"), &note), "");
  EXPECT_EQ(VendorCapability(nvcc, Parse("-arch=sm_80 a.cu"), &note), "80");
  EXPECT_EQ(
      VendorCapability(nvcc, Parse("-arch=sm_120a -gencode=arch=compute_80,code=sm_80 a.cu --ptx-from nvcc"), &note),
      "120a");
  EXPECT_EQ(note, "");
  EXPECT_EQ(VendorCapability(nvcc, Parse("-arch=sm_60 a.cu"), &note), "75");
  EXPECT_THAT(note, HasSubstr("60"));
}

TEST(VendorPtx, GetsTheOptionsOfTheSource) {
  const fs::path headers = fs::path(testing::TempDir()) / "vendor_headers";
  fs::create_directories(headers);
  Places places;
  places.headers = headers.string();
  CudaSource source;
  source.path = "a.cu";
  const Options options =
      Parse("--ptx-from nvcc -DA=1 -Iinc -I" + headers.string() +
            " -include pre.h -std=c++20 -use_fast_math -fmad=false -rdc=true -Xcompiler -DB,-Wall -c a.cu");
  const std::string line = ShellText(VendorPtxCommand("/cuda/bin/nvcc", "80", options, places, source, "a.ptx"));
  for (const char* words : {"/cuda/bin/nvcc -ptx", "-arch=compute_80", "-std=c++20", "-rdc=true", "-use_fast_math",
                            "-fmad=false", "-DA=1 -Iinc -include pre.h", "-Xcompiler -DB", "a.cu -o a.ptx"}) {
    EXPECT_THAT(line, HasSubstr(words));
  }
  EXPECT_THAT(line, Not(HasSubstr(headers.string())));  // the vendor's own headers are meant
  EXPECT_THAT(line, Not(HasSubstr("-Wall")));
}

TEST(VendorPtx, StaticNamesGetTheMarkOfTheFile) {
  EXPECT_EQ(TargetOfPtx("// x\n.version 9.0\n.target sm_75, texmode_independent\n"), "sm_75");
  EXPECT_EQ(TargetOfPtx("nothing"), "");
  EXPECT_FALSE(HasVendorStatics(".visible .entry k()"));
  const std::string ptx =
      ".global .u32 __nv_static_10__0a_a_cu_b_sv;\n.entry __nv_static_10__0a_a_cu_b__Z1sPi(.param .u64 "
      "__nv_static_10__0a_a_cu_b__Z1sPi_param_0)\nx__nv_static_10__0a_a_cu_b_sv __nv_static_99_a_b __nv_static_\n";
  EXPECT_TRUE(HasVendorStatics(ptx));
  EXPECT_EQ(RenameVendorStatics(ptx, "__static__12"),
            ".global .u32 sv__static__12;\n.entry _Z1sPi__static__12(.param .u64 _Z1sPi_param_0__static__12)\n"
            "x__nv_static_10__0a_a_cu_b_sv __nv_static_99_a_b __nv_static_\n");
  EXPECT_EQ(MarkIn("@_ZL11heddle_mark__static__fc50890917500be8 = dso_local"), "__static__fc50890917500be8");
  EXPECT_EQ(MarkIn("@_ZL11heddle_mark = internal"), "");
}

TEST(VendorPtx, OptionsOfClangAreRefused) {
  std::string error;
  EXPECT_FALSE(ParseOptions(SplitWords("--ptx-from nvcc --no-unroll a.cu"), &error).has_value());
  EXPECT_THAT(error, HasSubstr("--no-unroll"));
  EXPECT_FALSE(ParseOptions(SplitWords("--ptx-from nvcc --keep-branches a.cu"), &error).has_value());
}

}  // namespace
}  // namespace heddle::nvcc
