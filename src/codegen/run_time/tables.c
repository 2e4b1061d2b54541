/* What the host has copied into tables of pointers in memory of the device, for tests at run time that compare
 * where these pointers lead. This file is compiled into the host module of a program whose plan asks for one.
 *
 * Invariant: a byte that is kept here is what a kernel that is launched now would find at its place. Nothing but
 * the copies that are told here writes to such tables; a copy of which nothing can be kept leaves nothing of what was
 * known of its range. Of memory that was freed old bytes may be left, of which a kernel could read none before they
 * are written again. */
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

struct part { uintptr_t low, high; char *bytes; };

enum { MOST_BYTES = 1 << 20 };
static const size_t MOST_BYTES_IN_ALL = (size_t)1 << 26;

static struct part *parts;
static size_t count, room, bytes_in_all;
static int taken;

static void take(void) {
    while (__atomic_test_and_set(&taken, __ATOMIC_ACQUIRE)) {}
}

static void give_back(void) {
    __atomic_clear(&taken, __ATOMIC_RELEASE);
}

/* The first part that ends behind an address. */
static size_t find(uintptr_t low) {
    size_t first = 0, end = count;
    while (first < end) {
        size_t middle = first + (end - first) / 2;
        if (parts[middle].high <= low) first = middle + 1;
        else end = middle;
    }
    return first;
}

/* Puts a part at its place among the others; 0 when there is no memory. */
static int insert(size_t at, uintptr_t low, uintptr_t high, const char *bytes) {
    size_t length = high - low;
    if (length > MOST_BYTES || length > MOST_BYTES_IN_ALL - bytes_in_all) return 0;
    if (count == room) {
        size_t more = room ? 2 * room : 64;
        struct part *moved = realloc(parts, more * sizeof *parts);
        if (!moved) return 0;
        parts = moved;
        room = more;
    }
    char *kept = malloc(length);
    if (!kept) return 0;
    memcpy(kept, bytes, length);
    memmove(parts + at + 1, parts + at, (count - at) * sizeof *parts);
    struct part fresh = {low, high, kept};
    parts[at] = fresh;
    ++count;
    bytes_in_all += length;
    return 1;
}

/* Leaves nothing known of a range. */
static void forget(uintptr_t low, uintptr_t high) {
    size_t at = find(low);
    while (at < count && parts[at].low < high) {
        struct part old = parts[at];
        memmove(parts + at, parts + at + 1, (count - at - 1) * sizeof *parts);
        --count;
        bytes_in_all -= old.high - old.low;
        if (old.low < low) at += (size_t)insert(at, old.low, low, old.bytes);
        if (old.high > high) at += (size_t)insert(at, high, old.high, old.bytes + (high - old.low));
        free(old.bytes);
    }
}

/* Bytes have been copied from memory of the host to memory of the device. */
void sirius_table_copied(const void *to, const void *from, size_t bytes) {
    uintptr_t low = (uintptr_t)to;
    if (!bytes || low + bytes < low) return;
    take();
    forget(low, low + bytes);
    insert(find(low), low, low + bytes, from);
    give_back();
}

/* The pointer at an address of the device; 0 where it is not known, and `value` is 0 then. */
int sirius_table_pointer(uintptr_t at, uint64_t *value) {
    char bytes[sizeof *value] = {0};
    size_t known = 0;
    take();
    for (size_t part = find(at); known < sizeof bytes && part < count && parts[part].low <= at + known; ++part) {
        size_t from = at + known - parts[part].low, more = parts[part].high - (at + known);
        if (more > sizeof bytes - known) more = sizeof bytes - known;
        memcpy(bytes + known, parts[part].bytes + from, more);
        known += more;
    }
    give_back();
    if (known < sizeof bytes) memset(bytes, 0, sizeof bytes);
    memcpy(value, bytes, sizeof bytes);
    return known == sizeof bytes;
}
