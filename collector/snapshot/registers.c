/* SPDX-License-Identifier: MIT */
#include "collector/snapshot/registers.h"

#include <elf.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/uio.h>
#include <sys/user.h>

#include "base/alloc.h"
#include "base/error.h"
#include "proto/snapshot.h"

static int explain(pid_t tid, int sys, struct gus_error *err)
{
	if (sys == ESRCH)
		return gus_fail(err, GUS_E_NOT_FOUND, "cannot take a snapshot of thread %d: it was killed just when "
				"it was stopped", (int)tid);
	return gus_fail_errno(err, sys, "cannot read the registers of thread %d", (int)tid);
}

static int refuse_narrow(pid_t tid, struct gus_error *err)
{
	return gus_fail(err, GUS_E_UNSUPPORTED, "cannot take a snapshot of thread %d: it executes 32-bit code, and "
			"only 64-bit code can be replayed", (int)tid);
}

/* One set of registers: 0 with how many bytes the kernel has of it in *size, or -1 with errno. */
static int get(pid_t tid, unsigned set, void *bytes, size_t room, size_t *size)
{
	struct iovec to = { bytes, room };

	if (ptrace(PTRACE_GETREGSET, tid, (void *)(uintptr_t)set, &to) != 0)
		return -1;
	*size = to.iov_len;
	return 0;
}

static void put(ProtobufCBinaryData *to, const void *bytes, size_t size)
{
	free(to->data);
	to->data = gus_alloc(size);
	to->len = size;
	memcpy(to->data, bytes, size);
}

#if defined(__x86_64__)

#define ERESTART_FIRST 512      /* in the kernel's include/linux/errno.h, never seen by programs */
#define ERESTART_LAST 516
#define USER32_CS 0x23          /* by a far jump, a 64-bit program too can get to 32-bit code */

const char *gus_registers_machine(void)
{
	return GUS_SNAPSHOT_X86_64;
}

int gus_registers_take(pid_t tid, Gusprof__Snapshot *a, struct gus_error *err)
{
	struct user_regs_struct regs;
	uint8_t state[GUS_SNAPSHOT_STATE_MAX];
	size_t size;

	if (get(tid, NT_PRSTATUS, &regs, sizeof(regs), &size) != 0)
		return explain(tid, errno, err);
	if (size != GUS_SNAPSHOT_REGISTERS || regs.cs == USER32_CS)
		return refuse_narrow(tid, err);
	put(&a->registers, &regs, sizeof(regs));
	if (get(tid, NT_X86_XSTATE, state, sizeof(state), &size) != 0)
		return explain(tid, errno, err);
	put(&a->state, state, size);
	return 0;
}

/* A call that is broken off has one of the kernel's own errors for its result, by which it will be made again. One that
 * is over has its result, and what follows is the program's own code. orig_rax is the number of the call, and negative
 * outside of calls: then rax is any value that the program computes. */
bool gus_registers_in_kernel(pid_t tid, const Gusprof__Snapshot *a)
{
	struct user_regs_struct regs;
	int64_t result;

	(void)tid;
	memcpy(&regs, a->registers.data, sizeof(regs));
	result = (int64_t)regs.rax;
	return (int64_t)regs.orig_rax >= 0 && result <= -ERESTART_FIRST && result >= -ERESTART_LAST;
}

uint64_t gus_registers_stack(const Gusprof__Snapshot *a)
{
	struct user_regs_struct regs;

	memcpy(&regs, a->registers.data, sizeof(regs));
	return regs.rsp;
}

#elif defined(__aarch64__)

#include <asm/ptrace.h>

#define SVC 0xd4000001u         /* of any immediate: bits 5 to 20 */
#define SVC_MASK 0xffe0001fu

/* As GUS_SNAPSHOT_REGISTERS_ARM64 has them. */
struct registers { struct user_pt_regs general; uint64_t thread; };

const char *gus_registers_machine(void)
{
	return GUS_SNAPSHOT_ARM64;
}

/* Where the wide registers of SVE are in use the kernel's other sets have the lower 128 bits of each only. */
static bool uses_sve(pid_t tid)
{
	struct user_sve_header head = { 0 };
	size_t size;

	return get(tid, NT_ARM_SVE, &head, sizeof(head), &size) == 0 && size >= sizeof(head) &&
		(head.flags & SVE_PT_REGS_MASK) == SVE_PT_REGS_SVE;
}

int gus_registers_take(pid_t tid, Gusprof__Snapshot *a, struct gus_error *err)
{
	struct registers regs = { 0 };
	struct user_fpsimd_state state;
	size_t size;

	if (get(tid, NT_PRSTATUS, &regs.general, sizeof(regs.general), &size) != 0)
		return explain(tid, errno, err);
	if (size != sizeof(regs.general))
		return refuse_narrow(tid, err);
	if (uses_sve(tid))
		return gus_fail(err, GUS_E_UNSUPPORTED, "cannot take a snapshot of thread %d: it uses SVE, whose "
				"registers cannot be put back", (int)tid);
	if (get(tid, NT_ARM_TLS, &regs.thread, sizeof(regs.thread), &size) != 0 ||
	    get(tid, NT_PRFPREG, &state, sizeof(state), &size) != 0)
		return explain(tid, errno, err);
	put(&a->registers, &regs, sizeof(regs));
	put(&a->state, &state, sizeof(state));
	return 0;
}

/* The kernel has prepared a call that is broken off to be made again before it stops (do_signal() in its
 * arch/arm64/kernel/signal.c): what comes next is the SVC itself. */
bool gus_registers_in_kernel(pid_t tid, const Gusprof__Snapshot *a)
{
	struct registers regs;
	uint32_t next = 0;

	memcpy(&regs, a->registers.data, sizeof(regs));
	if (process_vm_readv(tid, &(struct iovec){ &next, sizeof(next) }, 1,
			     &(struct iovec){ (void *)(uintptr_t)regs.general.pc, sizeof(next) }, 1, 0) != sizeof(next))
		return false;
	return (next & SVC_MASK) == SVC;
}

uint64_t gus_registers_stack(const Gusprof__Snapshot *a)
{
	struct registers regs;

	memcpy(&regs, a->registers.data, sizeof(regs));
	return regs.general.sp;
}

#else

const char *gus_registers_machine(void)
{
	return NULL;
}

int gus_registers_take(pid_t tid, Gusprof__Snapshot *a, struct gus_error *err)
{
	(void)a;
	return gus_fail(err, GUS_E_UNSUPPORTED, "cannot take a snapshot of thread %d: registers are known how to be "
			"put back on x86-64 and arm64 only", (int)tid);
}

bool gus_registers_in_kernel(pid_t tid, const Gusprof__Snapshot *a)
{
	(void)tid, (void)a;
	return false;
}

uint64_t gus_registers_stack(const Gusprof__Snapshot *a)
{
	(void)a;
	return 0;
}

#endif
