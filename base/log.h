/* SPDX-License-Identifier: MIT */
/* What a library layer has to say to a person, without knowing where it goes: cli/ supplies the sink.
 * Passed as a context; a NULL log is silence. */
#ifndef GUS_BASE_LOG_H
#define GUS_BASE_LOG_H

enum gus_level { GUS_WARN = 0, GUS_NOTE = 1, GUS_DEBUG = 2 };

struct gus_log {
	enum gus_level level; /* more talkative levels than this are dropped */
	void (*emit)(enum gus_level level, const char *text, void *context);
	void *context;
};

void gus_log(const struct gus_log *log, enum gus_level level, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

#endif
