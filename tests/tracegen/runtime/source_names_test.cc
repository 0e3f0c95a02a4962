// Names of static symbols: clang's, with which programs register them, and nvcc's, which are in its PTX.
#include "tracegen/runtime/cuda/source_names.h"

#include <gtest/gtest.h>

#include <string>

namespace heddle::cuda {
namespace {

struct Pair {
  const char* clang;
  const char* nvcc;
};

TEST(SourceNames, BothCompilersMeanTheSame) {
  const Pair pairs[] = {
      {"Plain", "Plain"},
      {"_Z4Hostv", "_Z4Hostv"},
      {"_ZL1sPi", "_Z1sPi"},
      {"_ZL2sv", "sv"},
      {"_ZN1NL2svE", "_ZN32_INTERNAL_c0a92815_6_id2_cu_main1N2svE"},
      {"_ZN12_GLOBAL__N_11aEPi", "_ZN34_GLOBAL__N__c0a92815_6_id2_cu_main1aEPi"},
      {"_ZN12_GLOBAL__N_12avE", "_ZN32_INTERNAL_c0a92815_6_id2_cu_main34_GLOBAL__N__c0a92815_6_id2_cu_main2avE"},
      {"_ZN1N12_GLOBAL__N_14anonINS0_3FooEEEvPT_", "_ZN1N34_GLOBAL__N__c0a92815_6_id2_cu_main4anonINS0_3FooEEEvPT_"},
      {"_ZL1sPi__intern__65633d24579f414e", "_Z1sPi__static__65633d24579f414e"},
      {"_ZN1NL2svE__static__65633d24579f414e", "_ZN32_INTERNAL_c0a92815_6_id2_cu_main1N2svE__static__65633d24579f414e"},
  };
  for (const Pair& pair : pairs) EXPECT_EQ(SourceName(pair.clang), SourceName(pair.nvcc)) << pair.clang;
}

TEST(SourceNames, OthersStayApart) {
  EXPECT_NE(SourceName("_ZL1sPi"), SourceName("_ZL1sPf"));
  EXPECT_NE(SourceName("_ZL1sPi__intern__65633d24579f414e"), SourceName("_ZL1sPi__intern__65633d24579f414f"));
  EXPECT_NE(SourceName("_ZN1N2svE"), SourceName("sv"));
  EXPECT_NE(SourceName("_Z4INTERNAL_v"), SourceName("v"));
}

TEST(SourceNames, AnyTextIsAName) {
  for (const char* text : {"", "_Z", "_Znonsense", "__static__", "__static__0", "a__static__xyz"}) {
    EXPECT_EQ(SourceName(text), text);
  }
  std::string name(100000, '_');
  name += "__intern__1";
  EXPECT_FALSE(SourceName(name).empty());
}

}  // namespace
}  // namespace heddle::cuda
