/* SPDX-License-Identifier: Apache-2.0
 *
 * A template: the conversions of one version whose disk numbers are text, included by convert.c once for
 * each with
 *
 *   VERSION, WIRE   v1beta1, V1beta1: how its C names begin
 *   HAS_IDS         1 when it has ListDiskIDs
 *
 * defined. It undefines them.
 */

#define PASTE(a, b, c) a##b##c
#define PASTE_EXPANDED(a, b, c) PASTE(a, b, c)
#define CONVERT(function) PASTE_EXPANDED(csi_disk_, VERSION, function)
#define MESSAGE(name) PASTE_EXPANDED(WIRE, __, name)
#define INIT(name) PASTE_EXPANDED(VERSION, __, name)
#define QUOTE(text) #text
#define QUOTE_EXPANDED(text) QUOTE(text)

bool CONVERT(_partition_disk_request_from_wire)(struct csi_arena *arena, struct csi_status *status,
                                                const MESSAGE(PartitionDiskRequest) * from,
                                                struct csi_disk_partition_disk_request *to) {
  (void)arena;
  return parse_number(
      status, from->diskid, &to->disk_number,
      "Failed to convert " QUOTE_EXPANDED(VERSION) ".PartitionDiskRequest.DiskID to uint32: ");
}

bool CONVERT(_partition_disk_request_to_wire)(struct csi_arena *arena, struct csi_status *status,
                                              const struct csi_disk_partition_disk_request *from,
                                              MESSAGE(PartitionDiskRequest) * to) {
  return print_number(arena, status, from->disk_number, &to->diskid);
}

bool CONVERT(_list_disk_locations_response_from_wire)(struct csi_arena *arena, struct csi_status *status,
                                                      const MESSAGE(ListDiskLocationsResponse) * from,
                                                      struct csi_disk_list_disk_locations_response *to) {
  struct csi_disk_list_disk_locations_response_disk_locations_entry *entries =
      csi_convert_array(arena, status, from->n_disk_locations, sizeof *entries);
  if (entries == NULL) return false;
  for (size_t i = 0; i < from->n_disk_locations; i++) {
    const MESSAGE(DiskLocation) *location = from->disk_locations[i]->value;
    if (!parse_sent_number(status, from->disk_locations[i]->key, &entries[i].key)) return false;
    if (location != NULL)
      entries[i].value = (struct csi_disk_disk_location){location->adapter, location->bus, location->target,
                                                         location->lunid};
    else
      entries[i].value = (struct csi_disk_disk_location){"", "", "", ""};
  }
  qsort(entries, from->n_disk_locations, sizeof *entries, compare_keys);
  to->disk_locations = entries;
  to->disk_locations_count = from->n_disk_locations;
  return true;
}

bool CONVERT(_list_disk_locations_response_to_wire)(struct csi_arena *arena, struct csi_status *status,
                                                    const struct csi_disk_list_disk_locations_response *from,
                                                    MESSAGE(ListDiskLocationsResponse) * to) {
  size_t count = from->disk_locations_count;
  to->disk_locations = csi_convert_array(arena, status, count, sizeof *to->disk_locations);
  MESSAGE(ListDiskLocationsResponse__DiskLocationsEntry) *entries =
      csi_convert_array(arena, status, count, sizeof *entries);
  MESSAGE(DiskLocation) *locations = csi_convert_array(arena, status, count, sizeof *locations);
  if (to->disk_locations == NULL || entries == NULL || locations == NULL) return false;
  for (size_t i = 0; i < count; i++) {
    const struct csi_disk_disk_location *location = &from->disk_locations[i].value;
    INIT(list_disk_locations_response__disk_locations_entry__init)(&entries[i]);
    INIT(disk_location__init)(&locations[i]);
    if (!print_number(arena, status, from->disk_locations[i].key, &entries[i].key)) return false;
    locations[i].adapter = csi_text_to_wire(location->adapter);
    locations[i].bus = csi_text_to_wire(location->bus);
    locations[i].target = csi_text_to_wire(location->target);
    locations[i].lunid = csi_text_to_wire(location->lunid);
    entries[i].value = &locations[i];
    to->disk_locations[i] = &entries[i];
  }
  to->n_disk_locations = count;
  return true;
}

#if HAS_IDS

bool CONVERT(_disk_stats_request_from_wire)(struct csi_arena *arena, struct csi_status *status,
                                            const MESSAGE(DiskStatsRequest) * from,
                                            struct csi_disk_get_disk_stats_request *to) {
  (void)arena;
  return parse_number(status, from->diskid, &to->disk_number,
                      "Failed to format DiskStatsRequest.DiskID with err: ");
}

