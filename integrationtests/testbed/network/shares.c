/* SPDX-License-Identifier: Apache-2.0 */
#include "shares.h"

#include <string.h>

#include "secret.h"

static const char share_kind[] = "share";
static const char mapping_kind[] = "mapping";
static const char settings_kind[] = "shares";

/* ---- Roots. ---- */

static char fold(char c) {
  if (c == '/') return '\\';
  return c >= 'A' && c <= 'Z' ? (char)(c + 'a' - 'A') : c;
}

/* What host and share may consist of; both are names of folders. */
static bool is_name(const char *name, size_t count) {
  if (count == 0 || name[0] == '.') return false;
  for (size_t i = 0; i < count; i++)
    if ((unsigned char)name[i] <= ' ' || strchr("\\:*?\"<>|", name[i]) != NULL) return false;
  return true;
}

bool network_share_root(const char *text, char root_out[NETWORK_ROOT_BYTES]) {
  size_t count = strlen(text);
  if (count >= NETWORK_ROOT_BYTES) return false;
  for (size_t i = 0; i <= count; i++)
    root_out[i] = fold(text[i]);
  if (count > 0 && root_out[count - 1] == '\\') root_out[--count] = '\0';
  if (strncmp(root_out, "\\\\", 2) != 0) return false;
  const char *host = root_out + 2;
  size_t host_bytes = strcspn(host, "\\");
  return host[host_bytes] == '\\' && is_name(host, host_bytes) &&
         is_name(host + host_bytes + 1, strlen(host + host_bytes + 1));
}

/* Length of `\\host\`. */
static size_t host_length(const char *root) {
  return 2 + strcspn(root + 2, "\\") + 1;
}

/* ---- What servers say. ---- */

static bool is_down(const struct network_record *share) {
  return network_has(share, "state", "down");
}

/* A server is there when one of its shares says so. */
static bool has_server(const struct network_state *state, const char *root) {
  for (const struct network_record *share = network_next(state, share_kind, NULL); share != NULL;
       share = network_next(state, share_kind, share)) {
    bool is_same = strncmp(network_get(share, "root"), root, host_length(root)) == 0;
    if (is_same && !is_down(share)) return true;
  }
  return false;
}

/* Whether the share is there, whoever asks. */
static uint32_t reach(const struct network_state *state, const char *root) {
  const struct network_record *share = network_find(state, share_kind, "root", root);
  if (share != NULL && is_down(share)) return NETWORK_SHARE_BAD_NETPATH;
  if (share != NULL && !network_has(share, "state", "gone")) return NETWORK_SHARE_DONE;
  return has_server(state, root) ? NETWORK_SHARE_BAD_NET_NAME : NETWORK_SHARE_BAD_NETPATH;
}

static uint32_t log_on(const struct network_record *share, const struct network_credentials *credentials) {
  const char *user = network_get(share, "user"), *password = network_get(share, "password");
  if (user == NULL) return NETWORK_SHARE_DONE;
  if (credentials->user[0] == '\0') return NETWORK_SHARE_ACCESS_DENIED;
  if (!network_has(share, "user", credentials->user)) return NETWORK_SHARE_LOGON_FAILURE;
  return password == NULL || strcmp(password, credentials->digest) == 0 ? NETWORK_SHARE_DONE
                                                                        : NETWORK_SHARE_INVALID_PASSWORD;
}

uint32_t network_share_try(const struct network_state *state, const char *root,
                           const struct network_credentials *credentials, bool require_privacy) {
  uint32_t answer = reach(state, root);
  const struct network_record *share = network_find(state, share_kind, "root", root);
  if (answer == NETWORK_SHARE_DONE) answer = log_on(share, credentials);
  if (answer == NETWORK_SHARE_DONE && require_privacy && network_get_number(share, "privacy", 1) == 0)
    answer = NETWORK_SHARE_NO_PRIVACY;
  return answer;
}

/* ---- Mappings. ---- */

static struct network_record *find_mapping(const struct network_state *state, const char *root) {
  return network_find(state, mapping_kind, "root", root);
}

static bool has_credentials(const struct network_record *mapping,
                            const struct network_credentials *credentials) {
  return network_has(mapping, "user", credentials->user) &&
         network_has(mapping, "password", credentials->digest);
}

static void add_mapping(struct network_state *state, const char *root,
                        const struct network_credentials *credentials, bool require_privacy) {
  struct network_record *mapping = network_add(state, mapping_kind);
  network_set(state, mapping, "root", root);
  network_set(state, mapping, "user", credentials->user);
  network_set(state, mapping, "password", credentials->digest);
  network_set_number(state, mapping, "privacy", require_privacy);
  network_set_number(state, mapping, "broken", 0);
}

