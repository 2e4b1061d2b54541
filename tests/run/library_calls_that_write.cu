// Functions of the C and C++ libraries that look as if they only wrote text or computed a number, and that change a
// variable by which the program sizes its launches: `%n`, streams over the program's memory, operators of the
// program's own in namespace `std`, `errno`, `signgam`. A launch behind such a call has the size of then. The calls
// of the last pair change nothing.
//
// expect: 26 launches -> 16
#include <cerrno>
#include <cmath>
#include <cstdarg>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <cuda_runtime.h>
#include <fstream>
#include <iostream>
#include <sstream>
#include <string>
#include <vector>

__global__ void add(int *data) { data[threadIdx.x] += 1; }
__global__ void triple(int *data) { data[threadIdx.x] = 3 * data[threadIdx.x] + 1; }

static int *data;
static int wrong = 0;

// What is left behind an `add` by `before` threads and a `triple` by `after` threads.
static void check(int before, int after, const char *what) {
    int seen[64];
    cudaMemcpy(seen, data, sizeof seen, cudaMemcpyDeviceToHost);
    for (int i = 0; i < 64; i++) {
        int expected = i < before ? 1 : 0;
        expected = i < after ? 3 * expected + 1 : expected;
        if (seen[i] != expected) {
            wrong++;
            printf("wrong: %s: element %d is %d, not %d\n", what, i, seen[i], expected);
            break;
        }
    }
    cudaMemset(data, 0, sizeof seen);
}

static int plain;
static int listed = 3;
static int grown = 3;
namespace std {
ostream &operator<<(ostream &out, const vector<int> &list) {
    grown = list[0];
    return out;
}
template <class Traits> basic_ostream<char, Traits> &operator<<(basic_ostream<char, Traits> &out, const pair<int, int> &) {
    listed += 5;
    return out;
}
} // namespace std

static void say(char *to, const char *format, ...) {
    va_list list;
    va_start(list, format);
    vsnprintf(to, 32, format, list);
    va_end(list);
}

#define PAIR(size, call, what)                                                                                         \
    {                                                                                                                  \
        int before = (size);                                                                                           \
        add<<<1, (size)>>>(data);                                                                                      \
        call;                                                                                                          \
        triple<<<1, (size)>>>(data);                                                                                   \
        check(before, (size), what);                                                                                   \
    }

int main(int count, char **) {
    cudaMalloc(&data, 64 * sizeof(int));
    cudaMemset(data, 0, 64 * sizeof(int));
    char text[64];
    FILE *null = fopen("/dev/null", "w");

    int length = 4;
    PAIR(length, printf("eight!!\n%n", &length), "printf with %n")
    PAIR(length, snprintf(text, sizeof text, "%s%hhn", "twelve chars", (signed char *)&length), "snprintf with %n")
    PAIR(length, say(text, "%d%n", 123456, &length), "vsnprintf with %n")

    static char memory[64] = {5};
    FILE *in_memory = fmemopen(memory, sizeof memory, "w");
    setvbuf(in_memory, nullptr, _IONBF, 0);
    PAIR(memory[0] & 31, fputs("C", in_memory), "a stream in memory")

    char *grows = nullptr;
    size_t bytes = 0;
    FILE *growing = open_memstream(&grows, &bytes);
    fputs("ab", growing);
    fflush(growing);
    PAIR((int)bytes, (fputs("cde", growing), fflush(growing)), "a stream that grows")

    static char buffer[64] = {6};
    setvbuf(null, buffer, _IOFBF, sizeof buffer);
    PAIR(buffer[0] & 31, fputs("I", null), "the buffer of a stream")

    static char letters[64] = {7};
    std::ofstream out;
    out.rdbuf()->pubsetbuf(letters, sizeof letters);
    out.open("/dev/null");
    PAIR(letters[0] & 31, out << 'M', "the buffer of a C++ stream")

    std::vector<int> list = {9};
    std::pair<int, int> pair;
    PAIR(grown, std::cout << list, "an operator of the program's own")
    PAIR(listed, std::cout << pair, "a template of the program's own")

    const char *number = "999999999999999999999999";
    errno = 5;
    PAIR(errno, wrong += strtol(number, nullptr, 10) == 0, "errno after strtol")
    volatile double negative = -1;
    errno = 6;
    PAIR(errno, wrong += std::log(negative) == 0, "errno after log")

    volatile double below = -0.5;
    signgam = 1;
    PAIR(4 + signgam, wrong += lgamma(below) == 0, "signgam")

    FILE *other = fopen("/dev/null", "w");
    plain = count + 9;
    PAIR(plain,
         (fprintf(other, "%d%%n %s\n", plain, number), wrong += strtol("12", nullptr, 10) != 12,
          wrong += std::log(2.0 - negative) < 0),
         "nothing")
    fclose(other);
    puts(wrong ? "FAIL" : "PASS");
    return wrong != 0;
}
