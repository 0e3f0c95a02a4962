// malloc, new and delete on the device; objects with virtual functions; calls through pointers; recursion.
#include "check.h"

struct Shape {
  __device__ virtual ~Shape() {}
  __device__ virtual int Area() const = 0;
};
struct Square : Shape {
  int side;
  __device__ explicit Square(int s) : side(s) {}
  __device__ int Area() const override { return side * side; }
};
struct Rectangle : Shape {
  int width, height;
  __device__ Rectangle(int w, int h) : width(w), height(h) {}
  __device__ int Area() const override { return width * height; }
};

__global__ void Areas(int* out) {
  const int i = threadIdx.x;
  Shape* shape = i % 3 == 0 ? static_cast<Shape*>(new Square(i)) : new Rectangle(i, 2);
  out[i] = shape->Area();
  delete shape;
}

__global__ void List(int* out) {
  struct Node {
    Node* next;
    int value;
  };
  Node* first = nullptr;
  for (int i = 0; i <= static_cast<int>(threadIdx.x); ++i) {
    Node* node = static_cast<Node*>(malloc(sizeof(Node)));
    node->next = first;
    node->value = i;
    first = node;
  }
  int sum = 0;
  while (first != nullptr) {
    Node* next = first->next;
    sum += first->value;
    free(first);
    first = next;
  }
  out[threadIdx.x] = sum;
}

typedef int (*Operation)(int, int);
__device__ int Plus(int a, int b) { return a + b; }
__device__ int Minus(int a, int b) { return a - b; }
__device__ int Times(int a, int b) { return a * b; }
__device__ Operation operations[3] = {Plus, Minus, Times};

__global__ void Apply(int* out) { out[threadIdx.x] = operations[threadIdx.x % 3](threadIdx.x, 10); }

__device__ __noinline__ int Fibonacci(int n) { return n < 2 ? n : Fibonacci(n - 1) + Fibonacci(n - 2); }
__global__ void Recurse(int* out) { out[threadIdx.x] = Fibonacci(threadIdx.x); }

int main() {
  const int n = 12;
  int host[n], *out;
  CALL(cudaMalloc(&out, sizeof(host)));
  Areas<<<1, n>>>(out);
  CALL(cudaMemcpy(host, out, sizeof(host), cudaMemcpyDeviceToHost));
  for (int i = 0; i < n; ++i) EXPECT(host[i] == (i % 3 == 0 ? i * i : 2 * i));
  List<<<1, n>>>(out);
  CALL(cudaMemcpy(host, out, sizeof(host), cudaMemcpyDeviceToHost));
  for (int i = 0; i < n; ++i) EXPECT(host[i] == i * (i + 1) / 2);
  Apply<<<1, n>>>(out);
  CALL(cudaMemcpy(host, out, sizeof(host), cudaMemcpyDeviceToHost));
  for (int i = 0; i < n; ++i) EXPECT(host[i] == (i % 3 == 0 ? i + 10 : i % 3 == 1 ? i - 10 : i * 10));
  Recurse<<<1, n>>>(out);
  CALL(cudaMemcpy(host, out, sizeof(host), cudaMemcpyDeviceToHost));
  int a = 0, b = 1;
  for (int i = 0; i < n; ++i) {
    EXPECT(host[i] == a);
    const int c = a + b;
    a = b;
    b = c;
  }
  return Finish();
}
