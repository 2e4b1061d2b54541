/* The program that `sirius-rs tune --pack` builds: it holds a program in several configurations. Each is run
 * with the arguments and the standard input of this program, in turns, for some rounds; what the launch
 * sites took is written to a file that the next compilation reads.
 *
 * SIRIUS_TUNE_BUDGET: seconds after which no run is begun. SIRIUS_TUNE_RESULTS: the file.
 * SIRIUS_TUNE_GRAPHS=off: no times are taken inside of CUDA graphs.
 * SIRIUS_TUNE_CACHES: whether caches are emptied where a program does the same again, see timer.c.
 * SIRIUS_TUNE_PROGRESS: says on standard output how many runs of how many are done. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define EMBED(NAME, FILE)                                                                          \
    __asm__(".section .rodata\n.balign 16\n" #NAME "_start:\n.incbin \"" FILE "\"\n" #NAME         \
            "_end:\n.previous\n");                                                                 \
    extern const char NAME##_start[], NAME##_end[]

#include SIRIUS_PROGRAMS
/* There: EMBED of `manifest`, and of `program0` and so on; their ends as SIRIUS_TABLE. */

struct text { const char *start, *end; };
static const struct text programs[] = {SIRIUS_TABLE};
enum { COUNT = sizeof programs / sizeof *programs, MOST_ROUNDS = 11 };

static char *names[COUNT];
static int failed[COUNT];
/* What each configuration is, and what its launches took in each round, or 0. */
static const char *const labels[COUNT] = {SIRIUS_LABELS};
static double launch_times[COUNT][MOST_ROUNDS];
static char device[1024];
static unsigned emptied;
static volatile pid_t running;

static void end(const char *what) {
    fprintf(stderr, "sirius: tune: %s: %s\n", what, strerror(errno));
    exit(1);
}

static void remove_programs(void) {
    for (int i = 0; i < COUNT; ++i)
        if (names[i]) unlink(names[i]);
}

static void stopped(int signal) {
    if (running > 0) kill(running, SIGKILL);
    remove_programs();
    _exit(128 + signal);
}

static double now(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + (double)time.tv_nsec / 1e9;
}

static void write_all(int file, const char *bytes, size_t size) {
    while (size > 0) {
        ssize_t written = write(file, bytes, size);
        if (written < 0) end("no room for a file");
        bytes += written, size -= (size_t)written;
    }
}

static char *program_with(struct text contents) {
    const char *folder = getenv("TMPDIR");
    char *name = malloc(4096);
    if (!name) end("no memory");
    snprintf(name, 4096, "%s/sirius-XXXXXX", folder && *folder ? folder : "/tmp");
    int file = mkstemp(name);
    if (file < 0) end("no room for a file");
    write_all(file, contents.start, (size_t)(contents.end - contents.start));
    if (fchmod(file, 0700) || close(file)) end("no room for a file");
    return name;
}

/* Standard input, to be read by every run. */
static int input_file(void) {
    int file = memfd_create("sirius", MFD_CLOEXEC);
    if (file < 0) end("no room for a file");
    char bytes[1 << 16];
    ssize_t got = 0;
    if (!isatty(0) && fcntl(0, F_GETFD) != -1)
        while ((got = read(0, bytes, sizeof bytes)) > 0) write_all(file, bytes, (size_t)got);
    return file;
}

/* Runs a configuration; its wait status. Its own words are heard when `loud`. */
static int run(int number, char **arguments, int input, int times, int loud, double seconds) {
    lseek(input, 0, SEEK_SET);
    fflush(0);
    pid_t child = fork();
    if (child < 0) end("cannot start the program");
    if (child == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        char name[64];
        snprintf(name, sizeof name, "/proc/self/fd/%d", dup(times)); /* stays open in the program */
        setenv("SIRIUS_TUNE_TIMES", name, 1);
        int nowhere = open("/dev/null", O_WRONLY);
        dup2(input, 0);
        dup2(nowhere, 1);
        if (!loud) dup2(nowhere, 2);
        if (seconds > 0) alarm((unsigned)seconds + 1);
        execv(names[number], arguments);
        fprintf(stderr, "sirius: tune: cannot start the program: %s\n", strerror(errno));
        _exit(127);
    }
    running = child;
    int status;
    while (waitpid(child, &status, 0) < 0)
        if (errno != EINTR) end("cannot wait for the program");
    running = 0;
    return status;
}

