#!/bin/bash
# SPDX-License-Identifier: MIT
# gusprof model from outside: what a simple block is told, that it is told the same each time,
# and what bad input is told.
. "$(dirname "$0")/lib.sh"
data=${GUS_SRCDIR:-$scripts/../..}/tests/data

# models WHAT PATTERN ARGUMENT...: it succeeds, and a line of its standard output matches.
models()
{
	local what=$1 pattern=$2
	shift 2
	"$GUSPROF" model "$@" >out 2>err || { problem "$what: status $?"; head -3 err; return; }
	grep -qE -- "$pattern" out || { problem "$what: no line is like $pattern"; head -40 out; }
}

# refuse WHAT STATUS PATTERN ARGUMENT...: one line on standard error that matches, nothing on standard output.
refuse()
{
	local what=$1 status=$2 pattern=$3 got
	shift 3
	"$GUSPROF" model "$@" >out 2>err
	got=$?
	[[ $got == "$status" ]] || problem "$what: status $got, not $status"
	[[ -s out ]] && { problem "$what: something is on standard output"; head -3 out; }
	[[ $(wc -l <err) == 1 ]] && grep -qE -- "^gusprof: .*$pattern" err ||
		{ problem "$what: it is told"; head -5 err; }
}

# What depends on operands is exact for none of them: rep movsb. Locks, and a load whose index is multiplied, do not.
models "a repeated string" '^ +[0-9.]+  cycles an iteration \(the machine repeats itself, with operands' \
	--uarch znver3 --block f3a4
models "what its count would make of it" 'rep movsb takes 19 to 154 cycles, by its operands: 22 here$' \
	--uarch znver3 --block f3a4
"$GUSPROF" model --uarch znver3 --format json --block f3a4 | grep -q '"exact": false' ||
	problem "a repeated string is exact in JSON"
models "lock add [rdi], 1" '^ +6\.00  cycles an iteration \(exact' --uarch znver3 --block f048830701
models "lock cmpxchg [rdi], rbx" '^ +9\.00  cycles an iteration \(exact' --uarch znver3 --block f0480fb11f
models "lock xadd [rdi], rax" '^ +8\.00  cycles an iteration \(exact' --uarch znver3 --block f0480fc107
models "mov rax, [rdi+rax*8]" '^ +5\.00  cycles an iteration' --uarch znver3 --block 488b04c7
models "mov rax, [rdi+rax]" '^ +4\.00  cycles an iteration' --uarch znver3 --block 488b0407
# A line of the uop cache holds 64 bytes, and one is read a cycle: seven nops of nine bytes before dec rdi and jnz take
# two cycles for their eight uops, six nops what issue takes.
nop9=660f1f840000000000
crossing=$nop9$nop9$nop9$nop9$nop9$nop9${nop9}48ffcf75bb
inside=$nop9$nop9$nop9$nop9$nop9${nop9}48ffcf75c4
models "a loop of two lines" '^ +2\.00  cycles an iteration' --uarch znver3 --block $crossing
models "a loop of one" '^ +1\.17  cycles an iteration' --uarch znver3 --block $inside
# A sum is ready for the next one a cycle earlier than a product: subsd, mulsd.
models "a chain of differences" '^ +2\.00  cycles an iteration' --uarch emeraldrapids --block f20f5cc1
models "a chain of products" '^ +4\.00  cycles an iteration' --uarch emeraldrapids --block f20f59c1

# imul rax, rcx; dec rdi; jnz: the multiplication waits for itself.
imul=480fafc148ffcf75f7
models "a chain of multiplications" '^ +3\.00  cycles an iteration \(exact' --uarch skylake --block $imul
models "its bound" '^ +3\.00  dependencies   <- the largest$' --uarch skylake --block $imul
models "its ports" '^ +0 .* 1\.00 .* 3 +1 +1 +imul rax, rcx$' --uarch skylake --block $imul
models "its fused pair" ' F +jnz 0x0$' --uarch skylake --block $imul
models "what it costs" ' 2\.00 +imul rax, rcx$' --uarch skylake --block $imul --costs
models "its variants" '^ +1\.00 +-2\.00  NORED' --uarch skylake --block $imul --variant NORED
models "several of them" '^ +3\.00 +\+0\.00  infinite' --uarch skylake --block $imul --variant ref,INFINITE
models "bytes in another dress" '^ +3\.00  cycles' --uarch skylake --block '48 0f af,0xc1 \x48\xff\xcf\x75\xf7'
models "the pipeline" '^   0,0 +imul rax, rcx +p1 ID==R' --uarch skylake --block $imul --timeline=2
[[ $(grep -c '^   [0-9],' out) == 4 ]] || problem "two iterations of two uops are four lines"
# Four products by one port, each of which waits for the one before it in its turn, too.
four=480fafc1480fafd1480faff1480faff9
models "uops that are ready and wait for their port" '^   0,2 +imul rsi, rcx +p1 I::D==R' --uarch skylake \
	--block $four --timeline=2
