__device__ float more(float x);
void run_a(float *out, const float *in, cudaArray_t line, int n);
void run_b(float *out, const float *in, cudaArray_t line, int n);
