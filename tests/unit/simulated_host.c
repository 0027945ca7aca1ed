/* SPDX-License-Identifier: MIT */
#include "tests/unit/simulated_host.h"

#include "model/tables/uarch.h"

static uint64_t draw(uint64_t *state)
{
	*state = *state * 6364136223846793005u + 1442695040888963407u;
	return *state >> 33;
}

static int run(void *context, const struct gus_micro *const *micros, size_t n, struct gus_micro_time *times,
	       struct gus_error *err)
{
	struct simulated_host *s = context;

	for (size_t i = 0; i < n; i++) {
		times[i] = (struct gus_micro_time){ .samples = 1, .kept = 1 };
		if (gus_replica_run(&s->replica, micros[i], &times[i].cycles, err) != 0)
			return -1;
		if (s->noise > 0 && draw(&s->chance) % 10 == 0)
			times[i].cycles += s->noise * (double)(draw(&s->chance) % 100) / 100;
		times[i].median = times[i].high = times[i].cycles;
		s->micros++;
	}
	return 0;
}

void simulated_host_of(struct simulated_host *s, const struct gus_uarch *u, struct gus_calibration_host *host)
{
	*s = (struct simulated_host){ .replica = { .uarch = u, .config = &s->config }, .chance = 1 };
	gus_core_config_of(&s->config, u);
	*host = (struct gus_calibration_host){ .context = s, .isa = u->isa, .arena_most = 1 << 24,
		.cycles_a_second = 4e6, .run = run };
}
