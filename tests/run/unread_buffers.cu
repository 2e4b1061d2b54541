// test: run
// expect: 19 launches -> 9
// Intermediates that nobody reads after a group are not written by it; in most cases below somebody
// does read them: later, in another round, in another shape.
#include "unread.h"

// Reads what it does not write itself.
__global__ void neighbour(const float *x, float *y, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] = x[(i + 1) % n];
}

// Nobody reads `t`.
void nobody() {
    float *x = from(1, 1), *t = room(), *y = room();
    twice<<<3, 128>>>(x, t, n);
    plus<<<3, 128>>>(t, y, n, 1.0f);
    expect("nobody", read(y), 3, 2);
    cudaFree(x), cudaFree(t), cudaFree(y);
}

// A copy reads it.
void copied() {
    float *x = from(1, 1), *t = room(), *y = room();
    twice<<<3, 128>>>(x, t, n);
    plus<<<3, 128>>>(t, y, n, 1.0f);
    expect("copied", read(y), 3, 2);
    expect("copied t", read(t), 2, 2);
    cudaFree(x), cudaFree(t), cudaFree(y);
}

// A later launch reads it across blocks.
void launched() {
    float *x = from(1, 1), *t = room(), *y = room(), *z = room();
    twice<<<3, 128>>>(x, t, n);
    plus<<<3, 128>>>(t, y, n, 1.0f);
    neighbour<<<2, 256>>>(t, z, n);
    expect("launched", read(y), 3, 2);
    if (read(z)[0] != 4) printf("launched z\n"), failures++;
    cudaFree(x), cudaFree(t), cudaFree(y), cudaFree(z);
}

// Only the rounds behind the first one read it, before they write it.
void next_round() {
    float *x = from(1, 1), *t = from(0, 0), *y = room();
    for (int round = 0; round < 3; round++) {
        plus<<<3, 128>>>(t, y, n, 1.0f);
        twice<<<3, 128>>>(y, t, n);
        plus<<<3, 128>>>(t, y, n, 5.0f);
    }
    expect("next round", read(y), 19, 0);
    cudaFree(x), cudaFree(t), cudaFree(y);
}

// The shape shrinks and grows, so that some rounds may take the originals, with what is there.
void shapes(int blocks) {
    float *x = from(1, 1), *t = from(0, 0), *y = from(0, 0);
    for (int round = 0; round < 2; round++) {
        int first = round == 0 ? blocks : 1;
        twice<<<first, 128>>>(x, t, n);
        plus<<<blocks, 128>>>(t, y, n, 1.0f);
    }
    expect("shapes", read(y), 3, 2);
    cudaFree(x), cudaFree(t), cudaFree(y);
}

// Two names for one allocation, half of which is read.
void halves() {
    float *both;
    cudaMalloc(&both, 2 * bytes);
    float *x = from(1, 1), *y = room();
    twice<<<3, 128>>>(x, both, n);
    plus<<<3, 128>>>(both, both + n, n, 1.0f);
    plus<<<3, 128>>>(both + n, y, n, 1.0f);
    expect("halves", read(both + n), 3, 2);
    expect("halves y", read(y), 4, 2);
    cudaFree(both), cudaFree(x), cudaFree(y);
}

// Read only if the program is told so.
void perhaps(bool asked) {
    float *x = from(1, 1), *t = room(), *y = room();
    twice<<<3, 128>>>(x, t, n);
    plus<<<3, 128>>>(t, y, n, 1.0f);
    if (asked) expect("perhaps", read(t), 2, 2);
    expect("perhaps y", read(y), 3, 2);
    cudaFree(x), cudaFree(t), cudaFree(y);
}

// A program that ends in between has issued what pended.
bool leaves(int when) {
    float *x = from(1, 1), *t = room(), *y = room();
    twice<<<3, 128>>>(x, t, n);
    if (when == 0) {
        expect("leaves", read(t), 2, 2);
        return true;
    }
    plus<<<3, 128>>>(t, y, n, 1.0f);
    expect("leaves y", read(y), 3, 2);
    cudaFree(x), cudaFree(t), cudaFree(y);
    return false;
}

int main(int argc, char **) {
    nobody();
    copied();
    launched();
    next_round();
    shapes(argc + 2);
    halves();
    perhaps(argc > 0);
    leaves(argc - 1);
    puts(failures ? "FAIL" : "PASS");
    return failures != 0;
}
