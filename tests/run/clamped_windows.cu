// The mean of each pixel's neighbours, in loops between the larger and the smaller of two bounds, which stay in the
// image of a block.
//
// Shows: a domain of many alternatives is judged alternative by alternative where it is too much at once.
//
// expect: 2 launches -> 1
#include <cstdio>
#include <vector>

constexpr int SIDE = 8, IMAGES = 32, PIXELS = SIDE * SIDE;

__global__ void begin(float *image) { image[blockIdx.x * PIXELS + threadIdx.x] = 0.5f * (float)(threadIdx.x % 11) - blockIdx.x; }

__global__ void mean(const float *in, float *out) {
    const int top = threadIdx.x / SIDE - 1, left = threadIdx.x % SIDE - 1;
    float sum = 0.0f;
    int count = 0;
    for (int y = max(top, 0); y < min(top + 3, SIDE); ++y)
        for (int x = max(left, 0); x < min(left + 3, SIDE); ++x, ++count) sum += in[(blockIdx.x * SIDE + y) * SIDE + x];
    out[blockIdx.x * PIXELS + threadIdx.x] = sum / count;
}

int main() {
    float *all;
    cudaMalloc(&all, 2 * IMAGES * PIXELS * sizeof(float));
    begin<<<IMAGES, PIXELS>>>(all);
    mean<<<IMAGES, PIXELS>>>(all, all + IMAGES * PIXELS);
    std::vector<float> means(IMAGES * PIXELS);
    cudaMemcpy(means.data(), all + IMAGES * PIXELS, means.size() * sizeof(float), cudaMemcpyDeviceToHost);
    bool right = true;
    for (int i = 0; i < IMAGES * PIXELS; ++i) {
        float sum = 0.0f;
        int count = 0;
        for (int y = 0; y < SIDE; ++y)
            for (int x = 0; x < SIDE; ++x)
                if (abs(y - i % PIXELS / SIDE) <= 1 && abs(x - i % SIDE) <= 1) {
                    sum += 0.5f * (float)((y * SIDE + x) % 11) - i / PIXELS;
                    ++count;
                }
        right &= means[i] == sum / count;
    }
    printf(right ? "PASS\n" : "FAIL\n");
    return !right;
}
