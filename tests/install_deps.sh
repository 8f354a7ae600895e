#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
# Installs what building and testing Squall needs from the distribution: as root or with sudo by apt, else names it.
# --run: only what ./demo needs.
set -eu

packages="g++ make autoconf automake libtool autoconf-archive pkg-config libslurm-dev libglpk-dev libjansson-dev
libcurl4-openssl-dev libssl-dev libsqlite3-dev libfmt-dev libcli11-dev libpugixml-dev check slurmctld slurmd slurm-client
slurm-wlm-basic-plugins munge procps jq"
[ "${1:-}" = --run ] || packages="$packages shellcheck mandoc"

missing=
for package in $packages; do
    dpkg-query -W -f '${Status}' "$package" 2>/dev/null | grep -q 'ok installed' || missing="$missing $package"
done
[ -n "$missing" ] || exit 0

if [ "$(id -u)" = 0 ]; then
    as_root=
elif command -v sudo >/dev/null && sudo -n true 2>/dev/null; then
    as_root=sudo
else
    echo "missing packages; as root: apt-get install$missing" >&2
    exit 1
fi
echo "installing:$missing"
# The distribution starts Slurm's and munge's services where it can; Squall's tests use none of them.
policy=/usr/sbin/policy-rc.d
made_policy=no
if [ ! -e $policy ]; then
    printf '#!/bin/sh\nexit 101\n' | $as_root tee $policy >/dev/null
    $as_root chmod 755 $policy
    made_policy=yes
fi
export DEBIAN_FRONTEND=noninteractive
status=0
# shellcheck disable=SC2086
{ $as_root apt-get update -qq && $as_root apt-get install -y -qq --no-install-recommends $missing; } >/dev/null || status=$?
[ $made_policy = no ] || $as_root rm -f $policy
[ $status = 0 ] || echo "apt-get install failed:$missing" >&2
exit $status
