// The same three kernels, driven in the ways in which host code keeps its buffers: members of a
// structure, a class that owns a buffer and can be moved, vectors and arrays of pointers,
// `std::unique_ptr` and `std::shared_ptr`, a map from names to buffers, globals, and parts of one
// allocation.
//
// Shows: in each style the three launches become one. Where two pointers come out of memory that
// the compiler cannot follow to an allocation (a vector, a map, globals), the merged launch has a
// guard that compares what they touch.
//
// usage: host_styles [elements]
//
// expect: 27 launches -> 9
// arguments:
// arguments: 1
// arguments: 513
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <memory>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

__global__ void scale(const float *x, float *y, int n, float by) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] = by * x[i];
}

__global__ void shift(const float *x, float *y, int n, float by) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] = x[i] + by;
}

__global__ void square(const float *x, float *y, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] = x[i] * x[i];
}

static const int threads = 128;

static int blocks(int n) { return (n + threads - 1) / threads; }

static void check(cudaError_t status) {
    if (status == cudaSuccess) return;
    fprintf(stderr, "%s\n", cudaGetErrorString(status));
    exit(2);
}

static float *allocate(int n) {
    float *data;
    check(cudaMalloc(&data, n * sizeof(float)));
    return data;
}

static void fill(float *device, int n) {
    std::vector<float> host(n);
    for (int i = 0; i < n; ++i) host[i] = (float)(i % 11) - 5.0f;
    check(cudaMemcpy(device, host.data(), n * sizeof(float), cudaMemcpyHostToDevice));
}

// How many elements of a result differ from (2x + 1)².
static int wrong(const float *device, int n) {
    std::vector<float> host(n);
    check(cudaMemcpy(host.data(), device, n * sizeof(float), cudaMemcpyDeviceToHost));
    int count = 0;
    for (int i = 0; i < n; ++i) {
        const float inner = 2.0f * ((float)(i % 11) - 5.0f) + 1.0f;
        count += std::fabs(host[i] - inner * inner) > 1e-4f;
    }
    return count;
}

struct Net {
    float *in, *middle, *out;
    int n;
};

static void forward(const Net &net) {
    scale<<<blocks(net.n), threads>>>(net.in, net.middle, net.n, 2.0f);
    shift<<<blocks(net.n), threads>>>(net.middle, net.out, net.n, 1.0f);
    square<<<blocks(net.n), threads>>>(net.out, net.out, net.n);
}

static int members(int n) {
    Net net{allocate(n), allocate(n), allocate(n), n};
    fill(net.in, n);
    forward(net);
    const int count = wrong(net.out, n);
    cudaFree(net.in);
    cudaFree(net.middle);
    cudaFree(net.out);
    return count;
}

class Buffer {
  public:
    explicit Buffer(int n) : data_(allocate(n)), n_(n) {}
    Buffer(Buffer &&other) noexcept : data_(std::exchange(other.data_, nullptr)), n_(other.n_) {}
    Buffer(const Buffer &) = delete;
    Buffer &operator=(const Buffer &) = delete;
    ~Buffer() { cudaFree(data_); }
    float *data() { return data_; }
    int size() const { return n_; }

  private:
    float *data_;
    int n_;
};

static Buffer filled(int n) {
    Buffer buffer(n);
    fill(buffer.data(), n);
    return buffer;
}

static int owners(int n) {
    Buffer in = filled(n), first(n), out(n);
    Buffer middle = std::move(first);
    scale<<<blocks(n), threads>>>(in.data(), middle.data(), n, 2.0f);
    shift<<<blocks(n), threads>>>(middle.data(), out.data(), out.size(), 1.0f);
    square<<<blocks(n), threads>>>(out.data(), out.data(), out.size());
    return wrong(out.data(), n);
}

static int vector_of_pointers(int n) {
    std::vector<float *> buffers;
    for (int i = 0; i < 3; ++i) buffers.push_back(allocate(n));
    fill(buffers[0], n);
    scale<<<blocks(n), threads>>>(buffers[0], buffers[1], n, 2.0f);
    shift<<<blocks(n), threads>>>(buffers[1], buffers[2], n, 1.0f);
    square<<<blocks(n), threads>>>(buffers[2], buffers[2], n);
    const int count = wrong(buffers[2], n);
    for (float *buffer : buffers) cudaFree(buffer);
    return count;
}

