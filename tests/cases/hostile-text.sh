#!/bin/bash
# SPDX-License-Identifier: MIT
# Text that somebody else wrote, in all that gusprof prints: a recording whose every text is hostile, names of files,
# functions, processes, events and options, tables of CPUs, lines of batches, source lines, programs under the emulator.
# No byte may be there that a terminal obeys or that is no character, no line that we did not begin, no formula in CSV.
. "$(dirname "$0")/lib.sh"
command -v python3 >/dev/null || skip "python3 is not installed"
make=$(cd "$GUS_BUILDDIR" && pwd)/tests/cases
plugin=$(cd "$GUS_BUILDDIR" && pwd)/tracing/plugin/gusprof-qemu.so

# An escape sequence, a forged line, a C1 control, bytes of no character, an overlong form, an override, a hidden BOM.
hostile=$'x\e]0;title\a\nFORGED \x7f\xc2\x9b31m\xff\xc0\xaf\xe2\x80\xae\xe2\x80\xa8\xef\xbb\xbf'

cat >look.py <<'P'
import csv, io, json, sys, unicodedata

def is_number(cell):
	try:
		return float(cell) is not None
	except ValueError:
		return False

def look(form, data):
	"""What is wrong with it."""
	text = data.decode("utf-8", "replace")
	try:
		data.decode("utf-8")
	except UnicodeDecodeError as e:
		yield f"no UTF-8: {e}"
	for c in sorted(set(text) - {"\n", "\u200c", "\u200d"}):
		if unicodedata.category(c) in ("Cc", "Cf", "Zl", "Zp", "Cs"):
			yield f"U+{ord(c):04X} is printed"
	if any(line.startswith("FORGED") for line in text.split("\n")):
		yield "a line is forged"
	if form == "csv":
		rows = list(csv.reader(io.StringIO(text)))
		if len({len(row) for row in rows}) > 1:
			yield "rows of more lengths than one"
		for row in rows:
			for cell in row:
				if cell.strip()[:1] in tuple("=+-@") and not is_number(cell):
					yield f"a formula: {cell}"
	if form == "json" and data:
		try:
			json.loads(text)
		except ValueError as e:
			yield f"no JSON: {e}"

# The look itself: faults that it has to see, and what is none.
for text in (b"a\x1bb", b"a\x7f", b"a\xc2\x9bb", b"a\xffb", b"a\xc0\xaf", b"a\xed\xa0\x80", b"\xf4\x90\x80\x80",
	     b"a\tb", b"a\rb", "a\u202eb".encode(), "a\u2028b".encode(), "\ufeffa".encode(), b"a\nFORGED"):
	assert list(look("text", text)), text
assert list(look("csv", b"a,b\n1,=2\n")) and list(look("csv", b"a,b\n1\n")) and list(look("json", b"{"))
assert not list(look("csv", 'a,b\n-1.5,"\u00fc \u20ac"\n'.encode()))

bad = False
for line in open("asked", encoding="utf-8"):
	number, status, form, what = line.rstrip("\n").split("\t")
	out, err = (open(f"{kind}.{number}", "rb").read() for kind in ("out", "err"))
	wrong = [*look(form, out), *look("text", err)]
	if int(status) in range(130, 160) or not out + err:
		wrong.append("it died, or says nothing")
	print(f"FAILED: {what}: status {status}: {'; '.join(wrong)}: {(out + err)[:300]}" if wrong else f"ok: {what}")
	bad |= bool(wrong)
sys.exit(bad)
P

# harmless WHAT FORM COMMAND...: what it prints is looked at in the end; its status may be any that is no signal's.
asked=0
: >asked
harmless()
{
	local what=$1 form=$2
	shift 2
	asked=$((asked + 1))
	"$@" >out 2>err
	printf '%s\t%s\t%s\t%s\n' $asked $? "$form" "$what" >>asked
	cp out out.$asked
	cp err err.$asked
}

# A recording.
if ! "$make/make-stacks" made || ! "$make/make-hostile" made bad || ! "$make/make-hostile" - all; then
	problem "the recordings were not made"
fi
for form in text csv json; do
	for by in function module line instruction thread; do
		harmless "report by $by as $form" $form "$GUSPROF" report -i bad --by $by --format $form
	done
	harmless "annotate as $form" $form "$GUSPROF" annotate -i bad --format $form
	harmless "model as $form" $form "$GUSPROF" model -i bad --uarch skylake --format $form
