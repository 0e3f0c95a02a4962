// Nearest hits of rays among triangles, by walking a tree of bounding boxes with a stack per ray: rays of a picture,
// which are alike, and rays from anywhere to anywhere, which are not.
//
// Stands for ray tracing in software: loops that end at different times for neighbouring rays, two kinds of work (boxes
// of inner nodes, triangles of leaves) that lanes do not do at the same time, stacks in local memory, and scattered
// reads. A launch that is not recorded builds the tree. All coordinates are whole numbers so small that every product
// and sum of the test of a triangle is exact; a distance is one rounded quotient, and of equals the triangle with the
// lower number counts. So hits do not depend on the shape of the tree (T. Aila, S. Laine, Understanding the efficiency
// of ray traversal on GPUs, 2009, describe the loop).

constexpr int kLeaf = 4;    // triangles of a leaf
constexpr int kDepth = 16;  // levels of the tree
constexpr float kNone = 3.402823466e38f;

struct Vector {
  float x, y, z;
};

__device__ inline Vector minus(Vector a, Vector b) { return {a.x - b.x, a.y - b.y, a.z - b.z}; }
__device__ inline float dot(Vector a, Vector b) { return a.x * b.x + a.y * b.y + a.z * b.z; }
__device__ inline Vector cross(Vector a, Vector b) {
  return {a.y * b.z - a.z * b.y, a.z * b.x - a.x * b.z, a.x * b.y - a.y * b.x};
}

// Triangles in the order of leaves: a corner and the two edges from it, and the triangle's number.
struct Triangle {
  Vector corner;
  int number;
  Vector edge1;
  int unused1;
  Vector edge2;
  int unused2;
};

struct Box {
  Vector low;
  float unused1;
  Vector high;
  float unused2;
};

// Three times the centre of triangle t along an axis. corners: [axis][triangle], edges: [edge][axis][triangle].
__device__ inline int centre(const int* corners, const int* edges, int axis, int t, int count) {
  return 3 * corners[axis * count + t] + edges[axis * count + t] + edges[(3 + axis) * count + t];
}

// One thread. The tree is complete: node n has the children 2 n + 1 and 2 n + 2, and `leaves`, a power of two, leaves
// of kLeaf triangles each. A node's triangles are halved at the median along the longest side of their centres.
__global__ void build_tree(const int* corners, const int* edges, int* order, Box* boxes, Triangle* triangles,
                           int leaves) {
  const int count = leaves * kLeaf;
  for (int i = 0; i < count; ++i) order[i] = i;
  for (int size = count; size > kLeaf; size /= 2) {
    for (int first = 0; first < count; first += size) {
      int axis = 0;
      int longest = -1;
      for (int a = 0; a < 3; ++a) {
        int low = 0x7fffffff;
        int high = -0x7fffffff;
        for (int i = first; i < first + size; ++i) {
          const int c = centre(corners, edges, a, order[i], count);
          low = min(low, c);
          high = max(high, c);
        }
        if (high - low > longest) {
          longest = high - low;
          axis = a;
        }
      }
      for (int i = first + 1; i < first + size; ++i) {
        const int t = order[i];
        const int c = centre(corners, edges, axis, t, count);
        int place = i;
        for (; place > first && centre(corners, edges, axis, order[place - 1], count) > c; --place)
          order[place] = order[place - 1];
        order[place] = t;
      }
    }
  }
  for (int leaf = 0; leaf < leaves; ++leaf) {
    float low[3] = {kNone, kNone, kNone};
    float high[3] = {-kNone, -kNone, -kNone};
    for (int i = leaf * kLeaf; i < (leaf + 1) * kLeaf; ++i) {
      const int t = order[i];
      float corner[3], edge1[3], edge2[3];
      for (int a = 0; a < 3; ++a) {
        corner[a] = static_cast<float>(corners[a * count + t]);
        edge1[a] = static_cast<float>(edges[a * count + t]);
        edge2[a] = static_cast<float>(edges[(3 + a) * count + t]);
        low[a] = fminf(low[a], corner[a] + fminf(0.0f, fminf(edge1[a], edge2[a])));
        high[a] = fmaxf(high[a], corner[a] + fmaxf(0.0f, fmaxf(edge1[a], edge2[a])));
      }
      triangles[i] = {{corner[0], corner[1], corner[2]}, t, {edge1[0], edge1[1], edge1[2]}, 0,
                      {edge2[0], edge2[1], edge2[2]},    0};
    }
    boxes[leaves - 1 + leaf] = {{low[0], low[1], low[2]}, 0.0f, {high[0], high[1], high[2]}, 0.0f};
  }
  for (int n = leaves - 2; n >= 0; --n) {
    const Box a = boxes[2 * n + 1];
    const Box b = boxes[2 * n + 2];
    boxes[n] = {{fminf(a.low.x, b.low.x), fminf(a.low.y, b.low.y), fminf(a.low.z, b.low.z)},
                0.0f,
                {fmaxf(a.high.x, b.high.x), fmaxf(a.high.y, b.high.y), fmaxf(a.high.z, b.high.z)},
                0.0f};
  }
}

