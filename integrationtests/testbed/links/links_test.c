/* SPDX-License-Identifier: Apache-2.0
 *
 * The emulation of reparse points by itself, call by call. Plain Win32 calls in this program see what is
 * really there: they go round the table.
 */
#include <windows.h>

#include <shellapi.h>

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <wchar.h>
#include <winioctl.h>

#include <cmocka.h>

#include "open.h"
#include "record.h"
#include "reparse_data.h"
#include "volume.h"
#include "win32/handle.h"
#include "win32/nt_calls.h"

enum {
  UNITS = 512,
  SHARE_ALL = FILE_SHARE_READ | FILE_SHARE_WRITE | FILE_SHARE_DELETE,
  LOOK = FILE_READ_ATTRIBUTES | SYNCHRONIZE,
  CHANGE = LOOK | FILE_WRITE_ATTRIBUTES | DELETE,
  ITSELF = FILE_OPEN_REPARSE_POINT,
  NO_LINKS = OBJ_DONT_REPARSE,
};

#define TAG_OF_CLOUD_FILES 0x9000001AUL
#define NAME_NOT_FOUND ((NTSTATUS)0xC0000034)
#define PATH_NOT_FOUND ((NTSTATUS)0xC000003A)
#define ACCESS_DENIED ((NTSTATUS)0xC0000022)
#define NAME_COLLISION ((NTSTATUS)0xC0000035)
#define BUFFER_TOO_SMALL ((NTSTATUS)0xC0000023)
#define DIRECTORY_NOT_EMPTY ((NTSTATUS)0xC0000101)
#define NOT_A_DIRECTORY ((NTSTATUS)0xC0000103)

#define VOLUME_GUID_W L"{5ce7a91b-0000-4000-8000-0000000000f1}"
#define VOLUME_W L"\\??\\Volume" VOLUME_GUID_W