models "and that waited for operands before" '^   1,1 +imul rdx, rcx +p1  I\.\.\.:D==R' --uarch skylake \
	--block $four --timeline=2
models "from when on they are ready" '^1,1,1,p1,2,6,7,10,10,$' --uarch skylake --block $four --timeline=2 \
	--format csv
models "its events" '^1,0,0,p1,[0-9]+,[0-9]+,[0-9]+,[0-9]+,[0-9]+,$' --uarch skylake --block $imul \
	--timeline=2 --format csv
models "another size" '^ +4\.00  cycles' --uarch skylake --block 90909090 --set issue_width=1
models "unrolled" 'unrolled, uops from the decoders' --uarch skylake --block 4801c8 --unrolled
models "so many iterations" 'of the iterations asked for' --uarch skylake --block 4801c8 --iterations 10
models "a load from L2" 'cycles an iteration' --uarch skylake --block 488b00 --data L2
models "csv" '^0,"imul rax, rcx",,1,1,3,,0\.0000,1\.0000,' --uarch skylake --block $imul --format csv
models "json" '^ "cycles_per_iteration": 3\.0,' --uarch skylake --block $imul --format json
for key in schema uarch engine cycles_per_iteration instructions uops unknown coverage bounds sensitivity rows \
	instructions_simulated seconds; do
	grep -q "^ \"$key\":" out || problem "json has no $key"
done
grep -q '^ "seconds": null' out || problem "json tells a time that differs each time"
models "an instruction without a row" '; 1 has not, and is taken as' --uarch haswell --block 62f1fd4858c1
models "two without a row" '; 2 have not, and are taken as the middle' --uarch haswell --block 62f1fd4858c162f1fd4858c1
models "a rule" '^ +2  instructions, 2 uops, 2 issue slots' --uarch skylake --block 4839c875fb --set macro_fusion=none
sixty_four=488b06488b5e40488b8e80000000488b96c00000004881c6000100004881e6ffff0000 # KiB, line by line
models "caches" '^Accesses by where they hit: +L1 9' --uarch skylake --block $sixty_four --engine stream --data caches \
	--pointers distinct --set l1d_size=128
models "and without it" '^Accesses by where they hit: +L1 [0-7]' --uarch skylake --block $sixty_four --engine stream \
	--data caches --pointers distinct
models "as many ways as there can be" 'TLBs twice as large' --uarch znver3 --block 488b0648ffc6 --engine stream \
	--data caches
models "arm64" '^ +4\.00  cycles an iteration' --uarch neoverse-n1 --block 007c019b --set issue_width=4

# A table of uops: what the thesis that it is from prints for it.
models "the loop of the thesis" '^ +23\.00  cycles an iteration \(exact' --uarch ufs-sandybridge \
	--uops "$data/realft2_4_de.uops"
models "with its iterations" '"cycles_per_iteration": 23\.0[01]' --uarch ufs-sandybridge \
	--uops "$data/realft2_4_de.uops" \
	--iterations 1000 --format json
models "from the standard input" '^ +3\.00  cycles' --uarch ufs-sandybridge --uops - <<<'1 mul x1 x1 3 0'

# Batches: in order, bad lines marked, a header passed over; as many threads as you like.
printf '%s\n' 'hex,cycles' "$imul,300" '4801c8' '48,1' '' 'zz,1' '90,25' >batch.csv
printf '%s\n' 'hex,cycles_per_iteration,coverage,reason,bottleneck' "$imul,3.0000,1.0000,,dependencies" \
	'4801c8,1.0000,1.0000,,dependencies' \
	'48,,,cannot model the code: an instruction is cut off at byte 0 of 1,' \
	'zz,,,the block is not bytes as pairs of hexadecimal digits,' '90,0.2500,1.0000,,issue' >wanted
