// test: kernel
struct View { float *data; int n; float value; };
struct List { float *data[3]; int n; };
struct Count { float *data; long long n; };
__global__ void keeps(float *o, float **table) { table[threadIdx.x] = o + 1; }
__global__ void keeps_field(View v, float **table) { table[threadIdx.x] = v.data; }
__global__ void keeps_moved_field(View v, float **table) {
    v.data += v.n;
    table[threadIdx.x] = v.data;
}
__global__ void keeps_struct(View v, View *views) { views[threadIdx.x] = v; }
__global__ void keeps_one_of_all(List l, float **table, int k) { table[threadIdx.x] = l.data[k]; }
__global__ void keeps_number(Count c, long long *o) { o[threadIdx.x] = c.n; }
__global__ void uses(View v) {
    if (threadIdx.x < v.n) v.data[threadIdx.x] = v.value;
}
__global__ void uses_own(View v) {
    v.data += v.n;
    v.data[threadIdx.x] = v.value;
}

//> kernel keeps
//>   may keep arg0
//>   must write arg1[8tx .. +8] : true
//>   writes arg1 within [0, 8*blockDim.x)
//>
//> kernel keeps_field
//>   may keep arg0
//>   must write arg1[8tx .. +8] : true
//>   writes arg1 within [0, 8*blockDim.x)
//>
//> kernel keeps_moved_field
//>   may keep arg0
//>   must write arg1[8tx .. +8] : true
//>   writes arg1 within [0, 8*blockDim.x)
//>
//> kernel keeps_struct
//>   may keep arg0
//>   must write arg1[16tx .. +16] : true
//>   writes arg1 within [0, 16*blockDim.x)
//>
//> kernel keeps_one_of_all
//>   may keep arg0
//>   must write arg1[8tx .. +8] : true
//>   writes arg1 within [0, 8*blockDim.x)
//>
//> kernel keeps_number
//>   may keep arg0
//>   must write arg1[8tx .. +8] : true
//>   writes arg1 within [0, 8*blockDim.x)
//>
//> kernel uses
//>   p0 = arg0.8
//>   must write arg0[4tx .. +4] : -tx + p0 - 1 >= 0
//>   writes arg0 within [0, min(4*arg0.8, 4*blockDim.x))
//>   requires 0 <= arg0.8
//>
//> kernel uses_own
//>   p0 = arg0.8
//>   must write arg0[4tx + 4p0 .. +4] : true
//>   writes arg0 within [4*arg0.8, 4*blockDim.x + 4*arg0.8)
