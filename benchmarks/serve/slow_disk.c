/* Makes every fdatasync and fsync take SLOW_DISK_MS milliseconds longer: a slow disk, for the same programs. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdlib.h>
#include <unistd.h>

static void wait_for_the_disk(void) {
    const char *milliseconds = getenv("SLOW_DISK_MS");
    if (milliseconds) usleep((useconds_t)(atof(milliseconds) * 1000));
}

int fdatasync(int file) {
    static int (*real)(int);
    if (!real) real = (int (*)(int))dlsym(RTLD_NEXT, "fdatasync");
    wait_for_the_disk();
    return real(file);
}

int fsync(int file) {
    static int (*real)(int);
    if (!real) real = (int (*)(int))dlsym(RTLD_NEXT, "fsync");
    wait_for_the_disk();
    return real(file);
}