bool CONVERT(_disk_stats_request_to_wire)(struct csi_arena *arena, struct csi_status *status,
                                          const struct csi_disk_get_disk_stats_request *from,
                                          MESSAGE(DiskStatsRequest) * to) {
  return print_number(arena, status, from->disk_number, &to->diskid);
}

bool CONVERT(_disk_ids_from_wire)(struct csi_arena *arena, struct csi_status *status,
                                  const MESSAGE(DiskIDs) * from, struct csi_disk_disk_ids *to) {
  (void)arena;
  (void)status;
  *to = (struct csi_disk_disk_ids){"", ""};
  for (size_t i = 0; i < from->n_identifiers; i++) {
    if (strcmp(from->identifiers[i]->key, PAGE83_KEY) == 0) to->page83 = from->identifiers[i]->value;
    if (strcmp(from->identifiers[i]->key, SERIAL_KEY) == 0) to->serial_number = from->identifiers[i]->value;
  }
  return true;
}

/* Exactly these two keys, also when their values are empty: clients take them for granted. */
bool CONVERT(_disk_ids_to_wire)(struct csi_arena *arena, struct csi_status *status,
                                const struct csi_disk_disk_ids *from, MESSAGE(DiskIDs) * to) {
  enum { COUNT = 2 };
  to->identifiers = csi_convert_array(arena, status, COUNT, sizeof *to->identifiers);
  MESSAGE(DiskIDs__IdentifiersEntry) *entries = csi_convert_array(arena, status, COUNT, sizeof *entries);
  if (to->identifiers == NULL || entries == NULL) return false;
  for (size_t i = 0; i < COUNT; i++) {
    INIT(disk_ids__identifiers_entry__init)(&entries[i]);
    to->identifiers[i] = &entries[i];
  }
  entries[0].key = csi_text_to_wire(PAGE83_KEY);
  entries[0].value = csi_text_to_wire(from->page83);
  entries[1].key = csi_text_to_wire(SERIAL_KEY);
  entries[1].value = csi_text_to_wire(from->serial_number);
  to->n_identifiers = COUNT;
  return true;
}

bool CONVERT(_list_disk_ids_response_from_wire)(struct csi_arena *arena, struct csi_status *status,
                                                const MESSAGE(ListDiskIDsResponse) * from,
                                                struct csi_disk_list_disk_ids_response *to) {
  struct csi_disk_list_disk_ids_response_disk_ids_entry *entries =
      csi_convert_array(arena, status, from->n_diskids, sizeof *entries);
  if (entries == NULL) return false;
  for (size_t i = 0; i < from->n_diskids; i++) {
    entries[i].value = (struct csi_disk_disk_ids){"", ""};
    if (!parse_sent_number(status, from->diskids[i]->key, &entries[i].key)) return false;
    if (from->diskids[i]->value != NULL &&
        !CONVERT(_disk_ids_from_wire)(arena, status, from->diskids[i]->value, &entries[i].value))
      return false;
  }
  qsort(entries, from->n_diskids, sizeof *entries, compare_keys);
  to->disk_ids = entries;
  to->disk_ids_count = from->n_diskids;
  return true;
}

bool CONVERT(_list_disk_ids_response_to_wire)(struct csi_arena *arena, struct csi_status *status,
                                              const struct csi_disk_list_disk_ids_response *from,
                                              MESSAGE(ListDiskIDsResponse) * to) {
  size_t count = from->disk_ids_count;
  to->diskids = csi_convert_array(arena, status, count, sizeof *to->diskids);
  MESSAGE(ListDiskIDsResponse__DiskIDsEntry) *entries =
      csi_convert_array(arena, status, count, sizeof *entries);
  MESSAGE(DiskIDs) *values = csi_convert_array(arena, status, count, sizeof *values);
  if (to->diskids == NULL || entries == NULL || values == NULL) return false;
  for (size_t i = 0; i < count; i++) {
    INIT(list_disk_ids_response__disk_ids_entry__init)(&entries[i]);
    INIT(disk_ids__init)(&values[i]);
    if (!print_number(arena, status, from->disk_ids[i].key, &entries[i].key) ||
        !CONVERT(_disk_ids_to_wire)(arena, status, &from->disk_ids[i].value, &values[i]))
      return false;
    entries[i].value = &values[i];
    to->diskids[i] = &entries[i];
  }
  to->n_diskids = count;
  return true;
}

#endif

#undef PASTE
#undef PASTE_EXPANDED
#undef CONVERT
#undef MESSAGE
#undef INIT
#undef QUOTE
#undef QUOTE_EXPANDED
#undef VERSION
#undef WIRE
#undef HAS_IDS
