/* SPDX-License-Identifier: Apache-2.0
 *
 * The Management Infrastructure API of mi.dll as far as we use it, because mingw has no mi.h. Names and
 * layouts are Microsoft's; a slot of a function table that we do not call is an MI_Unused of the right name.
 * 64-bit only.
 *
 * UNVERIFIED ON WINDOWS: the layouts were taken from documentation.
 */
#ifndef CSI_SMB_MI_API_WIN32_H
#define CSI_SMB_MI_API_WIN32_H

#include <windows.h>

#include <assert.h>
#include <stddef.h>
#include <stdint.h>

#define MI_CALL __stdcall

typedef uint8_t MI_Boolean;
typedef uint32_t MI_Uint32;
typedef wchar_t MI_Char;

typedef enum MI_Result {
  MI_RESULT_OK = 0,
  MI_RESULT_FAILED = 1,
  MI_RESULT_ACCESS_DENIED = 2,
  MI_RESULT_INVALID_NAMESPACE = 3,
  MI_RESULT_INVALID_PARAMETER = 4,
  MI_RESULT_INVALID_CLASS = 5,
  MI_RESULT_NOT_FOUND = 6,
  MI_RESULT_NOT_SUPPORTED = 7,
  MI_RESULT_ALREADY_EXISTS = 11,
  MI_RESULT_NO_SUCH_PROPERTY = 12,
  MI_RESULT_TYPE_MISMATCH = 13,
  MI_RESULT_INVALID_QUERY = 15,
  MI_RESULT_METHOD_NOT_FOUND = 17,
} MI_Result;

/* Of elements of instances. */
typedef enum MI_Type {
  MI_BOOLEAN = 0,
  MI_UINT8 = 1,
  MI_SINT8 = 2,
  MI_UINT16 = 3,
  MI_SINT16 = 4,
  MI_UINT32 = 5,
  MI_SINT32 = 6,
  MI_STRING = 13,
} MI_Type;

typedef enum MI_CancellationReason {
  MI_REASON_NONE = 0,
} MI_CancellationReason;

enum {
  MI_FLAG_NULL = 1 << 29,   /* the element has no value */
  MI_FLAG_BORROW = 1 << 30, /* the value stays the caller's, and is not copied */

  MI_OPERATIONFLAGS_DEFAULT_RTTI = 0,
};

/* Name of the option that MI_OperationOptions_SetTimeout() sets. */
#define MI_OPERATIONOPTIONS_TIMEOUT L"__MI_OPERATIONOPTIONS_TIMEOUT"

typedef struct MI_Interval {
  MI_Uint32 days, hours, minutes, seconds, microseconds;
  MI_Uint32 padding[3];
} MI_Interval;

typedef struct MI_Instance MI_Instance;

typedef union MI_Value {
  MI_Boolean boolean;
  uint8_t uint8;
  int8_t sint8;
  uint16_t uint16;
  int16_t sint16;
  uint32_t uint32;
  int32_t sint32;
  MI_Char *string;
  struct {
    MI_Uint32 is_timestamp;
    MI_Interval interval;
  } datetime; /* the largest one */
  struct {
    void *data;
    MI_Uint32 size;
  } array;
} MI_Value;

typedef MI_Result(MI_CALL *MI_Unused)(void);

typedef struct MI_InstanceFT {
  MI_Result(MI_CALL *Clone)(const MI_Instance *self, MI_Instance **copy_out);
  MI_Unused Destruct;
  MI_Result(MI_CALL *Delete)(MI_Instance *self);
  MI_Unused IsA, GetClassName, SetNameSpace, GetNameSpace, GetElementCount;
  MI_Result(MI_CALL *AddElement)(MI_Instance *self, const MI_Char *name, const MI_Value *value, MI_Type type,
                                 MI_Uint32 flags);
  MI_Unused SetElement, SetElementAt;
  /* value_out of type MI_STRING lives as long as the instance. */
  MI_Result(MI_CALL *GetElement)(const MI_Instance *self, const MI_Char *name, MI_Value *value_out,
                                 MI_Type *type_out, MI_Uint32 *flags_out, MI_Uint32 *index_out);
  MI_Unused GetElementAt, ClearElement, ClearElementAt, GetServerName, SetServerName, GetClass;
} MI_InstanceFT;

struct MI_Instance {
  const MI_InstanceFT *ft;
  const void *classDecl;
  const MI_Char *serverName;
  const MI_Char *nameSpace;
  ptrdiff_t reserved[4];
};

typedef struct MI_OperationOptions {
  uint64_t reserved1;
  ptrdiff_t reserved2;
  const struct MI_OperationOptionsFT *ft;
} MI_OperationOptions;

typedef struct MI_OperationOptionsFT {
  void(MI_CALL *Delete)(MI_OperationOptions *options);
  MI_Unused SetString, SetNumber, SetCustomOption, GetString, GetNumber, GetOptionCount, GetOptionAt;
  MI_Unused GetOption, GetEnabledChannels, Clone;
  MI_Result(MI_CALL *SetInterval)(MI_OperationOptions *options, const MI_Char *name, const MI_Interval *value,
                                  MI_Uint32 flags);
  MI_Unused GetInterval;
} MI_OperationOptionsFT;

typedef struct MI_Operation {
  uint64_t reserved1;
  ptrdiff_t reserved2;
  const struct MI_OperationFT *ft;
} MI_Operation;