for jobs in 1 2 7; do
	"$GUSPROF" model --uarch skylake --batch batch.csv --jobs $jobs >out 2>err ||
		problem "a batch of $jobs jobs: status $?"
	cut -d, -f1-5 out | cmp -s - wanted || { problem "a batch of $jobs jobs"; diff out wanted; }
	grep -q '^gusprof: 5 lines, 2 bad; 5 of 5 instructions' err || { problem "the count of a batch"; cat err; }
done
models "a batch from the standard input" "^$imul,300\.0000,1\.0000,,dependencies," --uarch skylake \
	--batch - --per 100 <batch.csv
models "a batch without a header" '^4801c8,1\.0000' --uarch skylake --batch - <<<4801c8
models "a batch as json" '"bad": 2,' --uarch skylake --batch batch.csv --format json
models "a reason as json" '"reason": "the block is not bytes' --uarch skylake --batch batch.csv --format json
{ head -c 5000000 /dev/zero | tr '\0' 9; echo; echo 90; } >long.csv
models "a line of 5 MB, and the next one" '^90,0\.2500,' --uarch skylake --batch long.csv
models "it says why" ',,,.*5000000 characters' --uarch skylake --batch long.csv
models "an empty batch" '^hex,' --uarch skylake --batch /dev/null
# --exact is what --block does, of a loop whose ports are far from repeating themselves when its pace has settled.
wanders=050001000039c749ffcf0f85f0ffffff
exactly=$("$GUSPROF" model --uarch icelake-server --block $wanders --format json |
	sed -n 's/.*"cycles_per_iteration": \([0-9.]*\).*/\1/p')
models "a batch that is exact" "^$wanders,$(printf %.4f "$exactly")," \
	--uarch icelake-server --exact --batch - <<<$wanders
refuse "exactness of a block" 129 '--exact is for a batch' --uarch skylake --exact --block 90

# How far such figures are off, where a CPU of that table was measured, and why it is not told elsewhere.
percent='[0-9]+\.[0-9]%'
models "the expected error" \
	"^ +expected within $percent \(90%: $percent\): [0-9]+ limited by dependencies were measured \(BHive: " \
	--uarch skylake --unrolled --block $imul
models "of the stream engine" "^ +expected within $percent \(90%: $percent\): [0-9]+ " --uarch skylake --unrolled \
	--engine stream --block $imul
models "a mean alone" "^ +expected within $percent on average: 800 were measured" --uarch haswell --unrolled \
	--block $imul
models "of any kind" "^ +expected within .*: [0-9]+ of any kind were measured" --uarch skylake --unrolled \
	--block c5f35ec2
models "as json" '"median_pct": [0-9.]+' --uarch skylake --unrolled --block $imul --format json
models "of a batch" "^$imul,3\.0000,1\.0000,,dependencies,[0-9]+\.[0-9],[0-9]+\.[0-9],$" --uarch skylake --unrolled \
	--batch batch.csv
models "of a batch as json" '"kind": "dependencies"' --uarch skylake --unrolled --batch batch.csv --format json
models "none of a line that cannot be modelled" '^zz,,,.*,,,$' --uarch skylake --unrolled --batch - <<<$'4801c8\nzz'
models "a table that nobody measured" '^ +not judged: nobody has timed' --uarch lunarlake --block $imul
models "as json, why" '"not_judged": "nobody has timed blocks as loops' --uarch skylake --block $imul --format json
models "which is null" '"expected_error": null' --uarch lunarlake --block $imul --format json
models "a time by operands" '^ +div rcx takes 35 to 88 cycles, by its operands: 38 here' --uarch skylake --block 48f7f1
models "of five, four" '^ +and so do 1 more' --uarch skylake --block 48f7f148f7f148f7f148f7f148f7f1
models "as json, the least" '"least": 35\.0' --uarch skylake --block 4801c848f7f1 --format json
models "as json, the most" '"most": 88\.0' --uarch skylake --block 4801c848f7f1 --format json
models "none by operands" '"operand_dependent": \[\]' --uarch skylake --block $imul --format json
models "another machine" '^ +not judged: with --set it is another machine' --uarch skylake --unrolled --set rob=10 \
	--block $imul
