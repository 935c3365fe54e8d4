/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "client/ctl/descriptors.h"
#include "client/ctl/dynamic.h"
#include "client/ctl/output.h"
#include "client/ctl/read_file.h"
#include "client/ctl/rpc.h"
#include "client/ctl/verbs.h"

/* The request as it was given: "-", "@FILE" or the text itself. */
static bool read_request(struct csi_ctl *ctl, const char *argument, const char **json_out, size_t *length_out,
                         struct csi_ctl_error *error) {
  if (strcmp(argument, "-") != 0 && argument[0] != '@') {
    *json_out = argument;
    *length_out = strlen(argument);
    return true;
  }
  const char *path = argument[0] == '@' ? argument + 1 : NULL;
  return csi_ctl_read_file(ctl, path, CSI_CTL_JSON_BYTES, json_out, length_out, error);
}

/* Others see a command line in the list of processes, and it stays in the shell's history. */
static void warn_of_secret(struct csi_ctl *ctl, char **argv, const upb_MethodDef *method) {
  const struct csi_ctl_group *group;
  struct csi_ctl_error unheard;
  bool on_command_line = strcmp(argv[4], "-") != 0 && argv[4][0] != '@';
  if (on_command_line && csi_ctl_find_group(ctl, argv[1], &group, &unheard) &&
      csi_ctl_has_secret(group, upb_MethodDef_InputType(method)))
    fprintf(stderr,
            "warning: the command line of %s may carry a secret that others can see: "
            "use - (standard input) or \"@FILE\"\n",
            argv[3]);
}

static int run_call(struct csi_ctl *ctl, int argc, char **argv) {
  struct csi_ctl_error error;
  const upb_MethodDef *method;
  const char *json;
  size_t length;
  char empty[] = "{}", *five[] = {argv[0], argv[1], argv[2], argv[3], argc > 4 ? argv[4] : empty};
  if (!csi_ctl_find_rpc(ctl, argv[1], argv[2], argv[3], &method, &error) ||
      !read_request(ctl, five[4], &json, &length, &error))
    return csi_ctl_report(ctl, &error);
  if (argc > 4) warn_of_secret(ctl, five, method);

  struct csi_ctl_message response;
  if (!csi_ctl_call_json(ctl, argv[1], argv[2], argv[3], json, length, &response, &error)) {
    if (error.exit == CSI_CTL_USAGE && !csi_utf8_is_valid(json, length))
      csi_ctl_hint(&error, "the request must be UTF-8: save it so, and give it by \"@FILE\"; a pipe of "
                           "PowerShell needs $OutputEncoding = [Text.UTF8Encoding]::new()");
    return csi_ctl_report(ctl, &error);
  }
  int result = csi_output_message(ctl, &response);
  csi_ctl_message_free(&response);
  return result;
}

const struct csi_ctl_verb csi_ctl_call_verb = {
    .name = "call",
    .arguments = "GROUP VERSION RPC [JSON|-|@FILE]",
    .summary = "Make any call, with the request and the response as JSON",
    .help =
        "Makes the call RPC of VERSION of GROUP and prints the response as JSON (with -o yaml as YAML). "
        "\"csi-proxyctl describe GROUP VERSION RPC\" shows what the messages are made of.\n"
        "\n"
        "JSON is the request as proto3 defines it: 64-bit integers may be numbers or strings, bytes are in "
        "base64, and fields that are left out have their defaults. Without it the request is empty. - reads "
        "it from standard input, @FILE from a file, in UTF-8, or in UTF-16 with a byte order mark. A name "
        "the request does not have, a value of the wrong "
        "type, a name that stands twice or text behind the end is refused before anything is sent. The "
        "response has the names of the proto, and every field, those at their defaults as well.\n"
        "\n"
        "Shells differ in what they leave of quotes on a command line, so - and \"@FILE\" (in quotes: to "
        "PowerShell @ is a sign of its own) are the sure ways. Everybody on the machine can read command "
        "lines: give requests with passwords by - or \"@FILE\".\n"
        "\n"
        "In any shell:\n"
        "\n"
        "  csi-proxyctl call disk v1 ListDiskIDs\n"
        "  csi-proxyctl call smb v1 NewSmbGlobalMapping \"@request.json\"\n"
        "\n"
        "In cmd:\n"
        "\n"
        "  csi-proxyctl call disk v1 GetDiskStats \"{\\\"disk_number\\\": 2}\"\n"
        "\n"
        "In PowerShell:\n"
        "\n"
        "  '{\"disk_number\": 2}' | csi-proxyctl call disk v1 GetDiskStats -",
    .least_arguments = 3,
    .most_arguments = 4,
    .run = run_call,
};
