// SPDX-License-Identifier: Apache-2.0
// Preloaded into qpscoped by the tests: calls on some files fail with an errno, which a plain tree cannot express.
// QPSCOPE_TEST_ERRORS names a file of lines "PATH ERRNO [CALL]" (sys/class/x/rate EINVAL); PATH is relative to its folder.
// CALL is read (of a file; the default), open (of a file or folder), list (a folder's names) or link (what a symbolic link says).
#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/openat2.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/types.h>
#include <unistd.h>

enum { MOST_RULES = 64, LAST_ERRNO = 133 };

enum call { READ, OPEN, LIST, LINK, CALLS };
static const char *const call_names[CALLS] = {"read", "open", "list", "link"};

static struct {
  char path[PATH_MAX];
  enum call call;
  int error;
} rules[MOST_RULES];
static int rule_count;

static ssize_t (*real_read)(int, void *, size_t);
static ssize_t (*real_pread)(int, void *, size_t, off_t);
static ssize_t (*real_readlinkat)(int, const char *, char *, size_t);
static struct dirent *(*real_readdir)(DIR *);
static long (*real_syscall)(long, ...);

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

static enum call call_of(const char *name) {
  for (int i = 0; i < CALLS; i++) {
    if (strcmp(name, call_names[i]) == 0) return i;
  }
  return CALLS;
}

// Cuts the last word off a line; NULL when there is only one.
static char *last_word(char *line) {
  char *word = strrchr(line, ' ');
  if (word) *word++ = '\0';
  return word;
}

// The path of a file with all links on the way resolved; of a link itself, not of what it leads to.
static void resolve(char *path, enum call call, char *out) {
  char *name = call == LINK ? strrchr(path, '/') : NULL;
  if (name) *name++ = '\0';
  if (!realpath(path, out)) give_up("a line names no file");
  if (name) snprintf(out + strlen(out), PATH_MAX - strlen(out), "/%s", name);
}

static void load_rules(const char *list) {
  char folder[PATH_MAX], line[PATH_MAX], joined[2 * PATH_MAX];
  if (!realpath(list, folder)) give_up("QPSCOPE_TEST_ERRORS names no file");
  FILE *in = fopen(folder, "re");
  if (!in) give_up("QPSCOPE_TEST_ERRORS cannot be read");
  *strrchr(folder, '/') = '\0';
  while (fgets(line, sizeof line, in)) {
    line[strcspn(line, "\r\n")] = '\0';
    char *error = last_word(line);
    if (!error) continue;
    if (rule_count == MOST_RULES) give_up("too many lines");
    enum call call = call_of(error);
    if (call == CALLS) {
      call = READ;
    } else if (!(error = last_word(line))) {
      give_up("a line without an errno");
    }
    snprintf(joined, sizeof joined, "%s/%s", folder, line);
    resolve(joined, call, rules[rule_count].path);
    rules[rule_count].call = call;
    rules[rule_count].error = number_of(error);
    if (!rules[rule_count].error) give_up("a line names no errno");
    rule_count++;
  }
  fclose(in);
}

// Sanitizers and libraries read before constructors run: whoever comes first finds the real functions.
static void find_real(void) {
  if (real_pread) return;
  *(void **)&real_syscall = dlsym(RTLD_NEXT, "syscall");
  *(void **)&real_readdir = dlsym(RTLD_NEXT, "readdir");
  *(void **)&real_readlinkat = dlsym(RTLD_NEXT, "readlinkat");
  *(void **)&real_read = dlsym(RTLD_NEXT, "read");
  *(void **)&real_pread = dlsym(RTLD_NEXT, "pread");
}

__attribute__((constructor)) static void start(void) {
  find_real();
  const char *list = getenv("QPSCOPE_TEST_ERRORS");
  if (list) load_rules(list);
}

static int injected(int fd, enum call call) {
  if (rule_count == 0) return 0;
  char link[64], path[PATH_MAX];
  snprintf(link, sizeof link, "/proc/thread-self/fd/%d", fd);
  const ssize_t n = readlink(link, path, sizeof path - 1);
  if (n < 0) return 0;
  path[n] = '\0';
  for (int i = 0; i < rule_count; i++) {
    if (rules[i].call == call && strcmp(path, rules[i].path) == 0) return rules[i].error;
  }
  return 0;
}

ssize_t read(int fd, void *buffer, size_t size) {
  find_real();
  const int error = injected(fd, READ);
  if (!error) return real_read(fd, buffer, size);
  errno = error;
  return -1;
}

ssize_t pread(int fd, void *buffer, size_t size, off_t at) {
  find_real();
  const int error = injected(fd, READ);
  if (!error) return real_pread(fd, buffer, size, at);
  errno = error;
  return -1;
}

// What a program built with 64-bit file offsets calls; off_t is 64 bits wide here too.
ssize_t pread64(int fd, void *buffer, size_t size, off_t at) __attribute__((alias("pread")));

// qpscoped reads a link by its own descriptor.
ssize_t readlinkat(int fd, const char *path, char *buffer, size_t size) {
  find_real();
  const int error = *path ? 0 : injected(fd, LINK);
  if (!error) return real_readlinkat(fd, path, buffer, size);
  errno = error;
  return -1;
}

struct dirent *readdir(DIR *folder) {
  find_real();
  const int error = injected(dirfd(folder), LIST);
  if (!error) return real_readdir(folder);
  errno = error;
  return NULL;
}

struct dirent64 *readdir64(DIR *folder) __attribute__((alias("readdir")));

// openat2() has no function of its own in the C library. A look at a path (O_PATH) is not refused.
long syscall(long number, ...) {
  find_real();
  va_list list;
  va_start(list, number);
  long a[6];
  for (int i = 0; i < 6; i++) a[i] = va_arg(list, long);
  va_end(list);
  const long result = real_syscall(number, a[0], a[1], a[2], a[3], a[4], a[5]);
  if (number != SYS_openat2 || result < 0 || ((const struct open_how *)a[2])->flags & O_PATH) return result;
  const int error = injected((int)result, OPEN);
  if (!error) return result;
  close((int)result);
  errno = error;
  return -1;
}
