/* SPDX-License-Identifier: Apache-2.0
 *
 * Win32 error texts as Windows words them in English, the gRPC code that fits each, and how the other
 * number spaces map to Win32. FormatMessageW is asked only for what is missing here: its answer
 * depends on the display language, and callers match these texts.
 *
 * UNVERIFIED ON WINDOWS: the wording was taken from documentation, not from a running system.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/status.h"
#include "base/system_error.h"

struct error_row {
  uint32_t number;
  enum csi_code code;
  const char *text;
};

struct number_pair {
  uint32_t number;
  uint32_t win32;
};

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

/* Sorted by number. */
static const struct error_row win32_errors[] = {
    {0, CSI_UNKNOWN, "The operation completed successfully."},
    {1, CSI_UNIMPLEMENTED, "Incorrect function."},
    {2, CSI_NOT_FOUND, "The system cannot find the file specified."},
    {3, CSI_NOT_FOUND, "The system cannot find the path specified."},
    {4, CSI_RESOURCE_EXHAUSTED, "The system cannot open the file."},
    {5, CSI_PERMISSION_DENIED, "Access is denied."},
    {6, CSI_INTERNAL, "The handle is invalid."},
    {8, CSI_RESOURCE_EXHAUSTED, "Not enough memory resources are available to process this command."},
    {13, CSI_DATA_LOSS, "The data is invalid."},
    {14, CSI_RESOURCE_EXHAUSTED, "Not enough memory resources are available to complete this operation."},
    {15, CSI_NOT_FOUND, "The system cannot find the drive specified."},
    {16, CSI_FAILED_PRECONDITION, "The directory cannot be removed."},
    {17, CSI_FAILED_PRECONDITION, "The system cannot move the file to a different disk drive."},
    {18, CSI_NOT_FOUND, "There are no more files."},
    {19, CSI_FAILED_PRECONDITION, "The media is write protected."},
    {20, CSI_NOT_FOUND, "The system cannot find the device specified."},
    {21, CSI_UNAVAILABLE, "The device is not ready."},
    {22, CSI_UNIMPLEMENTED, "The device does not recognize the command."},
    {23, CSI_DATA_LOSS, "Data error (cyclic redundancy check)."},
    {24, CSI_INTERNAL, "The program issued a command but the command length is incorrect."},
    {25, CSI_DATA_LOSS, "The drive cannot locate a specific area or track on the disk."},
    {26, CSI_FAILED_PRECONDITION, "The specified disk or diskette cannot be accessed."},
    {27, CSI_DATA_LOSS, "The drive cannot find the sector requested."},
    {29, CSI_DATA_LOSS, "The system cannot write to the specified device."},
    {30, CSI_DATA_LOSS, "The system cannot read from the specified device."},
    {31, CSI_INTERNAL, "A device attached to the system is not functioning."},
    {32, CSI_FAILED_PRECONDITION,
     "The process cannot access the file because it is being used by another process."},
    {33, CSI_FAILED_PRECONDITION,
     "The process cannot access the file because another process has locked a portion of the file."},
    {38, CSI_OUT_OF_RANGE, "Reached the end of the file."},
    {39, CSI_RESOURCE_EXHAUSTED, "The disk is full."},
    {50, CSI_UNIMPLEMENTED, "The request is not supported."},
    {51, CSI_UNAVAILABLE,
     "Windows cannot find the network path. Verify that the network path is correct and the destination "
     "computer is not busy or turned off. If Windows still cannot find the network path, contact your "
     "network administrator."},
    {53, CSI_UNAVAILABLE, "The network path was not found."},
    {54, CSI_UNAVAILABLE, "The network is busy."},
    {55, CSI_UNAVAILABLE, "The specified network resource or device is no longer available."},
    {58, CSI_UNAVAILABLE, "The specified server cannot perform the requested operation."},
    {59, CSI_UNAVAILABLE, "An unexpected network error occurred."},
    {64, CSI_UNAVAILABLE, "The specified network name is no longer available."},
    {65, CSI_PERMISSION_DENIED, "Network access is denied."},
    {66, CSI_INVALID_ARGUMENT, "The network resource type is not correct."},
    {67, CSI_NOT_FOUND, "The network name cannot be found."},
    {71, CSI_RESOURCE_EXHAUSTED,
     "No more connections can be made to this remote computer at this time because there are already as "
     "many connections as the computer can accept."},
    {80, CSI_ALREADY_EXISTS, "The file exists."},
    {82, CSI_FAILED_PRECONDITION, "The directory or file cannot be created."},
    {85, CSI_ALREADY_EXISTS, "The local device name is already in use."},
    {86, CSI_PERMISSION_DENIED, "The specified network password is not correct."},
    {87, CSI_INVALID_ARGUMENT, "The parameter is incorrect."},
    {108, CSI_FAILED_PRECONDITION, "The disk is in use or locked by another process."},
    {109, CSI_UNAVAILABLE, "The pipe has been ended."},
    {110, CSI_FAILED_PRECONDITION, "The system cannot open the device or file specified."},
    {111, CSI_INVALID_ARGUMENT, "The file name is too long."},
    {112, CSI_RESOURCE_EXHAUSTED, "There is not enough space on the disk."},
    {117, CSI_UNIMPLEMENTED, "The IOCTL call made by the application program is not correct."},
    {119, CSI_UNIMPLEMENTED, "The system does not support the command requested."},
    {120, CSI_UNIMPLEMENTED, "This function is not supported on this system."},
    {121, CSI_UNAVAILABLE, "The semaphore timeout period has expired."},
    {122, CSI_INTERNAL, "The data area passed to a system call is too small."},
    {123, CSI_INVALID_ARGUMENT, "The filename, directory name, or volume label syntax is incorrect."},
    {124, CSI_INVALID_ARGUMENT, "The system call level is not correct."},
    {126, CSI_UNIMPLEMENTED, "The specified module could not be found."},
    {127, CSI_UNIMPLEMENTED, "The specified procedure could not be found."},
    {130, CSI_INTERNAL,
     "Attempt to use a file handle to an open disk partition for an operation other than raw disk I/O."},
    {131, CSI_OUT_OF_RANGE, "An attempt was made to move the file pointer before the beginning of the file."},
    {144, CSI_INVALID_ARGUMENT, "The directory is not a subdirectory of the root directory."},
    {145, CSI_FAILED_PRECONDITION, "The directory is not empty."},
    {148, CSI_FAILED_PRECONDITION, "The path specified cannot be used at this time."},
    {154, CSI_INVALID_ARGUMENT,
     "The volume label you entered exceeds the label character limit of the target file system."},
    {161, CSI_INVALID_ARGUMENT, "The specified path is invalid."},
    {170, CSI_FAILED_PRECONDITION, "The requested resource is in use."},
    {183, CSI_ALREADY_EXISTS, "Cannot create a file when that file already exists."},
    {206, CSI_INVALID_ARGUMENT, "The filename or extension is too long."},
    {230, CSI_INTERNAL, "The pipe state is invalid."},
    {231, CSI_UNAVAILABLE, "All pipe instances are busy."},
    {232, CSI_UNAVAILABLE, "The pipe is being closed."},
    {233, CSI_UNAVAILABLE, "No process is on the other end of the pipe."},
    {234, CSI_INTERNAL, "More data is available."},
    {258, CSI_DEADLINE_EXCEEDED, "The wait operation timed out."},
    {259, CSI_NOT_FOUND, "No more data is available."},
    {266, CSI_FAILED_PRECONDITION, "The copy functions cannot be used."},
    {267, CSI_FAILED_PRECONDITION, "The directory name is invalid."},
    {288, CSI_FAILED_PRECONDITION, "Attempt to release mutex not owned by caller."},
    {303, CSI_FAILED_PRECONDITION,
     "The file cannot be opened because it is in the process of being deleted."},
    {336, CSI_FAILED_PRECONDITION, "An operation is not supported on a directory."},
    {395, CSI_PERMISSION_DENIED, "Access to the cloud file is denied."},
    {433, CSI_NOT_FOUND, "A device which does not exist was specified."},
    {483, CSI_DATA_LOSS, "The request failed due to a fatal device hardware error."},
    {487, CSI_INTERNAL, "Attempt to access invalid address."},
    {995, CSI_CANCELLED,
     "The I/O operation has been aborted because of either a thread exit or an application request."},
    {996, CSI_INTERNAL, "Overlapped I/O event is not in a signaled state."},
    {997, CSI_INTERNAL, "Overlapped I/O operation is in progress."},
    {998, CSI_INTERNAL, "Invalid access to memory location."},
    {1004, CSI_INVALID_ARGUMENT, "Invalid flags."},
    {1005, CSI_FAILED_PRECONDITION,
     "The volume does not contain a recognized file system. Please make sure that all required file "
     "system drivers are loaded and that the volume is not corrupted."},
    {1006, CSI_ABORTED,
     "The volume for a file has been externally altered so that the opened file is no longer valid."},
    {1008, CSI_INTERNAL, "An attempt was made to reference a token that does not exist."},
    {1051, CSI_FAILED_PRECONDITION,
     "A stop control has been sent to a service that other running services are dependent on."},
    {1052, CSI_FAILED_PRECONDITION, "The requested control is not valid for this service."},
    {1053, CSI_DEADLINE_EXCEEDED,
     "The service did not respond to the start or control request in a timely fashion."},
    {1054, CSI_RESOURCE_EXHAUSTED, "A thread could not be created for the service."},
    {1055, CSI_UNAVAILABLE, "The service database is locked."},
    {1056, CSI_ALREADY_EXISTS, "An instance of the service is already running."},
    {1057, CSI_FAILED_PRECONDITION,
     "The account name is invalid or does not exist, or the password is invalid for the account name "
     "specified."},
    {1058, CSI_FAILED_PRECONDITION,
     "The service cannot be started, either because it is disabled or because it has no enabled devices "
     "associated with it."},
    {1059, CSI_FAILED_PRECONDITION, "Circular service dependency was specified."},
    {1060, CSI_NOT_FOUND, "The specified service does not exist as an installed service."},
    {1061, CSI_UNAVAILABLE, "The service cannot accept control messages at this time."},
    {1062, CSI_FAILED_PRECONDITION, "The service has not been started."},
    {1063, CSI_FAILED_PRECONDITION, "The service process could not connect to the service controller."},
    {1066, CSI_INTERNAL, "The service has returned a service-specific error code."},
    {1067, CSI_INTERNAL, "The process terminated unexpectedly."},
    {1068, CSI_FAILED_PRECONDITION, "The dependency service or group failed to start."},
    {1069, CSI_FAILED_PRECONDITION, "The service did not start due to a logon failure."},
    {1070, CSI_UNAVAILABLE, "After starting, the service hung in a start-pending state."},
    {1072, CSI_FAILED_PRECONDITION, "The specified service has been marked for deletion."},
    {1073, CSI_ALREADY_EXISTS, "The specified service already exists."},
    {1075, CSI_FAILED_PRECONDITION, "The dependency service does not exist or has been marked for deletion."},
    {1077, CSI_FAILED_PRECONDITION, "No attempts to start the service have been made since the last boot."},
    {1110, CSI_UNAVAILABLE, "The media in the drive may have changed."},
    {1112, CSI_FAILED_PRECONDITION, "No media in drive."},
    {1117, CSI_DATA_LOSS, "The request could not be performed because of an I/O device error."},
    {1131, CSI_ABORTED, "A potential deadlock condition has been detected."},
    {1167, CSI_UNAVAILABLE, "The device is not connected."},
    {1168, CSI_NOT_FOUND, "Element not found."},
    {1200, CSI_INVALID_ARGUMENT, "The specified device name is invalid."},
    {1201, CSI_FAILED_PRECONDITION,
     "The device is not currently connected but it is a remembered connection."},
    {1202, CSI_ALREADY_EXISTS,
     "The local device name has a remembered connection to another network resource."},
    {1203, CSI_UNAVAILABLE,
     "The network path was either typed incorrectly, does not exist, or the network provider is not "
     "currently available. Please try retyping the path or contact your network administrator."},
    {1204, CSI_INVALID_ARGUMENT, "The specified network provider name is invalid."},
    {1208, CSI_UNKNOWN, "An extended error has occurred."},
    {1219, CSI_FAILED_PRECONDITION,
     "Multiple connections to a server or shared resource by the same user, using more than one user "
     "name, are not allowed. Disconnect all previous connections to the server or shared resource and "
     "try again."},
    {1222, CSI_UNAVAILABLE, "The network is not present or not started."},
    {1223, CSI_CANCELLED, "The operation was canceled by the user."},
    {1225, CSI_UNAVAILABLE, "The remote computer refused the network connection."},
    {1231, CSI_UNAVAILABLE,
     "The network location cannot be reached. For information about network troubleshooting, see Windows "
     "Help."},
    {1232, CSI_UNAVAILABLE,
     "The network location cannot be reached. For information about network troubleshooting, see Windows "
     "Help."},
    {1235, CSI_ABORTED, "The request was aborted."},
    {1236, CSI_UNAVAILABLE, "The network connection was aborted by the local system."},
    {1237, CSI_UNAVAILABLE, "The operation could not be completed. A retry should be performed."},
    {1244, CSI_PERMISSION_DENIED,
     "The operation being requested was not performed because the user has not been authenticated."},
    {1300, CSI_PERMISSION_DENIED, "Not all privileges or groups referenced are assigned to the caller."},
    {1307, CSI_PERMISSION_DENIED, "This security ID may not be assigned as the owner of this object."},
    {1314, CSI_PERMISSION_DENIED, "A required privilege is not held by the client."},
    {1317, CSI_NOT_FOUND, "The specified account does not exist."},
    {1326, CSI_PERMISSION_DENIED, "The user name or password is incorrect."},
    {1327, CSI_PERMISSION_DENIED,
     "Account restrictions are preventing this user from signing in. For example: blank passwords aren't "
     "allowed, sign-in times are limited, or a policy restriction has been enforced."},
    {1330, CSI_PERMISSION_DENIED, "The password for this account has expired."},
    {1331, CSI_PERMISSION_DENIED, "This user can't sign in because this account is currently disabled."},
    {1332, CSI_NOT_FOUND, "No mapping between account names and security IDs was done."},
    {1336, CSI_INVALID_ARGUMENT, "The access control list (ACL) structure is invalid."},
    {1337, CSI_INVALID_ARGUMENT, "The security ID structure is invalid."},
    {1338, CSI_INVALID_ARGUMENT, "The security descriptor structure is invalid."},
    {1355, CSI_UNAVAILABLE, "The specified domain either does not exist or could not be contacted."},
    {1385, CSI_PERMISSION_DENIED,
     "Logon failure: the user has not been granted the requested logon type at this computer."},
    {1392, CSI_DATA_LOSS, "The file or directory is corrupted and unreadable."},
    {1393, CSI_DATA_LOSS, "The disk structure is corrupted and unreadable."},
    {1411, CSI_INTERNAL, "Class does not exist."},
    {1450, CSI_RESOURCE_EXHAUSTED, "Insufficient system resources exist to complete the requested service."},
    {1453, CSI_RESOURCE_EXHAUSTED, "Insufficient quota to complete the requested service."},
    {1455, CSI_RESOURCE_EXHAUSTED, "The paging file is too small for this operation to complete."},
    {1460, CSI_DEADLINE_EXCEEDED, "This operation returned because the timeout period expired."},
    {1464, CSI_FAILED_PRECONDITION, "The symbolic link cannot be followed because its type is disabled."},
    {1717, CSI_UNAVAILABLE, "The interface is unknown."},
    {1722, CSI_UNAVAILABLE, "The RPC server is unavailable."},
    {1726, CSI_UNAVAILABLE, "The remote procedure call failed."},
    {1753, CSI_UNAVAILABLE, "There are no more endpoints available from the endpoint mapper."},
    {1784, CSI_INTERNAL, "The supplied user buffer is not valid for the requested operation."},
    {1785, CSI_FAILED_PRECONDITION, "The disk media is not recognized. It may not be formatted."},
    {1816, CSI_RESOURCE_EXHAUSTED, "Not enough quota is available to process this command."},
    {1907, CSI_PERMISSION_DENIED, "The user's password must be changed before signing in."},
    {1909, CSI_PERMISSION_DENIED,
     "The referenced account is currently locked out and may not be logged on to."},
    {1920, CSI_FAILED_PRECONDITION, "The file cannot be accessed by the system."},
    {1921, CSI_FAILED_PRECONDITION, "The name of the file cannot be resolved by the system."},
    {2202, CSI_INVALID_ARGUMENT, "The specified username is invalid."},
    {2250, CSI_NOT_FOUND, "This network connection does not exist."},
    {2401, CSI_FAILED_PRECONDITION, "This network connection has files open or requests pending."},
    {2402, CSI_FAILED_PRECONDITION, "Active connections still exist."},
    {2404, CSI_FAILED_PRECONDITION, "The device is in use by an active process and cannot be disconnected."},
    {4390, CSI_FAILED_PRECONDITION, "The file or directory is not a reparse point."},
    {4391, CSI_FAILED_PRECONDITION,
     "The reparse point attribute cannot be set because it conflicts with an existing attribute."},
    {4392, CSI_DATA_LOSS, "The data present in the reparse point buffer is invalid."},
    {4393, CSI_FAILED_PRECONDITION, "The tag present in the reparse point buffer is invalid."},
    {4394, CSI_FAILED_PRECONDITION,
     "There is a mismatch between the tag specified in the request and the tag present in the reparse "
     "point."},
    {4395, CSI_FAILED_PRECONDITION,
     "The object manager encountered a reparse point while retrieving an object."},
    {10013, CSI_PERMISSION_DENIED,
     "An attempt was made to access a socket in a way forbidden by its access permissions."},
    {10048, CSI_ALREADY_EXISTS,
     "Only one usage of each socket address (protocol/network address/port) is normally permitted."},
    {10049, CSI_UNAVAILABLE, "The requested address is not valid in its context."},
};

