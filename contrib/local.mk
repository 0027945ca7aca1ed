# SPDX-License-Identifier: MIT
# The bundled workload. It has a rule of its own so that it is always optimised the same way, whatever CFLAGS say, and
# never runs under a sanitizer: it is what is measured, not what is tested.
noinst_SCRIPTS = contrib/demo/demo
CLEANFILES += contrib/demo/demo
EXTRA_DIST += contrib/demo/demo.c

contrib/demo/demo: contrib/demo/demo.c
	$(AM_V_CC)$(MKDIR_P) contrib/demo && $(CC) $(CPPFLAGS) $(CFLAGS) -std=gnu11 $(GUS_WARNINGS) \
		-O2 -g -fno-omit-frame-pointer $(LDFLAGS) -o $@ $(top_srcdir)/contrib/demo/demo.c -lm

# For the programs that are recorded.
include_HEADERS = contrib/gusprof-mark.h

# Bash looks for the completion of a command in a file of the command's name.
EXTRA_DIST += contrib/completion/gusprof.bash
install-data-local: install-bash-completion
install-bash-completion:
	$(MKDIR_P) "$(DESTDIR)$(bashcompletiondir)"
	$(INSTALL_DATA) $(top_srcdir)/contrib/completion/gusprof.bash "$(DESTDIR)$(bashcompletiondir)/gusprof"
uninstall-local: uninstall-bash-completion
uninstall-bash-completion:
	rm -f "$(DESTDIR)$(bashcompletiondir)/gusprof"
.PHONY: install-bash-completion uninstall-bash-completion

# What makes the tables of model/uarch/ out of LLVM; for maintainers, by its own makefile.
EXTRA_DIST += \
	contrib/uarch-gen/Makefile \
	contrib/uarch-gen/code.cpp contrib/uarch-gen/code.h \
	contrib/uarch-gen/gracemont.cpp contrib/uarch-gen/gracemont.h \
	contrib/uarch-gen/oracle.cpp contrib/uarch-gen/oracle.h \
	contrib/uarch-gen/schedule.cpp contrib/uarch-gen/schedule.h \
	contrib/uarch-gen/uarch-gen.cpp \
	contrib/uarch-gen/uarch-join.cpp \
	contrib/uarch-gen/x86_forms.cpp contrib/uarch-gen/x86_forms.h

# What made the arm64 tables: for maintainers, who have LLVM; the build has not.
EXTRA_DIST += contrib/arm64-gen
