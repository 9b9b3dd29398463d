#!/bin/bash
# demo.sh OXY [DIR]: a working day in a minute, on a copy of a real tree: DIR, or the project's own. Where Git is
# installed it does the same beside it, and the times stand in one table at the end.
set -euo pipefail

oxy=$(realpath "$1")
own=$(realpath "$(dirname "$0")/..")
tree=$(realpath "${2:-$own}")
shown=14 # lines of each command's output

work=$(mktemp -d "${TMPDIR:-/tmp}/oxy-demo.XXXXXX")
trap 'rm -rf "$work"' EXIT
trap 'exit 130' INT TERM
mkdir "$work/oxy" "$work/home"

have_git=
if command -v git >/dev/null; then
	have_git=yes
	mkdir "$work/git"
fi

# Nobody's configuration decides what the demo shows.
export HOME=$work/home XDG_CONFIG_HOME=$work/home GIT_CONFIG_NOSYSTEM=1
export OXY_NAME=Demo OXY_EMAIL=demo@example.com
export GIT_AUTHOR_NAME=Demo GIT_AUTHOR_EMAIL=demo@example.com GIT_COMMITTER_NAME=Demo GIT_COMMITTER_EMAIL=demo@example.com
export GIT_CONFIG_COUNT=2 GIT_CONFIG_KEY_0=init.defaultBranch GIT_CONFIG_VALUE_0=main GIT_CONFIG_KEY_1=gc.auto GIT_CONFIG_VALUE_1=0
unset GIT_DIR GIT_WORK_TREE

copy() { # copy DESTINATION: the tree without any repository or build
	tar -C "$tree" --exclude=.git --exclude=.oxy --exclude=./bin -cf - . | tar -C "$1" -xf -
}

# timed WHERE COMMAND...: runs it there, its output in $work/out, its milliseconds in $took.
timed() {
	local where=$1 begin end
	shift
	cd "$work/$where"
	begin=$(date +%s%N)
	if ! "$@" >"$work/out" 2>&1; then
		cat "$work/out"
		echo "demo: $* failed" >&2
		exit 1
	fi
	end=$(date +%s%N)
	took=$(((end - begin) / 10000))
}

ms() { printf '%d.%02d ms' $(($1 / 100)) $(($1 % 100)); }

rows=()
# step NAME OXY-COMMAND GIT-COMMAND: both, timed; oxy's output is shown.
step() {
	local name=$1 mine=$2 theirs=$3 a b=
	timed oxy bash -c "$mine"
	a=$took
	printf '\n$ %s\n' "${mine//\"\$OXY\"/oxy}"
	head -n "$shown" "$work/out"
	local all
	all=$(wc -l <"$work/out")
	if [ "$all" -gt "$shown" ]; then
		echo "... ($all lines)"
	fi
	if [ -n "$have_git" ]; then
		timed git bash -c "$theirs"
		b=$took
	fi
	rows+=("$name|$a|$b")
}

edit() { # edit COPY: a line at the end of the file, and a new file
	printf 'One more line, written by the demo.\n' >>"$work/$1/$file"
	printf 'A new file.\n' >"$work/$1/demo-note.txt"
}

export OXY=$oxy
copy "$work/oxy"
if [ -n "$have_git" ]; then
	copy "$work/git"
fi
cd "$work/oxy"

# The file to edit: the README where there is one, else the first text of some length.
file=
for candidate in README.md README Makefile; do
	if [ -f "$candidate" ] && [ ! -L "$candidate" ]; then
		file=$candidate
		break
	fi
done
if [ -z "$file" ]; then
	file=$(find . -type f -not -path '*/.*' -size +1k -print0 | sort -z | xargs -0 -r grep -lIm1 . 2>/dev/null | sed -n '1s,^\./,,p' || true)
fi
if [ -z "$file" ]; then
	echo "demo: $tree has no text file to edit" >&2
	exit 1
fi

echo "A copy of $(basename "$tree"): $(find . -type f | wc -l) files, $(du -sh . | cut -f1)"

step 'init and commit the tree' '"$OXY" init && "$OXY" commit -m "The tree"' 'git init -q && git add -A && git commit -qm "The tree"'
step 'status, clean' '"$OXY" status' 'git status'
printf '\n(a line is added to %s, and demo-note.txt is new)\n' "$file"
edit oxy
if [ -n "$have_git" ]; then
	edit git
fi
step 'status, two files' '"$OXY" status' 'git status'
step 'diff' '"$OXY" diff' 'git diff'
step 'commit' '"$OXY" commit -m "A line and a note"' 'git add -A && git commit -qm "A line and a note"'
step 'log' '"$OXY" log' 'git log'
step "blame $file" "\"\$OXY\" blame '$file'" "git blame '$file'"
step 'checkout, one change back' '"$OXY" checkout @~1' 'git checkout -q HEAD~1'
step 'checkout, forth again' '"$OXY" checkout main' 'git checkout -q main'

printf '\n%-28s %14s' 'Operation' 'oxy'
if [ -n "$have_git" ]; then
	printf ' %14s %10s' 'Git' 'Git/oxy'
fi
echo
for row in "${rows[@]}"; do
	IFS='|' read -r name a b <<<"$row"
	printf '%-28s %14s' "$name" "$(ms "$a")"
	if [ -n "$b" ]; then
		ratio=$((b * 100 / (a > 0 ? a : 1)))
		printf ' %14s %10s' "$(ms "$b")" "$(printf '%d.%02d' $((ratio / 100)) $((ratio % 100)))"
	fi
	echo
done
if [ -n "$have_git" ]; then
	echo
	echo 'One run each, warm caches. Medians on the Linux tree: docs/benchmarks.md.'
fi
