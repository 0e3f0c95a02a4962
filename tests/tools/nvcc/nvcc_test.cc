// heddle-nvcc: nvcc's command line, what it becomes for clang and the host compiler, and the changes to source text.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <optional>
#include <string>
#include <vector>

#include "tools/nvcc/commands.h"
#include "tools/nvcc/options.h"
#include "tools/nvcc/process.h"
#include "tools/nvcc/source_text.h"
#include "tools/nvcc/words.h"

namespace heddle::nvcc {
namespace {

using ::testing::AllOf;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;

Options Parse(const std::string& line) {
  std::string error;
  std::optional<Options> options = ParseOptions(SplitWords(line), &error);
  EXPECT_TRUE(options.has_value()) << line << ": " << error;
  return options.value_or(Options());
}

std::string ErrorOf(const std::string& line) {
  std::string error;
  EXPECT_FALSE(ParseOptions(SplitWords(line), &error).has_value()) << line;
  return error;
}

Places SomePlaces() {
  Places places;
  places.headers = "/h";
  places.toolkit = "/t";
  places.clang = "clang++";
  places.clang_wrappers = "/w";
  places.host_c = "gcc";
  places.host_cxx = "g++";
  places.host_is_gcc = true;
  return places;
}

TEST(NvccOptions, EveryFormOfAValue) {
  for (const char* line :
       {"-arch=sm_60 a.cu", "-arch sm_60 a.cu", "--gpu-architecture=compute_60 a.cu", "--gpu-architecture sm_60 a.cu",
        "-gencode arch=compute_60,code=sm_60 a.cu", "-gencode=arch=compute_35,code=[sm_35,sm_60] a.cu"}) {
    EXPECT_EQ(Parse(line).target, "sm_60") << line;
  }
  EXPECT_THAT(Parse("-I a -Ib -I=c --include-path d,e x.cu").preprocessor,
              ElementsAre("-Ia", "-Ib", "-Ic", "-Id", "-Ie"));
  EXPECT_EQ(Parse("x.cu -o y").output, "y");
  EXPECT_EQ(Parse("x.cu --output-file=y").output, "y");
}

TEST(NvccOptions, TheHighestCapabilityThatIsNamedAndSupported) {
  EXPECT_EQ(Parse("x.cu").target, "sm_70");
  EXPECT_EQ(Parse("-gencode arch=compute_50,code=sm_50 -gencode arch=compute_80,code=sm_80 x.cu").target, "sm_80");
  const Options old = Parse("-arch=sm_13 x.cu");
  EXPECT_EQ(old.target, "sm_30");
  EXPECT_THAT(old.warnings, ElementsAre("compute capability 13: compiled for sm_30 instead"));
  EXPECT_EQ(Parse("-arch=sm_120 x.cu").target, "sm_90");
  EXPECT_EQ(Parse("-arch=native x.cu").target, "sm_70");
  EXPECT_THAT(ErrorOf("-gencode x.cu"), HasSubstr("\"x.cu\" names no compute capability"));
  EXPECT_THAT(ErrorOf("-maxrregcount x.cu"), HasSubstr("x.cu: this is no number"));
}

TEST(NvccOptions, Phases) {
  EXPECT_EQ(Parse("x.cu").phase, Phase::kLink);
  EXPECT_EQ(Parse("-c x.cu").phase, Phase::kCompile);
  const Options relocatable = Parse("-dc x.cu");
  EXPECT_EQ(relocatable.phase, Phase::kCompile);
  EXPECT_TRUE(relocatable.relocatable);
  EXPECT_TRUE(Parse("-rdc=true -c x.cu").relocatable);
  EXPECT_FALSE(Parse("-rdc=false -c x.cu").relocatable);
  EXPECT_EQ(Parse("-dlink x.o").phase, Phase::kDeviceLink);
  EXPECT_EQ(Parse("-cubin x.cu").device_code_ending, ".cubin");
}

TEST(NvccOptions, VersionsOfCuda) {
  EXPECT_EQ(Parse("x.cu").cuda_version.number(), 12040u);
  EXPECT_EQ(Parse("--cuda-version 11.8 x.cu").cuda_version.number(), 11080u);
  EXPECT_EQ(Parse("--cuda-version=9 x.cu").cuda_version.number(), 9000u);
  for (const char* wrong : {"13.0", "4.2", "12.40", "twelve", "12.", "12.4x", "-1"}) {
    EXPECT_THAT(ErrorOf(std::string("--cuda-version=") + wrong + " x.cu"), HasSubstr("from 5.0 to 12.9")) << wrong;
  }
  EXPECT_THAT(VersionText({11, 8}), HasSubstr("release 11.8, V11.8."));
  const CudaSource source = {"x.cu", "x.cu", false, "1"};
  const Options old = Parse("--cuda-version 11.8 x.cu");
  EXPECT_THAT(DeviceCommand(old, SomePlaces(), source, "out.bc"),
              AllOf(Contains("-DHEDDLE_CUDA_VERSION=11080"), Contains("-D__CUDACC_VER_MAJOR__=11"),
                    Contains("-D__CUDACC_VER_MINOR__=8"), Contains("-std=gnu++14")));
  EXPECT_THAT(DeviceCodeText(old, SomePlaces(), source), HasSubstr("\ncuda_version=11080\n"));
  EXPECT_THAT(HostCommand(Parse("x.cu"), SomePlaces(), source, "code", "out.o"), Contains("-std=gnu++17"));
}

// The options of nvcc's public documentation that the other tests do not have: none is unknown.
TEST(NvccOptions, AllOfNvcc) {
  for (const char* line : {"-objtemp",
                           "--objdir-as-tempdir",
                           "--pre-include a.h",
                           "-arbin ar",
                           "-cudart none",
                           "-cudadevrt static",
                           "-ldir /x",
                           "-target-dir x",
                           "--link",
                           "-dw",
                           "-lineinfo=true",
                           "-opt-info inline",
                           "-Ofc max",
                           "-dlto",
                           "--gen-opt-lto",
                           "--split-compile 2",
                           "--split-compile-extended=2",
                           "--jobserver",
                           "-ftemplate-depth 900",
                           "-ftemplate-backtrace-limit=3",
                           "-noeh",
                           "--no-exceptions",
                           "-nohdinitlist",
                           "-nohdmoveforward",
                           "-expt-extended-lambda",
                           "--machine 64",
                           "-Xarchive --thin",
                           "-Xnvlink -v",
                           "--static-global-template-stub=true",
                           "--device-entity-has-hidden-visibility=true",
                           "-forward-unknown-to-host-linker",
                           "-noprof",
                           "-t 4",
                           "--time x",
                           "--run-args a",
                           "-idp /",
                           "-ddp /",
                           "-dp /",
                           "--no-align-double",
                           "-nodlink",
                           "-default-stream legacy",
                           "-e kernel",
                           "-prec-div=false",
                           "-prec-sqrt=false",
                           "-extra-device-vectorization",
                           "-astoolspatch",
                           "-keep-device-functions",
                           "-jtd 3",
                           "--source-in-ptx",
                           "-restrict",
                           "-Wno-deprecated-gpu-targets",
                           "-Wno-deprecated-declarations",
                           "-Wreorder",
                           "-Wdefault-stream-launch",
                           "-Wmissing-launch-bounds",
                           "-Wext-lambda-captures-this",
                           "-Werror all-warnings",
                           "-err-no",
                           "-no-err-no",
                           "-diag-error 1",
                           "-diag-suppress 1",
                           "-diag-warn 1",
                           "-res-usage",
                           "-device-stack-protector",
                           "-qpp-config x",
                           "--minimal",
                           "-fdevice-time-trace",
                           "-brief-diagnostics",
                           "-frandom-seed x",
                           "-reloc-ptx",
                           "-compress-mode size",
                           "-no-compress",
                           "-ewp",
                           "-Xcudafe --diag_suppress=1",
                           "-use-local-env",
                           "-allow-unsupported-compiler",
                           "-shared",
                           "-m64",
                           "-run",
                           "-O 3",
                           "-G=false",
                           "-c=true"}) {
    EXPECT_THAT(Parse(std::string(line) + " x.cu").warnings, ElementsAre()) << line;
  }
  EXPECT_EQ(Parse("-O 3 x.cu").host_optimization, "-O3");
  EXPECT_THAT(Parse("-O x.cu").inputs, ElementsAre("x.cu"));
  EXPECT_FALSE(Parse("-G=false x.cu").device_debug);
  EXPECT_THAT(ErrorOf("-G=perhaps x.cu"), HasSubstr("true or false"));
  EXPECT_THAT(Parse("-noeh x.cu").host, ElementsAre("-fno-exceptions"));
  EXPECT_THAT(Parse("-ftemplate-depth 900 x.cu").preprocessor, ElementsAre("-ftemplate-depth=900"));
  EXPECT_EQ(Parse("--list-gpu-code").phase, Phase::kListCode);
  EXPECT_EQ(Parse("-cuda x.cu").phase, Phase::kHostSource);
  for (const char* refused : {"-ltoir", "-optix-ir", "-clean", "-r", "-hls gen-lcs", "-aug-hls"}) {
    EXPECT_THAT(ErrorOf(std::string(refused) + " x.cu"), ::testing::MatchesRegex("-[a-z-]+: .+; .+")) << refused;
  }
}

TEST(NvccCommands, AssemblyBecomesSourceForTheHostCompiler) {
  EXPECT_EQ(HostSource("\t.text\n"), "__asm__(R\"heddle(\n\t.text\n)heddle\");\n");
  EXPECT_THAT(HostSource("a)heddle\"b"), HasSubstr("R\"heddle_("));
  const CudaSource source = {"x.cu", "x.cu", false, "1"};
  EXPECT_THAT(HostCommand(Parse("-cuda x.cu"), SomePlaces(), source, "code", "x.s"),
              AllOf(Contains("-S"), Contains("-fno-integrated-as"), Not(Contains("-c"))));
}

TEST(NvccOptions, ListsForOtherTools) {
  EXPECT_THAT(Parse("-Xcompiler -fPIC,-Wall -Xcompiler '-O3 -g' x.cu").host,
              ElementsAre("-fPIC", "-Wall", "-O3", "-g"));
  EXPECT_THAT(Parse("-Xcompiler -Wl,-rpath,/x x.cu").host, ElementsAre("-Wl,-rpath,/x"));
  EXPECT_THAT(Parse("-Xlinker -rpath,/x x.cu").linker, ElementsAre("-Xlinker", "-rpath", "-Xlinker", "/x"));
  EXPECT_EQ(Parse("-Xptxas -O1,-v x.cu").device_optimization, "-O1");
}

TEST(NvccOptions, HeadersAreFoundInTheFoldersThatAreGiven) {
  const std::string folder = ::testing::TempDir() + "/nvcc_headers";
  std::filesystem::create_directories(folder + "/thrust");
  std::ofstream(folder + "/thrust/sort.h") << "\n";
  const std::string header = "thrust/sort.h";
  EXPECT_TRUE(FindsHeader(Parse("-I" + folder + " x.cu"), header));
  EXPECT_TRUE(FindsHeader(Parse("-isystem " + folder + " x.cu"), header));
  EXPECT_FALSE(FindsHeader(Parse("-I" + folder + " x.cu"), "thrust/no_such_header.h"));
  EXPECT_FALSE(FindsHeader(Parse("-I" + folder + " x.cu"), "thrust"));
  EXPECT_TRUE(FindsHeader(Parse("x.cu"), "stdio.h"));
}

TEST(NvccOptions, UnknownOnesAreToldAndOthersTaken) {
  const Options options = Parse("--frobnicate -lineinfo --threads 0 -expt-relaxed-constexpr -m64 x.cu");
  EXPECT_THAT(options.warnings, ElementsAre("--frobnicate: this option is unknown and ignored"));
  EXPECT_THAT(options.inputs, ElementsAre("x.cu"));
  EXPECT_THAT(Parse("-forward-unknown-to-host-compiler -pthread x.cu").host, ElementsAre("-pthread"));
  EXPECT_THAT(ErrorOf("x.cu -o"), HasSubstr("value is missing"));
  EXPECT_THAT(ErrorOf("-m32 x.cu"), HasSubstr("64-bit"));
  EXPECT_THAT(ErrorOf("-x fortran x.cu"), HasSubstr("cu, c and c++"));
  EXPECT_THAT(ErrorOf("@/no/such/file"), HasSubstr("response file"));
}

TEST(NvccOptions, ResponseFiles) {
  const std::string path = ::testing::TempDir() + "/nvcc_options.txt";
  std::ofstream(path) << "-O3 -I \"a folder\"\n  -DNAME='x y' -arch sm_52\n";
  const Options options = Parse("@" + path + " x.cu");
  EXPECT_EQ(options.host_optimization, "-O3");
  EXPECT_THAT(options.preprocessor, ElementsAre("-Ia folder", "-DNAME=x y"));
  EXPECT_EQ(options.target, "sm_52");
  EXPECT_THAT(options.inputs, ElementsAre("x.cu"));
  std::ofstream(path) << "@" << path;
  EXPECT_THAT(ErrorOf("@" + path), HasSubstr("include one another"));
  std::remove(path.c_str());
}

TEST(NvccCommands, DeviceAndHostCodeAreOptimisedApart) {
  const Options options = Parse("-O3 -g -use_fast_math --no-unroll -DX=1 -Xcompiler -fopenmp x.cu");
  const CudaSource source = {"x.cu", "x.cu", false, "1"};
  const Command device = DeviceCommand(options, SomePlaces(), source, "out.bc");
  EXPECT_THAT(device, AllOf(Contains("-O2"), Not(Contains("-O3")), Contains("-fno-unroll-loops"), Contains("-DX=1"),
                            Contains("-fgpu-approx-transcendentals"), Contains("-fno-delete-null-pointer-checks")));
  const Command host = HostCommand(options, SomePlaces(), source, "code", "out.o");
  EXPECT_THAT(host, AllOf(Contains("-O3"), Contains("-g"), Contains("-Wno-source-uses-openmp"), Contains("code")));
  const std::string text = DeviceCodeText(options, SomePlaces(), source);
  EXPECT_THAT(text, HasSubstr("optimization=-O2 -fno-unroll-loops -fgpu-approx-transcendentals"));
}

TEST(NvccCommands, BranchesOfDeviceCodeCanBeKept) {
  const Options options = Parse("--keep-branches x.cu");
  const CudaSource source = {"x.cu", "x.cu", false, "1"};
  EXPECT_THAT(DeviceCommand(options, SomePlaces(), source, "out.bc"),
              Contains("-two-entry-phi-node-folding-threshold=0"));
  EXPECT_THAT(HostCommand(options, SomePlaces(), source, "code", "out.o"), Not(Contains("-mllvm")));
  EXPECT_THAT(DeviceCodeText(options, SomePlaces(), source), HasSubstr("optimization=-O2 keep-branches"));
}

TEST(NvccCommands, VendorLibrariesAreLeftOut) {
  const Options options = Parse("x.o -lcudart -lm -L/opt/lib -lcuda -o program -Xlinker -s");
  EXPECT_THAT(LinkCommand(options, SomePlaces(), options.inputs),
              ElementsAre("g++", "-o", "program", "-L/t/lib64", "-L/opt/lib", "x.o", "-lm", "-Xlinker", "-s",
                          "-lcudart_static", "-lpthread", "-ldl", "-lm"));
}

TEST(NvccCommands, OurRuntimeIsFoundBeforeThatOfAnInstalledToolkit) {
  const Options options = Parse("x.o -L/usr/local/cuda/lib64 -lcudart -o program");
  const Command link = LinkCommand(options, SomePlaces(), options.inputs);
  const auto ours = std::ranges::find(link, "-L/t/lib64");
  const auto theirs = std::ranges::find(link, "-L/usr/local/cuda/lib64");
  ASSERT_NE(theirs, link.end());
  EXPECT_LT(ours, theirs);
}

TEST(NvccCommands, DryRunsQuoteFilesAndFoldersAsNvccDoes) {
  EXPECT_EQ(NvccText({"g++", "-O2", "-DX=a b", "-I/my include", "x.cpp", "-o", "a.out", "-L/t/lib64", "-lm", "$\"`"}),
            R"(g++ -O2 '-DX=a b' "-I/my include" "x.cpp" -o "a.out" "-L/t/lib64" -lm "\$\"\`")");
}

TEST(NvccCommands, LibrariesMayStandInFrontOfWhatNeedsThem) {
  const Options options = Parse("-lgomp x.o -lm y.o -o program");
  EXPECT_THAT(LinkCommand(options, SomePlaces(), options.inputs),
              ElementsAre("g++", "-o", "program", "-L/t/lib64", "x.o", "y.o", "-lgomp", "-lm", "-lcudart_static",
                          "-lpthread", "-ldl", "-lm"));
}

TEST(NvccCommands, ProgramsWithoutDeviceCodeKnowWhereTheDeviceIs) {
  Places places = SomePlaces();
  places.device_program = "/opt/a \"b\"/bin/heddle-capture";
  EXPECT_EQ(DeviceProgramSource(places),
            "const char heddle_device_program[] = \"/opt/a \\\"b\\\"/bin/heddle-capture\";\n");
}

TEST(NvccCommands, LanguagesByEndingAndByOption) {
  const Options plain = Parse("x.cu");
  EXPECT_EQ(LanguageOf("a/x.cu", plain), Language::kCuda);
  EXPECT_EQ(LanguageOf("x.c", plain), Language::kC);
  EXPECT_EQ(LanguageOf("x.cxx", plain), Language::kCxx);
  EXPECT_EQ(LanguageOf("x.o", plain), Language::kNone);
  EXPECT_EQ(LanguageOf("libx.so.3", plain), Language::kNone);
  const Options forced = Parse("-x cu x.cpp y.o");
  EXPECT_EQ(LanguageOf("x.cpp", forced), Language::kCuda);
  EXPECT_EQ(LanguageOf("y.o", forced), Language::kNone);
}

TEST(NvccSource, BracketsOfLaunchesAreJoined) {
  EXPECT_EQ(JoinLaunchBrackets("k<< <1, 2>> >(x);"), "k<<< 1, 2>>> (x);");
  EXPECT_EQ(JoinLaunchBrackets("k<  < <1>>>(a >> b);"), "k<<<   1>>>(a >> b);");
  // Nothing else is touched: templates, shifts, literals, comments.
  for (const char* text : {"k<<<1, 2>>>(x);", "A<B<C<int> > > x;", "cout << \"<< <\" << x; // << <", "x = '<'; y << 2;",
                           "a<b<c<d>>> e;", "/* k<< <1>> > */"}) {
    EXPECT_EQ(JoinLaunchBrackets(text), text);
  }
}

TEST(NvccSource, CommentsAndLiteralsBecomeBlanks) {
  EXPECT_EQ(WithoutComments("a; // b\nc /* d\n */ \"e\\\"f\" 'g' 1'000 '"),
            "a;     \nc     \n    \"    \" ' ' 1'000 '");
  EXPECT_EQ(WithoutComments("#include \"a.h\"\n\"b\""), "#include \"a.h\"\n\" \"");
  // Raw strings, as those that hold device code.
  EXPECT_EQ(WithoutComments("R\"(a\n\"b\")\" c"), "R\"  \n    \" c");
  EXPECT_EQ(WithoutComments("u8R\"x(a)\" b )x\" c; FOR\"(d\")"), "u8R\"          \" c; FOR\"  \")");
  EXPECT_EQ(WithoutComments("R\"(never"), "R\"      ");
}

TEST(NvccSource, RawStringsStay) {
  for (const std::string text :
       {"R\"(\nk<< <1, 2>> >(x); \"a\" k<< <1, 2>> >(x);)\"", "LR\"d(\nasm(\"%laneid\" :); )\" asm(\"%laneid\" :);)d\"",
        "R\"(\n\"static texture<float, 2> t;)\""}) {
    EXPECT_EQ(JoinLaunchBrackets(text), text);
    EXPECT_EQ(DoubleRegisterPercents(text), text);
    EXPECT_FALSE(HasStaticTexture(text));
  }
  EXPECT_EQ(JoinLaunchBrackets("R\"(\n\")\"; k<< <1, 2>> >();"), "R\"(\n\")\"; k<<< 1, 2>>> ();");
}

TEST(NvccSource, StaticTextures) {
  EXPECT_TRUE(HasStaticTexture("static  texture<float, 2> t;"));
  EXPECT_TRUE(HasStaticTexture("static\nsurface<void, 2> s;"));
  EXPECT_FALSE(HasStaticTexture("texture<float, 2> t; static int texture_size;"));
  EXPECT_FALSE(HasStaticTexture("// static texture<float> t;"));
}

TEST(NvccSource, StaticTexturesOfRelocatableCodeGetANamespace) {
  EXPECT_EQ(NameStaticTextures("static texture<float,\n 1> a, b;\nint static_texture; // static texture<int> c;\n"
                               "static\tsurface<void, 2> s; /* ; */ f(\";\");",
                               "h1"),
            "inline namespace h1 {  texture<float,\n 1> a, b; }\nint static_texture; // static texture<int> c;\n"
            "inline namespace h1 { \tsurface<void, 2> s; } /* ; */ f(\";\");");
  for (const char* text : {"texture<float, 2> t;", "static int t;", "static texture<float, 2> t"}) {
    EXPECT_EQ(NameStaticTextures(text, "h1"), text);
  }
}

TEST(NvccSource, RegistersInInlineAssembly) {
  EXPECT_EQ(DoubleRegisterPercents(
                "asm volatile(\"mov.u32 %0, %laneid;\\n\" /* % */\n \"mov.u32 %1, %clock;\" : \"=r\"(x));"),
            "asm volatile(\"mov.u32 %0, %%laneid;\\n\" /* % */\n \"mov.u32 %1, %%clock;\" : \"=r\"(x));");
  EXPECT_EQ(DoubleRegisterPercents("__asm__(\"mov.u32 %[to], %tid.x;\" : [to] \"=r\"(x))"),
            "__asm__(\"mov.u32 %[to], %%tid.x;\" : [to] \"=r\"(x))");
  EXPECT_EQ(DoubleRegisterPercents("asm(\"%envreg3 %pm0_64\" ::)"), "asm(\"%%envreg3 %%pm0_64\" ::)");
  for (const char* text :
       {"asm(\"mov.u32 %0, %%laneid;\" : \"=r\"(x));", "asm(\"add %0, %c1, %=;\" : \"=r\"(x) : \"n\"(1));",
        "asm(\"mov.u32 x, %laneid;\");", "printf(\"%laneid\", x);", "// asm(\"%laneid\" :);",
        "asm(TEXT \"%laneid\" :);", "asm", "asm(", "asm(\"%", "asm volatile (\"%\" :"}) {
    EXPECT_EQ(DoubleRegisterPercents(text), text);
  }
}

}  // namespace
}  // namespace heddle::nvcc
