/* SPDX-License-Identifier: MIT */
/* The verbs: each is defined in the file of its name. */
#ifndef GUS_CLI_VERBS_H
#define GUS_CLI_VERBS_H

extern const struct gus_verb gus_verb_record;
extern const struct gus_verb gus_verb_report;
extern const struct gus_verb gus_verb_script;
extern const struct gus_verb gus_verb_annotate;
extern const struct gus_verb gus_verb_dump;
extern const struct gus_verb gus_verb_export;
extern const struct gus_verb gus_verb_import;
extern const struct gus_verb gus_verb_uarch;
extern const struct gus_verb gus_verb_model;
extern const struct gus_verb gus_verb_compare;
extern const struct gus_verb gus_verb_diff;
extern const struct gus_verb gus_verb_explain;
extern const struct gus_verb gus_verb_doctor;
extern const struct gus_verb gus_verb_calibrate;
extern const struct gus_verb gus_verb_stat;

/* What help prints of what is no verb: docs/stacks.md. */
void gus_topic_stacks(void);

#endif