// Where a ray enters a box, or kNone if it misses it or enters behind `best`. A millionth is for the roundings of the
// products: a box is never missed whose triangle is hit.
__device__ inline float enter(const Box& box, Vector origin, Vector inverse, float best) {
  const float x1 = (box.low.x - origin.x) * inverse.x;
  const float x2 = (box.high.x - origin.x) * inverse.x;
  const float y1 = (box.low.y - origin.y) * inverse.y;
  const float y2 = (box.high.y - origin.y) * inverse.y;
  const float z1 = (box.low.z - origin.z) * inverse.z;
  const float z2 = (box.high.z - origin.z) * inverse.z;
  const float in = fmaxf(fmaxf(fminf(x1, x2), fminf(y1, y2)), fmaxf(fminf(z1, z2), 0.0f)) * 0.999999f;
  const float out = fminf(fminf(fmaxf(x1, x2), fmaxf(y1, y2)), fmaxf(z1, z2)) * 1.000001f;
  return in <= out && in <= best ? in : kNone;
}

struct Hit {
  float distance;
  int triangle;
};

__device__ inline void intersect(const Triangle& triangle, Vector origin, Vector direction, Hit* hit) {
  const Vector p = cross(direction, triangle.edge2);
  float determinant = dot(triangle.edge1, p);
  const float sign = determinant < 0.0f ? -1.0f : 1.0f;
  determinant *= sign;
  const Vector from = minus(origin, triangle.corner);
  const float u = sign * dot(from, p);
  if (determinant == 0.0f || u < 0.0f || u > determinant) return;
  const Vector q = cross(from, triangle.edge1);
  const float v = sign * dot(direction, q);
  const float along = sign * dot(triangle.edge2, q);
  if (v < 0.0f || u + v > determinant || along <= 0.0f) return;
  const float distance = along / determinant;
  if (distance > hit->distance || (distance == hit->distance && triangle.number > hit->triangle)) return;
  *hit = {distance, triangle.number};
}

__device__ Hit nearest(const Box* boxes, const Triangle* triangles, int leaves, Vector origin, Vector direction) {
  const Vector inverse = {1.0f / direction.x, 1.0f / direction.y, 1.0f / direction.z};
  Hit hit = {kNone, -1};
  int node_stack[kDepth];
  float distance_stack[kDepth];
  int height = 0;
  int node = 0;
  for (;;) {
    bool inside = true;
    while (inside && node < leaves - 1) {
      const int left = 2 * node + 1;
      const float left_distance = enter(boxes[left], origin, inverse, hit.distance);
      const float right_distance = enter(boxes[left + 1], origin, inverse, hit.distance);
      const bool left_first = left_distance <= right_distance;
      const float near_distance = left_first ? left_distance : right_distance;
      const float far_distance = left_first ? right_distance : left_distance;
      inside = near_distance < kNone;
      node = left_first ? left : left + 1;
      if (far_distance < kNone) {
        node_stack[height] = left_first ? left + 1 : left;
        distance_stack[height] = far_distance;
        ++height;
      }
    }
    if (inside) {
      const Triangle* own = triangles + (node - (leaves - 1)) * kLeaf;
      for (int i = 0; i < kLeaf; ++i) intersect(own[i], origin, direction, &hit);
    }
    do {
      if (height == 0) return hit;
      --height;
    } while (distance_stack[height] > hit.distance);
    node = node_stack[height];
  }
}

// Rays with given origins and directions, [axis][ray]; directions are made odd, for a ray must not lie in a plane of
// boxes.
__global__ void trace_rays(const Box* boxes, const Triangle* triangles, const int* origins, const int* directions,
                           int* hit_triangles, float* hit_distances, int leaves, int count) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= count) return;
  const Vector origin = {static_cast<float>(origins[i]), static_cast<float>(origins[count + i]),
                         static_cast<float>(origins[2 * count + i])};
  const Vector direction = {static_cast<float>(2 * directions[i] + 1),
                            static_cast<float>(2 * directions[count + i] + 1),
                            static_cast<float>(2 * directions[2 * count + i] + 1)};
  const Hit hit = nearest(boxes, triangles, leaves, origin, direction);
  hit_triangles[i] = hit.triangle;
  hit_distances[i] = hit.distance;
}

// A picture of size (gridDim.x * blockDim.x) x (gridDim.y * blockDim.y) from an eye in front of the scene.
__global__ void trace_picture(const Box* boxes, const Triangle* triangles, int* hit_triangles, float* hit_distances,
                              int leaves) {
  const int width = gridDim.x * blockDim.x;
  const int height = gridDim.y * blockDim.y;
  const int x = blockIdx.x * blockDim.x + threadIdx.x;
  const int y = blockIdx.y * blockDim.y + threadIdx.y;
  const Vector origin = {128.0f, 128.0f, -150.0f};
  const Vector direction = {static_cast<float>(2 * x + 1 - width), static_cast<float>(2 * y + 1 - height), 65.0f};
  const Hit hit = nearest(boxes, triangles, leaves, origin, direction);
  hit_triangles[y * width + x] = hit.triangle;
  hit_distances[y * width + x] = hit.distance;
}