models "as json, with the reason" '"not_judged": "with --set' --uarch skylake --unrolled --set rob=10 --block $imul \
	--format json
models "data elsewhere" '^ +not judged: what was measured had its data in L1' --uarch skylake --unrolled --data L2 \
	--block $imul
models "fetched otherwise" '^ +not judged: .* fetched' --uarch skylake --unrolled --fetch ideal --block $imul
models "iterations" '^ +not judged: .* steady state' --uarch skylake --unrolled --iterations 9 --block $imul
models "uops" '^ +not judged: a table of uops' --uarch ufs-sandybridge --uops - <<<'1 mul x1 x1 3 0'
"$GUSPROF" uarch show skylake --forms >own.uarch 2>err &&
	models "a table of one's own" "^ +not judged: .* table of this file" --uarch ./own.uarch --unrolled \
		--block $imul

# A cost below nothing has a word, and only that: which of these have one may change with the tables.
for block in 99f7f989c141890cb24883c6014939f0 4889c1488945c848638398000000488b93a00000008d7001 $imul 4801c84801d9; do
	said=0 negative=0
	"$GUSPROF" model --uarch skylake --unrolled --costs --block $block | grep -q 'a cost below nothing' && said=1
	"$GUSPROF" model --uarch skylake --unrolled --costs --block $block --format json |
		grep -qE '"cost": -(0\.(00[6-9]|0[1-9]|[1-9])|[1-9])' && negative=1
	[ $said = $negative ] || problem "$block: a cost below nothing is in $negative and told in $said"
done

# The same input, the same bytes.
for format in text json csv; do
	for run in 1 2; do
		"$GUSPROF" model --uarch skylake --block f20f1007f20f594608f20f58c8f20f5ee5f20f112248ffc975e6 \
			--format $format \
			--costs --variant all --timeline >$run.$format || problem "$format: status $?"
	done
	cmp -s 1.$format 2.$format || problem "$format differs from one time to the next"
done

# Bad input.
refuse "no input" 129 'no input was given; model takes a command .--., .* or a table of uops .--uops.'
refuse "two inputs" 129 'a block .--block. and a table of uops .--uops. exclude each other: model takes one input' \
	--block 90 --uops x
refuse "a block and a command" 129 'a command .--. and a block .--block. exclude each other' --block 90 skylake
refuse "half a byte" 129 "pairs of hexadecimal digits.*'480'" --uarch skylake --block 480
refuse "no digits" 129 'pairs of hexadecimal digits' --uarch skylake --block xyz
refuse "nothing" 129 'pairs of hexadecimal digits' --uarch skylake --block ''
refuse "an instruction that is cut" 125 'cut off at byte 0 of 1' --uarch skylake --block 48
refuse "no instruction" 125 'no instruction of this ISA at byte 1 of 2' --uarch skylake --block 9006
refuse "a system call" 125 "'syscall' at byte 3 of 5 is privileged, or enters a kernel" --uarch skylake \
	--block 4801c80f05
refuse "a system call of arm64" 125 "'svc #0' at byte 0 of 4" --uarch neoverse-n1 --block 010000d4
models "a placeholder is not knowledge" '"unknown": 1,' --uarch skylake --format json --block f30fc7f8
nops() { head -c $((2 * $1)) /dev/zero | tr '\0' 9 | sed 's/99/90/g'; }
refuse "costs of too many" 125 'costs of 2001 instructions: each takes a run, and 2000 are the most' --uarch skylake \
	--costs --block "$(nops 2001)"
refuse "a timeline of too many" 125 'of 1001 iterations of 100 instructions: 100000 together' --uarch skylake \
	--timeline=1001 --block "$(nops 100)"
