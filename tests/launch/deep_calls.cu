// test: launch
// Buffers that reach their holder through a chain of calls, which the module has innermost first: however long
// the chain is, the members of the holder stay unfused.
//
// options: -std=c++17
struct Holder {
    float *part[12];
    int count;
};

__global__ void scale(float *to, const float *from, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) to[i] = 2.0f * from[i];
}

template <int depth>
__attribute__((noinline)) void keep(Holder *holder, float **parts) {
    if constexpr (depth == 0) {
        holder->part[0] = parts[0];
        holder->part[1] = parts[1];
        holder->part[2] = parts[2];
        holder->part[3] = parts[3];
        holder->part[4] = parts[4];
        holder->part[5] = parts[5];
        holder->part[6] = parts[6];
        holder->part[7] = parts[7];
        holder->part[8] = parts[8];
        holder->part[9] = parts[9];
        holder->part[10] = parts[10];
        holder->part[11] = parts[11];
        holder->count = 12;
    } else {
        keep<depth - 1>(holder, parts);
    }
}

template __attribute__((noinline)) void keep<0>(Holder *, float **);
template __attribute__((noinline)) void keep<1>(Holder *, float **);
template __attribute__((noinline)) void keep<2>(Holder *, float **);
template __attribute__((noinline)) void keep<3>(Holder *, float **);
template __attribute__((noinline)) void keep<4>(Holder *, float **);
template __attribute__((noinline)) void keep<5>(Holder *, float **);
template __attribute__((noinline)) void keep<6>(Holder *, float **);
template __attribute__((noinline)) void keep<7>(Holder *, float **);
template __attribute__((noinline)) void keep<8>(Holder *, float **);
template __attribute__((noinline)) void keep<9>(Holder *, float **);
template __attribute__((noinline)) void keep<10>(Holder *, float **);
template __attribute__((noinline)) void keep<11>(Holder *, float **);

int main() {
    float *parts[12];
    cudaMalloc(&parts[0], 4096);
    cudaMalloc(&parts[1], 4096);
    cudaMalloc(&parts[2], 4096);
    cudaMalloc(&parts[3], 4096);
    cudaMalloc(&parts[4], 4096);
    cudaMalloc(&parts[5], 4096);
    cudaMalloc(&parts[6], 4096);
    cudaMalloc(&parts[7], 4096);
    cudaMalloc(&parts[8], 4096);
    cudaMalloc(&parts[9], 4096);
    cudaMalloc(&parts[10], 4096);
    cudaMalloc(&parts[11], 4096);
    Holder holder;
    keep<11>(&holder, parts);
    scale<<<8, 128>>>(holder.part[1], holder.part[0], 1024);
    scale<<<8, 128>>>(holder.part[11], holder.part[1], 1024);
    return 0;
}

//> buffer b0 parts Device bytes=4096 unique
//> buffer b1 parts[1] Device bytes=4096 unique
//> buffer b2 parts[2] Device bytes=4096 unique
//> buffer b3 parts[3] Device bytes=4096 unique
//> buffer b4 parts[4] Device bytes=4096 unique
//> buffer b5 parts[5] Device bytes=4096 unique
//> buffer b6 parts[6] Device bytes=4096 unique
//> buffer b7 parts[7] Device bytes=4096 unique
//> buffer b8 parts[8] Device bytes=4096 unique
//> buffer b9 parts[9] Device bytes=4096 unique
//> buffer b10 parts[10] Device bytes=4096 unique
//> buffer b11 parts[11] Device bytes=4096 unique
//> value v0 = 8 from L0.grid0
//> value v1 = 1 from L0.grid1
//> value v2 = 128 from L0.block0
//> value v3 = 0 from L0.shared
//> value v4 from L0.argument0+0:s64
//> value v5 from L0.argument1+0:s64
//> value v6 = 1024 from L0.argument2+0:s32
//> value v7 from L1.argument0+0:s64
//> function main
//> block0 ->
//>   n0 allocation b0 @52
//>   n1 allocation b1 @53
//>   n2 allocation b2 @54
//>   n3 allocation b3 @55
//>   n4 allocation b4 @56
//>   n5 allocation b5 @57
//>   n6 allocation b6 @58
//>   n7 allocation b7 @59
//>   n8 allocation b8 @60
//>   n9 allocation b9 @61
//>   n10 allocation b10 @62
//>   n11 allocation b11 @63
//>   n12 launch L0 kernel0 <<<(v0,v1,v1),(v2,v1,v1),v3,stream=default>>>(v4=b1, v5=b0, v6) @66
//>   n13 launch L1 kernel0 <<<(v0,v1,v1),(v2,v1,v1),v3,stream=default>>>(v7=b11, v4=b1, v6) @67
