/* Fails the n-th call that would change a file of the store: `once`, or `from` it on. Writes a file when it first does. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/types.h>
#include <unistd.h>

static long calls;

static int of_the_store(int file) {
    char link[64], path[4096];
    snprintf(link, sizeof link, "/proc/self/fd/%d", file);
    ssize_t length = readlink(link, path, sizeof path - 1);
    if (length <= 0) return 0;
    path[length] = 0;
    return strstr(path, "rarely.db") != NULL && strstr(path, "rarely.db-shm") == NULL;
}

static int fails(int file) {
    const char *wanted = getenv("FAILING_DISK_CALL");
    if (wanted == NULL || !of_the_store(file)) return 0;
    long call = __atomic_add_fetch(&calls, 1, __ATOMIC_SEQ_CST), nth = atol(wanted);
    const char *mode = getenv("FAILING_DISK_MODE"), *error = getenv("FAILING_DISK_ERROR");
    int hit = mode && strcmp(mode, "from") == 0 ? call >= nth : call == nth;
    if (!hit) return 0;
    const char *counter = getenv("FAILING_DISK_COUNTER");
    if (counter) {
        int note = open(counter, O_WRONLY | O_CREAT, 0600);
        if (note >= 0) close(note);
    }
    errno = error && strcmp(error, "ENOSPC") == 0 ? ENOSPC : EIO;
    return 1;
}

#define REAL(result, name, types) static result (*real)types; if (!real) real = (result (*)types)dlsym(RTLD_NEXT, #name)

ssize_t write(int file, const void *bytes, size_t count) {
    REAL(ssize_t, write, (int, const void *, size_t));
    return fails(file) ? -1 : real(file, bytes, count);
}
ssize_t pwrite(int file, const void *bytes, size_t count, off_t at) {
    REAL(ssize_t, pwrite, (int, const void *, size_t, off_t));
    return fails(file) ? -1 : real(file, bytes, count, at);
}
ssize_t pwrite64(int file, const void *bytes, size_t count, off64_t at) {
    REAL(ssize_t, pwrite64, (int, const void *, size_t, off64_t));
    return fails(file) ? -1 : real(file, bytes, count, at);
}
int fsync(int file) {
    REAL(int, fsync, (int));
    return fails(file) ? -1 : real(file);
}
int fdatasync(int file) {
    REAL(int, fdatasync, (int));
    return fails(file) ? -1 : real(file);
}
int ftruncate(int file, off_t length) {
    REAL(int, ftruncate, (int, off_t));
    return fails(file) ? -1 : real(file, length);
}
int ftruncate64(int file, off64_t length) {
    REAL(int, ftruncate64, (int, off64_t));
    return fails(file) ? -1 : real(file, length);
}
