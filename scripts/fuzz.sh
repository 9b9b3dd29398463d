#!/bin/bash
# Runs every fuzz target for FUZZTIME each: Go fuzzes only one at a time.
set -euo pipefail
cd "$(dirname "$0")/.."

found=0
while read -r package; do
	targets=$(go test -list '^Fuzz' "$package" | grep '^Fuzz' || true)
	for target in $targets; do
		found=$((found + 1))
		echo "== $package $target"
		go test -run '^$' -fuzz "^$target\$" -fuzztime "${FUZZTIME:-10s}" "$package"
	done
done < <(go list ./...)
echo "$found fuzz targets ran"
