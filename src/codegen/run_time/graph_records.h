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

/* Parts of two records of a chain that are loaded from the first, by kernels and offsets in bytes. */
struct equal { unsigned kernel, offset, other, of_other, bytes; };

/* A part of a record that is taken for a number. */
struct constant { unsigned kernel, offset, value; };

struct chain {
    void (*run)(void *stream, struct record **);
    unsigned kernels, equals, constants;
    const struct kernel *kernel;
    const struct equal *equal;
    const struct constant *constant;
};

