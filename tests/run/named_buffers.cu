// Buffers that a program keeps by their names, and in objects behind pointers: which one a launch gets, the compiler
// does not see. Launches that hand something on fuse where the run finds their pointers equal or apart, and stay apart
// where two names stand for parts of one buffer that overlap.
//
// expect: 4 launches -> 2
// arguments: x y z
// arguments: x x z
// arguments: x y y
// arguments: next x y
// arguments: y x next
// executes: 5 5 5 7 7
#include <cstdio>
#include <cstdlib>
#include <map>
#include <memory>
#include <string>
#include <vector>

constexpr int count = 1024, threads = 128, blocks = count / threads, bytes = count * sizeof(float);

__global__ void twice(float *y, const float *x) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    y[i] = x[i] * 2.0f;
}

__global__ void increase(float *y, const float *x) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    y[i] = x[i] + 1.0f;
}

static float *memory() {
    float *pointer = nullptr;
    if (cudaMalloc(&pointer, bytes + sizeof(float)) != cudaSuccess) exit(1);
    std::vector<float> host(count + 1);
    for (int i = 0; i <= count; i++) host[i] = float(i % 64);
    cudaMemcpy(pointer, host.data(), bytes + sizeof(float), cudaMemcpyHostToDevice);
    return pointer;
}

static std::vector<float> contents(const float *pointer) {
    std::vector<float> host(count);
    cudaMemcpy(host.data(), pointer, bytes, cudaMemcpyDeviceToHost);
    return host;
}

struct Layer {
    std::unique_ptr<float *[]> places;
};

int main(int argc, char **argv) {
    if (argc < 4) return 1;
    std::map<std::string, float *> named;
    named["x"] = memory();
    named["y"] = memory();
    named["z"] = memory();
    // A part of another one's buffer.
    named["next"] = named["y"] + 1;
    const std::string from = argv[1], by = argv[2], to = argv[3];

    std::map<std::string, std::vector<float>> wanted;
    for (auto &[name, pointer] : named) wanted[name] = contents(pointer);
    std::vector<float> whole(count + 1);
    for (int i = 0; i <= count; i++) whole[i] = float(i % 64);
    // As the launches do it, one after the other, where `next` is a part of `y`.
    auto at = [&](const std::string &name, int i) -> float & {
        if (name == "y") return whole[i];
        if (name == "next") return whole[i + 1];
        return wanted[name][i];
    };
    for (int turn = 0; turn < 2; turn++) {
        std::vector<float> values(count);
        for (int i = 0; i < count; i++) values[i] = at(from, i) * 2.0f;
        for (int i = 0; i < count; i++) at(by, i) = values[i];
        for (int i = 0; i < count; i++) values[i] = at(by, i) + 1.0f;
        for (int i = 0; i < count; i++) at(to, i) = values[i];
    }
    for (int turn = 0; turn < 2; turn++) {
        twice<<<blocks, threads>>>(named[by], named[from]);
        increase<<<blocks, threads>>>(named[to], named[by]);
    }
    for (const char *name : {"x", "y", "z", "next"}) {
        const std::vector<float> found = contents(named[name]);
        for (int i = 0; i < count; i++)
            if (found[i] != at(name, i)) {
                printf("%s: %d is %g, not %g\n", name, i, found[i], at(name, i));
                return 1;
            }
    }

    // Objects behind pointers, each with places of its own.
    std::vector<std::unique_ptr<Layer>> layers;
    for (int i = 0; i < 3; i++) {
        auto layer = std::make_unique<Layer>();
        layer->places.reset(new float *[2]);
        layer->places[0] = memory(), layer->places[1] = memory();
        layers.push_back(std::move(layer));
    }
    float *before = memory();
    for (auto &layer : layers) {
        twice<<<blocks, threads>>>(layer->places[0], before);
        increase<<<blocks, threads>>>(layer->places[1], layer->places[0]);
        before = layer->places[1];
    }
    const std::vector<float> found = contents(before);
    for (int i = 0; i < count; i++)
        if (found[i] != (i % 64) * 8.0f + 7.0f) {
            printf("layers: %d is %g\n", i, found[i]);
            return 1;
        }
    puts("PASS");
}