#define assert_status(actual, expected)                                                                      \
  do {                                                                                                       \
    NTSTATUS status_ = (actual);                                                                             \
    if (status_ != (expected)) fail_msg("%s is %08lx", #actual, status_);                                    \
  } while (0)

static wchar_t root_w[UNITS]; /* NT path of a directory of each test's own */

/* `name` in the test's directory, as an NT path; good until the eighth call from now. */
static const wchar_t *in(const wchar_t *name) {
  static wchar_t paths_w[8][UNITS];
  static unsigned next;
  wchar_t *path_w = paths_w[next++ % 8];
  swprintf(path_w, UNITS, L"%ls\\%ls", root_w, name);
  return path_w;
}

static NTSTATUS open_from(HANDLE root, const wchar_t *name_w, ACCESS_MASK mask, ULONG disposition,
                          ULONG options, ULONG attributes, HANDLE *handle_out) {
  UNICODE_STRING name = csi_unicode_string(name_w, wcslen(name_w));
  OBJECT_ATTRIBUTES object;
  InitializeObjectAttributes(&object, &name, OBJ_CASE_INSENSITIVE | attributes, root, NULL);
  IO_STATUS_BLOCK io;
  return csi_nt.create_file(handle_out, mask, &object, &io, NULL, FILE_ATTRIBUTE_NORMAL, SHARE_ALL,
                            disposition, options | FILE_SYNCHRONOUS_IO_NONALERT | FILE_OPEN_FOR_BACKUP_INTENT,
                            NULL, 0);
}

static NTSTATUS try_open(const wchar_t *path_w, ULONG options, ULONG attributes) {
  CSI_SCOPED_HANDLE handle = NULL;
  return open_from(NULL, path_w, LOOK, FILE_OPEN, options, attributes, &handle);
}

static HANDLE open_to(const wchar_t *path_w, ACCESS_MASK mask, ULONG options) {
  HANDLE handle = NULL;
  assert_status(open_from(NULL, path_w, mask, FILE_OPEN, options, 0, &handle), CSI_STATUS_SUCCESS);
  return handle;
}

static void make_directory(const wchar_t *path_w) {
  assert_int_not_equal(CreateDirectoryW(path_w + 4, NULL), 0);
}

static void make_file(const wchar_t *path_w) {
  CSI_SCOPED_HANDLE file = CreateFileW(path_w + 4, GENERIC_WRITE, 0, NULL, CREATE_NEW, 0, NULL);
  assert_ptr_not_equal(file, INVALID_HANDLE_VALUE);
}

static bool is_there(const wchar_t *path_w) {
  return GetFileAttributesW(path_w + 4) != INVALID_FILE_ATTRIBUTES;
}

/* Builds what Windows itself would store. Returns its size. */
static size_t build(uint8_t *bytes, ULONG tag, const wchar_t *substitute_w, bool relative) {
  USHORT name_bytes = (USHORT)(wcslen(substitute_w) * sizeof(wchar_t));
  bool symlink = tag == LINKS_TAG_SYMLINK;
  ULONG flags = relative;
  USHORT fields[4] = {0, name_bytes, (USHORT)(name_bytes + 2), 0};
  size_t at = LINKS_HEADER_BYTES;
  memcpy(bytes + at, fields, sizeof fields);
  at += sizeof fields;
  if (symlink) memcpy(bytes + at, &flags, sizeof flags);
  if (symlink) at += sizeof flags;
  memcpy(bytes + at, substitute_w, name_bytes + 2U);
  at += name_bytes + 2U;
  memset(bytes + at, 0, 2);
  at += 2;
  USHORT header[4] = {(USHORT)tag, (USHORT)(tag >> 16), (USHORT)(at - LINKS_HEADER_BYTES), 0};
  memcpy(bytes, header, sizeof header);
  return at;
}

static NTSTATUS set_bytes(HANDLE handle, const uint8_t *bytes, size_t size_bytes) {
  IO_STATUS_BLOCK io;
  return csi_nt.fs_control_file(handle, NULL, NULL, NULL, &io, FSCTL_SET_REPARSE_POINT, (void *)bytes,
                                (ULONG)size_bytes, NULL, 0);
}

static NTSTATUS set_link(const wchar_t *path_w, ULONG tag, const wchar_t *substitute_w, bool relative) {
  uint8_t bytes[4096];
  size_t size_bytes = build(bytes, tag, substitute_w, relative);
  CSI_SCOPED_HANDLE handle = open_to(path_w, CHANGE, ITSELF);
  return set_bytes(handle, bytes, size_bytes);
}

static void make_link(const wchar_t *path_w, ULONG tag, const wchar_t *substitute_w, bool relative) {
  make_directory(path_w);
  assert_status(set_link(path_w, tag, substitute_w, relative), CSI_STATUS_SUCCESS);
}

static void make_junction(const wchar_t *path_w, const wchar_t *substitute_w) {
  make_link(path_w, LINKS_TAG_MOUNT_POINT, substitute_w, false);
}

static NTSTATUS get_bytes(HANDLE handle, void *bytes, size_t capacity_bytes, size_t *size_out) {
  IO_STATUS_BLOCK io = {.Information = 0};
  NTSTATUS status = csi_nt.fs_control_file(handle, NULL, NULL, NULL, &io, FSCTL_GET_REPARSE_POINT, NULL, 0,
                                           bytes, (ULONG)capacity_bytes);
  *size_out = io.Information;
  return status;
}

static NTSTATUS delete_tag(HANDLE handle, ULONG tag, USHORT data_bytes) {
  USHORT header[4] = {(USHORT)tag, (USHORT)(tag >> 16), data_bytes, 0};
  IO_STATUS_BLOCK io;
  return csi_nt.fs_control_file(handle, NULL, NULL, NULL, &io, FSCTL_DELETE_REPARSE_POINT, header,
                                sizeof header, NULL, 0);
}

/* 0 for what is no reparse point. */
static ULONG tag_of(HANDLE handle) {
  FILE_ATTRIBUTE_TAG_INFORMATION tag;
  FILE_BASIC_INFORMATION basic;
  IO_STATUS_BLOCK io;
  assert_status(csi_nt.query_information_file(handle, &io, &tag, sizeof tag, FileAttributeTagInformation),
                CSI_STATUS_SUCCESS);
  assert_status(csi_nt.query_information_file(handle, &io, &basic, sizeof basic, FileBasicInformation),
                CSI_STATUS_SUCCESS);
  bool reparse = (tag.FileAttributes & FILE_ATTRIBUTE_REPARSE_POINT) != 0;
  assert_int_equal(reparse, (basic.FileAttributes & FILE_ATTRIBUTE_REPARSE_POINT) != 0);
  assert_int_equal(reparse, tag.ReparseTag != 0);
  return tag.ReparseTag;
}

static ULONG tag_at(const wchar_t *path_w) {
  CSI_SCOPED_HANDLE handle = open_to(path_w, LOOK, ITSELF);
  return tag_of(handle);
}

/* What a call that follows gets to. */
static void assert_leads_to(const wchar_t *path_w, const wchar_t *expected_w) {
  CSI_SCOPED_HANDLE handle = open_to(path_w, LOOK, 0);
  static uint8_t buffer[LINKS_NAME_BYTES] __attribute__((aligned(8)));
  UNICODE_STRING name;
  assert_status(links_query_name(handle, buffer, &name), CSI_STATUS_SUCCESS);
  size_t units = name.Length / sizeof(wchar_t);
  if (units != wcslen(expected_w) || _wcsnicmp(name.Buffer, expected_w, units) != 0)
    fail_msg("%ls leads to %.*ls", path_w, (int)units, name.Buffer);
}

static void forget(const wchar_t *path_w) {
  CSI_SCOPED_HANDLE entry = CreateFileW(path_w, FILE_READ_ATTRIBUTES, SHARE_ALL, NULL, OPEN_EXISTING,
                                        FILE_FLAG_BACKUP_SEMANTICS, NULL);
  if (entry != INVALID_HANDLE_VALUE) links_record_delete(entry);
}

/* Without the emulation, links are empty directories and files: nothing is followed. */
static void remove_plainly(const wchar_t *path_w) {
  wchar_t pattern_w[UNITS], child_w[UNITS];
  swprintf(pattern_w, UNITS, L"%ls\\*", path_w);
  WIN32_FIND_DATAW found;
  HANDLE search = FindFirstFileW(pattern_w, &found);
  bool more = search != INVALID_HANDLE_VALUE;
  for (; more; more = FindNextFileW(search, &found)) {
    if (wcscmp(found.cFileName, L".") == 0 || wcscmp(found.cFileName, L"..") == 0) continue;
    swprintf(child_w, UNITS, L"%ls\\%ls", path_w, found.cFileName);
    forget(child_w);
    if ((found.dwFileAttributes & FILE_ATTRIBUTE_DIRECTORY) != 0)
      remove_plainly(child_w);
    else
      DeleteFileW(child_w);
  }
  if (search != INVALID_HANDLE_VALUE) FindClose(search);
  RemoveDirectoryW(path_w);
}

static int set_up(void **state) {
  (void)state;
  static unsigned number; /* what a failed test left open does not trouble the next */
  swprintf(root_w, UNITS, L"\\??\\C:\\links-test-%lu-%u", GetCurrentProcessId(), ++number);
  remove_plainly(root_w + 4);
  return CreateDirectoryW(root_w + 4, NULL) ? 0 : -1;
}

static int tear_down(void **state) {
  (void)state;
  remove_plainly(root_w + 4);
  remove_plainly(L"C:\\testbed\\volumes\\" VOLUME_GUID_W);
  return is_there(root_w) ? -1 : 0;
}

static void test_set_get_delete(void **state) {
  (void)state;
  make_directory(in(L"a"));
  uint8_t bytes[4096], read[4096];
  size_t read_bytes, size_bytes = build(bytes, LINKS_TAG_SYMLINK, L"\\??\\C:\\windows", false);
  CSI_SCOPED_HANDLE handle = open_to(in(L"a"), CHANGE, ITSELF);
  assert_status(get_bytes(handle, read, sizeof read, &read_bytes), LINKS_STATUS_NOT_A_REPARSE_POINT);
  assert_status(delete_tag(handle, LINKS_TAG_SYMLINK, 0), LINKS_STATUS_NOT_A_REPARSE_POINT);
  assert_int_equal(tag_of(handle), 0);

  assert_status(set_bytes(handle, bytes, size_bytes), CSI_STATUS_SUCCESS);
  assert_int_equal(tag_of(handle), LINKS_TAG_SYMLINK);
  assert_status(get_bytes(handle, read, sizeof read, &read_bytes), CSI_STATUS_SUCCESS);
  assert_int_equal(read_bytes, size_bytes);
  assert_memory_equal(read, bytes, size_bytes);
  assert_status(get_bytes(handle, read, 7, &read_bytes), BUFFER_TOO_SMALL);
  memset(read, 0, sizeof read);
  assert_status(get_bytes(handle, read, size_bytes - 1, &read_bytes), CSI_STATUS_BUFFER_OVERFLOW);
  assert_int_equal(read_bytes, size_bytes - 1);
  assert_memory_equal(read, bytes, size_bytes - 1);

  size_bytes = build(bytes, LINKS_TAG_SYMLINK, L"\\??\\C:\\", false);
  assert_status(set_bytes(handle, bytes, size_bytes), CSI_STATUS_SUCCESS);
  assert_status(get_bytes(handle, read, sizeof read, &read_bytes), CSI_STATUS_SUCCESS);
  assert_int_equal(read_bytes, size_bytes);
  size_bytes = build(bytes, LINKS_TAG_MOUNT_POINT, L"\\??\\C:\\", false);
  assert_status(set_bytes(handle, bytes, size_bytes), LINKS_STATUS_TAG_MISMATCH);
  assert_status(delete_tag(handle, LINKS_TAG_MOUNT_POINT, 0), LINKS_STATUS_TAG_MISMATCH);
  assert_status(delete_tag(handle, LINKS_TAG_SYMLINK, 2), LINKS_STATUS_DATA_INVALID);
  assert_int_equal(tag_of(handle), LINKS_TAG_SYMLINK);
  assert_status(delete_tag(handle, LINKS_TAG_SYMLINK, 0), CSI_STATUS_SUCCESS);
  assert_int_equal(tag_of(handle), 0);
  assert_status(set_bytes(handle, bytes, size_bytes), CSI_STATUS_SUCCESS);
  assert_int_equal(tag_of(handle), LINKS_TAG_MOUNT_POINT);
}

static void test_what_cannot_be_set(void **state) {
  (void)state;
  uint8_t bytes[LINKS_REPARSE_BYTES_MAX + 8] = {0};
  make_directory(in(L"full"));
  make_directory(in(L"full\\child"));
  make_file(in(L"file"));
  make_directory(in(L"a"));
  assert_status(set_link(in(L"full"), LINKS_TAG_MOUNT_POINT, L"\\??\\C:\\", false), DIRECTORY_NOT_EMPTY);
  assert_status(set_link(in(L"full"), LINKS_TAG_SYMLINK, L"\\??\\C:\\", false), DIRECTORY_NOT_EMPTY);
  assert_status(set_link(in(L"file"), LINKS_TAG_MOUNT_POINT, L"\\??\\C:\\", false), NOT_A_DIRECTORY);
  assert_status(set_link(in(L"file"), LINKS_TAG_SYMLINK, L"\\??\\C:\\", false), CSI_STATUS_SUCCESS);

  size_t size_bytes = build(bytes, LINKS_TAG_MOUNT_POINT, L"\\??\\C:\\", false);
  CSI_SCOPED_HANDLE reader = open_to(in(L"a"), LOOK, ITSELF);
  assert_status(set_bytes(reader, bytes, size_bytes), ACCESS_DENIED);
  CSI_SCOPED_HANDLE writer = open_to(in(L"a"), CHANGE, ITSELF);
  assert_status(set_bytes(writer, bytes, size_bytes - 2), LINKS_STATUS_DATA_INVALID);
  assert_status(set_bytes(writer, bytes, size_bytes + 2), LINKS_STATUS_DATA_INVALID);
  assert_status(set_bytes(writer, bytes, 7), LINKS_STATUS_DATA_INVALID);
  assert_status(set_bytes(writer, bytes, sizeof bytes), LINKS_STATUS_DATA_INVALID);
  static const struct {
    size_t at;
    uint8_t value;
  } flaws[] = {{8, 2}, {10, 0}, {10, 200}, {12, 0}, {14, 2}, {15, 200}};
  for (size_t i = 0; i < sizeof flaws / sizeof flaws[0]; i++) {
    build(bytes, LINKS_TAG_MOUNT_POINT, L"\\??\\C:\\", false);
    bytes[flaws[i].at] = flaws[i].value;
    assert_status(set_bytes(writer, bytes, size_bytes), LINKS_STATUS_DATA_INVALID);
  }
  assert_int_equal(tag_of(writer), 0);
}

static ULONG listed_attributes(const wchar_t *directory_w, const wchar_t *name_w) {
  CSI_SCOPED_HANDLE directory = open_to(directory_w, FILE_LIST_DIRECTORY | SYNCHRONIZE, 0);
  static uint8_t buffer[8192] __attribute__((aligned(8)));
  IO_STATUS_BLOCK io;
  assert_status(csi_nt.query_directory_file(directory, NULL, NULL, NULL, &io, buffer, sizeof buffer,
                                            FileDirectoryInformation, FALSE, NULL, TRUE),
                CSI_STATUS_SUCCESS);
  for (const uint8_t *at = buffer;;) {
    const FILE_DIRECTORY_INFORMATION *entry = (const void *)at;
    size_t units = entry->FileNameLength / sizeof(wchar_t);
    if (units == wcslen(name_w) && wcsncmp(entry->FileName, name_w, units) == 0) return entry->FileAttributes;
    if (entry->NextEntryOffset == 0) fail_msg("%ls is not listed", name_w);
    at += entry->NextEntryOffset;
  }
}

static void test_listing_shows_links(void **state) {
  (void)state;
  make_directory(in(L"plain"));
  make_file(in(L"file"));
  make_file(in(L"file link"));
  make_junction(in(L"link"), L"\\??\\C:\\");
  assert_status(set_link(in(L"file link"), LINKS_TAG_SYMLINK, L"file", true), CSI_STATUS_SUCCESS);
  ULONG directory = FILE_ATTRIBUTE_DIRECTORY, reparse = FILE_ATTRIBUTE_REPARSE_POINT;
  assert_int_equal(listed_attributes(root_w, L"plain") & (directory | reparse), directory);
  assert_int_equal(listed_attributes(root_w, L"link") & (directory | reparse), directory | reparse);
  assert_int_equal(listed_attributes(root_w, L"file") & (directory | reparse), 0);
  assert_int_equal(listed_attributes(root_w, L"file link") & (directory | reparse), reparse);
}

static void test_links_are_followed(void **state) {
  (void)state;
  make_directory(in(L"a"));
  make_directory(in(L"a\\b"));
  make_file(in(L"a\\file"));
  make_junction(in(L"to a"), in(L"a"));
  make_junction(in(L"again"), in(L"to a"));
  make_junction(in(L"a\\dangling"), in(L"nothing"));
  make_link(in(L"a\\up"), LINKS_TAG_SYMLINK, L"..\\a\\.\\b\\..\\b", true);
  make_link(in(L"a\\rooted"), LINKS_TAG_SYMLINK, L"\\windows", true);
  make_link(in(L"absolute"), LINKS_TAG_SYMLINK, in(L"again\\file"), false);
  assert_leads_to(in(L"to a"), in(L"a"));
  assert_leads_to(in(L"to a\\"), in(L"a"));
  assert_leads_to(in(L"TO A\\B"), in(L"a\\b"));
  assert_leads_to(in(L"again\\file"), in(L"a\\file"));
  assert_leads_to(in(L"again\\up"), in(L"a\\b"));
  assert_leads_to(in(L"a\\up"), in(L"a\\b"));
  assert_leads_to(in(L"a\\rooted\\system32"), L"\\??\\C:\\windows\\system32");
  assert_leads_to(in(L"a"), in(L"a"));
  assert_leads_to(L"\\??\\C:\\", L"\\??\\C:\\");
  assert_status(try_open(in(L"a\\dangling"), 0, 0), NAME_NOT_FOUND);
  assert_status(try_open(in(L"a\\dangling\\x"), 0, 0), PATH_NOT_FOUND);
  assert_status(try_open(in(L"a\\dangling"), ITSELF, 0), CSI_STATUS_SUCCESS);
  assert_status(try_open(in(L"nothing\\x"), 0, 0), PATH_NOT_FOUND);
  assert_status(try_open(in(L"a\\file\\x"), 0, 0), PATH_NOT_FOUND);
  assert_status(try_open(in(L"absolute"), FILE_DIRECTORY_FILE, 0), NOT_A_DIRECTORY);

  CSI_SCOPED_HANDLE parent = open_to(root_w, LOOK, 0);
  CSI_SCOPED_HANDLE child = NULL;
  assert_status(open_from(parent, L"to a\\b", LOOK, FILE_OPEN, 0, 0, &child), CSI_STATUS_SUCCESS);
  CSI_SCOPED_HANDLE made = NULL;
  assert_status(open_from(parent, L"again\\made", LOOK, FILE_CREATE, FILE_DIRECTORY_FILE, 0, &made),
                CSI_STATUS_SUCCESS);
  assert_true(is_there(in(L"a\\made")));
  assert_false(is_there(in(L"to a\\made")));
  CSI_SCOPED_HANDLE taken = NULL;
  assert_status(open_from(parent, L"to a", LOOK, FILE_CREATE, FILE_DIRECTORY_FILE | ITSELF, 0, &taken),
                NAME_COLLISION);
}

static void test_endless_links(void **state) {
  (void)state;
  make_junction(in(L"self"), in(L"self"));
  make_junction(in(L"x"), in(L"y\\"));
  make_junction(in(L"y"), in(L"x\\"));
  assert_status(try_open(in(L"self"), 0, 0), LINKS_STATUS_NOT_RESOLVED);
  assert_status(try_open(in(L"x\\z"), 0, 0), LINKS_STATUS_NOT_RESOLVED);
  assert_status(try_open(in(L"x"), ITSELF, 0), CSI_STATUS_SUCCESS);
}

static void test_links_that_must_not_be_followed(void **state) {
  (void)state;
  make_directory(in(L"a"));
  make_file(in(L"a\\file"));
  make_junction(in(L"link"), in(L"a"));
  assert_status(try_open(in(L"a\\file"), 0, NO_LINKS), CSI_STATUS_SUCCESS);
  assert_status(try_open(in(L"link"), 0, NO_LINKS), LINKS_STATUS_LINK_ENCOUNTERED);
  assert_status(try_open(in(L"link\\file"), 0, NO_LINKS), LINKS_STATUS_LINK_ENCOUNTERED);
  assert_status(try_open(in(L"link\\file"), ITSELF, NO_LINKS), LINKS_STATUS_LINK_ENCOUNTERED);
  assert_status(try_open(in(L"link"), ITSELF, NO_LINKS), CSI_STATUS_SUCCESS);
  assert_int_equal(tag_at(in(L"link")), LINKS_TAG_MOUNT_POINT);
}

static void test_a_parent_that_becomes_a_link(void **state) {
  (void)state;
  make_directory(in(L"a"));
  make_file(in(L"a\\file"));
  make_directory(in(L"parent"));
  CSI_SCOPED_HANDLE parent = open_to(in(L"parent"), LOOK, 0), child = NULL;
  assert_status(open_from(parent, L"file", LOOK, FILE_OPEN, 0, 0, &child), NAME_NOT_FOUND);
  assert_status(set_link(in(L"parent"), LINKS_TAG_MOUNT_POINT, in(L"a"), false), CSI_STATUS_SUCCESS);
  assert_status(open_from(parent, L"file", LOOK, FILE_OPEN, ITSELF, NO_LINKS, &child),
                LINKS_STATUS_LINK_ENCOUNTERED);
  assert_status(open_from(parent, L"file", LOOK, FILE_OPEN, ITSELF, 0, &child), CSI_STATUS_SUCCESS);
}

static void test_reparse_points_that_are_no_links(void **state) {
  (void)state;
  make_directory(in(L"a"));
  USHORT header[4] = {(USHORT)TAG_OF_CLOUD_FILES, (USHORT)(TAG_OF_CLOUD_FILES >> 16), 0, 0};
  {
    CSI_SCOPED_HANDLE handle = open_to(in(L"a"), CHANGE, ITSELF);
    assert_status(set_bytes(handle, (const uint8_t *)header, sizeof header), CSI_STATUS_SUCCESS);
  }
  assert_int_equal(tag_at(in(L"a")), TAG_OF_CLOUD_FILES);
  assert_status(try_open(in(L"a"), 0, 0), LINKS_STATUS_NOT_HANDLED);
  assert_status(try_open(in(L"a\\b"), 0, 0), LINKS_STATUS_NOT_HANDLED);
}

static void remove_it(const wchar_t *path_w) {
  CSI_SCOPED_HANDLE handle = open_to(path_w, CHANGE, ITSELF);
  FILE_DISPOSITION_INFORMATION disposition = {.DoDeleteFile = TRUE};
  IO_STATUS_BLOCK io;
  assert_status(
      csi_nt.set_information_file(handle, &io, &disposition, sizeof disposition, FileDispositionInformation),
      CSI_STATUS_SUCCESS);
}

static void test_what_is_removed_is_forgotten(void **state) {
  (void)state;
  make_directory(in(L"a"));
  make_junction(in(L"link"), in(L"a"));
  CSI_SCOPED_HANDLE held = open_to(in(L"link"), LOOK, ITSELF);
  assert_int_equal(tag_of(held), LINKS_TAG_MOUNT_POINT);
  remove_it(in(L"link"));
  assert_int_equal(tag_of(held), 0);
  csi_handle_close(&held);
  assert_false(is_there(in(L"link")));
  assert_true(is_there(in(L"a")));
}

/* File systems give the number of a removed file to the next one. */
static void test_numbers_that_are_given_out_again(void **state) {
  (void)state;
  for (int i = 0; i < 5; i++) {
    make_junction(in(L"link"), L"\\??\\C:\\");
    assert_int_not_equal(RemoveDirectoryW(in(L"link") + 4), 0); /* behind the emulation's back */
    Sleep(5);
    make_directory(in(L"link"));
    assert_int_equal(tag_at(in(L"link")), 0);
    assert_int_not_equal(RemoveDirectoryW(in(L"link") + 4), 0);
  }
}

static void test_a_renamed_link_stays_one(void **state) {
  (void)state;
  make_junction(in(L"link"), L"\\??\\C:\\windows");
  assert_int_not_equal(MoveFileW(in(L"link") + 4, in(L"moved") + 4), 0);
  assert_leads_to(in(L"moved\\system32"), L"\\??\\C:\\windows\\system32");
}

static void test_another_process_sees_the_same(void **state) {
  (void)state;
  make_junction(in(L"link"), L"\\??\\C:\\windows");
  wchar_t program_w[UNITS], command_w[2 * UNITS];
  assert_int_not_equal(GetModuleFileNameW(NULL, program_w, UNITS), 0);
  swprintf(command_w, 2 * UNITS, L"\"%ls\" tag \"%ls\"", program_w, in(L"link"));
  STARTUPINFOW start = {.cb = sizeof start};
  PROCESS_INFORMATION process;
  assert_int_not_equal(CreateProcessW(NULL, command_w, NULL, NULL, FALSE, 0, NULL, NULL, &start, &process),
                       0);
  WaitForSingleObject(process.hProcess, 20000);
  DWORD code = 0;
  GetExitCodeProcess(process.hProcess, &code);
  CloseHandle(process.hThread);
  CloseHandle(process.hProcess);
  assert_int_equal(code, LINKS_TAG_MOUNT_POINT);
}

static ULONG serial_at(const wchar_t *path_w) {
  CSI_SCOPED_HANDLE handle = open_to(path_w, LOOK, 0);
  union {
    FILE_FS_VOLUME_INFORMATION volume;
    uint8_t bytes[sizeof(FILE_FS_VOLUME_INFORMATION) + 256];
  } buffer;
  FILE_ID_INFO id;
  IO_STATUS_BLOCK io;
  assert_status(
      csi_nt.query_volume_information_file(handle, &io, &buffer, sizeof buffer, FileFsVolumeInformation),
      CSI_STATUS_SUCCESS);
  assert_status(csi_nt.query_information_file(handle, &io, &id, sizeof id,
                                              (FILE_INFORMATION_CLASS)CSI_FILE_ID_INFORMATION),
                CSI_STATUS_SUCCESS);
  assert_int_equal((ULONG)id.VolumeSerialNumber, buffer.volume.VolumeSerialNumber);
  return buffer.volume.VolumeSerialNumber;
}

static void test_volumes(void **state) {
  (void)state;
  if (links_have_driver()) skip(); /* there, a directory alone is no volume */
  make_junction(in(L"mount"), VOLUME_W L"\\");
  assert_status(try_open(in(L"mount"), 0, 0), PATH_NOT_FOUND);
  assert_status(try_open(in(L"mount"), ITSELF, 0), CSI_STATUS_SUCCESS);
  CreateDirectoryW(L"C:\\testbed\\volumes", NULL);
  make_directory(L"\\??\\C:\\testbed\\volumes\\" VOLUME_GUID_W);
  make_file(L"\\??\\C:\\testbed\\volumes\\" VOLUME_GUID_W L"\\file");
  assert_leads_to(in(L"mount\\file"), L"\\??\\C:\\testbed\\volumes\\" VOLUME_GUID_W L"\\file");
  assert_status(try_open(VOLUME_W L"\\", FILE_DIRECTORY_FILE, 0), CSI_STATUS_SUCCESS);
  assert_status(try_open(VOLUME_W L"\\file", 0, 0), CSI_STATUS_SUCCESS);
  ULONG serial = serial_at(in(L"mount"));
  assert_int_equal(serial, serial_at(VOLUME_W L"\\file"));
  assert_int_not_equal(serial, serial_at(root_w));
}

/* Wine's own volume of drive C:. */
static void test_volumes_of_wine(void **state) {
  (void)state;
  make_junction(in(L"mount"), L"\\??\\Volume{00000000-0000-0000-0000-000000000043}\\");
  assert_leads_to(in(L"mount\\windows"), L"\\??\\C:\\windows");
  assert_int_equal(serial_at(in(L"mount")), serial_at(root_w));
}

static void test_what_the_emulation_does_not_know(void **state) {
  (void)state;
  CSI_SCOPED_HANDLE handle = open_to(root_w, LOOK | FILE_LIST_DIRECTORY, 0);
  uint8_t buffer[1024] __attribute__((aligned(8)));
  IO_STATUS_BLOCK io;
  assert_status(csi_nt.query_directory_file(handle, NULL, NULL, NULL, &io, buffer, sizeof buffer,
                                            (FILE_INFORMATION_CLASS)37, TRUE, NULL, TRUE),
                CSI_STATUS_NOT_IMPLEMENTED);
  assert_status(csi_nt.query_information_file(handle, &io, buffer, sizeof buffer, (FILE_INFORMATION_CLASS)34),
                CSI_STATUS_NOT_IMPLEMENTED);
}

/* links_test.exe tag PATH: exits with the tag of the entry. */
static int tell_tag(void) {
  int count;
  wchar_t **arguments_w = CommandLineToArgvW(GetCommandLineW(), &count);
  CSI_SCOPED_HANDLE handle = NULL;
  ULONG tag = 0;
  if (arguments_w != NULL && count == 3 &&
      NT_SUCCESS(open_from(NULL, arguments_w[2], LOOK, FILE_OPEN, ITSELF, 0, &handle)))
    links_record_read_tag(handle, &tag);
  return (int)tag;
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(int argc, char **argv) {
  if (argc == 3 && strcmp(argv[1], "tag") == 0) return tell_tag();
  const struct CMUnitTest tests[] = {
      TEST(test_set_get_delete),
      TEST(test_what_cannot_be_set),
      TEST(test_listing_shows_links),
      TEST(test_links_are_followed),
      TEST(test_endless_links),
      TEST(test_links_that_must_not_be_followed),
      TEST(test_a_parent_that_becomes_a_link),
      TEST(test_reparse_points_that_are_no_links),
      TEST(test_what_is_removed_is_forgotten),
      TEST(test_numbers_that_are_given_out_again),
      TEST(test_a_renamed_link_stays_one),
      TEST(test_another_process_sees_the_same),
      TEST(test_volumes),
      TEST(test_volumes_of_wine),
      TEST(test_what_the_emulation_does_not_know),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
