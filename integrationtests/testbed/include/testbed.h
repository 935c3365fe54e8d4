/* SPDX-License-Identifier: Apache-2.0
 *
 * What the testbed's driver and those who talk to it have in common: names, and the one control code.
 * Include windows.h and winioctl.h before it, or the kernel's headers.
 *
 * A command is one line of ASCII words, `disk add number=3 size=10G file=C:\disk3.img`. A word is a flag or
 * `key=value`; %XX in a value stands for any byte, %20 for a blank. Sizes take K, M, G or T. Empty lines and
 * what begins with # are nothing. docs/TESTBED.md lists them.
 */
#ifndef CSI_TESTBED_H
#define CSI_TESTBED_H

/* The control device: where Win32 programs open it, its object, and the link to it. */
#define CSI_TESTBED_PATH L"\\\\.\\VdiskControl"
#define CSI_TESTBED_NT_DEVICE "\\Device\\VdiskControl"
#define CSI_TESTBED_NT_LINK "\\??\\VdiskControl"

/* How the driver is installed: hardware id of vdisk.inf, the root device's instance, the service. */
#define CSI_TESTBED_HARDWARE_ID L"ROOT_VDISK"
#define CSI_TESTBED_DEVICE_INSTANCE L"root\\vdisk\\0"
#define CSI_TESTBED_SERVICE L"vdisk"

/* Input: the command line, without a NUL. Output: the reply, lines that end in \n, without a NUL.
 *
 * A command that fails gives an error and no reply; the command `last-error` then returns what was wrong.
 * When the reply does not fit the output buffer the error is ERROR_INSUFFICIENT_BUFFER. `disk add`, `disk
 * remove` and `reset` complete when the devices have come or gone; volumes come later. */
#define IOCTL_TESTBED_COMMAND CTL_CODE(FILE_DEVICE_UNKNOWN, 0x801, METHOD_BUFFERED, FILE_ANY_ACCESS)

/* Where a formatter leaves the label in the boot sector of NTFS or ReFS, in place of boot code, because there
 * is no file system behind it that could hold one: the four bytes, then 32 units of UTF-16, padded with
 * zeros. */
#define CSI_TESTBED_LABEL_OFFSET 0x100
#define CSI_TESTBED_LABEL_MAGIC "CSIL"

#define CSI_TESTBED_COMMAND_LIMIT_BYTES 4096
#define CSI_TESTBED_REPLY_LIMIT_BYTES (1 << 20)

#endif
