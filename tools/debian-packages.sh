#!/bin/sh
# The Debian packages that the rig and its tests make use of. As root with apt-get the missing ones are installed;
# otherwise they are named, and everything goes on with what there is.
set -eu

WANTED="bind9 bind9-utils bind9-dnsutils nsd unbound dnsdist knot knot-dnsutils knot-dnssecutils pdns-server pdns-backend-bind
pdns-backend-sqlite3 ldnsutils dnsperf softhsm2 knot-resolver pdns-recursor dnsmasq-base iproute2 nftables util-linux
tcpdump tshark"
# For the C parts of aws-lc.
BUILD="gcc libc6-dev"

missing=""
command -v dpkg-query >/dev/null || { echo "not a Debian system: install name servers by hand to test them"; exit 0; }
for package in $WANTED $BUILD; do
    status=$(dpkg-query -W -f '${db:Status-Status}' "$package" 2>/dev/null || true)
    [ "$status" = installed ] || missing="$missing $package"
done
[ -n "$missing" ] || exit 0

if [ "$(id -u)" -ne 0 ] || [ "${DNSRIG_NO_APT:-}" ]; then
    echo "not installed (going on without):$missing"
    echo "to install: sudo apt-get install --no-install-recommends$missing"
    exit 0
fi
echo "installing:$missing"
export DEBIAN_FRONTEND=noninteractive
apt-get -qq update || echo "apt-get update failed; trying with the package lists that are there" >&2
# One by one when all at once fails, so that a package this release lacks does not keep out the others.
# shellcheck disable=SC2086
if ! apt-get -qq install --yes --no-install-recommends $missing >/dev/null; then
    for package in $missing; do
        apt-get -qq install --yes --no-install-recommends "$package" >/dev/null ||
            echo "could not install $package; going on without" >&2
    done
fi
