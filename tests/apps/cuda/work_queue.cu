// A queue of tasks that threads take from and add to: intervals are split until they are short.
#include "check.h"

struct Queue {
  unsigned int head, tail, pending;
  int2 tasks[4096];
  int ready[4096];  // a place in the queue is taken before its task is written
};

__global__ void Run(Queue* queue, unsigned long long* sum) {
  while (atomicAdd(&queue->pending, 0u) != 0) {
    const unsigned int tail = *reinterpret_cast<volatile unsigned int*>(&queue->tail);
    unsigned int head = *reinterpret_cast<volatile unsigned int*>(&queue->head);
    if (head >= tail || atomicCAS(&queue->head, head, head + 1) != head) continue;
    while (atomicAdd(&queue->ready[head], 0) == 0) {
    }
    __threadfence();  // else a card may read the task from a line that its L1 has had for long
    const int2 task = queue->tasks[head];
    const int length = task.y - task.x;
    if (length <= 8) {
      for (int i = task.x; i < task.y; ++i) atomicAdd(sum, static_cast<unsigned long long>(i) * i);
    } else {
      atomicAdd(&queue->pending, 2u);
      for (int half = 0; half < 2; ++half) {
        const int middle = task.x + length / 2;
        const unsigned int slot = atomicAdd(&queue->tail, 1u);
        queue->tasks[slot] = half == 0 ? make_int2(task.x, middle) : make_int2(middle, task.y);
        __threadfence();
        atomicExch(&queue->ready[slot], 1);
      }
    }
    atomicSub(&queue->pending, 1u);
  }
}

int main() {
  static Queue host;
  host.tail = host.pending = 1;
  host.tasks[0] = make_int2(0, 3000);
  host.ready[0] = 1;
  Queue* queue;
  unsigned long long *sum, total, expected = 0;
  CALL(cudaMalloc(&queue, sizeof(host)));
  CALL(cudaMalloc(&sum, sizeof(total)));
  CALL(cudaMemcpy(queue, &host, sizeof(host), cudaMemcpyHostToDevice));
  CALL(cudaMemset(sum, 0, sizeof(total)));
  Run<<<2, 32>>>(queue, sum);
  CALL(cudaMemcpy(&total, sum, sizeof(total), cudaMemcpyDeviceToHost));
  for (unsigned long long i = 0; i < 3000; ++i) expected += i * i;
  EXPECT(total == expected);
  return Finish();
}
