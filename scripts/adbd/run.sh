#!/usr/bin/env bash
# Runs a command in a private network, pid and mount namespace in which N real adbd listen on 5555, 5557, …
# An adb server started inside finds them by itself as emulator-5554, emulator-5556, … Each is a device of its own: own processes,
# files, serial number. When the command ends, all that was started in there ends with it, and nothing is left on the host.
#   usage: run.sh ROOTFS N COMMAND [ARG …]     (as root; setup.sh makes ROOTFS)
# The command sees: SIMLOCK_ADBD_BED (device d0 has its root file system in $SIMLOCK_ADBD_BED/d0/root, and so on),
# SIMLOCK_ADBD_ROOTFS, and a HOME of its own, so that no adb key of the user is used or made.
set -euo pipefail
[ $# -ge 3 ] || { echo "usage: run.sh ROOTFS N COMMAND [ARG …]" >&2; exit 2; }
export SIMLOCK_ADBD_ROOTFS SIMLOCK_ADBD_BED
SIMLOCK_ADBD_ROOTFS=$(realpath "$1")
SIMLOCK_ADBD_BED=$SIMLOCK_ADBD_ROOTFS/.bed
count=$2
shift 2
[ -f "$SIMLOCK_ADBD_ROOTFS/.simlock-adbd" ] || { echo "run.sh: $SIMLOCK_ADBD_ROOTFS was not made by setup.sh." >&2; exit 2; }
here=$(dirname "$(realpath "$0")")

# What is made lies on a mount that only this namespace sees.
exec unshare --net --mount --pid --fork --mount-proc --kill-child bash -euo pipefail -c '
here=$1 count=$2; shift 2
ip link set lo up
mount -t tmpfs -o mode=755 simlock-adbd "$SIMLOCK_ADBD_BED"
mkdir -p "$SIMLOCK_ADBD_BED/home"
export HOME=$SIMLOCK_ADBD_BED/home
# So that the adb of the root file system (34) can be run in there: `chroot "$SIMLOCK_ADBD_ROOTFS" adb …`.
mount --bind /dev "$SIMLOCK_ADBD_ROOTFS/dev"
mount -t proc proc "$SIMLOCK_ADBD_ROOTFS/proc"
mount -t tmpfs simlock-tmp "$SIMLOCK_ADBD_ROOTFS/tmp"
for ((i = 0; i < count; i++)); do
  "$here/device.sh" "d$i" $((5555 + 2 * i)) >"$SIMLOCK_ADBD_BED/d$i.log" 2>&1 &
  pids[i]=$!
done
for ((i = 0; i < count; i++)); do
  until grep -qs "adbd started" "$SIMLOCK_ADBD_BED/d$i.log"; do
    kill -0 "${pids[i]}" 2>/dev/null || { cat "$SIMLOCK_ADBD_BED/d$i.log" >&2; exit 70; }
    read -rt 0.02 <> <(:) || true
  done
done
set +e
"$@"' run.sh "$here" "$count" "$@"