/* Windows has one user for all shares of a server. Who gives no name takes what there is. */
static bool is_in_conflict(const struct network_state *state, const char *root,
                           const struct network_credentials *credentials) {
  if (credentials->user[0] == '\0') return false;
  for (const struct network_record *mapping = network_next(state, mapping_kind, NULL); mapping != NULL;
       mapping = network_next(state, mapping_kind, mapping)) {
    bool is_same_host = strncmp(network_get(mapping, "root"), root, host_length(root)) == 0;
    bool is_nobody = network_has(mapping, "user", "");
    if (is_same_host && !is_nobody && !has_credentials(mapping, credentials)) return true;
  }
  return false;
}

uint32_t network_share_map(struct network_state *state, const char *root,
                           const struct network_credentials *credentials, bool require_privacy) {
  struct network_record *mapping = find_mapping(state, root);
  if (mapping != NULL && !has_credentials(mapping, credentials)) return NETWORK_SHARE_CREDENTIAL_CONFLICT;
  if (mapping != NULL) {
    uint32_t answer = reach(state, root);
    if (answer == NETWORK_SHARE_DONE) network_set_number(state, mapping, "broken", 0);
    return answer;
  }
  if (is_in_conflict(state, root, credentials)) return NETWORK_SHARE_CREDENTIAL_CONFLICT;
  uint32_t answer = network_share_try(state, root, credentials, require_privacy);
  if (answer == NETWORK_SHARE_DONE) add_mapping(state, root, credentials, require_privacy);
  return answer;
}

uint32_t network_share_unmap(struct network_state *state, const char *root) {
  struct network_record *mapping = find_mapping(state, root);
  if (mapping == NULL) return NETWORK_SHARE_NOT_CONNECTED;
  network_remove(state, mapping);
  return NETWORK_SHARE_DONE;
}

const struct network_record *network_share_mapping(const struct network_state *state, const char *root) {
  return find_mapping(state, root);
}

bool network_share_is_broken(const struct network_record *mapping) {
  return network_get_number(mapping, "broken", 0) != 0;
}

bool network_shares_are_listed(const struct network_state *state) {
  const struct network_record *settings = network_next(state, settings_kind, NULL);
  return settings == NULL || network_get_number(settings, "enumerate", 1) != 0;
}

bool network_share_is_reachable(const struct network_state *state, const struct network_record *share) {
  const char *root = network_get(share, "root");
  return find_mapping(state, root) != NULL && reach(state, root) == NETWORK_SHARE_DONE;
}

/* ---- Commands. ---- */

/* One command. */
struct request {
  struct network_state *state;
  struct vdisk_words *words;
  struct vdisk_text *reply;
  const char *problem;
  char root[NETWORK_ROOT_BYTES];
};

static bool refuse(struct request *request, const char *problem) {
  request->problem = problem;
  return false;
}

/* The value of a key without escapes; NULL when it is not there. False when it is broken. */
static bool take_text(struct request *request, const char *key, const char **text_out) {
  char *value = vdisk_words_value(request->words, key);
  *text_out = value;
  if (value == NULL) return !vdisk_words_has(request->words, key) || refuse(request, "a value is missing");
  return vdisk_percent_decode(value) || refuse(request, "a broken %XX");
}

static bool take_root(struct request *request) {
  const char *root;
  if (!take_text(request, "root", &root)) return false;
  return (root != NULL && network_share_root(root, request->root)) ||
         refuse(request, "root=\\\\host\\share is expected");
}

static bool no_more_words(struct request *request) {
  return vdisk_words_unused(request->words) == NULL || refuse(request, "an unknown word");
}

static bool is_one_of(const char *value, const char *a, const char *b, const char *c, const char *d) {
  const char *const all[] = {a, b, c, d};
  for (size_t i = 0; i < 4; i++)
    if (all[i] != NULL && strcmp(value, all[i]) == 0) return true;
  return false;
}

/* What `share add` and `share set` say. NULL: not said. */
struct share_words {
  const char *user;
  const char *password;
  const char *privacy;
  const char *state;
};

static bool take_share(struct request *request, struct share_words *words_out) {
  if (!take_root(request) || !take_text(request, "user", &words_out->user) ||
      !take_text(request, "password", &words_out->password) ||
      !take_text(request, "privacy", &words_out->privacy) ||
      !take_text(request, "state", &words_out->state) || !no_more_words(request))
    return false;
  if (words_out->privacy != NULL && !is_one_of(words_out->privacy, "supported", "unsupported", NULL, NULL))
    return refuse(request, "privacy is supported or unsupported");
  if (words_out->state != NULL && !is_one_of(words_out->state, "up", "down", "gone", "disconnected"))
    return refuse(request, "state is up, down, gone or disconnected");
  return true;
}

/* Disconnected is what a mapping is, and a new one not. */
static void set_state(struct request *request, struct network_record *share, const char *share_state) {
  struct network_record *mapping = find_mapping(request->state, request->root);
  bool is_disconnected = strcmp(share_state, "disconnected") == 0;
  network_set(request->state, share, "state", is_disconnected ? "up" : share_state);
  if (mapping != NULL) network_set_number(request->state, mapping, "broken", is_disconnected);
}

