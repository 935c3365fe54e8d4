/* SPDX-License-Identifier: Apache-2.0 */
#include "codegen/lock.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "codegen/check.h"
#include "codegen/out.h"

static const char head[] = "# What every released API version puts on the wire. Made by csi-proxy-api-gen\n"
                           "# --write-lock; lines are only ever added, with new versions.\n";

static int compare_lines(const void *a, const void *b) {
  return strcmp(*(const char *const *)a, *(const char *const *)b);
}

static void sort(struct gen_list *lines) {
  if (lines->count > 0) qsort(lines->items, lines->count, sizeof(void *), compare_lines);
}

static bool contains(const struct gen_list *lines, const char *line) {
  for (GEN_EACH(const char, other, lines))
    if (strcmp(other, line) == 0) return true;
  return false;
}

/* --- the lines of a version */

static void add_messages(const struct gen_group *group, const struct gen_file *file, const char *prefix,
                         struct gen_list *lines) {
  for (GEN_EACH(struct gen_message, message, &file->messages)) {
    gen_push(group->arena, lines, gen_printf(group->arena, "%s message %s", prefix, message->name));
    for (GEN_EACH(struct gen_field, field, &message->fields))
      gen_push(group->arena, lines,
               gen_printf(group->arena, "%s message %s field %u %s %s", prefix, message->name, field->number,
                          field->name, gen_type_text(group->arena, field)));
  }
}

static void add_enums(const struct gen_group *group, const struct gen_file *file, const char *prefix,
                      struct gen_list *lines) {
  for (GEN_EACH(struct gen_enum, enumeration, &file->enums)) {
    gen_push(group->arena, lines, gen_printf(group->arena, "%s enum %s", prefix, enumeration->name));
    for (GEN_EACH(struct gen_enum_value, value, &enumeration->values))
      gen_push(group->arena, lines,
               gen_printf(group->arena, "%s enum %s value %d %s", prefix, enumeration->name, value->number,
                          value->name));
  }
}

static struct gen_list lines_of(const struct gen_group *group, const struct gen_file *file) {
  struct gen_list lines = {0};
  const char *prefix = gen_printf(group->arena, "%s %s", group->name, file->version);
  gen_push(group->arena, &lines, gen_printf(group->arena, "%s service %s", prefix, file->service));
  for (GEN_EACH(struct gen_rpc, rpc, &file->rpcs))
    gen_push(group->arena, &lines,
             gen_printf(group->arena, "%s rpc %s %s %s", prefix, rpc->name, rpc->request->name,
                        rpc->response->name));
  add_messages(group, file, prefix, &lines);
  add_enums(group, file, prefix, &lines);
  sort(&lines);
  return lines;
}

/* --- the file */

static struct gen_list read_lock(const struct gen_group *group, const char *path) {
  struct gen_list lines = {0};
  size_t size;
  char *text = gen_read_file(group->arena, path, &size);
  if (text == NULL) return lines;
  for (char *line = strtok(text, "\r\n"); line != NULL; line = strtok(NULL, "\r\n"))
    if (*line != '#') gen_push(group->arena, &lines, line);
  return lines;
}

static bool starts_with(const char *line, const char *prefix) {
  return strncmp(line, prefix, strlen(prefix)) == 0;
}

/* Lines of "<group> <version> ". */
static struct gen_list select_lines(const struct gen_group *group, const struct gen_list *lines,
                                    const char *prefix) {
  struct gen_list selected = {0};
  for (GEN_EACH(const char, line, lines))
    if (starts_with(line, prefix)) gen_push(group->arena, &selected, line);
  return selected;
}

/* --- comparison */

static const char advice[] = "released API versions are immutable; add a new version";

static void compare(const struct gen_group *group, const struct gen_file *file, const struct gen_list *locked,
                    const struct gen_list *have) {
  for (GEN_EACH(const char, line, locked))
    if (!contains(have, line))
      gen_complain(group, file, NULL, "lacks or changes the locked \"%s\"; %s", line, advice);
  for (GEN_EACH(const char, line, have))
    if (!contains(locked, line))
      gen_complain(group, file, NULL, "adds \"%s\" to a locked version; %s", line, advice);
}

/* Versions that only the lock knows. */
static void check_removed(const struct gen_group *group, const struct gen_list *lock) {
  const char *prefix = gen_printf(group->arena, "%s ", group->name);
  const char *reported = "";
  for (GEN_EACH(const char, line, lock)) {
    if (!starts_with(line, prefix)) continue;
    const char *version = line + strlen(prefix);
    version = gen_strndup(group->arena, version, strcspn(version, " "));
    if (gen_find_version(group, version) != NULL || strcmp(version, reported) == 0) continue;
    gen_complain(group, group->neutral, version, "is locked but gone; %s", advice);
    reported = version;
  }
}

/* Appends the lines of versions that are not locked yet to *added. */
static bool check(const struct gen_group *group, const struct gen_list *lock, struct gen_list *added) {
  size_t before = gen_complaints();
  check_removed(group, lock);
  for (GEN_EACH(struct gen_file, file, &group->versions)) {
    struct gen_list have = lines_of(group, file);
    struct gen_list locked =
        select_lines(group, lock, gen_printf(group->arena, "%s %s ", group->name, file->version));
    if (locked.count > 0) {
      compare(group, file, &locked, &have);
      continue;
    }
    for (GEN_EACH(const char, line, &have))
      gen_push(group->arena, added, line);
    fprintf(stderr,
            "csi-proxy-api-gen: note: %s %s is not locked yet; --write-lock adds it when it is released\n",
            group->name, file->version);
  }
  return gen_complaints() == before;
}

bool gen_lock_check(const struct gen_group *group, const char *path) {
  struct gen_list lock = read_lock(group, path), added = {0};
  return check(group, &lock, &added);
}

bool gen_lock_write(const struct gen_group *group, const char *path) {
  struct gen_list lock = read_lock(group, path), added = {0};
  if (!check(group, &lock, &added)) return false;
  for (GEN_EACH(const char, line, &added))
    gen_push(group->arena, &lock, line);
  sort(&lock);
  struct gen_out output = {0};
  gen_put(&output, "%s", head);
  for (GEN_EACH(const char, line, &lock))
    gen_put(&output, "%s\n", line);
  const char *slash = strrchr(path, '/');
  const char *directory = slash == NULL ? "." : gen_strndup(group->arena, path, (size_t)(slash - path));
  return gen_save(&output, directory, slash == NULL ? path : slash + 1);
}
