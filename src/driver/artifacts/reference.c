/* The program that `SIRIUS_REFERENCE=1` builds: it holds the program without fusion, the fused one, and
 * where that leaves stores out the fused one with all of them. Each is run with the same arguments and
 * standard input; output, exit status and what device memory holds at the end are compared. Where all is
 * equal it ends as the program does. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#define EMBED(NAME, FILE)                                                                          \
    __asm__(".section .rodata\n.balign 16\n" #NAME "_start:\n.incbin \"" FILE "\"\n" #NAME         \
            "_end:\n.previous\n");                                                                 \
    extern const char NAME##_start[], NAME##_end[]

EMBED(unfused, SIRIUS_UNFUSED);
EMBED(fused, SIRIUS_FUSED);
#ifdef SIRIUS_ALL_STORES
EMBED(all_stores, SIRIUS_ALL_STORES);
#endif

struct text { char *bytes; size_t size; };
struct run { int status; struct text output, memory; };

static void end(const char *what) {
    fprintf(stderr, "sirius: reference: %s: %s\n", what, strerror(errno));
    exit(1);
}

static void fill(int file, const char *bytes, size_t size) {
    if (file < 0) end("no room for a file");
    while (size > 0) {
        ssize_t written = write(file, bytes, size);
        if (written < 0) end("no room for a file");
        bytes += written, size -= (size_t)written;
    }
}

static int file_with(const char *bytes, size_t size) {
    int file = memfd_create("sirius", MFD_CLOEXEC);
    fill(file, bytes, size);
    lseek(file, 0, SEEK_SET);
    return file;
}

/* A program as a file with a name: source lines are looked up there. */
static char *program_with(const char *bytes, size_t size) {
    const char *folder = getenv("TMPDIR");
    char *name = malloc(4096);
    if (!name) end("no memory");
    snprintf(name, 4096, "%s/sirius-XXXXXX", folder && *folder ? folder : "/tmp");
    int file = mkstemp(name);
    fill(file, bytes, size);
    if (fchmod(file, 0700) || close(file)) end("no room for a file");
    return name;
}

static struct text contents(int file) {
    struct text text = {0, 0};
    size_t room = 0;
    for (;;) {
        if (text.size == room && !(text.bytes = realloc(text.bytes, room = room ? 2 * room : 1 << 16)))
            end("no memory");
        ssize_t got = read(file, text.bytes + text.size, room - text.size);
        if (got < 0) end("cannot read");
        if (got == 0) return text;
        text.size += (size_t)got;
    }
}

/* Runs a program; `watch` is null, or the byte that it is to say the last writer of. What it says on
 * standard error is heard when `loud`. */
static struct run run(const char *start, const char *stop, char **arguments, struct text input, int loud,
                      const char *watch) {
    char *program = program_with(start, (size_t)(stop - start));
    int standard_input = file_with(input.bytes, input.size);
    int output = file_with(0, 0), memory = file_with(0, 0);
    fflush(0);
    pid_t child = fork();
    if (child < 0) end("cannot start the program");
    if (child == 0) {
        char name[64];
        int duplicate = dup(memory); /* stays open in the program */
        snprintf(name, sizeof name, "/proc/self/fd/%d", duplicate);
        setenv("SIRIUS_DUMP_MEMORY", name, 1);
        setenv("SIRIUS_DUMP_WHOLE", "1", 1);
        setenv("SIRIUS_CPU_THREADS", "1", 0);
        if (watch) setenv("SIRIUS_WATCH", watch, 1);
        if (!loud) {
            unsetenv("SIRIUS_STATS"), unsetenv("SIRIUS_TRACE");
            if (!watch) dup2(open("/dev/null", O_WRONLY), 2);
        }
        dup2(standard_input, 0);
        dup2(output, 1);
        execve(program, arguments, environ);
        fprintf(stderr, "sirius: reference: cannot start the program: %s\n", strerror(errno));
        _exit(127);
    }
    struct run result;
    if (waitpid(child, &result.status, 0) < 0) end("cannot wait for the program");
    lseek(output, 0, SEEK_SET), lseek(memory, 0, SEEK_SET);
    result.output = contents(output), result.memory = contents(memory);
    unlink(program), free(program);
    close(standard_input), close(output), close(memory);
    return result;
}

static int same(struct text a, struct text b) {
    return a.size == b.size && (a.size == 0 || !memcmp(a.bytes, b.bytes, a.size));
}

static size_t first_difference(const char *a, size_t a_size, const char *b, size_t b_size) {
    size_t at = 0;
    while (at < a_size && at < b_size && a[at] == b[at]) ++at;
    return at;
}

static struct text next_line(struct text *rest) {
    char *end = rest->size ? memchr(rest->bytes, '\n', rest->size) : 0;
    struct text line = {rest->bytes, end ? (size_t)(end - rest->bytes) : rest->size};
    size_t used = line.size + (end != 0);
    rest->bytes += used, rest->size -= used;
    return line;
}

/* The value behind a key of a line of JSON; an empty text where there is none. */
static struct text field(struct text line, const char *key) {
    struct text none = {0, 0};
    char *at = line.size ? memmem(line.bytes, line.size, key, strlen(key)) : 0;
    if (!at) return none;
    at += strlen(key);
    if (*at == '"') ++at;
    size_t left = (size_t)(line.bytes + line.size - at), size = 0;
    while (size < left && !strchr("\",}", at[size])) ++size;
    struct text value = {at, size};
    return value;
}