/* What Windows' RtlNtStatusToDosError() makes of them. Sorted by number. */
static const struct number_pair ntstatus_pairs[] = {
    {0x00000102, 1460}, {0x00000103, 997},  {0x80000005, 234},  {0x80000006, 18},   {0x80000011, 170},
    {0x8000001A, 259},  {0xC0000001, 31},   {0xC0000002, 1},    {0xC0000004, 24},   {0xC0000005, 998},
    {0xC0000008, 6},    {0xC000000B, 87},   {0xC000000D, 87},   {0xC000000E, 433},  {0xC000000F, 2},
    {0xC0000010, 1},    {0xC0000011, 38},   {0xC0000013, 21},   {0xC0000014, 1785}, {0xC0000015, 27},
    {0xC0000017, 8},    {0xC0000022, 5},    {0xC0000023, 122},  {0xC0000024, 6},    {0xC0000030, 87},
    {0xC0000033, 123},  {0xC0000034, 2},    {0xC0000035, 183},  {0xC0000039, 161},  {0xC000003A, 3},
    {0xC000003B, 161},  {0xC000003E, 23},   {0xC000003F, 23},   {0xC0000043, 32},   {0xC0000044, 1816},
    {0xC0000054, 33},   {0xC0000055, 33},   {0xC0000056, 5},    {0xC0000061, 1314}, {0xC000006A, 86},
    {0xC000006D, 1326}, {0xC000006E, 1327}, {0xC0000071, 1330}, {0xC0000072, 1331}, {0xC0000073, 1332},
    {0xC000007F, 112},  {0xC0000098, 1006}, {0xC000009A, 1450}, {0xC000009C, 23},   {0xC000009D, 1167},
    {0xC00000A2, 19},   {0xC00000A3, 21},   {0xC00000AB, 231},  {0xC00000AC, 231},  {0xC00000AD, 230},
    {0xC00000AE, 231},  {0xC00000B0, 233},  {0xC00000B1, 232},  {0xC00000B5, 121},  {0xC00000BA, 5},
    {0xC00000BB, 50},   {0xC00000BE, 53},   {0xC00000BF, 54},   {0xC00000C0, 55},   {0xC00000C3, 58},
    {0xC00000C4, 59},   {0xC00000C9, 64},   {0xC00000CA, 65},   {0xC00000CB, 66},   {0xC00000CC, 67},
    {0xC00000D4, 17},   {0xC00000E8, 1784}, {0xC0000101, 145},  {0xC0000102, 1392}, {0xC0000103, 267},
    {0xC0000106, 206},  {0xC000010A, 5},    {0xC000011F, 4},    {0xC0000120, 995},  {0xC0000121, 5},
    {0xC0000123, 5},    {0xC0000128, 6},    {0xC000012D, 1455}, {0xC0000135, 126},  {0xC0000139, 127},
    {0xC000014B, 109},  {0xC000014F, 1005}, {0xC0000178, 1112}, {0xC0000184, 22},   {0xC0000185, 1117},
    {0xC0000194, 1131}, {0xC0000203, 59},   {0xC000020C, 64},   {0xC000020D, 64},   {0xC0000225, 1168},
    {0xC000022D, 1237}, {0xC0000234, 1909}, {0xC0000236, 1225}, {0xC000023C, 1231}, {0xC000023D, 1232},
    {0xC0000241, 1236}, {0xC0000257, 1232}, {0xC0000275, 4390}, {0xC0000276, 4393}, {0xC0000277, 4394},
    {0xC0000278, 4392}, {0xC0000279, 1920}, {0xC0000280, 1921}, {0xC000050B, 4395},
};

