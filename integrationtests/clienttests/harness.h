/* SPDX-License-Identifier: Apache-2.0
 *
 * Runs cases against a running service through the public client library, and keeps count.
 *
 * A case says what is wrong with check(); the first failed check is what the report shows. Text made
 * with path() lives until the case ends.
 */
#ifndef CSI_CLIENTTESTS_HARNESS_H
#define CSI_CLIENTTESTS_HARNESS_H

#include <csi-proxy/client.h>
#include <csi-proxy/filesystem.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#if defined(__MINGW32__)
#define CHECK_PRINTF(format_index, first) __attribute__((format(gnu_printf, format_index, first)))
#else
#define CHECK_PRINTF(format_index, first) __attribute__((format(printf, format_index, first)))
#endif

enum {
  PATH_TEXT_BYTES = 1024,
  PATHS_PER_CASE = 48,
  WHY_BYTES = 2048,
};

/* What the node can do; a case that needs more is skipped, with its name. */
enum need {
  NEEDS_NOTHING = 0,
  NEEDS_LINKS = 1,    /* the node makes symbolic links */
  NEEDS_NO_LINKS = 2, /* the node makes none, and must say so */
  NEEDS_FILES = 4,    /* this program sees the node's files and can make one */
  NEEDS_FAKE = 8,     /* the node is the one in memory */
  NEEDS_WINDOWS = 16, /* the node tries credentials beside a mapping, and knows dependents of services */
};

struct settings {
  const char *program;           /* argv[0] */
  const char *endpoint_format;   /* NULL = the default */
  const char *working_directory; /* a working directory of the service */
  unsigned can;                  /* enum need, or'ed */
  unsigned client_count;         /* simultaneous clients */
  unsigned tree_count;           /* directories in a tree whose removal takes a while */
  const char *only;              /* part of a case's name; NULL = all */
  const char *versions;          /* those to test, separated by commas; NULL = all */
  const char *groups;            /* the same */
  const char *control;           /* where scene commands go; NULL = the testbed's driver */
  const char *images;            /* folder for the files behind disks, as the node spells it */
};

/* One running case. */
struct run {
  const struct settings *settings;
  const struct suite *suite;
  struct csi_client_options options;
  /* Connected to `version` of the suite's group, and to v1 of those it needs besides; NULL in cases that
   * connect by themselves. */
  struct csi_client *client; /* of the filesystem group */
  struct csi_client *disk;
  struct csi_client *volume;
  struct csi_client *smb;
  struct csi_client *iscsi;
  struct csi_client *system;
  const char *version;
  const char *directory;  /* exists, empty, the case's own */
  struct csi_error error; /* of the last call */
  uint32_t timeout_ms;    /* of the next calls; 0 = a long time */

  bool failed;
  char why[WHY_BYTES];
  char paths[PATHS_PER_CASE][PATH_TEXT_BYTES];
  size_t path_count;
};

struct test_case {
  const char *rpc;
  bool good; /* it is about input that must work */
  unsigned needs;
  const char *name;
  void (*body)(struct run *run);
};

/* What is tested together: the cases of one group, run once for every version. */
struct suite {
  const char *group;
  const char *const *versions; /* NULL-terminated, as the rpcs */
  const char *const *rpcs;
  const struct test_case *cases;
  size_t case_count;
  /* Whether a version has an RPC; its cases are left out where it has not. NULL = all have all. */
  bool (*has_rpc)(const char *version, const char *rpc);
  /* Groups whose clients the cases need besides; NULL-terminated, NULL = none. */
  const char *const *other_groups;
  /* Around each case. */
  void (*prepare)(struct run *run, const char *name);
  void (*clean_up)(struct run *run);
};

/* One row of a suite's cases: its RPC, what it needs, and its function. */
#define GOOD(rpc_name, needed, function)                                                                     \
  { .rpc = rpc_name, .good = true, .needs = needed, .name = #function, .body = function }
#define BAD(rpc_name, needed, function)                                                                      \
  { .rpc = rpc_name, .good = false, .needs = needed, .name = #function, .body = function }

/* Records the first failure. Returns `holds`. */
bool check(struct run *run, bool holds, const char *format, ...) CHECK_PRINTF(3, 4);

/* The call of this name has to have worked. */
void check_ok(struct run *run, const char *what, enum csi_code code);

/* The last call must have failed with this code and a text that begins with `beginning`; and with that
 * precise code and Win32 error number (0 = the failure is no system error). */
void check_refusal(struct run *run, enum csi_code code, enum csi_code precise_code, uint32_t number,
                   const char *beginning);

/* The same for numbers of another space. */
void check_refusal_in(struct run *run, enum csi_error_space space, enum csi_code code,
                      enum csi_code precise_code, uint32_t number, const char *beginning);

/* The text of the last failure has to contain this, and must not contain that. */
void check_says(struct run *run, const char *text);
void check_does_not_say(struct run *run, const char *secret);

/* Formats a text that lives as long as the case. */
const char *path(struct run *run, const char *format, ...) CHECK_PRINTF(2, 3);

/* For prepare and clean_up: gives the case its directory, through run->client. */
void make_case_directory(struct run *run, const char *name);
void remove_case_directory(struct run *run);

/* The options of the next call. */
struct csi_call_options call_options(const struct run *run);

/* filesystem_calls.c: the RPCs of the filesystem group. Each returns the code and leaves the error in
 * run->error. */
enum csi_code mkdir_at(struct run *run, const char *path);
enum csi_code rmdir_at(struct run *run, const char *path, bool force);
enum csi_code rmdir_contents_at(struct run *run, const char *path);
enum csi_code link_at(struct run *run, const char *source, const char *target);
enum csi_code exists_at(struct run *run, const char *path, bool *exists_out);
enum csi_code is_link_at(struct run *run, const char *path, bool *is_link_out);

/* Checks that the call works and gives this answer. */
void check_made(struct run *run, const char *path);
void check_exists(struct run *run, const char *path, bool expected);
void check_is_link(struct run *run, const char *path, bool expected);

/* Makes a file on the node, for cases that have NEEDS_FILES. */
void make_file(struct run *run, const char *path);

/* Milliseconds of a clock that never goes back; and waiting. */
int64_t now_ms(void);
void sleep_ms(unsigned duration_ms);

/* Runs the body in so many threads at once, each with a client of its own, connected to the version of the
 * case's group, and with its number, 0 and up. The first thing that is wrong in one of them is wrong in run.
 */
void run_together(struct run *run, unsigned count, void (*body)(struct run *own, unsigned number));

/* A text of so many bytes, as for a field over its limit. Lives until the next call. */
const char *text_of_bytes(size_t length);

/* Runs every case of a suite in every version, prints each and the suite's table; unless the settings leave
 * the group out. */
void run_suite(const struct settings *settings, const struct suite *suite);
/* Runs cases that connect by themselves, once. */
void run_cases(const struct settings *settings, const struct test_case *cases, size_t count);
/* Prints the sum and returns the exit code. */
int finish(void);

/* filesystem_cases.c */
extern const struct suite filesystem_suite;

/* service_cases.c: run once. */
extern const struct test_case service_cases[];
extern const size_t service_case_count;

/* service_cases.c: what a second process of this program does; see there. */
int vanish_during_rmdir(const struct settings *settings, const char *path);

#endif
