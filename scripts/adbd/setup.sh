#!/usr/bin/env bash
# Unpacks Debian 13's adbd (Android's own debug bridge daemon), its adb, and a small Android-like user land (mksh and toybox, as on a
# phone) into a folder. Only that folder is written: nothing is installed, and the host's apt keeps its own lists and cache.
#   usage: setup.sh ROOTFS
# Needs root on Debian (apt-get, dpkg-deb, chroot). Does nothing when ROOTFS is already what this script makes.
set -euo pipefail

rootfs=${1:?usage: setup.sh ROOTFS}
release=trixie
packages=(adbd adb mksh toybox busybox-static libc-bin base-files)
# Part of the stamp: raise it when this script makes something else of the same packages.
layout=2
stamp="layout=$layout release=$release packages=${packages[*]}"

if [ -f "$rootfs/.simlock-adbd" ] && [ "$(head -n 1 "$rootfs/.simlock-adbd")" = "$stamp" ]; then exit 0; fi
fail() { echo "adbd setup: $1" >&2; exit 1; }
[ "$(id -u)" = 0 ] || fail "must run as root: it mounts and unpacks a root file system."
for tool in apt-get dpkg-deb chroot; do command -v "$tool" >/dev/null || fail "$tool is missing: this works on Debian only."; done
keyring=/usr/share/keyrings/debian-archive-keyring.gpg
[ -f "$keyring" ] || fail "$keyring is missing: install debian-archive-keyring."
if [ -e "$rootfs" ] && [ ! -f "$rootfs/.simlock-adbd" ] && [ -n "$(ls -A "$rootfs")" ]; then
  fail "$rootfs is there and is not ours: name another folder."
fi

# The host's own mirror, for another release of it.
mirror=$(awk '/^URIs:/ { print $2; exit } /^deb / { for (i = 2; i <= NF; i++) if ($i ~ /^https?:/) { print $i; exit } }' \
  /etc/apt/sources.list.d/debian.sources /etc/apt/sources.list 2>/dev/null || true)
[ -n "$mirror" ] || fail "no Debian mirror in /etc/apt/sources.list or /etc/apt/sources.list.d/debian.sources."

mkdir -p "$(dirname "$rootfs")"
work=$(mktemp -d "$(dirname "$rootfs")/.adbd-setup.XXXXXX")
trap 'rm -rf "$work"' EXIT
mkdir -p "$work"/{etc,lists/partial,archives/partial,root}
echo "deb [signed-by=$keyring] $mirror $release main" >"$work/etc/sources.list"
: >"$work/status"
apt=(
  -o Dir::Etc::sourcelist="$work/etc/sources.list" -o Dir::Etc::sourceparts=- -o Dir::State="$work" -o Dir::State::lists="$work/lists"
  -o Dir::State::status="$work/status" -o Dir::Cache="$work" -o Dir::Cache::archives="$work/archives"
  -o APT::Install-Recommends=false -o APT::Sandbox::User=root -o Debug::NoLocking=1 -o Acquire::Retries=3
)
apt-get "${apt[@]}" -qq update
apt-get "${apt[@]}" -y -qq --download-only install "${packages[@]}" >/dev/null
for deb in "$work"/archives/*.deb; do dpkg-deb -x "$deb" "$work/root"; done

root=$work/root
rm -rf "$root"/usr/share/{doc,man,locale,lintian,info}
ln -sf mksh "$root/usr/bin/sh"
for applet in $(chroot "$root" /usr/bin/toybox); do
  case $applet in sh | reboot | poweroff | halt) continue ;; esac
  [ -e "$root/usr/bin/$applet" ] || ln -s toybox "$root/usr/bin/$applet"
done
[ -x "$root/usr/sbin/adbd" ] || fail "the packages brought no adbd."
{
  echo "$stamp"
  for deb in "$work"/archives/*.deb; do dpkg-deb -f "$deb" Package Version | awk '{ printf "%s ", $2 } END { print "" }'; done
} >"$root/.simlock-adbd"
# Where run.sh mounts a bed, in a namespace of its own; on the host it stays empty.
mkdir "$root/.bed"
chmod 755 "$root"
rm -rf "$rootfs"
mv "$root" "$rootfs"