static void set_share(struct request *request, struct network_record *share,
                      const struct share_words *words) {
  struct network_state *state = request->state;
  if (words->user != NULL) network_set(state, share, "user", words->user);
  if (words->password != NULL) network_set_secret(state, share, "password", words->password);
  if (words->privacy != NULL)
    network_set_number(state, share, "privacy", strcmp(words->privacy, "supported") == 0);
  if (words->state != NULL) set_state(request, share, words->state);
}

static bool add(struct request *request) {
  struct share_words words;
  if (!take_share(request, &words)) return false;
  if (network_find(request->state, share_kind, "root", request->root) != NULL)
    return refuse(request, "there is such a share");
  struct network_record *share = network_add(request->state, share_kind);
  network_set(request->state, share, "root", request->root);
  set_share(request, share, &words);
  return true;
}

/* The share of the root; NULL with the problem when there is none. */
static struct network_record *find_share(struct request *request) {
  struct network_record *share = network_find(request->state, share_kind, "root", request->root);
  if (share == NULL) refuse(request, "there is no such share");
  return share;
}

static bool set(struct request *request) {
  struct share_words words;
  if (!take_share(request, &words)) return false;
  struct network_record *share = find_share(request);
  if (share == NULL) return false;
  set_share(request, share, &words);
  return true;
}

/* A mapping to what is no more stays, as it does on Windows. */
static bool remove_share(struct request *request) {
  if (!take_root(request) || !no_more_words(request)) return false;
  struct network_record *share = find_share(request);
  if (share != NULL) network_remove(request->state, share);
  return share != NULL;
}

static bool map(struct request *request) {
  const char *user, *password;
  if (!take_root(request) || !take_text(request, "user", &user) ||
      !take_text(request, "password", &password) || !no_more_words(request) || find_share(request) == NULL)
    return false;
  if (find_mapping(request->state, request->root) != NULL) return refuse(request, "it is mapped");
  char digest[NETWORK_DIGEST_BYTES];
  network_secret_digest(password == NULL ? "" : password, password == NULL ? 0 : strlen(password), digest);
  struct network_credentials credentials = {.user = user == NULL ? "" : user, .digest = digest};
  add_mapping(request->state, request->root, &credentials, false);
  return true;
}

static bool unmap(struct request *request) {
  if (!take_root(request) || !no_more_words(request)) return false;
  return network_share_unmap(request->state, request->root) == NETWORK_SHARE_DONE ||
         refuse(request, "it is not mapped");
}

static void describe(struct request *request, const char *root, const struct network_record *mapping) {
  vdisk_text_add(request->reply, "root=");
  network_add_value(request->reply, root);
  vdisk_text_add_number_word(request->reply, "mapped", mapping != NULL);
  vdisk_text_add_word(request->reply, "user", "");
  if (mapping != NULL) network_add_value(request->reply, network_get(mapping, "user"));
  vdisk_text_add_number_word(request->reply, "privacy",
                             mapping == NULL ? 0 : network_get_number(mapping, "privacy", 0));
  vdisk_text_add(request->reply, "\n");
}

/* Also mappings to what is no more. */
static bool list(struct request *request) {
  const struct network_state *state = request->state;
  if (!no_more_words(request)) return false;
  for (const struct network_record *share = network_next(state, share_kind, NULL); share != NULL;
       share = network_next(state, share_kind, share))
    describe(request, network_get(share, "root"), find_mapping(state, network_get(share, "root")));
  for (const struct network_record *mapping = network_next(state, mapping_kind, NULL); mapping != NULL;
       mapping = network_next(state, mapping_kind, mapping))
    if (network_find(state, share_kind, "root", network_get(mapping, "root")) == NULL)
      describe(request, network_get(mapping, "root"), mapping);
  return true;
}

static bool enumerate(struct request *request) {
  const char *value = vdisk_words_value(request->words, "enumerate");
  if (value == NULL || !is_one_of(value, "0", "1", NULL, NULL))
    return refuse(request, "share has add, set, remove, map, unmap, list and enumerate=0|1");
  if (!no_more_words(request)) return false;
  network_set(request->state, network_settings(request->state, settings_kind), "enumerate", value);
  return true;
}

bool network_share_command(struct network_state *state, struct vdisk_words *words, struct vdisk_text *reply,
                           const char **problem_out) {
  static const struct {
    const char *verb;
    bool (*run)(struct request *request);
  } verbs[] = {
      {"add", add}, {"set", set}, {"remove", remove_share}, {"map", map}, {"unmap", unmap}, {"list", list},
  };
  struct request request = {.state = state, .words = words, .reply = reply};
  const char *verb = vdisk_words_take(words);
  size_t i = 0;
  while (i < sizeof verbs / sizeof verbs[0] && strcmp(verbs[i].verb, verb) != 0)
    i++;
  bool done = i < sizeof verbs / sizeof verbs[0] ? verbs[i].run(&request) : enumerate(&request);
  if (!done) *problem_out = request.problem;
  return done;
}
