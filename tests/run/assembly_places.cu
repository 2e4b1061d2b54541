// Inline PTX as programs write it for nvcc: registers with one percent sign, barriers among other instructions, asynchronous copies of as many
// bytes as only the run knows, and buffers in shared memory that a bit of an address tells apart.
//
// expect: 3 launches -> 3
// expect-missed: resources
// expect-missed: resources
#include <cstdio>
#include <vector>

#define LANE(to) asm("mov.u32 %0, %laneid;" : "=r"(to))

__global__ void special(unsigned *lanes)
{
    unsigned one, two, three;
    LANE(one);
    asm(R"({mov.u32 %0, %laneid;})" : "=r"(two));
    asm volatile("{ .reg .u32 %first; mov.u32 %first, %%tid.x;\n"
                 " add.u32 %0, %first, %1; }"
                 : "=r"(three)
                 : "r"(1));
    lanes[blockIdx.x * blockDim.x + threadIdx.x] = one + 100 * two + 10000 * three;
}

__global__ void turned(const unsigned *lanes, unsigned *out)
{
    __shared__ unsigned staged[64];
    unsigned from = (unsigned)__cvta_generic_to_shared(staged + 63 - threadIdx.x), value;
    staged[threadIdx.x] = lanes[blockIdx.x * blockDim.x + threadIdx.x];
    asm volatile("bar.sync 0;\n ld.shared.u32 %0, [%1];\n" : "=r"(value) : "r"(from) : "memory");
    out[blockIdx.x * blockDim.x + threadIdx.x] = value;
}

__global__ void copied(const unsigned *in, unsigned *out, int count)
{
    __shared__ __align__(16 * 1024) unsigned buffers[4096];
    unsigned address = (unsigned)__cvta_generic_to_shared(buffers + 4 * threadIdx.x);
    for (int round = 0; round < 2; ++round) {
        int first = 4 * (blockIdx.x * blockDim.x + threadIdx.x) + round;
        int bytes = 4 * min(max(count - first, 0), 4);
        for (int word = 0; word < 4; ++word) {
            int told = min(max(bytes - 4 * word, 0), 4);
            asm volatile("{ .reg .pred p; setp.ne.b32 p, %3, 0;\n"
                         " @p cp.async.ca.shared.global.L2::128B [%0], [%1], 4, %2; }"
                         :
                         : "r"(address + 4 * word), "l"(in + first + word), "r"(told), "r"(word | round)
                         : "memory");
        }
        address ^= 0x2000;
    }
    asm volatile("cp.async.wait_all;" ::: "memory");
    __syncthreads();
    for (int word = 0; word < 4; ++word) {
        int at = 4 * threadIdx.x + word;
        out[4 * (blockIdx.x * blockDim.x + threadIdx.x) + word] = (word ? buffers[at] : 7) + 3 * buffers[2048 + at];
    }
}

int main()
{
    const int threads = 128, count = 4 * threads - 6;
    unsigned *lanes, *out, *in, *sums;
    std::vector<unsigned> host(count), got(threads), got_sums(4 * threads);
    for (int i = 0; i < count; ++i) host[i] = i + 1;
    cudaMalloc(&lanes, threads * sizeof(unsigned));
    cudaMalloc(&out, threads * sizeof(unsigned));
    cudaMalloc(&in, count * sizeof(unsigned));
    cudaMalloc(&sums, 4 * threads * sizeof(unsigned));
    cudaMemcpy(in, host.data(), count * sizeof(unsigned), cudaMemcpyHostToDevice);
    special<<<2, 64>>>(lanes);
    turned<<<2, 64>>>(lanes, out);
    copied<<<2, 64>>>(in, sums, count);
    cudaMemcpy(got.data(), out, threads * sizeof(unsigned), cudaMemcpyDeviceToHost);
    cudaMemcpy(got_sums.data(), sums, 4 * threads * sizeof(unsigned), cudaMemcpyDeviceToHost);
    int wrong = 0;
    for (int i = 0; i < threads; ++i) {
        unsigned thread = 63 - i % 64;
        wrong += got[i] != 101 * (thread % 32) + 10000 * (thread + 1);
    }
    auto value = [&](int i) { return i < count ? host[i] : 0; };
    for (int i = 0; i < 4 * threads; ++i) wrong += got_sums[i] != (i % 4 ? value(i) : 7) + 3 * value(i + 1);
    printf("%d wrong\n", wrong);
    printf(wrong ? "FAIL\n" : "PASS\n");
    return wrong != 0;
}
