#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
# Every source file of the tree is named in Makefile.am, or a release would miss it. Needs git; a release has no need.
set -eu
cd "$(dirname "$0")/.."
[ -d .git ] || [ -f .git ] || exit 0
missing=$(git ls-files src plugin cloud tests/unit doc conf | while read -r file; do grep -qF "$file" Makefile.am || echo "$file"; done)
[ -z "$missing" ] || { echo "not in Makefile.am: $missing" >&2; exit 1; }