typedef struct MI_OperationFT {
  MI_Result(MI_CALL *Close)(MI_Operation *operation);
  MI_Result(MI_CALL *Cancel)(MI_Operation *operation, MI_CancellationReason reason);
  MI_Unused GetSession;
  /* Waits for the next result. What it hands out lives until the next call. */
  MI_Result(MI_CALL *GetInstance)(MI_Operation *operation, const MI_Instance **instance_out,
                                  MI_Boolean *more_out, MI_Result *result_out, const MI_Char **message_out,
                                  const MI_Instance **details_out);
  MI_Unused GetIndication;
  MI_Result(MI_CALL *GetClass)(MI_Operation *operation, const void **class_out, MI_Boolean *more_out,
                               MI_Result *result_out, const MI_Char **message_out,
                               const MI_Instance **details_out);
} MI_OperationFT;

typedef struct MI_Session {
  uint64_t reserved1;
  ptrdiff_t reserved2;
  const struct MI_SessionFT *ft;
} MI_Session;

typedef struct MI_SessionFT {
  MI_Result(MI_CALL *Close)(MI_Session *session, void *context, void(MI_CALL *closed)(void *context));
  MI_Unused GetApplication, GetInstance, ModifyInstance, CreateInstance, DeleteInstance;
  void(MI_CALL *Invoke)(MI_Session *session, MI_Uint32 flags, MI_OperationOptions *options,
                        const MI_Char *name_space, const MI_Char *class_name, const MI_Char *method,
                        const MI_Instance *instance, const MI_Instance *parameters, void *callbacks,
                        MI_Operation *operation_out);
  MI_Unused EnumerateInstances;
  void(MI_CALL *QueryInstances)(MI_Session *session, MI_Uint32 flags, MI_OperationOptions *options,
                                const MI_Char *name_space, const MI_Char *dialect, const MI_Char *query,
                                void *callbacks, MI_Operation *operation_out);
  MI_Unused AssociatorInstances, ReferenceInstances, Subscribe;
  void(MI_CALL *GetClass)(MI_Session *session, MI_Uint32 flags, MI_OperationOptions *options,
                          const MI_Char *name_space, const MI_Char *class_name, void *callbacks,
                          MI_Operation *operation_out);
  MI_Unused EnumerateClasses, TestConnection;
} MI_SessionFT;

typedef struct MI_Application {
  uint64_t reserved1;
  ptrdiff_t reserved2;
  const struct MI_ApplicationFT *ft;
} MI_Application;

typedef struct MI_ApplicationFT {
  MI_Result(MI_CALL *Close)(MI_Application *application);
  /* Without protocol, destination and options: this machine, by local COM calls of the process's user. */
  MI_Result(MI_CALL *NewSession)(MI_Application *application, const MI_Char *protocol,
                                 const MI_Char *destination, void *options, void *callbacks,
                                 MI_Instance **error_out, MI_Session *session_out);
  MI_Unused NewHostedProvider;
  MI_Result(MI_CALL *NewInstance)(MI_Application *application, const MI_Char *class_name,
                                  const void *class_declaration, MI_Instance **instance_out);
  MI_Unused NewDestinationOptions;
  MI_Result(MI_CALL *NewOperationOptions)(MI_Application *application, MI_Boolean must_understand,
                                          MI_OperationOptions *options_out);
  MI_Unused NewSubscriptionDeliveryOptions, NewSerializer, NewDeserializer, NewInstanceFromClass, NewClass;
} MI_ApplicationFT;

/* The only function that mi.dll exports for programs. */
typedef MI_Result(MI_CALL *MI_Application_InitializeV1_function)(MI_Uint32 flags,
                                                                 const MI_Char *application_id,
                                                                 MI_Instance **error_out,
                                                                 MI_Application *application_out);

#define MI_SLOT(table, slot, index) static_assert(offsetof(table, slot) == 8 * (index), #table "." #slot)
MI_SLOT(MI_InstanceFT, Delete, 2);
MI_SLOT(MI_InstanceFT, AddElement, 8);
MI_SLOT(MI_InstanceFT, GetElement, 11);
MI_SLOT(MI_InstanceFT, GetClass, 17);
MI_SLOT(MI_OperationOptionsFT, SetInterval, 11);
MI_SLOT(MI_OperationOptionsFT, GetInterval, 12);
MI_SLOT(MI_OperationFT, Cancel, 1);
MI_SLOT(MI_OperationFT, GetInstance, 3);
MI_SLOT(MI_OperationFT, GetClass, 5);
MI_SLOT(MI_SessionFT, Invoke, 6);
MI_SLOT(MI_SessionFT, QueryInstances, 8);
MI_SLOT(MI_SessionFT, GetClass, 12);
MI_SLOT(MI_SessionFT, TestConnection, 14);
MI_SLOT(MI_ApplicationFT, NewSession, 1);
MI_SLOT(MI_ApplicationFT, NewInstance, 3);
MI_SLOT(MI_ApplicationFT, NewOperationOptions, 5);
MI_SLOT(MI_ApplicationFT, NewClass, 10);
#undef MI_SLOT

static_assert(sizeof(MI_Result) == 4 && sizeof(MI_Type) == 4, "enumerations are 32 bits wide");
static_assert(sizeof(MI_Interval) == 32 && sizeof(MI_Value) == 40, "values");
static_assert(sizeof(MI_Instance) == 64 && offsetof(MI_Instance, nameSpace) == 24, "instances");
static_assert(sizeof(MI_Session) == 24 && offsetof(MI_Session, ft) == 16, "handles");

#endif
