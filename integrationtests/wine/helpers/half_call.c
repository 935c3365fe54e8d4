/* SPDX-License-Identifier: Apache-2.0 */
#include "half_call.h"

#include <windows.h>

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

enum {
  FRAME_HEADER_BYTES = 9,
  MAX_PAYLOAD_BYTES = 16384, /* HTTP/2's own limit until settings raise it */
  CALL_STREAM = 1,
  ANSWER_TIMEOUT_MS = 20000,
};

enum frame_type { DATA = 0, HEADERS = 1, RST_STREAM = 3, SETTINGS = 4, PING = 6, GOAWAY = 7 };

enum { ACK = 0x1, END_STREAM = 0x1, END_HEADERS = 0x4 };

struct call {
  HANDLE pipe;
  HANDLE begun;    /* our ping came back: the headers before it were read */
  HANDLE finished; /* the stream ended or the connection is gone */
  CRITICAL_SECTION write_lock;
  bool has_message; /* a response message arrived: only a call that succeeded has one */
};

/* Reads or writes all bytes. The handle is overlapped so that both directions can wait at once. */
static bool transfer(HANDLE pipe, bool write, void *bytes, DWORD length) {
  for (DWORD done = 0; done < length;) {
    OVERLAPPED overlapped = {.hEvent = CreateEventW(NULL, TRUE, FALSE, NULL)};
    BOOL started = write ? WriteFile(pipe, (char *)bytes + done, length - done, NULL, &overlapped)
                         : ReadFile(pipe, (char *)bytes + done, length - done, NULL, &overlapped);
    DWORD moved = 0;
    bool moving = started || GetLastError() == ERROR_IO_PENDING;
    if (moving) moving = GetOverlappedResult(pipe, &overlapped, &moved, TRUE) && moved > 0;
    CloseHandle(overlapped.hEvent);
    if (!moving) return false;
    done += moved;
  }
  return true;
}

static bool send_frame(struct call *call, enum frame_type type, uint8_t flags, uint8_t stream,
                       const void *payload, uint8_t length) {
  uint8_t frame[FRAME_HEADER_BYTES + UINT8_MAX] = {0, 0, length, (uint8_t)type, flags, 0, 0, 0, stream};
  memcpy(frame + FRAME_HEADER_BYTES, payload, length);
  EnterCriticalSection(&call->write_lock);
  bool sent = transfer(call->pipe, true, frame, FRAME_HEADER_BYTES + length);
  LeaveCriticalSection(&call->write_lock);
  return sent;
}

/* False when nothing may follow. */
static bool take_frame(struct call *call, enum frame_type type, uint8_t flags, uint32_t stream,
                       const uint8_t *payload, uint32_t length) {
  switch (type) {
  case SETTINGS:
    return (flags & ACK) != 0 || send_frame(call, SETTINGS, ACK, 0, "", 0);
  case PING:
    if ((flags & ACK) == 0) return length == 8 && send_frame(call, PING, ACK, 0, payload, 8);
    SetEvent(call->begun);
    return true;
  case DATA:
    if (stream == CALL_STREAM && length > 0) call->has_message = true;
    return (flags & END_STREAM) == 0;
  case HEADERS:
    return (flags & END_STREAM) == 0;
  case RST_STREAM:
    return false;
  default:
    return true;
  }
}

static DWORD WINAPI read_frames(void *context) {
  static uint8_t payload[MAX_PAYLOAD_BYTES];
  struct call *call = context;
  for (;;) {
    uint8_t header[FRAME_HEADER_BYTES];
    if (!transfer(call->pipe, false, header, sizeof header)) break;
    uint32_t length = (uint32_t)header[0] << 16 | (uint32_t)header[1] << 8 | header[2];
    if (length > sizeof payload || (length > 0 && !transfer(call->pipe, false, payload, length))) break;
    if (!take_frame(call, header[3], header[4], header[8], payload, length)) break;
  }
  SetEvent(call->finished);
  return 0;
}

/* HPACK: indexed names of the static table, literal values without indexing. */
static const char headers[] = "\x83"                              /* :method POST */
                              "\x86"                              /* :scheme http */
                              "\x04\x19/v1.Filesystem/PathExists" /* :path */
                              "\x01\x09localhost"                 /* :authority */
                              "\x0f\x10\x10"                      /* content-type */
                              "application/grpc"
                              "\x00\x02te\x08trailers";

/* gRPC: not compressed, 8 bytes; protobuf: field 1, 6 bytes. */
static const char request[] = "\x00\x00\x00\x00\x08\x0a\x06"
                              "C:\\var";

static bool begin(struct call *call) {
  static char preface[] = "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";
  return transfer(call->pipe, true, preface, sizeof preface - 1) && send_frame(call, SETTINGS, 0, 0, "", 0) &&
         CreateThread(NULL, 0, read_frames, call, 0, NULL) != NULL &&
         send_frame(call, HEADERS, END_HEADERS, CALL_STREAM, headers, sizeof headers - 1) &&
         send_frame(call, PING, 0, 0, "half-way", 8) &&
         WaitForSingleObject(call->begun, ANSWER_TIMEOUT_MS) == WAIT_OBJECT_0;
}

static bool finish(struct call *call) {
  return send_frame(call, DATA, END_STREAM, CALL_STREAM, request, sizeof request - 1) &&
         WaitForSingleObject(call->finished, ANSWER_TIMEOUT_MS) == WAIT_OBJECT_0 && call->has_message;
}

static void say(const char *line) {
  puts(line);
  fflush(stdout);
}

int csi_half_call(const wchar_t *pipe_w) {
  static struct call call; /* the reading thread lives until the process ends */
  call.pipe = CreateFileW(pipe_w, GENERIC_READ | GENERIC_WRITE, 0, NULL, OPEN_EXISTING,
                          FILE_FLAG_OVERLAPPED | SECURITY_SQOS_PRESENT | SECURITY_ANONYMOUS, NULL);
  call.begun = CreateEventW(NULL, TRUE, FALSE, NULL);
  call.finished = CreateEventW(NULL, TRUE, FALSE, NULL);
  InitializeCriticalSection(&call.write_lock);
  if (call.pipe == INVALID_HANDLE_VALUE || !begin(&call)) {
    fputs("the call could not be begun\n", stderr);
    return 1;
  }
  say("begun");
  char line[16];
  if (fgets(line, sizeof line, stdin) == NULL) return 0;
  say(finish(&call) ? "answered" : "not answered");
  return 0;
}
