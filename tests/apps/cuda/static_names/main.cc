// sums[0] grows by 31 times the file's factor, and 100; the last digit is the file's own type, the millions its
// texture.
#include <cstdio>

int First(int change);
int Second(int change);
int Third();

int main() {
  const int got[] = {First(0), Second(0), First(4), Second(0), Third()};
  const int wanted[] = {2001622, 3001933, 2003862, 3003863, 52};
  for (int i = 0; i < 5; ++i) {
    if (got[i] == wanted[i]) continue;
    std::printf("result %d is %d, not %d\n", i, got[i], wanted[i]);
    return 1;
  }
  std::puts("all right");
  return 0;
}