models "as many as may be" '^ +25\.0' --uarch skylake --timeline=1000 --block "$(nops 100)"
refuse "no CPU" 129 'neither a CPU nor a file called skylacke' --uarch skylacke --block 90
refuse "no engine" 129 '--engine takes core, stream or both, not .none.' --engine none --block 90
refuse "no format" 129 '--format takes text, json or csv, not .xml.' --format xml --block 90
refuse "no variant" 129 'there is no variant DL2' --uarch skylake --variant DL2 --block 90
refuse "no such size" 129 'cannot set rab' --uarch skylake --set rab=1 --block 90
refuse "no such word" 129 'macro_fusion to some: it is one of none' --uarch skylake --set macro_fusion=some --block 90
refuse "what nothing asks for" 129 'nothing that is modelled' --uarch skylake --set smt_threads=2 --block 90
refuse "no size at all" 129 'NAME=VALUE' --uarch skylake --set rob --block 90
refuse "no machine" 129 'makes no machine' --uarch skylake --set issue_width=0 --block 90
refuse "a function of no file" 129 '--function is for a function .--elf.; here the input is a block .--block.' \
	--function main --block 90
refuse "a file without a function" 129 'a function .--elf. needs --function' --elf "$GUSPROF"
refuse "costs of a batch" 129 '--costs is for a block .--block., a function .--elf. or a table of uops .--uops.; '\
'here the input is a batch .--batch.' --costs --batch batch.csv
refuse "more than all iterations" 129 '--iterations takes a number up to 10000000, not .10000001.' \
	--iterations 10000001 --block 90
refuse "caches and costs" 129 '--data caches and --costs exclude' --data caches --engine stream --costs --block 90
models "what is so anyway fits everything" 'cycles an iteration' --uarch skylake --block 90 --per 1 --no-phases --rows 0
refuse "no file of blocks" 125 'cannot open the blocks nothing' --uarch skylake --batch nothing
refuse "no table of uops" 125 'cannot open the table of uops nothing' --uarch skylake --uops nothing
refuse "an empty table of uops" 125 '/dev/null: there is no instruction' --uarch skylake --uops /dev/null
echo '1 int rax rbx 1 9' >bad.uops
refuse "a port that is none" 125 'bad.uops:1: skylake has no port .9.' --uarch skylake --uops bad.uops
cat >bad.uarch <<'E'
uarch mine isa x86-64 "Skylake with a fault"
like skylake
source me "an experiment"
form "IMUL (R64, R64)" uops 1 latency 2 uses p9:1 source me
E
refuse "a row with a port that is none" 125 'bad.uarch, line 4: there is no group p9' --uarch bad.uarch --block 90
refuse "no ELF file" 125 'bad.uops' --uarch skylake --elf bad.uops --function main
: >empty
refuse "an empty file" 125 'empty' --uarch skylake --elf empty --function main

# The stream engine: add rax, rbx; imul rax, rbx is a chain of 4 cycles, 3 of them the multiplication's.
models "the stream engine" '^ +4\.00  cycles an iteration' --uarch skylake --engine stream --block 4801d8480fafc3
models "what more of one thing gains" '^ +10\.8%  latency mul ' --uarch skylake --sensitivity --block 4801d8480fafc3
models "at several weights" '^ +10\.8% +60\.0% +300\.0%  latency mul ' --uarch skylake --sensitivity=15,100,inf \
	--block 4801d8480fafc3
models "the same as json" '"latency mul"' --uarch skylake --sensitivity=100 --block 4801d8480fafc3 --format json
models "what the time goes to" '^ +3\.00 +75\.0%    2 imul rax, rbx +latency mul$' --uarch skylake --causality \
	--block 4801d8480fafc3
models "and what it goes round in" '1 -latency alu 1\.00-> 2 -latency mul 3\.00-> 1$' --uarch skylake --causality \
	--block 4801d8480fafc3
models "the same as json" '"carried_by": "latency mul"' --uarch skylake --causality --block 4801d8480fafc3 --format json
models "the fewest that reach it" '^ +15\.0%  all of them together, which is less' --uarch skylake --reach 30 \
	--block 4801d8480fafc3
refuse "a timeline without cycles" 129 \
	'--timeline and --engine stream exclude each other: the stream engine has no cycles' \
	--uarch skylake --engine stream --timeline --block 90

