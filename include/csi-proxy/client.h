/* SPDX-License-Identifier: Apache-2.0
 *
 * C client of CSI Proxy: connect to an API group, call its RPCs, read what went wrong.
 *
 *   struct csi_client *client;
 *   struct csi_error error;
 *   if (csi_client_connect("filesystem", NULL, NULL, &client, &error) != CSI_OK) ...
 *   struct csi_filesystem_path_exists_request request = {.path = "C:\\var\\lib\\kubelet\\x"};
 *   struct csi_filesystem_path_exists_response *response;
 *   if (csi_filesystem_path_exists(client, &request, NULL, &response, &error) == CSI_OK) {
 *     use(response->exists);
 *     csi_response_free(response);
 *   }
 *   csi_client_close(client);
 *
 * Groups: disk, filesystem, iscsi, smb, system and volume, as drivers use them, and admin, for those who look
 * after the service. The stubs and structures of a group are in <csi-proxy/GROUP.h>. They do not depend on
 * the version of the group: the library converts to the version it is connected to.
 *
 * Threads: a client may be used by any number of threads at once; csi_client_close() must be the
 * last call on it. Strings are UTF-8. Strings given to the library are borrowed for the call.
 *
 * Lost connections: when the service was restarted, the next call opens a new connection to the same
 * version. A call is repeated only when the library knows that nothing of it was sent; one that may
 * have reached the service ends with CSI_UNAVAILABLE, and the caller, who knows whether it may be made
 * twice, decides.
 *
 * Process: the first connection starts a few threads, idle between calls, which stay until the process
 * ends. So the DLL must not be unloaded, and on systems with fork() a child must not use the library.
 */
#ifndef CSI_PROXY_CLIENT_H
#define CSI_PROXY_CLIENT_H

#include <stddef.h>
#include <stdint.h>

#include "csi-proxy/bytes.h"
#include "csi-proxy/error.h"