static int array_of_pointers(int n) {
    float *buffers[3];
    for (float *&buffer : buffers) check(cudaMalloc(&buffer, n * sizeof(float)));
    fill(buffers[0], n);
    scale<<<blocks(n), threads>>>(buffers[0], buffers[1], n, 2.0f);
    shift<<<blocks(n), threads>>>(buffers[1], buffers[2], n, 1.0f);
    square<<<blocks(n), threads>>>(buffers[2], buffers[2], n);
    const int count = wrong(buffers[2], n);
    for (float *buffer : buffers) cudaFree(buffer);
    return count;
}

struct Free {
    void operator()(float *data) const { cudaFree(data); }
};

static int unique_pointers(int n) {
    std::unique_ptr<float, Free> in(allocate(n)), middle(allocate(n)), out(allocate(n));
    fill(in.get(), n);
    scale<<<blocks(n), threads>>>(in.get(), middle.get(), n, 2.0f);
    shift<<<blocks(n), threads>>>(middle.get(), out.get(), n, 1.0f);
    square<<<blocks(n), threads>>>(out.get(), out.get(), n);
    return wrong(out.get(), n);
}

static int shared_pointers(int n) {
    auto share = [n] { return std::shared_ptr<float>(allocate(n), Free()); };
    std::shared_ptr<float> in = share(), middle = share(), out = share();
    std::shared_ptr<float> also_out = out;
    fill(in.get(), n);
    scale<<<blocks(n), threads>>>(in.get(), middle.get(), n, 2.0f);
    shift<<<blocks(n), threads>>>(middle.get(), out.get(), n, 1.0f);
    square<<<blocks(n), threads>>>(out.get(), also_out.get(), n);
    return wrong(also_out.get(), n);
}

static int named(int n) {
    std::map<std::string, float *> buffers;
    for (const char *name : {"in", "middle", "out"}) buffers[name] = allocate(n);
    fill(buffers["in"], n);
    float *in = buffers["in"], *middle = buffers["middle"], *out = buffers["out"];
    scale<<<blocks(n), threads>>>(in, middle, n, 2.0f);
    shift<<<blocks(n), threads>>>(middle, out, n, 1.0f);
    const std::string label = "result of " + std::to_string(n) + " elements";
    square<<<blocks(n), threads>>>(out, out, n);
    const int count = wrong(buffers.at("out"), n) + label.empty();
    for (auto &entry : buffers) cudaFree(entry.second);
    return count;
}

float *global_in, *global_middle, *global_out;
int global_n;

static void forward_globals() {
    scale<<<blocks(global_n), threads>>>(global_in, global_middle, global_n, 2.0f);
    shift<<<blocks(global_n), threads>>>(global_middle, global_out, global_n, 1.0f);
    square<<<blocks(global_n), threads>>>(global_out, global_out, global_n);
}

static int globals(int n) {
    global_n = n;
    global_in = allocate(n);
    global_middle = allocate(n);
    global_out = allocate(n);
    fill(global_in, n);
    forward_globals();
    const int count = wrong(global_out, n);
    cudaFree(global_in);
    cudaFree(global_middle);
    cudaFree(global_out);
    return count;
}

static int parts(int n) {
    float *all = allocate(3 * n);
    float *in = all, *middle = all + n, *out = all + 2 * n;
    fill(in, n);
    scale<<<blocks(n), threads>>>(in, middle, n, 2.0f);
    shift<<<blocks(n), threads>>>(middle, out, n, 1.0f);
    square<<<blocks(n), threads>>>(out, out, n);
    const int count = wrong(out, n);
    cudaFree(all);
    return count;
}

int main(int count, char **words) {
    const int n = count > 1 ? atoi(words[1]) : 1000;
    int differing = members(n) + owners(n) + vector_of_pointers(n) + array_of_pointers(n);
    differing += unique_pointers(n) + shared_pointers(n) + named(n) + globals(n) + parts(n);
    printf(differing ? "FAIL: %d values differ\n" : "PASS\n", differing);
    return differing != 0;
}
