/* SPDX-License-Identifier: Apache-2.0 */
#include <windows.h>

#include <bcrypt.h>
#include <string.h>

#include "base/little_endian.h"
#include "smb/common_win32.h"

enum {
  KEY_BYTES = 32,
  HASH_BLOCK_BYTES = 64, /* of SHA-256 */
};

/* Made once, when first needed. */
static struct {
  SRWLOCK lock;
  BCRYPT_ALG_HANDLE algorithm; /* NULL until then */
  UCHAR key[KEY_BYTES];
} hmac;

static bool fail(struct csi_ctx *ctx, NTSTATUS status, const char *call) {
  return csi_fail_system(&ctx->status, CSI_SPACE_NTSTATUS, (uint32_t)status, call, "compare credentials");
}

static bool make_key(struct csi_ctx *ctx) {
  BCRYPT_ALG_HANDLE algorithm;
  NTSTATUS status = BCryptGenRandom(NULL, hmac.key, KEY_BYTES, BCRYPT_USE_SYSTEM_PREFERRED_RNG);
  if (status < 0) return fail(ctx, status, "BCryptGenRandom");
  status =
      BCryptOpenAlgorithmProvider(&algorithm, BCRYPT_SHA256_ALGORITHM, NULL, BCRYPT_ALG_HANDLE_HMAC_FLAG);
  if (status < 0) return fail(ctx, status, "BCryptOpenAlgorithmProvider");
  hmac.algorithm = algorithm;
  return true;
}

static bool ensure_key(struct csi_ctx *ctx) {
  AcquireSRWLockExclusive(&hmac.lock);
  bool done = hmac.algorithm != NULL || make_key(ctx);
  ReleaseSRWLockExclusive(&hmac.lock);
  return done;
}

/* With its length before it, so that no two sets of texts are the same bytes. */
static NTSTATUS add_text(BCRYPT_HASH_HANDLE hash, const char *text) {
  ULONG length_bytes = (ULONG)strlen(text);
  UCHAR prefix[4];
  csi_put_u32(prefix, length_bytes);
  NTSTATUS status = BCryptHashData(hash, prefix, sizeof prefix, 0);
  return status < 0 ? status : BCryptHashData(hash, (UCHAR *)text, length_bytes, 0);
}

static NTSTATUS add_texts(BCRYPT_HASH_HANDLE hash, const char *root,
                          const struct csi_smb_credentials *credentials) {
  /* The hash keeps the last block it was given; that shall not be the password. */
  static const UCHAR zeros[2 * HASH_BLOCK_BYTES];
  NTSTATUS status = add_text(hash, root);
  if (status >= 0) status = add_text(hash, credentials->username);
  if (status >= 0) status = add_text(hash, credentials->password);
  return status < 0 ? status : BCryptHashData(hash, (UCHAR *)zeros, sizeof zeros, 0);
}

bool csi_smb_fingerprint(void *self, struct csi_ctx *ctx, const char *root,
                         const struct csi_smb_credentials *credentials,
                         struct csi_smb_fingerprint *fingerprint_out) {
  (void)self;
  BCRYPT_HASH_HANDLE hash;
  if (!ensure_key(ctx)) return false;
  NTSTATUS status = BCryptCreateHash(hmac.algorithm, &hash, NULL, 0, hmac.key, KEY_BYTES, 0);
  if (status < 0) return fail(ctx, status, "BCryptCreateHash");
  status = add_texts(hash, root, credentials);
  if (status >= 0) status = BCryptFinishHash(hash, fingerprint_out->bytes, CSI_SMB_FINGERPRINT_BYTES, 0);
  BCryptDestroyHash(hash);
  return status >= 0 || fail(ctx, status, "BCryptFinishHash");
}