/* Writes what a run said of its sites, and adds up what they took. */
static int write_run(FILE *results, int times, int configuration, int round, int first, double *total) {
    lseek(times, 0, SEEK_SET);
    int copy = dup(times);
    FILE *lines = copy < 0 ? 0 : fdopen(copy, "r");
    if (!lines) end("no memory");
    char line[2048];
    int sites = 0;
    fprintf(results, "%s\n{\"configuration\":%d,\"round\":%d,\"sites\":[", first ? "" : ",", configuration, round);
    while (fgets(line, sizeof line, lines)) {
        unsigned site, count, times;
        double nanoseconds;
        line[strcspn(line, "\n")] = 0;
        if (!strncmp(line, "device ", 7)) snprintf(device, sizeof device, "%s", line + 7);
        if (sscanf(line, "emptied %u", &times) == 1) emptied += times;
        if (sscanf(line, "site %u %u %lf", &site, &count, &nanoseconds) == 3) {
            /* The highest bit of a fused launch's number is set. */
            fprintf(results, "%s{\"site\":%u,\"fused\":%s,\"launches\":%u,\"nanoseconds\":%.0f}", sites++ ? "," : "",
                    site & 0x7fffffff, site >> 31 ? "true" : "false", count, nanoseconds);
            *total += nanoseconds;
        }
    }
    fprintf(results, "]}");
    fclose(lines);
    return sites;
}

/* How far it is, on a terminal. */
static void show(int done, int number) {
    enum { ALL = MOST_ROUNDS * COUNT, WIDTH = 30 };
    char bar[WIDTH + 1];
    memset(bar, '-', WIDTH), bar[WIDTH] = 0;
    memset(bar, '#', (size_t)(done * WIDTH / ALL));
    fprintf(stderr, "\r\033[Ksirius: tune: [%s] %d of %d runs, now %.60s", bar, done, ALL, labels[number]);
}

static int ascending(const void *one, const void *other) {
    double difference = *(const double *)one - *(const double *)other;
    return (difference > 0) - (difference < 0);
}

/* The median of what a configuration's launches took, without the first round where there are others. */
static double median(int number) {
    double times[MOST_ROUNDS];
    int count = 0;
    for (int round = 1; round < MOST_ROUNDS; ++round)
        if (launch_times[number][round] > 0) times[count++] = launch_times[number][round];
    if (!count) return launch_times[number][0];
    qsort(times, (size_t)count, sizeof *times, ascending);
    return times[count / 2];
}

/* Says which configuration was the fastest. */
static void tell_best(void) {
    int best = 0;
    for (int i = 0; i < COUNT; ++i)
        if (!failed[i] && median(i) > 0 && (median(best) <= 0 || median(i) < median(best))) best = i;
    double planned = median(0), least = median(best);
    fprintf(stderr, "sirius: tune: fastest of %d: %s, %.3f ms a run in its launches", COUNT, labels[best], least / 1e6);
    if (best && planned > 0) fprintf(stderr, ", %.0f %% less than %s (%.3f ms)", 100 * (1 - least / planned), labels[0], planned / 1e6);
    fputc('\n', stderr);
}