/* Configuration manager results have no texts of their own; as CM_MapCrToWin32Err() would have it.
 * Sorted by number. */
static const struct number_pair configret_pairs[] = {
    {0x02, 8},   {0x03, 87},  {0x04, 1004}, {0x05, 433},  {0x0D, 433}, {0x13, 31}, {0x17, 170},
    {0x1A, 122}, {0x1E, 433}, {0x1F, 13},   {0x25, 1168}, {0x32, 120}, {0x33, 5},  {0x37, 433},
};

/* COM codes without the Win32 facility. Sorted by number. */
static const struct error_row hresult_errors[] = {
    {0x80004001, CSI_UNIMPLEMENTED, "Not implemented."},
    {0x80004002, CSI_INTERNAL, "No such interface supported."},
    {0x80004004, CSI_ABORTED, "Operation aborted."},
    {0x80004005, CSI_UNKNOWN, "Unspecified error."},
    {0x8000FFFF, CSI_INTERNAL, "Catastrophic failure."},
    {0x80040154, CSI_UNIMPLEMENTED, "Class not registered."},
    {0x80041001, CSI_UNKNOWN, "Generic failure."},
    {0x80041002, CSI_NOT_FOUND, "Not found."},
    {0x80041003, CSI_PERMISSION_DENIED, "Access denied."},
    {0x80041008, CSI_INVALID_ARGUMENT, "Invalid parameter."},
    {0x8004100C, CSI_UNIMPLEMENTED, "Not supported."},
    {0x8004100E, CSI_UNIMPLEMENTED, "Invalid namespace."},
    {0x80041010, CSI_UNIMPLEMENTED, "Invalid class."},
    {0x80041033, CSI_UNAVAILABLE, "Shutting down."},
    {0x80041069, CSI_DEADLINE_EXCEEDED, "Timed out."},
    {0x8004106C, CSI_RESOURCE_EXHAUSTED, "Quota violation."},
};

