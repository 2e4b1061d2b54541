/* Nodes of graphs that a program gives other parameters before each launch. This file, tables of the kernels that may follow
 * each other (chains), and graph_updates.c are compiled into the host module of such a program. */
#define _POSIX_C_SOURCE 200809L
#include <pthread.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

struct dim3 { unsigned x, y, z; };

/* What a node was given last. */
struct record {
    struct dim3 grid, block;
    size_t shared;
    char arguments[] __attribute__((aligned(16)));
};

struct argument { unsigned bytes, offset; };

struct kernel {
    const void *function;
    unsigned arguments, bytes;
    const struct argument *argument;
};

/* Arguments of two kernels of a chain that are loaded from the record of the first. */
struct equal { unsigned kernel, argument, other, of_other; };

struct chain {
    void (*run)(void *stream, struct record **);
    unsigned kernels, equals;
    const struct kernel *kernel;
    const struct equal *equal;
};

