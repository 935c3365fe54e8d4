/* SPDX-License-Identifier: Apache-2.0 */
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "calls.h"
#include "driver/words.h"

enum {
  LINE_BYTES = 4096,
  DEFAULT_TIMEOUT_MS = 60 * 1000,
};

static const char usage[] =
    "usage: csi-proxy-calls ENDPOINT_FORMAT\n"
    "Makes the calls that stand on stdin: `RPC ARGUMENT...`, with %XX for a blank, % or = in an\n"
    "argument, and `-` for one that is empty. Prints what comes back, then \". ok\" or \". error: CODE "
    "(NUMBER) TEXT\".\n"
    "`timeout MS` sets the deadline of the calls that follow.\n"
    "ENDPOINT_FORMAT: \\\\.\\pipe\\csi-proxy-%s-%s is csi-proxy's default.\n";

struct connection {
  const char *group;
  const struct call_rpc *rpcs;
  struct csi_client *client; /* NULL before its first call */
};

static struct connection connections[] = {
    {.group = "disk", .rpcs = disk_rpcs},     {.group = "volume", .rpcs = volume_rpcs},
    {.group = "smb", .rpcs = smb_rpcs},       {.group = "iscsi", .rpcs = iscsi_rpcs},
    {.group = "system", .rpcs = system_rpcs},
};

uint32_t call_number(const char *word) {
  return (uint32_t)strtoul(word, NULL, 10);
}

int64_t call_size(const char *word) {
  return strtoll(word, NULL, 10);
}

static const struct call_rpc *find_rpc(const char *name, struct connection **connection_out) {
  for (size_t i = 0; i < sizeof connections / sizeof connections[0]; i++) {
    for (const struct call_rpc *rpc = connections[i].rpcs; rpc->name != NULL; rpc++) {
      if (strcmp(rpc->name, name) != 0) continue;
      *connection_out = &connections[i];
      return rpc;
    }
  }
  return NULL;
}

static enum csi_code connect_to(struct connection *connection, const char *endpoint_format,
                                struct csi_error *error) {
  struct csi_client_options options = {.endpoint_format = endpoint_format};
  if (connection->client != NULL) return CSI_OK;
  return csi_client_connect(connection->group, NULL, &options, &connection->client, error);
}

static void finish(const char *problem) {
  if (problem == NULL) {
    puts(". ok");
  } else {
    printf(". error: %s\n", problem);
  }
  fflush(stdout);
}

static void finish_call(enum csi_code code, const struct csi_error *error) {
  char problem[LINE_BYTES];
  snprintf(problem, sizeof problem, "%s/%s (%lu) %s", csi_code_name(code), csi_code_name(error->precise_code),
           (unsigned long)error->number, error->text);
  finish(code == CSI_OK ? NULL : problem);
}

/* Replaces the words of call by those of the line. */
static bool read_arguments(const struct vdisk_words *words, struct call *call) {
  for (uint32_t i = 0; i < CALL_WORDS_MAX; i++) {
    char *word = i + 1 < words->count ? words->word[i + 1] : NULL;
    call->word[i] = word == NULL ? "" : word;
    if (word == NULL) continue;
    if (strcmp(word, "-") == 0) call->word[i] = "";
    if (!vdisk_percent_decode(word)) return false;
  }
  return words->count <= CALL_WORDS_MAX + 1;
}

static void execute(struct vdisk_words *words, const char *endpoint_format, uint32_t *timeout_ms) {
  if (strcmp(words->word[0], "timeout") == 0 && words->count == 2) {
    *timeout_ms = call_number(words->word[1]);
    finish(NULL);
    return;
  }
  struct connection *connection = NULL;
  struct call call = {.options = {.timeout_ms = *timeout_ms}};
  const struct call_rpc *rpc = find_rpc(words->word[0], &connection);
  if (rpc == NULL || !read_arguments(words, &call)) {
    finish("no such call, or bad arguments");
    return;
  }
  enum csi_code code = connect_to(connection, endpoint_format, &call.error);
  if (code == CSI_OK) {
    call.client = connection->client;
    code = rpc->run(&call);
  }
  finish_call(code, &call.error);
}

int main(int argc, char **argv) {
  char line[LINE_BYTES];
  uint32_t timeout_ms = DEFAULT_TIMEOUT_MS;
  if (argc != 2) {
    fputs(usage, stderr);
    return 2;
  }
  while (fgets(line, sizeof line, stdin) != NULL) {
    struct vdisk_words words;
    if (!vdisk_words_split(&words, line)) {
      finish("the line has too many words");
    } else if (words.count > 0) {
      execute(&words, argv[1], &timeout_ms);
    }
  }
  for (size_t i = 0; i < sizeof connections / sizeof connections[0]; i++)
    csi_client_close(connections[i].client);
  return 0;
}
