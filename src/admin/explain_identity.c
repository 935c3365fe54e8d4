/* SPDX-License-Identifier: Apache-2.0
 *
 * What drivers recognise a disk by. The rules are those of the drivers as they are known: they search the
 * answers of ListDiskIDs and ListDiskLocations.
 */
#include <ctype.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "admin/findings.h"
#include "base/text.h"

#define OK CSI_ADMIN_FINDING_LEVEL_OK
#define NOTE CSI_ADMIN_FINDING_LEVEL_NOTE
#define PROBLEM CSI_ADMIN_FINDING_LEVEL_PROBLEM

enum {
  EUI_DIGITS = 16,    /* of an NVMe namespace, and as many more of its NGUID */
  QUOTED_BYTES = 512, /* of a name; longer ones are cut */
};

static bool is_vmware(const struct csi_admin_disk_details *details) {
  return csi_utf8_has_prefix_ignore_case(details->vendor, "vmware") ||
         csi_utf8_has_prefix_ignore_case(details->product, "vmware");
}

/* The last word, which is what the GCE driver compares with the name of the device. */
static const char *last_word(const char *text) {
  const char *word = text;
  for (const char *c = text; *c != '\0'; c++)
    if (isspace((unsigned char)*c) && c[1] != '\0' && !isspace((unsigned char)c[1])) word = c + 1;
  return word;
}

/* ---- Page 83 identifier. ---- */

static bool explain_missing_page83(struct csi_explanation *explanation) {
  static const char subject[] = "page 83 identifier";
  const struct csi_disk_facts *facts = explanation->facts;
  if (is_vmware(&facts->details))
    return csi_finding_add(explanation, PROBLEM, subject,
                           "Set disk.EnableUUID = TRUE on the virtual machine, and restart it",
                           "The disk has none. The vSphere driver finds disks by it alone, and does not find "
                           "this one.");
  if (facts->page83.seen_count > 0)
    return csi_finding_add(
        explanation, NOTE, subject, "",
        "The disk has none of its own: the %u that it tells belong to its port or target, or are "
        "neither ASCII nor binary. Drivers that search by page 83 do not find it.",
        facts->page83.seen_count);
  if (facts->bus_type == CSI_BUS_NVME)
    return csi_finding_add(explanation, OK, subject, "",
                           "The disk has none, as usual with NVMe: drivers go by its serial number.");
  return csi_finding_add(explanation, NOTE, subject, "",
                         "The disk has none. Drivers that search by page 83 do not find it.");
}

bool csi_explain_page83(struct csi_explanation *explanation) {
  static const char subject[] = "page 83 identifier";
  const struct csi_page83 *page83 = &explanation->facts->page83;
  const char *type = csi_page83_type_name(page83->type);
  char name[QUOTED_BYTES];
  csi_text_quote(name, sizeof name, page83->text);
  if (page83->text[0] == '\0') return explain_missing_page83(explanation);
  if (page83->is_ascii && strncmp(page83->text, "Google", strlen("Google")) == 0)
    return csi_finding_add(explanation, OK, subject, "",
                           "%s (%s): the GCE driver finds the disk as device \"%s\".", name, type,
                           last_word(page83->text));
  if (strncmp(page83->text, "eui.", strlen("eui.")) == 0)
    return csi_finding_add(explanation, OK, subject, "",
                           "%s (%s): the GCE driver reads the number of the NVMe namespace from its first %d "
                           "hexadecimal digits.",
                           name, type, EUI_DIGITS);
  if (is_vmware(&explanation->facts->details))
    return csi_finding_add(explanation, OK, subject, "",
                           "%s (%s): the vSphere driver compares it with the UUID of the virtual disk.", name,
                           type);
  return csi_finding_add(explanation, OK, subject, "",
                         "%s (%s, %s): ListDiskIDs gives it so, and GetDiskNumberByName finds it.", name,
                         type, page83->is_ascii ? "ASCII" : "binary, in hexadecimal");
}

