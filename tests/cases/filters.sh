#!/bin/bash
# SPDX-License-Identifier: MIT
# Samples by process, thread, name, CPU and module: report, script and annotate take the same ones, and count the rest.
. "$(dirname "$0")/lib.sh"

command -v python3 >/dev/null || skip "python3 is not installed"
check "each filter, in each verb" python3 "$scripts/filters.py"
cat out
exit $failed
