/* SPDX-License-Identifier: MIT */
/* This machine as a host of calibration: microbenchmarks of the model, run by the collector. */
#ifndef GUS_CLI_CALIBRATE_HOST_H
#define GUS_CLI_CALIBRATE_HOST_H

struct gus_calibration_host;
struct gus_error;
struct gus_timing;
struct gus_timing_options;

/* -1 with err. The host's context is ours, until it is closed. */
int gus_calibrate_host_open(const struct gus_timing_options *options, struct gus_calibration_host *host,
			    struct gus_error *err);
void gus_calibrate_host_close(struct gus_calibration_host *host);
/* What runs them: for facts of the clock, and who shares the core. */
struct gus_timing *gus_calibrate_host_timing(const struct gus_calibration_host *host);

#endif
