// test: kernel
//
// A loop whose counter a row holds below a part of something: numbers of several loops, in which the counter's coefficient is no
// multiple of the row's, are bounded all the same.

// Tiles of 16 rows and 64 pixels, gathered by 128 threads, of images of 56 times 56 pixels.
__global__ void gather(const float *in, float *out) {
    for (int k = 0; k < 64; k += 16)
        for (int e = threadIdx.x; e < 1024; e += 128) {
            int pixel = blockIdx.x * 64 + e % 64, channel = k + e / 64;
            if (pixel < 3136) {
                int y = pixel / 56, x = pixel % 56;
                out[e] = in[(channel * 56 + y) * 56 + x];
            }
        }
}

//> kernel gather
//>   loop i0 uniform
//>   loop i1 in i0 divergent
//>   must read arg0[256bx + 4tx + 200704i0 + 25088i1 + 12288*floor((tx)/64) .. +4] : -i0 + 3 >= 0 and -tx - 128i1 + 1023 >= 0 and -64bx - tx + 64*floor((tx)/64) + 3135 >= 0 in i0,i1
//>   must write arg1[4tx + 512i1 .. +4] : -i0 + 3 >= 0 and -tx - 128i1 + 1023 >= 0 and -64bx - tx + 64*floor((tx)/64) + 3135 >= 0 in i0,i1
//>   reads arg0 within [0, min(815164, 256*gridDim.x + 802368)), columns [0, min(213052, 256*gridDim.x + 200256)) of rows of 200704
//>   writes arg1 within [0, min(4096, 256*floor((blockDim.x - 1)/64) + 29176)), columns [0, min(4096, 4*blockDim.x)) of rows of 512
//>   requires 64*gridDim.x - 1 <= 2147483647 or 64*gridDim.x + blockDim.x - 65 <= 2147483647
