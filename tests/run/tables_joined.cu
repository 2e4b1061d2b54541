// Products over parts of one struct, whose inputs a table of device memory leads to: loops that are one, as what is
// added up between two of them is another part, which the table leads nowhere near to.
//
// expect: 5 launches -> 1
// executes: 1 1
// arguments:
// arguments: 3
#include <cstdio>
#include <cstdlib>
#include <vector>

constexpr int SIZE = 64;

struct Layer {
    const float *input;
    float *state;
};

struct Weights {
    float of[4][SIZE * SIZE];
    float sums[4][SIZE];
};

__global__ void product(const Layer *__restrict__ layer, Weights *__restrict__ weights, const int gate) {
    const int warp = threadIdx.x / 32, column = blockIdx.x * 32 + threadIdx.x % 32;
    float sum = 0;
    int row = 8 * warp, k = row * SIZE + column;
    for (const int end = k + 8 * SIZE; k < end; k += SIZE, ++row) sum += weights->of[gate][k] * layer->input[row];
    atomicAdd(&weights->sums[gate][column], sum);
}

__global__ void finish(const Layer *__restrict__ layer, const Weights *__restrict__ weights) {
    if (threadIdx.x >= 32) return;
    const int column = blockIdx.x * 32 + threadIdx.x;
    layer->state[column] += weights->sums[0][column] - weights->sums[1][column] + 2 * weights->sums[2][column]
                            - weights->sums[3][column];
}

int main(int argc, char **argv) {
    const int shift = argc > 1 ? atoi(argv[1]) : 0;
    std::vector<float> numbers(sizeof(Weights) / 4), input(SIZE), state(SIZE);
    for (size_t i = 0; i < numbers.size(); i++) numbers[i] = (i + shift) % 7;
    for (int i = 0; i < SIZE; i++) input[i] = (i * 5 + shift) % 11, state[i] = i;
    float *device_input, *device_state;
    Weights *weights;
    Layer *layer;
    cudaMalloc(&device_input, SIZE * sizeof(float));
    cudaMalloc(&device_state, SIZE * sizeof(float));
    cudaMalloc(&weights, sizeof(Weights));
    cudaMalloc(&layer, sizeof(Layer));
    cudaMemcpy(device_input, input.data(), SIZE * sizeof(float), cudaMemcpyHostToDevice);
    cudaMemcpy(device_state, state.data(), SIZE * sizeof(float), cudaMemcpyHostToDevice);
    cudaMemcpy(weights, numbers.data(), sizeof(Weights), cudaMemcpyHostToDevice);
    const Layer pointers{device_input, device_state};
    cudaMemcpy(layer, &pointers, sizeof(Layer), cudaMemcpyHostToDevice);

    product<<<SIZE / 32, 256>>>(layer, weights, 0);
    product<<<SIZE / 32, 256>>>(layer, weights, 1);
    product<<<SIZE / 32, 256>>>(layer, weights, 2);
    product<<<SIZE / 32, 256>>>(layer, weights, 3);
    finish<<<SIZE / 32, 256>>>(layer, weights);

    // What is compared at the end are no addresses.
    const Layer none{};
    cudaMemcpy(layer, &none, sizeof(Layer), cudaMemcpyHostToDevice);
    std::vector<float> found(SIZE);
    cudaMemcpy(found.data(), device_state, SIZE * sizeof(float), cudaMemcpyDeviceToHost);
    for (int column = 0; column < SIZE; column++) {
        float sums[4];
        for (int gate = 0; gate < 4; gate++) {
            sums[gate] = numbers[4 * SIZE * SIZE + gate * SIZE + column];
            for (int row = 0; row < SIZE; row++)
                sums[gate] += numbers[gate * SIZE * SIZE + row * SIZE + column] * input[row];
        }
        const float expected = column + sums[0] - sums[1] + 2 * sums[2] - sums[3];
        if (found[column] != expected) {
            printf("FAIL at %d: %g, not %g\n", column, found[column], expected);
            return 1;
        }
    }
    puts("PASS");
}
