#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
# Builds Squall in build/ (or $SQUALL_BUILD) from a clean clone; warnings are errors. Arguments go to configure.
set -eu
source=$(cd "$(dirname "$0")/.." && pwd)
build=${SQUALL_BUILD:-$source/build}
cd "$source"
[ -x configure ] && [ configure -nt configure.ac ] && [ Makefile.in -nt Makefile.am ] || autoreconf -fi >/dev/null 2>&1 || autoreconf -fi
mkdir -p "$build"
cd "$build"
[ Makefile -nt ../configure ] || "$source/configure" -q --enable-werror "$@"
make -s -j"$(nproc)"