# Both engines. A chain is the same to both; a buffer of a single branch is the core engine's alone (imul rax, rbx, 3;
# cmp rcx, rbp; jne back). A fused branch has one uop, which needs p6.
models "the engines agree" '^The engines: core 4\.00, stream 4\.00 cycles an iteration \(\+0\.0%\)$' \
	--uarch skylake --engine both --block 4801d8480fafc3
models "they say so" '^ +they agree$' --uarch skylake --engine both --block 4801d8480fafc3
models "why they do not" '^ +1\.00  of the core engine without this limit.*: branch buffer$' \
	--uarch skylake --engine both \
	--set branch_buffer=1 --block 486bc3034839e975f7
models "both as json" '"reason": null' --uarch skylake --engine both --block 4801d8480fafc3 --format json
models "how full p6 is" '^ +100\.0% +1\.00 +0\.00  ports p6 ' --uarch skylake --engine stream --block 4883c1104839e975f7
models "what fills it" '^ +4 +1\.00 .*\* cmp rcx, rbp$' --uarch skylake --engine stream --block 4883c1104839e975f7
models "the bound has no uop of the fused branch" '^ +0\.33 +0\.33 +0\.33 +1\.00  as even' \
	--uarch skylake --block 4883c1104839e975f7
models "a unit by its name" '^ +28\.6% +4\.00 +10\.00  unit fpdivider ' --uarch skylake --engine stream --block f20f5ec1
models "resources as json" '"resource": "ports p6"' --uarch skylake --engine stream --block 4883c1104839e975f7 \
	--format json
models "no resources of the core engine" '"resources": null' --uarch skylake --block 90 --format json
echo '4801d8,1' >blocks.csv
refuse "both engines of a batch" 129 '--engine both is for a command .*; here the input is a batch' \
	--uarch skylake --engine both --batch blocks.csv
models "other caches" '^ +[0-9.]+%  L1 twice as large$' --uarch skylake --engine stream --data caches \
	--pointers distinct --block 488b064883c640
models "the same as json" '"knob": "L1 twice as large"' --uarch skylake --engine stream --data caches \
	--block 488b064883c640 --format json
refuse "caches of the core engine" 129 '--data caches needs --engine stream: what accesses hit' \
	--uarch skylake --data caches --block 90
models "both engines see the level" '^The engines: core 12\.00, stream 12\.00 ' --uarch skylake --engine both \
	--data L2 --block 488b00

# Files of code. The machine is two bytes of the header; for which one the code really is does not matter to be refused.
demo=${GUS_DEMO:-}
if [[ -x $demo ]]; then
	cp "$demo" arm64 && printf '\267\0' | dd of=arm64 bs=1 seek=18 conv=notrunc 2>/dev/null
	cp "$demo" x86 && printf '\76\0' | dd of=x86 bs=1 seek=18 conv=notrunc 2>/dev/null
	refuse "a file for arm64" 125 'code for arm64, and skylake is a CPU of x86-64' --uarch skylake --elf arm64 \
		--function divider
	refuse "a file for x86" 125 'code for x86-64, and neoverse-n1 is a CPU of arm64' --uarch neoverse-n1 --elf x86 \
		--function divider
	refuse "no such function" 129 'there is no function nothing in ' --uarch skylake --elf "$demo" \
		--function nothing
	uarch=skylake
	[[ $(uname -m) == aarch64 ]] && uarch=neoverse-n1
	models "a loop of a function" '^fma_chain at 0x[0-9a-f]+, loop 1 of [0-9]+: 0x' --uarch $uarch --elf "$demo" \
		--function fma_chain --loop 1
	models "the loops of a function" '^ +2 +[0-9a-f]+ +[0-9]+ +[0-9]+ +[0-9.]+' --uarch $uarch --elf "$demo" \
		--function main
	models "the same as json" '^ "loops": \[' --uarch $uarch --elf "$demo" --function main --format json
	refuse "a loop that is none" 129 'there is no loop 99 in main' --uarch $uarch --elf "$demo" \
		--function main --loop 99
fi

# A full disk must not look like success.
if [[ -w /dev/full ]]; then
	for format in text json csv; do
		"$GUSPROF" model --uarch skylake --block $imul --format $format >/dev/full 2>err
		status=$?
		[[ $status == 125 ]] && grep -q 'cannot write the output' err ||
			problem "a full disk as $format: status $status"
	done
fi
((failed == 0))