int main(int count, char **arguments) {
    (void)count;
    const char *asked = getenv("SIRIUS_TUNE_BUDGET"), *path = getenv("SIRIUS_TUNE_RESULTS");
    double budget = asked && *asked ? atof(asked) : SIRIUS_BUDGET, start = now();
    int says_progress = getenv("SIRIUS_TUNE_PROGRESS") != 0;
    char own[4096];
    snprintf(own, sizeof own, "%s.json", arguments[0]);
    if (!path || !*path) path = own;
    signal(SIGINT, stopped), signal(SIGTERM, stopped), signal(SIGHUP, stopped);
    atexit(remove_programs);
    for (int i = 0; i < COUNT; ++i) names[i] = program_with(programs[i]);
    int input = input_file(), times = memfd_create("sirius", MFD_CLOEXEC);
    if (times < 0) end("no room for a file");
    char *text = 0;
    size_t size = 0;
    FILE *runs = open_memstream(&text, &size);
    if (!runs) end("no memory");

    int done = 0, sites = 0, first = 1;
    double longest = 0;
    if (!says_progress)
        for (int i = 0; i < COUNT; ++i) fprintf(stderr, "sirius: tune: configuration %d: %s\n", i, labels[i]);
    for (int round = 0; round < MOST_ROUNDS; ++round) {
        /* Round 0 warms up; after it no run is begun that would not end in time. */
        for (int turn = 0; turn < COUNT; ++turn) {
            int number = (turn + (round > 0 ? round : 0)) % COUNT;
            if (failed[number]) continue;
            if (round > 0 && now() - start + longest > budget) goto enough;
            if (ftruncate(times, 0)) end("no room for a file");
            if (!says_progress && isatty(2)) show(done, number);
            double before = now();
            double most = done ? 10 * longest + 10 : 0;
            int status = run(number, arguments, input, times, done == 0, most);
            double took = now() - before;
            if (status && done == 0 && !getenv("SIRIUS_TUNE_GRAPHS")) {
                /* Nodes that take times may be more than its graphs bear. */
                setenv("SIRIUS_TUNE_GRAPHS", "off", 1);
                --turn;
                continue;
            }
            if (status && done == 0) {
                fprintf(stderr, "sirius: tune: the program ends with wait status %d; it is not measured\n", status);
                return 1;
            }
            ++done;
            if (status) {
                fprintf(stderr, "sirius: tune: configuration %d ends with wait status %d; it is left out\n", number,
                        status);
                failed[number] = 1;
                continue;
            }
            if (took > longest) longest = took;
            sites += write_run(runs, times, number, round, first, &launch_times[number][round]);
            first = 0;
            if (says_progress) printf("%d %d %s\n", done, MOST_ROUNDS * COUNT, labels[number]), fflush(stdout);
        }
    }
enough:
    if (!says_progress && isatty(2)) fputs("\r\033[K", stderr);
    fclose(runs);
    if (sites == 0) {
        fprintf(stderr, "sirius: tune: the program launches nothing that is timed\n");
        return 1;
    }
    /* Beside its place, so that the file is whole or the old one. */
    char beside[4096 + 16];
    int is_special = 0;
    struct stat known;
    if (stat(path, &known) == 0 && !S_ISREG(known.st_mode)) is_special = 1;
    snprintf(beside, sizeof beside, is_special ? "%s" : "%s.%d", path, (int)getpid());
    FILE *results = fopen(beside, "w");
    if (!results) end(path);
    fprintf(results, "{\"manifest\":%.*s,\n\"device\":\"%s\",\"caches_emptied\":%u,\"runs\":[",
            (int)(manifest_end - manifest_start), manifest_start, device, emptied);
    fwrite(text, 1, size, results);
    fprintf(results, "\n]}\n");
    if (ferror(results) | fclose(results) || (!is_special && rename(beside, path))) {
        int reason = errno;
        if (!is_special) unlink(beside);
        errno = reason;
        end(path);
    }
    if (!says_progress) {
        tell_best();
        fprintf(stderr, "sirius: tune: %d runs on %s: %s\n", done, device, path);
    }
    return 0;
}
