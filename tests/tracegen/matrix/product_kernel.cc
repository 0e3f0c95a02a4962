#include "tests/tracegen/matrix/product_kernel.h"

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"

namespace heddle::tracegen {

OperandList ListOf(const std::string& type, uint32_t words) {
  if (type == "f64") return {'d', words / 2};
  return {type == "f32" ? 'f' : 'r', words};
}

std::string ProductKernel(const std::string& header, const std::vector<ProductForm>& forms) {
  std::string text = header;
  text +=
      ".visible .entry k(.param .u64 in, .param .u64 out)\n{\n"
      "\t.reg .b32 %r<64>;\n\t.reg .f32 %f<64>;\n\t.reg .f64 %d<64>;\n\t.reg .b32 %t;\n"
      "\t.reg .b64 %in, %out, %p, %q, %w;\n"
      "\tld.param.u64 %in, [in];\n\tld.param.u64 %out, [out];\n\tmov.u32 %t, %tid.x;\n\tcvt.u64.u32 %w, %t;\n";
  size_t in = 0, out = 0;
  for (const ProductForm& form : forms) {
    const WordCounts count = CountWords(form);
    const uint32_t read = count.a + count.b + count.c;
    absl::StrAppend(&text, "\tmad.lo.u64 %p, %w, ", 4 * read, ", %in;\n\tmad.lo.u64 %q, %w, ", 4 * count.d,
                    ", %out;\n");
    const OperandList lists[] = {ListOf(form.d, count.d), ListOf(form.a, count.a), ListOf(form.b, count.b),
                                 ListOf(form.c, count.c)};
    std::string loads, stores, operands;
    size_t offset = 4 * in;
    uint32_t next = 0;
    for (size_t l = 0; l < 4; ++l) {
      const char* type = lists[l].letter == 'r' ? "b32" : lists[l].letter == 'f' ? "f32" : "f64";
      const size_t bytes = lists[l].letter == 'd' ? 8 : 4;
      std::vector<std::string> names;
      for (uint32_t i = 0; i < lists[l].count; ++i) {
        names.push_back(absl::StrFormat("%%%c%d", lists[l].letter, next++));
        if (l == 0) {
          absl::StrAppend(&stores, "\tst.", type, " [%q+", 4 * out + i * bytes, "], ", names.back(), ";\n");
        } else {
          absl::StrAppend(&loads, "\tld.", type, " ", names.back(), ", [%p+", offset, "];\n");
          offset += bytes;
        }
      }
      absl::StrAppend(&operands, l == 0 ? " {" : ", {", absl::StrJoin(names, ", "), "}");
    }
    absl::StrAppend(&text, loads, "\t", form.mnemonic, operands, ";\n", stores);
    in += size_t{32} * read;
    out += size_t{32} * count.d;
  }
  return text + "\tret;\n}\n";
}

}  // namespace heddle::tracegen
