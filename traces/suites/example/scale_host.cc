// The same on the host.
#include <cstdio>

int main(int argc, char** argv) {
  std::FILE* file = argc == 2 ? std::fopen(argv[1], "r") : nullptr;
  if (file == nullptr) return 1;
  long long total = 0;
  int count = 0;
  int a = 0;
  int b = 0;
  for (; std::fscanf(file, "%d %d", &a, &b) == 2; ++count) {
    const int value = a + b;
    total += value % 2 != 0 ? value * 3 + 1 : value;
  }
  std::fclose(file);
  std::printf("elements %d\ntotal %lld\n", count, total);
  return 0;
}
