/* A disk that fails on purpose. Loaded with LD_PRELOAD, it stands between a program and the C library.

   Every call that changes something below one folder is counted: creating opens, writes, syncs, truncations, renames,
   removals. The call with a chosen number fails with an error, or kills the process before it, after it, or in the
   middle of a write. SQLite's own calls pass through here like Python's. A clock that is off is set here as well. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/time.h>
#include <sys/types.h>
#include <time.h>
#include <unistd.h>

enum { KILL_BEFORE = -1, KILL_AFTER = -2, KILL_WITHIN = -3 };

static char folder[PATH_MAX];
static size_t folder_length;
static long calls, counted_before, fail_at;
static int failure, for_ever;
static long clock_offset;

void covey_arm(const char *where, long at, int error, int sticky) {
    strncpy(folder, where, sizeof folder - 1);
    folder_length = strlen(folder);
    counted_before = calls;
    calls = 0;
    fail_at = at;
    failure = error;
    for_ever = sticky;
}

/* How many calls there were before the last arming. */
long covey_counted(void) { return counted_before; }
void covey_clock(long seconds) { clock_offset = seconds; }

static int inside(const char *path) {
    char full[PATH_MAX], here[PATH_MAX];
    if (!folder_length || !path) return 0;
    if (path[0] != '/') {
        if (!getcwd(here, sizeof here) || snprintf(full, sizeof full, "%s/%s", here, path) < 0) return 0;
        path = full;
    }
    return strncmp(path, folder, folder_length) == 0;
}

static int file_inside(int file) {
    char link[64], path[PATH_MAX];
    if (!folder_length) return 0;
    snprintf(link, sizeof link, "/proc/self/fd/%d", file);
    ssize_t length = readlink(link, path, sizeof path - 1);
    if (length <= 0) return 0;
    path[length] = 0;
    return path[0] == '/' && inside(path); /* pipes and sockets have no path */
}

static void die(void) {
    kill(getpid(), SIGKILL);
    for (;;) pause();
}

/* A full disk lets files be removed. */
static int removes(int concerned) { return concerned && failure != ENOSPC; }

/* Counts a call. 0: go on. 1: go on, then die. Otherwise -1 with errno set, or no return at all. */
static int counted(void) {
    long number = __sync_add_and_fetch(&calls, 1);
    if (!fail_at || (for_ever ? number < fail_at : number != fail_at)) return 0;
    if (failure == KILL_BEFORE) die();
    if (failure == KILL_AFTER || failure == KILL_WITHIN) return 1;
    errno = failure;
    return -1;
}

#define REAL(name) \
    static __typeof__(name) *real; \
    if (!real) real = (__typeof__(name) *)dlsym(RTLD_NEXT, #name)

#define PASS(type, concerned, call) \
    if (!(concerned)) return call; \
    int state = counted(); \
    if (state < 0) return -1; \
    type result = call; \
    if (state > 0) die(); \
    return result

#define OPENS(name) \
    int name(const char *path, int flags, ...) { \
        REAL(name); \
        va_list more; va_start(more, flags); mode_t mode = va_arg(more, mode_t); va_end(more); \
        PASS(int, (flags & (O_CREAT | O_TRUNC)) && inside(path), real(path, flags, mode)); \
    }
OPENS(open)
OPENS(open64)

#define OPENS_AT(name) \
    int name(int at, const char *path, int flags, ...) { \
        REAL(name); \
        va_list more; va_start(more, flags); mode_t mode = va_arg(more, mode_t); va_end(more); \
        PASS(int, (flags & (O_CREAT | O_TRUNC)) && inside(path), real(at, path, flags, mode)); \
    }
OPENS_AT(openat)
OPENS_AT(openat64)

#define WRITES(name, extra, given) \
    ssize_t name(int file, const void *bytes, size_t count extra) { \
        REAL(name); \
        if (!file_inside(file)) return real(file, bytes, count given); \
        int state = counted(); \
        if (state < 0) return -1; \
        if (state > 0 && failure == KILL_WITHIN) count = (count + 1) / 2; \
        ssize_t result = real(file, bytes, count given); \
        if (state > 0) die(); \
        return result; \
    }
#define COMMA ,
WRITES(write, , )
WRITES(pwrite, COMMA off_t place, COMMA place)
WRITES(pwrite64, COMMA off64_t place, COMMA place)

int fsync(int file) { REAL(fsync); PASS(int, file_inside(file), real(file)); }
int fdatasync(int file) { REAL(fdatasync); PASS(int, file_inside(file), real(file)); }
int ftruncate(int file, off_t size) { REAL(ftruncate); PASS(int, file_inside(file), real(file, size)); }
int ftruncate64(int file, off64_t size) { REAL(ftruncate64); PASS(int, file_inside(file), real(file, size)); }
int rename(const char *from, const char *to) { REAL(rename); PASS(int, inside(to), real(from, to)); }
int renameat(int a, const char *from, int b, const char *to) {
    REAL(renameat); PASS(int, inside(to), real(a, from, b, to));
}
int unlink(const char *path) { REAL(unlink); PASS(int, removes(inside(path)), real(path)); }
int unlinkat(int at, const char *path, int flags) {
    REAL(unlinkat); PASS(int, removes(inside(path)), real(at, path, flags));
}
int mkdir(const char *path, mode_t mode) { REAL(mkdir); PASS(int, inside(path), real(path, mode)); }
int chmod(const char *path, mode_t mode) { REAL(chmod); PASS(int, inside(path), real(path, mode)); }
int fchmod(int file, mode_t mode) { REAL(fchmod); PASS(int, file_inside(file), real(file, mode)); }

int clock_gettime(clockid_t which, struct timespec *now) {
    REAL(clock_gettime);
    int result = real(which, now);
    if (result == 0 && which == CLOCK_REALTIME) now->tv_sec += clock_offset;
    return result;
}
time_t time(time_t *now) {
    REAL(time);
    time_t result = real(NULL) + clock_offset;
    if (now) *now = result;
    return result;
}