/* ---- Serial number. ---- */

/* The id in "vol0123456789abcdef0_00000001.", as AWS writes it: with a dash; "" when it is none. */
static bool read_ebs(const char *serial, char *id_out, size_t id_bytes) {
  if (strncmp(serial, "vol", 3) != 0) return false;
  const char *digits = serial + 3 + (serial[3] == '-');
  size_t length = strspn(digits, "0123456789abcdefABCDEF");
  if (length < 8 || length > 17) return false;
  snprintf(id_out, id_bytes, "vol-%.*s", (int)length, digits);
  return true;
}

/* "10CC_9636_B6E3_CE3B_0000_0000_0000_0000.", as Windows shows the NGUID of an NVMe namespace. */
static bool is_nguid(const char *serial) {
  size_t digits = 0;
  if (strchr(serial, '_') == NULL) return false;
  for (const char *c = serial; *c != '\0'; c++) {
    if (isxdigit((unsigned char)*c))
      digits++;
    else if (*c != '_' && !(*c == '.' && c[1] == '\0'))
      return false;
  }
  return digits == 2 * EUI_DIGITS;
}

bool csi_explain_serial_number(struct csi_explanation *explanation) {
  static const char subject[] = "serial number";
  const char *serial = explanation->facts->details.serial_number;
  char id[sizeof "vol-" + 17], quoted[QUOTED_BYTES];
  csi_text_quote(quoted, sizeof quoted, serial);
  if (serial[0] == '\0') {
    bool matters = explanation->facts->bus_type == CSI_BUS_NVME;
    return csi_finding_add(
        explanation, matters ? PROBLEM : NOTE, subject, "",
        "The disk has none. Drivers that search by serial number, such as the one of EBS, do not "
        "find it.");
  }
  if (read_ebs(serial, id, sizeof id))
    return csi_finding_add(explanation, OK, subject, "", "%s: the EBS driver finds the disk as volume %s.",
                           quoted, id);
  if (is_nguid(serial))
    return csi_finding_add(explanation, OK, subject, "",
                           "%s: the GCE driver reads the number of the NVMe namespace from its first %d "
                           "hexadecimal digits.",
                           quoted, EUI_DIGITS);
  return csi_finding_add(explanation, OK, subject, "", "%s: ListDiskIDs gives it so.", quoted);
}

/* ---- Location. ---- */

/* Hyper-V's disks, and so Azure's, all call themselves so. */
bool csi_is_azure_disk(const struct csi_admin_disk_details *details) {
  return csi_utf8_has_prefix_ignore_case(details->vendor, "msft");
}

bool csi_explain_location(struct csi_explanation *explanation) {
  static const char subject[] = "location";
  const struct csi_admin_disk_details *details = &explanation->facts->details;
  if (!details->has_location)
    return csi_finding_add(
        explanation, NOTE, subject, "",
        "The disk has no address on a SCSI bus: ListDiskLocations leaves it out, and drivers that "
        "match by LUN, such as the one of Azure disks, do not find it.");
  const char *place = csi_arena_printf(
      explanation->ctx->arena, "Adapter %" PRIu32 ", bus %" PRIu32 ", target %" PRIu32 ", LUN %" PRIu32,
      details->adapter, details->bus, details->target, details->lun);
  if (place == NULL) return csi_fail_out_of_memory(&explanation->ctx->status);
  if (explanation->facts->bus_type == CSI_BUS_NVME)
    return csi_finding_add(
        explanation, NOTE, subject, "",
        "%s: made up by the NVMe driver of Windows, and not where a cloud attached the disk.", place);
  if (csi_is_azure_disk(details))
    return csi_finding_add(explanation, OK, subject, "",
                           "%s: the Azure driver finds the disk when it was attached at LUN %" PRIu32 ".",
                           place, details->lun);
  return csi_finding_add(explanation, OK, subject, "", "%s: ListDiskLocations gives it so.", place);
}
