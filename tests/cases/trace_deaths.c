/* SPDX-License-Identifier: MIT */
/* Another program for tracers: goes through `work` 100,000 times, and then does as its argument says:
 *
 *	fault, abort, _exit	it ends so
 *	on			it goes on for ever
 *	remap FILE FILE		it calls code at one address that is put there, changed there, and mapped there from one
 *	                        and the other
 * file */
#include <fcntl.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define PLACE 0x10000000ul

void work(uint64_t turns);
__asm__(".text\n"
	".globl work\n"
	"work:	dec	%rdi\n"
	"	jnz	work\n"
	"	ret\n");

/* mov $n, %eax; ret */
static int call(void)
{
	return ((int (*)(void))PLACE)();
}

static int remap(char **files)
{
	uint8_t *code = mmap((void *)PLACE, 4096, PROT_READ | PROT_WRITE | PROT_EXEC,
			     MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0);
	int sum = 0;

	if (code == MAP_FAILED)
		return 1;
	memcpy(code, "\xb8\x01\x00\x00\x00\xc3", 6);
	sum = call();
	code[1] = 2;
	sum = 10 * sum + call();
	for (int i = 0; i < 2; i++) {
		int fd = open(files[i], O_RDONLY);

		munmap(code, 4096);
		if (fd < 0 || mmap(code, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE | MAP_FIXED, fd, 0) == MAP_FAILED)
			return 1;
		close(fd);
		sum = 10 * sum + call();
	}
	return sum == 1234 ? 0 : 1;
}

int main(int argc, char **argv)
{
	const char *how = argc > 1 ? argv[1] : "";

	work(100000);
	if (strcmp(how, "fault") == 0)
		*(volatile int *)(uintptr_t)argc = 1;
	if (strcmp(how, "abort") == 0)
		abort();
	if (strcmp(how, "_exit") == 0)
		_exit(5);
	while (strcmp(how, "on") == 0)
		work(100000);
	return argc == 4 ? remap(argv + 2) : 2;
}
