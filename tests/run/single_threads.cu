// A launch of one thread beside one of a plane, whose block the host keeps in a variable: threads of a plane never
// read threadIdx.z, and they run side by side where a test finds that there is one along it.
//
// expect: 4 launches -> 2
// executes: 2 4 2
// arguments:
// arguments: 2
// arguments: 1 8
#include <cstdio>
#include <cstdlib>
#include <vector>

static dim3 block(16, 8);

__global__ void corners(float *x, int side) {
    x[0] = 0.5f * (x[1] + x[side]);
    x[side * side - 1] = x[side * side - 2] + x[side * side - 1 - side];
}

__global__ void plane(const float *x, float *y, int side) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x, j = blockIdx.y * blockDim.y + threadIdx.y;
    if (i < side && j < side) y[j * side + i] = 2 * x[j * side + i] + i - j;
}

int main(int count, char **arguments) {
    const int side = 37, n = side * side;
    if (count > 1) block.z = atoi(arguments[1]);
    if (count > 2) block.x = atoi(arguments[2]);
    const dim3 grid((side + block.x - 1) / block.x, (side + block.y - 1) / block.y);
    std::vector<float> numbers(n), found(n);
    for (int i = 0; i < n; i++) numbers[i] = i;
    float *x, *y, *z;
    cudaMalloc(&x, n * sizeof(float));
    cudaMalloc(&y, n * sizeof(float));
    cudaMalloc(&z, n * sizeof(float));
    int failures = 0;
    const auto check = [&](const char *name) {
        std::vector<float> changed = numbers, doubled = numbers;
        changed[0] = 0.5f * (numbers[1] + numbers[side]);
        changed[n - 1] = numbers[n - 2] + numbers[n - 1 - side];
        for (int i = 0; i < n; i++) doubled[i] = 2 * numbers[i] + i % side - i / side;
        for (const auto &[device, host] : {std::pair{x, &changed}, std::pair{z, &doubled}}) {
            cudaMemcpy(found.data(), device, n * sizeof(float), cudaMemcpyDeviceToHost);
            if (found != *host) {
                printf("%s differs\n", name);
                failures++;
            }
        }
    };
    for (float *to : {x, y}) cudaMemcpy(to, numbers.data(), n * sizeof(float), cudaMemcpyHostToDevice);
    corners<<<1, 1>>>(x, side);
    plane<<<grid, block>>>(y, z, side);
    check("a thread, a plane");

    for (float *to : {x, y}) cudaMemcpy(to, numbers.data(), n * sizeof(float), cudaMemcpyHostToDevice);
    plane<<<grid, block>>>(y, z, side);
    corners<<<1, 1>>>(x, side);
    check("a plane, a thread");
    if (failures == 0) printf("PASS\n");
    return failures != 0;
}
