#!/bin/sh
# install.sh PACKAGE WHAT: installs a Debian package unless WHAT, a command or a file, is there already.
set -eu
package=$1 what=$2

if command -v "$what" >/dev/null || [ -e "$what" ]; then
	exit 0
fi
if ! command -v apt-get >/dev/null; then
	echo "$what is missing: install $package by your system's means" >&2
	exit 1
fi
root=
if [ "$(id -u)" -ne 0 ]; then
	root=sudo
fi
$root apt-get update -q
DEBIAN_FRONTEND=noninteractive $root apt-get install -qy --no-install-recommends "$package"
