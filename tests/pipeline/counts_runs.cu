// A set and two launches that fuse. With a file as its argument it counts its runs there and works with the number,
// so that no two runs do the same.
#include "shift.h"
#include <cstdio>

int main(int count, char **arguments) {
    int run = 0, said = 0;
    if (count > 1) {
        if (FILE *file = fopen(arguments[1], "r")) {
            if (fscanf(file, "%d", &run) != 1) run = 0;
            fclose(file);
        }
        if (FILE *file = fopen(arguments[1], "w")) {
            fprintf(file, "%d", run + 1);
            fclose(file);
        }
    }
    if (scanf("%d", &said) != 1) said = -1;
    float *x, *y, *z;
    cudaMalloc(&x, N * sizeof(float));
    cudaMalloc(&y, N * sizeof(float));
    cudaMalloc(&z, N * sizeof(float));
    cudaMemset(x, 0, N * sizeof(float));
    shift<<<BLOCKS, THREADS>>>(y, x, (float)said);
    shift<<<BLOCKS, THREADS>>>(z, y, (float)run);
    float first;
    cudaMemcpy(&first, z, sizeof first, cudaMemcpyDeviceToHost);
    printf("%s\n", first < 1000 ? "PASS" : "FAIL");
    return 7;
}