#ifdef __cplusplus
extern "C" {
#endif

enum {
  CSI_ERROR_TEXT_BYTES = 1024,
  CSI_ERROR_CALL_BYTES = 64,
};

/* A connection to one version of one API group. Opaque. */
struct csi_client;

/* Why a call failed. All members are read-only for the caller. */
struct csi_error {
  enum csi_code code;              /* status code on the wire; CSI_UNKNOWN for what the service refused */
  enum csi_code precise_code;      /* the code the service would rather have sent; equals `code` when the
                                      service does not say (the Go csi-proxy does not) */
  enum csi_error_space space;      /* what `number` counts in; CSI_SPACE_NONE when there is none */
  uint32_t number;                 /* raw system error number; 0 when there is none */
  char call[CSI_ERROR_CALL_BYTES]; /* failing system call, "" when there is none */
  char text[CSI_ERROR_TEXT_BYTES]; /* UTF-8 message, ready to show; cut at a character when longer */
};

/* How to reach the service. Zero means the default for every member. */
struct csi_client_options {
  /* Most time for opening the connection, milliseconds; 0 = 2000. A busy pipe is tried again within it. */
  uint32_t connect_timeout_ms;
  /* Format of the endpoint name with exactly two %s, group and version, and %% for a percent sign; NULL =
   * "\\\\.\\pipe\\csi-proxy-%s-%s" on Windows, "/run/csi-proxy/csi-proxy-%s-%s.sock" elsewhere. Borrowed
   * until connect returns. */
  const char *endpoint_format;
};

/* How to make one call. Zero means the default for every member. */
struct csi_call_options {
  /* Most time for the call, milliseconds; 0 = no limit. It travels to the service, which stops. */
  uint32_t timeout_ms;
};

/* Connects to an API group.
 *
 * group (in): a group this library was built with, for example "disk".
 * versions (in): NULL-terminated list in order of preference, for example {"v1", "v1beta1", NULL}: the
 *   first one that the node serves is taken. One that is served but refuses the caller or stays busy
 *   ends the search: an older version behind it would only hide the reason. NULL = every version this
 *   library knows, newest stable first, then beta, then alpha.
 * options (in): NULL for the defaults.
 * client_out (out): the client, to be closed with csi_client_close(); NULL on failure.
 * error_out (out): filled on failure; may be NULL.
 *
 * Returns CSI_OK; CSI_INVALID_ARGUMENT for a group or version this library does not know, an empty list
 * or a bad endpoint_format; CSI_RESOURCE_EXHAUSTED when memory is short; CSI_NOT_FOUND
 * when no listed version is served on this node (Win32 ERROR_FILE_NOT_FOUND); CSI_PERMISSION_DENIED when
 * the pipe's security descriptor refuses the caller; CSI_DEADLINE_EXCEEDED when the pipe stayed busy.
 * Blocks for at most connect_timeout_ms per version.
 * Privileges: on Windows the caller must be SYSTEM or an administrator, unless the service was started
 * with another -pipe-sddl.
 * Rests on CreateFileW and WaitNamedPipeW (Windows), connect(2) on a Unix socket (elsewhere). */
CSI_PROXY_API enum csi_code csi_client_connect(const char *group, const char *const *versions,
                                               const struct csi_client_options *options,
                                               struct csi_client **client_out, struct csi_error *error_out);

/* Version the client is connected to, for example "v1". Lives as long as the client. Never blocks. */
CSI_PROXY_API const char *csi_client_version(const struct csi_client *client);

/* Group the client is connected to. Lives as long as the client. Never blocks. */
CSI_PROXY_API const char *csi_client_group(const struct csi_client *client);

/* Closes the connection and frees the client. NULL is accepted. No call may be under way. Responses stay
 * valid. Does not wait for the service. */
CSI_PROXY_API void csi_client_close(struct csi_client *client);

/* Frees a response that a stub or csi_client_call_raw() returned, with everything it points to. NULL is
 * accepted. */
CSI_PROXY_API void csi_response_free(void *response);

/* Connects to a version of a group whether this library knows them or not: for RPCs that are newer than the
 * library, and for tools. Only csi_client_call_raw() can be used on such a client.
 *
 * group, version (in): as in the name of the pipe, for example "disk" and "v2"; each 1 to 32 small letters,
 *   digits, '-' or '_', beginning with a letter.
 * options (in): NULL for the defaults.
 * client_out (out): the client, to be closed with csi_client_close(); NULL on failure.
 * error_out (out): filled on failure; may be NULL.
 *
 * Returns CSI_OK; CSI_INVALID_ARGUMENT for another name or a bad endpoint_format; CSI_NOT_FOUND when there is
 * no such pipe; otherwise as csi_client_connect(), which tells how long it blocks, what privileges it needs
 * and what it rests on as well. */
CSI_PROXY_API enum csi_code csi_client_connect_raw(const char *group, const char *version,
                                                   const struct csi_client_options *options,
                                                   struct csi_client **client_out,
                                                   struct csi_error *error_out);

/* Makes a call with encoded messages, on a client of csi_client_connect() or of csi_client_connect_raw().
 *
 * path (in): of the RPC as HTTP/2 carries it, for example "/v1.Disk/ListDiskIDs": at most 255 characters of
 * ASCII that can be printed, without blanks. request, request_bytes (in): the encoded message; NULL only when
 * request_bytes is 0. The library overwrites its own copy after the call; the copies that gRPC makes on the
 * way it does not. options (in): NULL for the defaults; timeout_ms = 0 is no limit here as well. response_out
 * (out): the encoded message as the service sent it, nothing of it checked but its length; to be freed with
 * csi_response_free(), which does not overwrite it. NULL on failure. error_out (out): filled on failure; may
 * be NULL.
 *
 * Returns CSI_OK; CSI_INVALID_ARGUMENT for a path that is none; CSI_UNIMPLEMENTED when the service lacks the
 * RPC; CSI_UNAVAILABLE when the connection was lost, or was lost before and there is no new one: precise_code
 * is then CSI_UNAVAILABLE as well, also where the pipe is gone; CSI_DEADLINE_EXCEEDED; CSI_RESOURCE_EXHAUSTED
 * when memory is short or the response is longer than 4 MiB; otherwise what the service answered. Blocks for
 * at most timeout_ms, with connecting again. Privileges: those of csi_client_connect(), when the connection
 * was lost; otherwise none. Rests on WriteFile and ReadFile, and on CreateFileW to connect again (Windows),
 * sockets (elsewhere). */
CSI_PROXY_API enum csi_code csi_client_call_raw(struct csi_client *client, const char *path,
                                                const void *request, size_t request_bytes,
                                                const struct csi_call_options *options,
                                                struct csi_bytes **response_out, struct csi_error *error_out);

#ifdef __cplusplus
}
#endif

#endif
