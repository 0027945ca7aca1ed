# SPDX-License-Identifier: MIT
dist_man_MANS += \
	man/gusprof.1 \
	man/gusprof-annotate.1 \
	man/gusprof-calibrate.1 \
	man/gusprof-compare.1 \
	man/gusprof-data.5 \
	man/gusprof-diff.1 \
	man/gusprof-doctor.1 \
	man/gusprof-dump.1 \
	man/gusprof-explain.1 \
	man/gusprof-hardware.7 \
	man/gusprof-export.1 \
	man/gusprof-import.1 \
	man/gusprof-model.1 \
	man/gusprof-qemu.7 \
	man/gusprof-record.1 \
	man/gusprof-report.1 \
	man/gusprof-script.1 \
	man/gusprof-stat.1 \
	man/gusprof-uarch.1 \
	man/gusprof-uarch.5
