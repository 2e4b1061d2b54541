// Nobody calls it: a member of the library that no link chooses. It would not link.
void missing();
__global__ void never(int *out) { *out = 1; }

void unused(int *out) {
    never<<<1, 1>>>(out);
    missing();
}