done
"$GUSPROF" report -i bad --by line >out 2>err
expect "report: the names that the recording brought are there" '=\?]0;title.*=\?]0;title.*:1 '
"$GUSPROF" report -i bad --by module >out 2>err
expect "report: an override and an escape are marks" '=\?]0;title\? FORGED \?\?31m'
"$GUSPROF" report -i bad --by module --format csv >out 2>err
expect "report: a cell is no formula" "^\"'=\\?]0;title\\? FORGED .*,\"\" "
"$GUSPROF" report -i bad --by module --format json >out 2>err
expect "report: JSON escapes and loses nothing" '"module": "=\\u001B]0;title\\u0007\\nFORGED \\u007F\\u009B31m.*\\u202E'
"$GUSPROF" report -i bad --flamegraph - >out 2>err
expect "report: a page has marks as well" '^"=\?\]0;title\? FORGED \?\?31m'
for fields in comm,tid,time,event,ip,sym,symoff,dso,srcline event,dso comm; do
	harmless "script -F $fields" text "$GUSPROF" script -i bad -F $fields
done
harmless "script --folded" text "$GUSPROF" script -i bad --folded
"$GUSPROF" script -i bad --folded >out 2>err
expect "script: an escape is a mark, and nothing ends a frame" '^=\?]0:title\? FORGED [^;]*;[^;]* [0-9]+$'
harmless "no such field" text "$GUSPROF" script -i bad -F "$hostile"
for what in bad all; do
	harmless "dump of $what" text "$GUSPROF" dump $what
done
"$GUSPROF" dump all >out
expect "dump: bytes are escaped" 'hostname "=\\x1b]0;title\\x07\\x0aFORGED \\x7f\\xc2\\x9b31m\\xff\\xc0\\xaf\\xed'
head -c 300 all >half
harmless "dump of what is cut" text "$GUSPROF" dump half
harmless "report of what is no more than a name" text "$GUSPROF" report -i all

# Options and names of files.
for verb in record report annotate script dump uarch model stat doctor; do
	harmless "$verb: an option" text "$GUSPROF" $verb "--$hostile"
	harmless "$verb: a word too many" text "$GUSPROF" $verb "$hostile" "$hostile" "$hostile"
done
harmless "no verb" text "$GUSPROF" "$hostile"
harmless "no option" text "$GUSPROF" $'--\e]0;x\a'
harmless "no letter" text "$GUSPROF" report $'-\e'
harmless "a letter of no character" text "$GUSPROF" report $'-\xff'
harmless "no verb's help" text "$GUSPROF" help "$hostile"
harmless "no recording" text "$GUSPROF" report -i "$hostile"
harmless "no such view" text "$GUSPROF" report -i bad --by "$hostile"
harmless "no such event" text "$GUSPROF" report -i bad --event "$hostile"
harmless "no such time" text "$GUSPROF" report -i bad --time "$hostile"
harmless "no such thread" text "$GUSPROF" report -i bad --tid "$hostile"
harmless "no such function" text "$GUSPROF" annotate -i bad "$hostile"
harmless "more functions than one" text "$GUSPROF" annotate -i bad _
expect "more functions than one" '[0-9.]+%  =f_\?\[1m  at 0x' err
harmless "no such frame" text "$GUSPROF" dump --type "$hostile" bad
echo none >"$hostile"
for verb in report annotate script dump; do
	harmless "$verb: a file that is no recording" text "$GUSPROF" $verb -i "$hostile"
done
harmless "model: a file that is no program" text "$GUSPROF" model --elf "$hostile" --function "$hostile"
harmless "model: a file that is no table" text "$GUSPROF" model --uarch "$hostile" --block 90
harmless "model: a file of uops" text "$GUSPROF" model --uarch skylake --uops "$hostile"
harmless "model: hex" text "$GUSPROF" model --uarch skylake --block "$hostile"
harmless "model: no emulator" text "$GUSPROF" model --uarch skylake --emulator "$hostile" -- true
harmless "model: no command" text "$GUSPROF" model --uarch skylake -- "./none$hostile"