/* Texts of the discovery library's own message table. Sorted by number. */
static const struct error_row isdsc_errors[] = {
    {0xAFFF002E, CSI_UNAVAILABLE,
     "The operation was not successful for all initiators or discovery methods."},
    {0xAFFF003B, CSI_FAILED_PRECONDITION,
     "The operation was successful but requires a driver reload or reboot to become effective."},
    {0xAFFF0048, CSI_INVALID_ARGUMENT,
     "The specified CHAP secret is less than 96 bits and will not be usable for authenticating over non "
     "ipsec "
     "connections."},
    {0xEFFF0001, CSI_UNKNOWN, "A non specific error occurred."},
    {0xEFFF0002, CSI_UNAVAILABLE, "Login Failed."},
    {0xEFFF0003, CSI_UNAVAILABLE, "Connection Failed."},
    {0xEFFF0004, CSI_ALREADY_EXISTS, "Initiator Node Already Exists."},
    {0xEFFF0005, CSI_NOT_FOUND, "Initiator Node Does Not Exist."},
    {0xEFFF0006, CSI_UNAVAILABLE, "Target Moved Temporarily."},
    {0xEFFF0007, CSI_NOT_FOUND, "Target Moved Permanently."},
    {0xEFFF0008, CSI_INTERNAL, "Initiator Error."},
    {0xEFFF0009, CSI_PERMISSION_DENIED, "Authentication Failure."},
    {0xEFFF000A, CSI_PERMISSION_DENIED, "Authorization Failure."},
    {0xEFFF000B, CSI_NOT_FOUND, "Not Found."},
    {0xEFFF000C, CSI_NOT_FOUND, "Target Removed."},
    {0xEFFF000D, CSI_UNIMPLEMENTED, "Unsupported Version."},
    {0xEFFF000E, CSI_RESOURCE_EXHAUSTED, "Too many Connections."},
    {0xEFFF000F, CSI_INTERNAL, "Missing Parameter."},
    {0xEFFF0010, CSI_FAILED_PRECONDITION, "Can not include in session."},
    {0xEFFF0011, CSI_UNIMPLEMENTED, "Session type not supported."},
    {0xEFFF0012, CSI_UNAVAILABLE, "Target Error."},
    {0xEFFF0013, CSI_UNAVAILABLE, "Service Unavailable."},
    {0xEFFF0014, CSI_RESOURCE_EXHAUSTED, "Out of Resources."},
    {0xEFFF0015, CSI_ALREADY_EXISTS, "Connections already exist on initiator node."},
    {0xEFFF0016, CSI_ALREADY_EXISTS, "Session Already Exists."},
    {0xEFFF0017, CSI_NOT_FOUND, "Initiator Instance Does Not Exist."},
    {0xEFFF0018, CSI_ALREADY_EXISTS, "Target Already Exists."},
    {0xEFFF0019, CSI_INTERNAL, "The iscsi driver implementation did not complete an operation correctly."},
    {0xEFFF001A, CSI_INTERNAL, "An invalid key text was encountered."},
    {0xEFFF001B, CSI_UNAVAILABLE, "Invalid SendTargets response text was encountered."},
    {0xEFFF001C, CSI_NOT_FOUND, "Invalid Session Id."},
    {0xEFFF001D, CSI_UNAVAILABLE, "The scsi request failed."},
    {0xEFFF001E, CSI_RESOURCE_EXHAUSTED, "Exceeded max sessions for this initiator."},
    {0xEFFF001F, CSI_UNAVAILABLE, "Session is busy since a request is already in progress."},
    {0xEFFF0020, CSI_FAILED_PRECONDITION, "The target mapping requested is not available."},
    {0xEFFF0021, CSI_INVALID_ARGUMENT, "The Target Address type given is not supported."},
    {0xEFFF0022, CSI_UNAVAILABLE, "Logon Failed."},
    {0xEFFF0023, CSI_UNAVAILABLE, "TCP Send Failed."},
    {0xEFFF0024, CSI_UNAVAILABLE, "TCP Transport Error"},
    {0xEFFF0025, CSI_UNIMPLEMENTED, "iSCSI Version Mismatch"},
    {0xEFFF0026, CSI_OUT_OF_RANGE,
     "The Target Mapping Address passed is out of range for the adapter configuration."},
    {0xEFFF0027, CSI_FAILED_PRECONDITION,
     "The preshared key for the target or IKE identification payload is not available."},
    {0xEFFF0028, CSI_FAILED_PRECONDITION, "The authentication information for the target is not available."},
    {0xEFFF0029, CSI_NOT_FOUND, "The target name is not found or is marked as hidden from login."},
    {0xEFFF002A, CSI_INVALID_ARGUMENT,
     "One or more parameters specified in LoginTargetIN structure is invalid."},
    {0xEFFF002B, CSI_ALREADY_EXISTS, "Given target mapping already exists."},
    {0xEFFF002C, CSI_RESOURCE_EXHAUSTED, "The HBA security information cache is full."},
    {0xEFFF002D, CSI_INVALID_ARGUMENT, "The port number passed is not valid for the initiator."},
    {0xEFFF0032, CSI_ALREADY_EXISTS, "Target Portal Structure Already Exists."},
    {0xEFFF0033, CSI_ALREADY_EXISTS, "Target Address Structure Already Exists."},
    {0xEFFF0037, CSI_UNIMPLEMENTED, "The request or operation is not supported."},
    {0xEFFF0038, CSI_RESOURCE_EXHAUSTED,
     "The target does not have enough resources to process the given request."},
    {0xEFFF0039, CSI_UNAVAILABLE, "The initiator service did not respond to the request sent by the driver."},
    {0xEFFF003A, CSI_UNAVAILABLE,
     "The Internet Storage Name Server (iSNS) server was not found or is unavailable."},
    {0xEFFF003C, CSI_UNAVAILABLE, "There is no target portal available to complete the login."},
    {0xEFFF003D, CSI_FAILED_PRECONDITION, "Cannot remove the last connection for a session."},
    {0xEFFF003E, CSI_FAILED_PRECONDITION,
     "The Microsoft iSCSI Initiator Service is not running. Please start the service and retry."},
    {0xEFFF003F, CSI_ALREADY_EXISTS, "The target has already been logged in via an iSCSI session."},
    {0xEFFF0040, CSI_FAILED_PRECONDITION,
     "The session cannot be logged out since a device on that session is currently being used."},
    {0xEFFF0041, CSI_INTERNAL, "Failed to save persistent login information."},
    {0xEFFF0042, CSI_INTERNAL, "Failed to remove persistent login information."},
    {0xEFFF0043, CSI_NOT_FOUND, "The specified portal was not found."},
    {0xEFFF0044, CSI_NOT_FOUND, "The specified initiator name was not found."},
    {0xEFFF0045, CSI_NOT_FOUND, "The specified discovery mechanism was not found."},
    {0xEFFF0046, CSI_UNIMPLEMENTED, "iSCSI does not support IPSEC for this version of the OS."},
    {0xEFFF0047, CSI_DEADLINE_EXCEEDED,
     "The iSCSI service timed out waiting for all persistent logins to complete."},
    {0xEFFF004A, CSI_INVALID_ARGUMENT,
     "CHAP secret given does not conform to the standard. Please see system event log for more information."},
    {0xEFFF004B, CSI_INVALID_ARGUMENT,
     "Target CHAP secret given is invalid. Maximum size of CHAP secret is 16 bytes. Minimum size is 12 bytes "
     "if IPSec is not used."},
    {0xEFFF004C, CSI_INVALID_ARGUMENT,
     "Initiator CHAP secret given is invalid. Maximum size of CHAP secret is 16 bytes. Minimum size is 12 "
     "bytes if IPSec is not used."},
    {0xEFFF004D, CSI_INVALID_ARGUMENT, "CHAP Username given is invalid."},
    {0xEFFF004E, CSI_INVALID_ARGUMENT, "Logon Authentication type given is invalid."},
    {0xEFFF0051, CSI_INVALID_ARGUMENT,
     "The iSCSI name specified contains invalid characters or is too long."},
    {0xEFFF0054, CSI_INTERNAL, "The buffer given for processing the request is too small."},
    {0xEFFF0056, CSI_INVALID_ARGUMENT, "One or more paramaters specified is not valid."},
    {0xEFFF005D, CSI_NOT_FOUND, "Device was not found."},
    {0xEFFF005F, CSI_UNAVAILABLE, "The DNS name specified was not resolved."},
    {0xEFFF0060, CSI_UNAVAILABLE,
     "There is no connection available in the iSCSI session to process the request."},
    {0xEFFF0062, CSI_UNAVAILABLE, "A remove connection request is already in progress for this session."},
    {0xEFFF0063, CSI_NOT_FOUND, "Given connection was not found in the session."},
    {0xEFFF0065, CSI_PERMISSION_DENIED,
     "The operation cannot be performed since it does not conform with the group policy assigned to this "
     "computer."},
    {0xEFFF0068, CSI_UNAVAILABLE, "The name could not be resolved to an IP Address."},
};

