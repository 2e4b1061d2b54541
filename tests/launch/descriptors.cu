// test: launch
// Libraries whose descriptors keep device pointers: cuSPARSE, and dropout of cuDNN. A product reads what
// the descriptors of matrix and vector keep and writes what that of the result keeps; its buffer stays
// with the matrix. A descriptor that an unknown function saw may keep anything. The declarations stand in
// for the libraries' headers.
extern "C" {
typedef struct SparseHandle *cusparseHandle_t;
typedef struct SparseMatrix *cusparseSpMatDescr_t;
typedef struct DenseVector *cusparseDnVecDescr_t;
typedef struct Solve *cusparseSpSVDescr_t;
int cusparseCreate(cusparseHandle_t *);
int cusparseDestroy(cusparseHandle_t);
int cusparseCreateCsr(cusparseSpMatDescr_t *, long rows, long columns, long entries, void *offsets,
                      void *indices, void *values, int, int, int base, int type);
int cusparseCreateDnVec(cusparseDnVecDescr_t *, long size, void *values, int type);
int cusparseDnVecSetValues(cusparseDnVecDescr_t, void *values);
int cusparseDnVecGetValues(cusparseDnVecDescr_t, void **values);
int cusparseSpMV_bufferSize(cusparseHandle_t, int, const void *alpha, cusparseSpMatDescr_t,
                            cusparseDnVecDescr_t, const void *beta, cusparseDnVecDescr_t, int, int, size_t *);
int cusparseSpMV(cusparseHandle_t, int, const void *alpha, cusparseSpMatDescr_t, cusparseDnVecDescr_t,
                 const void *beta, cusparseDnVecDescr_t, int, int, void *buffer);
int cusparseSpSV_createDescr(cusparseSpSVDescr_t *);
int cusparseSpSV_analysis(cusparseHandle_t, int, const void *alpha, cusparseSpMatDescr_t,
                          cusparseDnVecDescr_t, cusparseDnVecDescr_t, int, int, cusparseSpSVDescr_t, void *);
int cusparseSpSV_solve(cusparseHandle_t, int, const void *alpha, cusparseSpMatDescr_t, cusparseDnVecDescr_t,
                       cusparseDnVecDescr_t, int, int, cusparseSpSVDescr_t);
int cusparseScsrmv(cusparseHandle_t, int, int, int, int, const float *, void *, const float *, const int *,
                   const int *, const float *, const float *, float *);
int cusparseSpecial(cusparseHandle_t, cusparseDnVecDescr_t);

typedef struct NeuralHandle *cudnnHandle_t;
typedef struct Dropout *cudnnDropoutDescriptor_t;
int cudnnCreate(cudnnHandle_t *);
int cudnnCreateDropoutDescriptor(cudnnDropoutDescriptor_t *);
int cudnnSetDropoutDescriptor(cudnnDropoutDescriptor_t, cudnnHandle_t, float, void *states, size_t, long long);
int cudnnDropoutForward(cudnnHandle_t, cudnnDropoutDescriptor_t, void *, const void *x, void *, void *y,
                        void *reserve, size_t);
}

__global__ void scale(float *x, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) x[i] *= 2.0f;
}

struct Sparse {
    cusparseHandle_t handle;
    cusparseSpMatDescr_t matrix;
    cusparseDnVecDescr_t x, y;
    void *buffer = nullptr;

    Sparse(int n, int entries, int *offsets, int *indices, float *values, float *from, float *to) {
        cusparseCreate(&handle);
        cusparseCreateCsr(&matrix, n, n, entries, offsets, indices, values, 2, 2, 0, 0);
        cusparseCreateDnVec(&x, n, from, 0);
        cusparseCreateDnVec(&y, n, to, 0);
        size_t bytes = 0;
        float one = 1.0f;
        cusparseSpMV_bufferSize(handle, 0, &one, matrix, x, &one, y, 0, 0, &bytes);
        cudaMalloc(&buffer, bytes);
    }
    void multiply(const float *alpha, const float *beta) {
        cusparseSpMV(handle, 0, alpha, matrix, x, beta, y, 0, 0, buffer);
    }
};

