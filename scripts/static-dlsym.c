/* For programs that are linked with the GNU C library and without shared libraries (scripts/rustc-static, scripts/static-binary).
 *
 * Rust's crate `getrandom` looks for the function of that name at run time, because old C libraries lack it. Without shared libraries nothing can be
 * looked up, and it reads /dev/urandom instead, which an empty root directory does not have. */
#include <stddef.h>
#include <string.h>
#include <sys/random.h>

void *dlsym(void *handle, const char *name) {
  (void)handle;
  return strcmp(name, "getrandom") == 0 ? (void *)getrandom : NULL;
}