# Tables and batches.
one=${hostile//$'\n'/ }
printf 'uarch x isa x86-64 "%s"\nsource s "%s"\n%s\n' "$one" "$one" "$one" >table
printf 'uarch x isa x86-64 "%s"\nlike skylake\nsource s "%s"\n' "$one" "$one" >good
for table in table good "$hostile"; do
	for action in check show; do
		harmless "uarch $action" text "$GUSPROF" uarch "$action" "$table"
	done
	harmless "uarch explain" text "$GUSPROF" uarch --uarch "$table" explain 4801c8
	for form in text csv json; do
		harmless "model by a table as $form" $form "$GUSPROF" model --uarch "$table" --block 4801c8 \
			--format $form
	done
done
printf '<root><instruction string="%s"/><instruction asm="%s"' "$hostile" "$hostile" >xml
harmless "uarch import" text "$GUSPROF" uarch import --arch "$hostile" xml
harmless "uarch import of tables" text "$GUSPROF" uarch import --arch SKL "$hostile"
printf 'hex\n4801c8,1\n=cmd(),2\n@x\n%s,3\n"a"\n' "$one" >lines
for form in csv json; do
	harmless "a batch as $form" $form "$GUSPROF" model --uarch skylake --batch lines --format $form
done

# What runs here. Counts go to standard error, among notes, or to a file.
counted()
{
	"$GUSPROF" stat -o "$work/counts" "$@" || return
	cat "$work/counts"
}
mkdir "dir$one"
program="dir$one/$hostile"
cp "$(command -v sleep)" "$program"
for form in text csv json; do
	harmless "stat as $form" $form counted -e task-clock --format $form -- "$program" 0
	[ $form = csv ] || harmless "doctor as $form" $form "$GUSPROF" doctor --format $form
done
harmless "stat: no event" text "$GUSPROF" stat -e "$hostile" -- true
harmless "stat: no command" text "$GUSPROF" stat -- "./none$hostile"
harmless "record: no event" text "$GUSPROF" record -e "$hostile" -- true
harmless "record: no command" text "$GUSPROF" record -o o -- "./none$hostile"
harmless "record: no folder" text "$GUSPROF" record -o "none$hostile/o" -- true
harmless "record: a banner" text "$GUSPROF" record -v -o "o$hostile" -- "$program" 0
"$program" 60 &
children=$!
disown
kill -STOP "$children"
harmless "record: a process that is stopped" text "$GUSPROF" record -o p -p "$children" -- "$program" 0.1
harmless "stat: a process" text "$GUSPROF" stat -p "$children" -- "$program" 0.1
harmless "model: a process that is stopped" text "$GUSPROF" model -p "$children" --uarch skylake --interval 100
kill -KILL "$children"
children=

# A program whose functions, whose file and whose source are hostile.
source=$'s\e[31m\xff\xe2\x80\xae.c'
cat >"$source" <<P
volatile long sum; /* $hostile */
__attribute__((noinline)) void function_named_so(long n)
{
	for (long i = 0; i < n; i++)
		sum += i * n; /* a b	$one */
}
int main(void)
{
	function_named_so(300000000); /* $one */
}
P
if ${CC:-cc} -g -O1 -o hot "$source" 2>err &&
   sed -i $'s/function_named_so/=\e[31m_\xff\xc2\x9b\xe2\x80\xaename/g' hot &&
   "$GUSPROF" record -q -e cpu-clock -o hot.data -- ./hot 2>err; then
	for form in text csv json; do
		for by in function line instruction thread; do
			harmless "report of a program by $by as $form" $form "$GUSPROF" report -i hot.data --by $by \
				--format $form
		done
		harmless "annotate of a source as $form" $form "$GUSPROF" annotate -i hot.data --format $form
		harmless "model of a file's function as $form" $form "$GUSPROF" model --elf hot --function main \
			--uarch skylake --format $form
	done
	"$GUSPROF" annotate -i hot.data >out 2>err
	expect "annotate: the source is shown" 'a b +x\?]0;title\? FORGED'
else
	echo "left out: a program with hostile names (no C compiler, or no clock to sample by): $(head -n 1 err)"
fi

# What the plugin says.
if command -v qemu-x86_64 >/dev/null && [ -e "$plugin" ] && [ "$(uname -m)" = x86_64 ]; then
	cp "$(command -v sleep)" "program"$'\e[31m\xff'
	harmless "the plugin: another program" text qemu-x86_64 -plugin "$plugin,out=t" \
		/bin/sh -c $'exec ./program\e[31m\xff 0'
	expect "the plugin: another program" 'the program becomes \./program\?\[31m\?, which' err
	harmless "the plugin: a program of a child" text qemu-x86_64 -plugin "$plugin,out=t2" \
		/bin/sh -c $'./program\e[31m\xff 0; true'
	harmless "the plugin: no such folder" text qemu-x86_64 -plugin "$plugin,out=none"$'\e[31m\xff/t' /bin/true
	harmless "the plugin: no such option" text qemu-x86_64 -plugin "$plugin,x"$'\e[31m\xff=1' /bin/true
	"$make/make-hostile" t2 bad2 || problem "the trace was not made"
	for form in text json; do
		harmless "model of a trace as $form" $form "$GUSPROF" model -i bad2 --uarch skylake --format $form
	done
	expect "model: notices of a trace" '\\u001B]0;title\\u0007\\nFORGED \\u007F\\u009B31m'
else
	echo "left out: the plugin (qemu-x86_64 is not installed)"
fi
python3 look.py >said || { grep ^FAILED said; failed=1; }
grep ^ok: said
test "$failed" = 0