int main(int count, char **) {
    int n = 100 * count, *offsets, *indices;
    float *values, *p, *q, *r, *factor, *unrelated;
    cudaMalloc(&offsets, n * 4 + 4);
    cudaMalloc(&indices, n * 4);
    cudaMalloc(&values, n * 4);
    cudaMalloc(&p, n * 4);
    cudaMalloc(&q, n * 4);
    cudaMalloc(&r, n * 4);
    cudaMalloc(&factor, 4);
    cudaMalloc(&unrelated, n * 4);
    Sparse sparse(n, n, offsets, indices, values, p, q);
    scale<<<4, 256>>>(unrelated, n);
    float one = 1.0f;
    sparse.multiply(&one, &one);
    // A scalar on the device.
    sparse.multiply(factor, factor);
    cusparseScsrmv(sparse.handle, 0, n, n, n, &one, nullptr, values, offsets, indices, p, &one, r);

    // The analysis leaves its buffer for the solution.
    cusparseDnVecDescr_t b, solution;
    cusparseSpSVDescr_t solve;
    void *found;
    cudaMalloc(&found, 4096);
    cusparseCreateDnVec(&b, n, r, 0);
    cusparseCreateDnVec(&solution, n, unrelated, 0);
    cusparseSpSV_createDescr(&solve);
    cusparseSpSV_analysis(sparse.handle, 0, &one, sparse.matrix, b, solution, 0, 0, solve, found);
    cusparseSpSV_solve(sparse.handle, 0, &one, sparse.matrix, b, solution, 0, 0, solve);

    // A descriptor with several pointers, and one out of a descriptor.
    cusparseDnVecDescr_t turns;
    cusparseCreateDnVec(&turns, n, p, 0);
    cusparseDnVecSetValues(turns, q);
    cusparseSpMV(sparse.handle, 0, &one, sparse.matrix, sparse.x, &one, turns, 0, 0, sparse.buffer);
    void *inside;
    cusparseDnVecGetValues(b, &inside);
    scale<<<4, 256>>>((float *)inside, n);

    // Dropout keeps states.
    cudnnHandle_t neural;
    cudnnDropoutDescriptor_t dropout;
    void *states, *reserve;
    cudaMalloc(&states, 4096);
    cudaMalloc(&reserve, 4096);
    cudnnCreate(&neural);
    cudnnCreateDropoutDescriptor(&dropout);
    cudnnSetDropoutDescriptor(dropout, neural, 0.5f, states, 4096, 1);
    cudnnDropoutForward(neural, dropout, nullptr, p, nullptr, q, reserve, 4096);

    // What the table lacks.
    cusparseDnVecDescr_t seen;
    cusparseCreateDnVec(&seen, n, unrelated, 0);
    cusparseSpecial(sparse.handle, seen);
    cusparseSpMV(sparse.handle, 0, &one, sparse.matrix, sparse.x, &one, seen, 0, 0, sparse.buffer);
    cusparseDestroy(sparse.handle);
    return 0;
}

