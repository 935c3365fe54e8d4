/* SPDX-License-Identifier: Apache-2.0
 *
 * The node as the test wants it: commands of the testbed, to what stands in for disks, shares, targets and
 * services under Wine, or to the node in memory.
 */
#ifndef CSI_CLIENTTESTS_SCENE_H
#define CSI_CLIENTTESTS_SCENE_H

#include "storage_calls.h"

enum {
  SCENE_REPLY_BYTES = 1 << 16,
};

/* One implementation per platform. Opens the connection for commands; false: why. */
bool scene_open(const struct settings *settings, char *why, size_t why_bytes);
void scene_close(void);
/* Does the command line. reply: the answer's lines, or what was wrong. */
bool scene_command(const char *line, char *reply, size_t reply_bytes);

/* One implementation per platform. Makes Windows believe that its page file is on this volume, until the
 * case ends, and ends that when id is NULL. False: reply says what was wrong. */
bool scene_set_page_file(uint32_t disk, const char *id, char *reply, size_t reply_bytes);

/* One implementation per platform. Formatting the disk's volumes goes wrong from now on: by an error, or
 * without an end. SCENE_FORMAT_WORKS ends that. */
enum scene_format { SCENE_FORMAT_WORKS, SCENE_FORMAT_FAILS, SCENE_FORMAT_HANGS };
bool scene_set_format(uint32_t disk, enum scene_format format, char *reply, size_t reply_bytes);

/* Does the command, which has to work. Returns the reply, which lives until the next command. */
const char *scene(struct run *run, const char *format, ...) CHECK_PRINTF(2, 3);

/* The value of a word in the line of a list that has the given words: scene_word(run, "disk list",
 * "number=3", "style"). Lives as long as the case; "" when there is none. */
const char *scene_word(struct run *run, const char *list, const char *words, const char *key);

/* Adds a disk with these words of `disk add` and a new medium; returns its number. */
uint32_t add_disk(struct run *run, const char *format, ...) CHECK_PRINTF(2, 3);
/* A disk with one volume of this type (of the command `signature`); NULL = not formatted. */
uint32_t add_volume(struct run *run, const char *words, const char *type, char id_out[VOLUME_ID_BYTES]);

/* From now on the disk with this volume is one that Windows needs. */
void hold_page_file(struct run *run, uint32_t disk, const char *id);

/* scene_set_format() until the case ends. */
void break_format(struct run *run, uint32_t disk, enum scene_format format);

/* The stand-ins and fakes of the network have not seen this call in the case. */
void check_not_called(struct run *run, const char *call);

/* Makes the next such call hang, then makes an attempt at something that needs it, in a short time, until
 * one has come so far. It hangs until `network fault clear`. */
void hang_in(struct run *run, const char *call, enum csi_code (*attempt)(struct run *run));

/* After a hang was cleared: the attempt works, at once or as soon as the call has come back. */
void check_works_again(struct run *run, const char *what, enum csi_code (*attempt)(struct run *run));

/* The case's set-up and tear-down for suites with disks: no disks, no faults, a directory. */
void prepare_scene(struct run *run, const char *name);
void clean_up_scene(struct run *run);

/* disk_cases.c, volume_cases.c, smb_cases.c, iscsi_cases.c, system_cases.c */
extern const struct suite disk_suite;
extern const struct suite volume_suite;
extern const struct suite smb_suite;
extern const struct suite iscsi_suite;
extern const struct suite system_suite;

#endif
