/* SPDX-License-Identifier: MIT */
/* Another program for tracers: three threads go through `work` 1000, 2000 and 3000 times, as a forked child did 500
 * times before; the child's are not to be seen. */
#include <pthread.h>
#include <stdint.h>
#include <sys/wait.h>
#include <unistd.h>

void work(uint64_t turns);
__asm__(".text\n"
	".globl work\n"
	"work:\n"
	"1:	dec	%rdi\n"
	"	jnz	1b\n" /* two bytes with any assembler */
	"	ret\n");

static void *run(void *turns)
{
	work((uintptr_t)turns);
	return NULL;
}

int main(void)
{
	pthread_t threads[3];
	int status;
	pid_t child = fork();

	if (child == 0) {
		work(500);
		_exit(3);
	}
	if (waitpid(child, &status, 0) != child || WEXITSTATUS(status) != 3)
		return 1;
	for (uintptr_t i = 0; i < 3; i++)
		if (pthread_create(&threads[i], NULL, run, (void *)(1000 * (i + 1))) != 0)
			return 1;
	for (int i = 0; i < 3; i++)
		pthread_join(threads[i], NULL);
	return 0;
}
