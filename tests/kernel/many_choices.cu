// test: kernel
//
// Offsets that many conditions choose, each of several cases: what is written may be anywhere, and is known in time.

#define MOVED(k) if (i < n + k * k || i > m + 3 * k) place += 5 * k + 1;

__global__ void chosen(float *out, int n, int m) {
    int i = threadIdx.x + blockIdx.x * blockDim.x;
    int place = i;
    MOVED(1) MOVED(2) MOVED(3) MOVED(4) MOVED(5) MOVED(6) MOVED(7) MOVED(8) MOVED(9) MOVED(10)
    MOVED(11) MOVED(12) MOVED(13) MOVED(14) MOVED(15) MOVED(16) MOVED(17) MOVED(18) MOVED(19) MOVED(20)
    out[place] = 1;
}

//> kernel chosen
//>   may write arg0[*] : true (it has too many cases)
//>   writes arg0 within [?, ?)
