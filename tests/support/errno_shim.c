// SPDX-License-Identifier: Apache-2.0
// Preloaded into qpscoped by the tests: read() and pread() of some files fail with an errno, which a plain tree cannot
// express. QPSCOPE_TEST_ERRORS names a file of lines "PATH ERRNO" (sys/class/x/rate EINVAL); PATH is relative to its folder.
#include <dlfcn.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/types.h>
#include <unistd.h>

enum { MOST_RULES = 64, LAST_ERRNO = 133 };

static struct {
  char path[PATH_MAX];
  int error;
} rules[MOST_RULES];
static int rule_count;

static ssize_t (*real_read)(int, void *, size_t);
static ssize_t (*real_pread)(int, void *, size_t, off_t);

// A test that injects nothing must not pass.
static void give_up(const char *what) {
  fprintf(stderr, "errno_shim: %s\n", what);
  _exit(127);
}

static int number_of(const char *name) {
  for (int i = 1; i <= LAST_ERRNO; i++) {
    const char *known = strerrorname_np(i);
    if (known && strcmp(known, name) == 0) return i;
  }
  return 0;
}

static void load_rules(const char *list) {
  char folder[PATH_MAX], line[PATH_MAX], joined[2 * PATH_MAX];
  if (!realpath(list, folder)) give_up("QPSCOPE_TEST_ERRORS names no file");
  FILE *in = fopen(folder, "re");
  if (!in) give_up("QPSCOPE_TEST_ERRORS cannot be read");
  *strrchr(folder, '/') = '\0';
  while (fgets(line, sizeof line, in)) {
    char *error = strrchr(line, ' ');
    if (!error) continue;
    *error++ = '\0';
    error[strcspn(error, "\r\n")] = '\0';
    if (rule_count == MOST_RULES) give_up("too many lines");
    snprintf(joined, sizeof joined, "%s/%s", folder, line);
    if (!realpath(joined, rules[rule_count].path)) give_up("a line names no file");
    rules[rule_count].error = number_of(error);
    if (!rules[rule_count].error) give_up("a line names no errno");
    rule_count++;
  }
  fclose(in);
}

// Sanitizers and libraries read before constructors run: whoever comes first finds the real functions.
static void find_real(void) {
  if (real_pread) return;
  *(void **)&real_read = dlsym(RTLD_NEXT, "read");
  *(void **)&real_pread = dlsym(RTLD_NEXT, "pread");
}

__attribute__((constructor)) static void start(void) {
  find_real();
  const char *list = getenv("QPSCOPE_TEST_ERRORS");
  if (list) load_rules(list);
}

static int injected(int fd) {
  if (rule_count == 0) return 0;
  char link[64], path[PATH_MAX];
  snprintf(link, sizeof link, "/proc/thread-self/fd/%d", fd);
  const ssize_t n = readlink(link, path, sizeof path - 1);
  if (n < 0) return 0;
  path[n] = '\0';
  for (int i = 0; i < rule_count; i++) {
    if (strcmp(path, rules[i].path) == 0) return rules[i].error;
  }
  return 0;
}

ssize_t read(int fd, void *buffer, size_t size) {
  find_real();
  const int error = injected(fd);
  if (!error) return real_read(fd, buffer, size);
  errno = error;
  return -1;
}

ssize_t pread(int fd, void *buffer, size_t size, off_t at) {
  find_real();
  const int error = injected(fd);
  if (!error) return real_pread(fd, buffer, size, at);
  errno = error;
  return -1;
}

// What a program built with 64-bit file offsets calls; off_t is 64 bits wide here too.
ssize_t pread64(int fd, void *buffer, size_t size, off_t at) __attribute__((alias("pread")));
