// Buffers that are allocated in loops: short ones are as good as written out, whatever holds the pointers. What is
// allocated in longer loops, or in as many as only the run knows, stays what it is.
//
// test: run
// expect: 30 launches -> 21
#include <cstdio>
#include <cstdlib>
#include <vector>

#define CHECK(call)                                                          \
    do {                                                                     \
        const cudaError_t error = call;                                      \
        if (error != cudaSuccess) {                                          \
            fprintf(stderr, "%s\n", cudaGetErrorString(error));              \
            exit(1);                                                         \
        }                                                                    \
    } while (0)

constexpr int n = 300, grid = (n + 63) / 64;

__global__ void number(float *x, float first) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) x[i] = first + i;
}

__global__ void add(const float *x, float *y, float factor) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] += factor * x[i];
}

// Writes what other blocks of `add` read.
__global__ void turn(const float *x, float *y) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[n - 1 - i] = 2 * x[n - 1 - i];
}

__global__ void mirror(const float *x, float *y) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] = x[n - 1 - i];
}

using Numbers = std::vector<float>;

Numbers numbers(float first) {
    Numbers made(n);
    for (int i = 0; i < n; i++) made[i] = first + i;
    return made;
}

Numbers sum(const Numbers &x, Numbers y, float factor) {
    for (int i = 0; i < n; i++) y[i] += factor * x[i];
    return y;
}

Numbers mirrored(const Numbers &x) { return Numbers(x.rbegin(), x.rend()); }

int failures = 0;

void check(const char *name, const float *buffer, const Numbers &expected) {
    Numbers found(n);
    cudaMemcpy(found.data(), buffer, n * sizeof(float), cudaMemcpyDeviceToHost);
    for (int i = 0; i < n; i++)
        if (found[i] != expected[i]) {
            printf("%s: %d is %g, not %g\n", name, i, found[i], expected[i]);
            failures++;
            return;
        }
}

void by_addresses() {
    float *x, *y, *z, *w;
    for (float **pointer : {&x, &y, &z, &w}) {
        cudaMalloc(pointer, n * sizeof(float));
        cudaMemset(*pointer, 0, n * sizeof(float));
    }
    cudaDeviceSynchronize();
    add<<<grid, 64>>>(x, y, 2.0f);
    mirror<<<grid, 64>>>(z, w);
    check("by addresses", y, Numbers(n));
    check("by addresses", w, Numbers(n));
}

void in_an_array() {
    float *buffers[4];
    for (int i = 0; i < 4; i++) CHECK(cudaMalloc(&buffers[i], n * sizeof(float)));
    number<<<grid, 64>>>(buffers[0], 1.0f);
    number<<<grid, 64>>>(buffers[2], 2.0f);
    number<<<grid, 64>>>(buffers[1], 3.0f);
    add<<<grid, 64>>>(buffers[0], buffers[1], 2.0f);
    mirror<<<grid, 64>>>(buffers[2], buffers[3]);
    check("in an array", buffers[1], sum(numbers(1), numbers(3), 2));
    check("in an array", buffers[3], mirrored(numbers(2)));
    for (float *buffer : buffers) cudaFree(buffer);
}

void in_a_vector() {
    std::vector<float *> buffers(3);
    for (float *&buffer : buffers) cudaMalloc(&buffer, n * sizeof(float));
    number<<<grid, 64>>>(buffers[0], 1.0f);
    number<<<grid, 64>>>(buffers[1], 2.0f);
    mirror<<<grid, 64>>>(buffers[0], buffers[2]);
    add<<<grid, 64>>>(buffers[0], buffers[1], 3.0f);
    check("in a vector", buffers[1], sum(numbers(1), numbers(2), 3));
    check("in a vector", buffers[2], mirrored(numbers(1)));
    for (float *buffer : buffers) cudaFree(buffer);
}

// Two names of one buffer.
void twice_the_same() {
    float *buffers[4];
    for (int i = 0; i < 4; i++) cudaMalloc(&buffers[i], n * sizeof(float));
    cudaFree(buffers[2]);
    buffers[2] = buffers[1];
    number<<<grid, 64>>>(buffers[0], 1.0f);
    number<<<grid, 64>>>(buffers[1], 2.0f);
    add<<<grid, 64>>>(buffers[0], buffers[1], 2.0f);
    mirror<<<grid, 64>>>(buffers[2], buffers[3]);
    check("twice the same", buffers[1], sum(numbers(1), numbers(2), 2));
    check("twice the same", buffers[3], mirrored(sum(numbers(1), numbers(2), 2)));
}

// One allocation after the other under one name, the last of which stays.
void the_last_stays() {
    float *buffer = nullptr, *first = nullptr;
    for (int i = 0; i < 3; i++) {
        cudaMalloc(&buffer, n * sizeof(float));
        if (i == 0) first = buffer;
        cudaMemset(buffer, 0, n * sizeof(float));
    }
    number<<<grid, 64>>>(first, 5.0f);
    mirror<<<grid, 64>>>(first, buffer);
    add<<<grid, 64>>>(buffer, first, 2.0f);
    check("the last stays", buffer, mirrored(numbers(5)));
    check("the last stays", first, sum(mirrored(numbers(5)), numbers(5), 2));
}

// As many as the run says, of which the first may be the last.
void as_many_as(int count) {
    float *buffers[8] = {};
    for (int i = 0; i < count; i++) cudaMalloc(&buffers[i], n * sizeof(float));
    float *first = buffers[0], *last = buffers[count - 1];
    number<<<grid, 64>>>(first, 1.0f);
    turn<<<grid, 64>>>(first, last);
    add<<<grid, 64>>>(last, first, 2.0f);
    Numbers expected = numbers(1);
    for (float &number : expected) number *= count == 1 ? 6 : 5;
    check("as many as the run says", first, expected);
}

// More than are written out.
void many() {
    static float *buffers[100];
    for (int i = 0; i < 100; i++) cudaMalloc(&buffers[i], n * sizeof(float));
    for (int i = 0; i < 100; i++) number<<<grid, 64>>>(buffers[i], 1.0f * i);
    mirror<<<grid, 64>>>(buffers[98], buffers[99]);
    add<<<grid, 64>>>(buffers[97], buffers[96], 2.0f);
    check("many", buffers[99], mirrored(numbers(98)));
    check("many", buffers[96], sum(numbers(97), numbers(96), 2));
}

// A launch in the loop.
void with_launches() {
    float *buffers[3];
    for (int i = 0; i < 3; i++) {
        cudaMalloc(&buffers[i], n * sizeof(float));
        number<<<grid, 64>>>(buffers[i], 1.0f * i);
    }
    mirror<<<grid, 64>>>(buffers[0], buffers[1]);
    turn<<<grid, 64>>>(buffers[1], buffers[2]);
    check("with launches", buffers[2], sum(mirrored(numbers(0)), mirrored(numbers(0)), 1));
}

int main(int count, char **) {
    by_addresses();
    in_an_array();
    in_a_vector();
    twice_the_same();
    the_last_stays();
    as_many_as(count + 2);
    as_many_as(count);
    many();
    with_launches();
    if (failures == 0) printf("PASS\n");
    return failures != 0;
}