//> buffer b0 offsets Device unique
//> buffer b1 indices Device unique
//> buffer b2 values Device unique
//> buffer b3 p Device unique
//> buffer b4 q Device unique
//> buffer b5 r Device unique
//> buffer b6 factor Device bytes=4 unique
//> buffer b7 unrelated Device unique
//> buffer b8 buffer Device unique
//> buffer b9 found Device bytes=4096 unique
//> buffer b10 states Device bytes=4096 unique
//> buffer b11 reserve Device bytes=4096 unique
//> value v0 = 4 from L0.grid0
//> value v1 = 1 from L0.grid1
//> value v2 = 256 from L0.block0
//> value v3 = 0 from L0.shared
//> value v4 from L0.argument0+0:s64
//> value v5 from L0.argument1+0:s32
//> value v6 from L1.argument0+0:s64
//> value v7
//> value v8
//> value v9
//> value v10
//> function main
//> block0 -> 
//>   n0 allocation b0 @69
//>   n1 allocation b1 @70
//>   n2 allocation b2 @71
//>   n3 allocation b3 @72
//>   n4 allocation b4 @73
//>   n5 allocation b5 @74
//>   n6 allocation b6 @75
//>   n7 allocation b7 @76
//>   n8 check @52
//>   n9 check @53
//>   n10 check @54
//>   n11 check @55
//>   n12 check @58
//>   n13 allocation b8 @59
//>   n14 launch L0 kernel0 <<<(v0,v1,v1),(v2,v1,v1),v3,stream=default>>>(v4=b7, v5) @78
//>   n15 library cusparseSpMV to b8 bytes=? to b8+? bytes=? to b9+? bytes=? to b4+? bytes=? from b8 bytes=? from b0+? bytes=? from b1+? bytes=? from b2+? bytes=? from b8+? bytes=? from b9+? bytes=? from b3+? bytes=? from b4+? bytes=? stream=default @62
//>   n16 library cusparseSpMV to b8 bytes=? to b8+? bytes=? to b9+? bytes=? to b4+? bytes=? from b6 bytes=? from b8 bytes=? from b0+? bytes=? from b1+? bytes=? from b2+? bytes=? from b8+? bytes=? from b9+? bytes=? from b3+? bytes=? from b4+? bytes=? stream=default @62
//>   n17 library cusparseScsrmv to b5 bytes=? from b2 bytes=? from b0 bytes=? from b1 bytes=? from b3 bytes=? from b5 bytes=? stream=default @83
//>   n18 allocation b9 @89
//>   n19 check @90
//>   n20 check @91
//>   n21 check @92
//>   n22 library cusparseSpSV_analysis to b9 bytes=? to b8+? bytes=? to b9+? bytes=? to b7+? bytes=? from b9 bytes=? from b0+? bytes=? from b1+? bytes=? from b2+? bytes=? from b8+? bytes=? from b9+? bytes=? from b5+? bytes=? from b7+? bytes=? stream=default @93
//>   n23 library cusparseSpSV_solve to b8+? bytes=? to b9+? bytes=? to b7+? bytes=? from b0+? bytes=? from b1+? bytes=? from b2+? bytes=? from b8+? bytes=? from b9+? bytes=? from b5+? bytes=? from b7+? bytes=? stream=default @94
//>   n24 check @98
//>   n25 check @99
//>   n26 library cusparseSpMV to b8 bytes=? to b8+? bytes=? to b9+? bytes=? to b3+? bytes=? to b4+? bytes=? from b8 bytes=? from b0+? bytes=? from b1+? bytes=? from b2+? bytes=? from b8+? bytes=? from b9+? bytes=? from b3+? bytes=? from b4+? bytes=? stream=default @100
//>   n27 check @102
//>   n28 launch L1 kernel0 <<<(v0,v1,v1),(v2,v1,v1),v3,stream=default>>>(v6=b5, v5) @103
//>   n29 allocation b10 @109
//>   n30 allocation b11 @110
//>   n31 check @111
//>   n32 check @112
//>   n33 library cudnnSetDropoutDescriptor to b10 bytes=? stream=default @113
//>   n34 library cudnnDropoutForward to b4 bytes=? to b11 bytes=? to b10+? bytes=? from b3 bytes=? from b10+? bytes=? stream=default @114
//>   n35 check @118
//>   n36 opaque cusparseSpecial @119
//>   n37 library cusparseSpMV to b8 bytes=? to b8+? bytes=? to b9+? bytes=? to *v10{?}+? host? bytes=? to b7+? bytes=? from b8 bytes=? from b0+? bytes=? from b1+? bytes=? from b2+? bytes=? from b8+? bytes=? from b9+? bytes=? from b3+? bytes=? from *v7{?}+? host? bytes=? from *v8{?}+? host? bytes=? from b7+? bytes=? from *v9{?}+? host? bytes=? stream=default host @120
//>   n38 check @121