/* Both kinds of row begin with the number. */
static int by_number(const void *key, const void *row) {
  uint32_t a = *(const uint32_t *)key, b = *(const uint32_t *)row;
  return (a > b) - (a < b);
}

#define FIND(table, number) bsearch(&(number), (table), COUNT(table), sizeof((table)[0]), by_number)

static uint32_t through_pairs(const struct number_pair *pair) {
  return pair == NULL ? CSI_NO_WIN32_ERROR : pair->win32;
}

uint32_t csi_win32_of_system_error(enum csi_error_space space, uint32_t number) {
  enum { FACILITY_MASK = 0xFFFF0000, FACILITY_WIN32_FAILURE = 0x80070000, NT_BIT = 0x10000000 };
  switch (space) {
  case CSI_SPACE_WIN32:
    return number;
  case CSI_SPACE_NTSTATUS:
    return through_pairs(FIND(ntstatus_pairs, number));
  case CSI_SPACE_CONFIGRET:
    return through_pairs(FIND(configret_pairs, number));
  case CSI_SPACE_ISDSC: /* the library hands on plain Win32 numbers, too */
    return number <= 0xFFFF ? number : CSI_NO_WIN32_ERROR;
  case CSI_SPACE_HRESULT:
    if ((number & (uint32_t)FACILITY_MASK) == (uint32_t)FACILITY_WIN32_FAILURE) return number & 0xFFFF;
    if ((number & NT_BIT) != 0) {
      uint32_t ntstatus = number & ~(uint32_t)NT_BIT;
      return through_pairs(FIND(ntstatus_pairs, ntstatus));
    }
    return CSI_NO_WIN32_ERROR;
  default:
    return CSI_NO_WIN32_ERROR;
  }
}