/* Whether a byte of dumped contents is a number, and no part of an address. */
static int is_plain(struct text contents, size_t byte) {
    size_t word = byte;
    while (word > 0 && byte - word < 8 && !strchr("P.", contents.bytes[2 * word])) --word;
    return byte - word >= 8 || !strchr("P.", contents.bytes[2 * word]);
}

/* Says which byte differs first, and whether one does. */
static int compare_memory(struct run unfused, struct run fused, char *watch, size_t room) {
    struct text left = unfused.memory, right = fused.memory;
    while (left.size || right.size) {
        struct text a = next_line(&left), b = next_line(&right);
        if (same(a, b)) continue;
        struct text number = field(a, "\"ordinal\":"), name = field(a, "\"name\":");
        struct text one = field(a, "\"contents\":"), other = field(b, "\"contents\":");
        struct text number_there = field(b, "\"ordinal\":");
        if (!same(number, number_there) || one.size != other.size || !one.size) {
            fprintf(stderr, "sirius: reference: other allocations are freed or left\n");
            return 1;
        }
        size_t byte = first_difference(one.bytes, one.size, other.bytes, other.size) / 2;
        fprintf(stderr, "sirius: reference: byte %zu of allocation %.*s", byte, (int)number.size, number.bytes);
        if (name.size && strncmp(name.bytes, "null", 4))
            fprintf(stderr, " (%.*s)", (int)name.size, name.bytes);
        if (is_plain(one, byte) && is_plain(other, byte))
            fprintf(stderr, " is 0x%.2s, and 0x%.2s with fusion\n", one.bytes + 2 * byte, other.bytes + 2 * byte);
        else fprintf(stderr, " is part of an address that leads elsewhere with fusion\n");
        snprintf(watch, room, "%.*s:%zu", (int)number.size, number.bytes, byte);
        return 1;
    }
    return 0;
}

/* Says how a run differs from the one without fusion, and whether it does. */
static int differs(struct run unfused, struct run fused, int with_memory, char *watch, size_t room) {
    int found = 0;
    if (unfused.status != fused.status) {
        fprintf(stderr, "sirius: reference: the program ends with wait status %d, and %d with fusion\n",
                unfused.status, fused.status);
        found = 1;
    }
    if (!same(unfused.output, fused.output)) {
        size_t at = first_difference(unfused.output.bytes, unfused.output.size, fused.output.bytes,
                                     fused.output.size);
        size_t line = 1;
        for (size_t i = 0; i < at; ++i) line += unfused.output.bytes[i] == '\n';
        fprintf(stderr, "sirius: reference: standard output differs from byte %zu, line %zu, on\n", at, line);
        found = 1;
    }
    return (with_memory && compare_memory(unfused, fused, watch, room)) || found;
}

/* Says that kernels failed, by an assertion or a trap, and whether any did: what such a kernel leaves in
 * memory is nobody's to rely on. */
static int kernels_failed(struct run unfused, struct run fused) {
    struct text a = field(unfused.memory, "\"failure\":"), b = field(fused.memory, "\"failure\":");
    if (!a.size && !b.size) return 0;
    struct text nothing = {"none failed", 11};
    if (!a.size) a = nothing;
    if (!b.size) b = nothing;
    if (same(a, b))
        fprintf(stderr, "sirius: reference: a kernel failed, with fusion and without (%.*s); nothing is compared\n",
                (int)a.size, a.bytes);
    else
        fprintf(stderr, "sirius: reference: kernels fail differently: %.*s, and with fusion %.*s\n", (int)a.size,
                a.bytes, (int)b.size, b.bytes);
    return 1;
}

int main(int count, char **arguments) {
    (void)count;
    struct text input = {0, 0};
    if (!isatty(0) && fcntl(0, F_GETFD) != -1) input = contents(0);
    struct run unfused = run(unfused_start, unfused_end, arguments, input, 1, 0);
    struct run fused = run(fused_start, fused_end, arguments, input, 0, 0);
    fwrite(unfused.output.bytes, 1, unfused.output.size, stdout);
    fflush(stdout);
    if (kernels_failed(unfused, fused)) return 1;
    char watch[64] = "";
    const char *start = fused_start, *stop = fused_end;
#ifdef SIRIUS_ALL_STORES
    int found = differs(unfused, fused, 0, watch, sizeof watch);
    if (!found) {
        start = all_stores_start, stop = all_stores_end;
        struct run complete = run(start, stop, arguments, input, 0, 0);
        found = differs(unfused, complete, 1, watch, sizeof watch);
    }
#else
    int found = differs(unfused, fused, 1, watch, sizeof watch);
#endif
    if (found) {
        if (*watch) {
            fprintf(stderr, "sirius: reference: without fusion the byte is\n");
            run(unfused_start, unfused_end, arguments, input, 0, watch);
            fprintf(stderr, "sirius: reference: with fusion the byte is\n");
            run(start, stop, arguments, input, 0, watch);
        }
        return 1;
    }
    fprintf(stderr, "sirius: reference: the fused program does the same\n");
    if (WIFEXITED(unfused.status)) return WEXITSTATUS(unfused.status);
    return 128 + WTERMSIG(unfused.status);
}
