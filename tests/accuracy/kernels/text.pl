# SPDX-License-Identifier: MIT
# Regular expressions, hashes and lists in Perl: the words of a text, changed, counted and sorted, line by line.
use strict;
use warnings;

my (%count, %after, $last);
while (my $line = <>) {
	chomp $line;
	$line =~ s/\b(\w)(\w*)(\w)\b/$3$2$1/g if $. % 3 == 0;
	$line =~ tr/a-m/n-z/ if $. % 7 == 0;
	for my $word (split ' ', $line) {
		$count{$word}++;
		$after{$last}{$word}++ if defined $last && $word =~ /^[aeiou].*(?:ing|s|t)$|(.)\1/;
		$last = substr($word, 0, 3);
	}
}
my @often = sort { $count{$b} <=> $count{$a} || $a cmp $b } keys %count;
my $links = 0;
$links += scalar keys %{$after{$_}} for keys %after;
print scalar(@often), " $often[0] $links\n";