static const struct error_row *find_row(enum csi_error_space space, uint32_t number) {
  uint32_t win32 = csi_win32_of_system_error(space, number);
  if (win32 != CSI_NO_WIN32_ERROR) return FIND(win32_errors, win32);
  if (space == CSI_SPACE_HRESULT) return FIND(hresult_errors, number);
  if (space == CSI_SPACE_ISDSC) return FIND(isdsc_errors, number);
  return NULL;
}

const char *csi_system_error_text(enum csi_error_space space, uint32_t number, char *buffer,
                                  size_t buffer_bytes) {
  const struct error_row *row = space == CSI_SPACE_ERRNO ? NULL : find_row(space, number);
  if (row != NULL)
    (void)snprintf(buffer, buffer_bytes, "%s", row->text);
  else if (!csi_ask_system_for_error_text(space, number, buffer, buffer_bytes))
    (void)snprintf(buffer, buffer_bytes, number <= 0xFFFF ? "Windows error %u." : "Windows error 0x%08x.",
                   (unsigned)number);
  return buffer;
}

enum csi_code csi_code_of_system_error(enum csi_error_space space, uint32_t number) {
  if (space == CSI_SPACE_ERRNO) return csi_code_of_errno(number);
  const struct error_row *row = find_row(space, number);
  return row == NULL ? CSI_UNKNOWN : row->code;
}
