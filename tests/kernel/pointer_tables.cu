// test: kernel
// Pointers in variables of the thread's own. What is written through them is written where one of them leads.
__global__ void stages(const float *x, float *y, int n) {
    __shared__ float even[64], odd[64];
    float *stage[2] = {even, odd};
    for (int k = 0; k < n; ++k) {
        stage[k % 2][threadIdx.x] = x[k];
        __syncthreads();
        y[threadIdx.x] = stage[k % 2][63 - threadIdx.x];
        __syncthreads();
    }
}
__global__ void through_one_of_three(float *a, float *b, int n) {
    __shared__ float kept[64];
    float *to[3] = {a, b, kept};
    to[n % 3][threadIdx.x] = 1;
}
// Tables that lead to each other's pointers.
__global__ void turned(float *a, float *b, int n) {
    float *to[2] = {a, b};
    for (int k = 0; k < n; ++k) {
        float *first = to[0];
        to[k % 2] = to[1 - k % 2];
        to[1] = first;
    }
    to[n % 2][threadIdx.x] = 1;
}
// What is in the table is not all that the kernel stores there as a pointer.
__global__ void from_a_number(float *a, unsigned long long address, int n) {
    float *to[2] = {a, a + 1};
    reinterpret_cast<unsigned long long *>(to)[n % 2] = address;
    to[threadIdx.x % 2][threadIdx.x] = 1;
}
__global__ void from_memory(float *a, float *const *others, int n) {
    float *to[2] = {a, a + 1};
    to[n % 2] = others[n];
    to[threadIdx.x % 2][threadIdx.x] = 1;
}
__device__ void fill(float **to, float *const *others) { memcpy(to, others, 2 * sizeof(float *)); }
__global__ void copied(float *a, float *const *others, int n) {
    float *to[2] = {a, a + 1};
    if (n > 7) fill(to, others);
    to[threadIdx.x % 2][threadIdx.x] = 1;
}
__global__ void half_a_pointer_on(float *a, float *b, int n) {
    struct __attribute__((packed)) Odd { int number; float *pointer; } to[2];
    to[n % 2].pointer = a;
    to[1 - n % 2].pointer = b;
    to[threadIdx.x % 2].pointer[threadIdx.x] = 1;
}
__device__ float **shown;
__global__ void others_may_write(float *a, float *b, int n) {
    float *to[2] = {a, b};
    shown = to;
    to[n % 2][threadIdx.x] = 1;
}

//> kernel stages
//>   p0 = arg2
//>   loop i0 uniform
//>   must read arg0[4i0 .. +4] : -i0 + p0 - 1 >= 0 in i0 in interval 0,2
//>   may write shared @_ZZ6stagesPKfPfiE3odd[*] : -i0 + p0 - 1 >= 0 in i0 (it is read from memory) in interval 0,2
//>   may write shared @_ZZ6stagesPKfPfiE4even[*] : -i0 + p0 - 1 >= 0 in i0 (it is read from memory) in interval 0,2
//>   may read shared @_ZZ6stagesPKfPfiE3odd[*] : -i0 + p0 - 1 >= 0 in i0 (it is read from memory) in interval 1
//>   may read shared @_ZZ6stagesPKfPfiE4even[*] : -i0 + p0 - 1 >= 0 in i0 (it is read from memory) in interval 1
//>   must write arg1[4tx .. +4] : -i0 + p0 - 1 >= 0 in i0 in interval 1
//>   barrier uniform in i0
//>   barrier uniform in i0
//>   anti from access 0 to access 5 across barrier 0
//>   output from access 1 to access 1 in one interval
//>   flow from access 1 to access 3 across barrier 0
//>   output from access 2 to access 2 in one interval
//>   flow from access 2 to access 4 across barrier 0
//>   anti from access 3 to access 1 across barrier 1
//>   anti from access 4 to access 2 across barrier 1
//>   flow from access 5 to access 0 across barrier 1
//>   reads arg0 within [0, 4*arg2)
//>   writes arg1 within [0, 4*blockDim.x)
//>   static shared 512 bytes
//>
//> kernel through_one_of_three
//>   may keep arg0
//>   may keep arg1
//>   may write arg0[*] : true (it is read from memory)
//>   may write arg1[*] : true (it is read from memory)
//>   may write shared @_ZZ20through_one_of_threePfS_iE4kept[*] : true (it is read from memory)
//>   writes arg0 within [?, ?)
//>   writes arg1 within [?, ?)
//>   static shared 256 bytes
//>
//> kernel turned
//>   may keep arg0
//>   may keep arg1
//>   loop i0 uniform
//>   may write arg0[*] : true (it is read from memory)
//>   may write arg1[*] : true (it is read from memory)
//>   writes arg0 within [?, ?)
//>   writes arg1 within [?, ?)
//>
//> kernel from_a_number
//>   may keep arg0
//>   may keep arg1
//>   may write anywhere[*] : true (it is read from memory)
//>   writes anywhere within [?, ?)
//>
//> kernel from_memory
//>   p0 = arg2
//>   may keep arg0
//>   must read arg1[8p0 .. +8] : true
//>   may write arg0[*] : true (it is read from memory)
//>   may write anywhere[*] : true (it is read from memory)
//>   writes arg0 within [?, ?)
//>   reads arg1 within [8*arg2, 8*arg2 + 8)
//>   writes anywhere within [?, ?)
//>
//> kernel copied
//>   p0 = arg2
//>   may keep arg0
//>   must read arg1[0 .. +16] : p0 - 8 >= 0
//>   may write anywhere[*] : true (it is read from memory)
//>   reads arg1 within [0, 16)
//>   writes anywhere within [?, ?)
//>
//> kernel half_a_pointer_on
//>   may keep arg0
//>   may keep arg1
//>   may write anywhere[*] : true (it is read from memory)
//>   writes anywhere within [?, ?)
//>
//> kernel others_may_write
//>   may keep arg0
//>   may keep arg1
//>   must write @shown[0 .. +8] : true
//>   may write anywhere[*] : true (it is read from memory)
//>   writes @shown within [0, 8)
//>   writes anywhere within [?, ?)
//>   unfusable: lets the address of a local variable escape (escaping_address)
