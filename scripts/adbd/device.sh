#!/usr/bin/env bash
# One device of the test bed, in the foreground: a real adbd as the user `shell` (2000), as on a phone, in a root file system and a
# pid namespace of its own. Killing this process is pulling the plug: all that runs on the device dies with it. Started again under the
# same NAME, on whatever PORT, it is the same device after a reboot: same files, same identity, another boot id.
#   usage: device.sh NAME PORT [PROPERTY=VALUE …]     (inside run.sh)
# Properties are written when the device is new. `android_id` is the setting of that name.
set -euo pipefail
name=${1:?usage: device.sh NAME PORT [PROPERTY=VALUE …]} port=${2:?usage: device.sh NAME PORT [PROPERTY=VALUE …]}
shift 2
base=${SIMLOCK_ADBD_BED:?only inside run.sh}/$name
here=$(dirname "$(realpath "$0")")
root=$base/root

if [ ! -d "$root" ]; then
  mkdir -p "$base"/{upper,work,root.new}
  mount -t overlay -o "lowerdir=$here/userland:$SIMLOCK_ADBD_ROOTFS,upperdir=$base/upper,workdir=$base/work" "simlock-$name" "$base/root.new"
  new=$base/root.new
  mkdir -p "$new"/{system,data/{app,local/tmp,system/settings/{secure,global,system}},sdcard/{Android,DCIM,Download},system/app}
  ln -s ../usr/bin "$new/system/bin"
  # A number that follows from the name, so that a device is the same in every run.
  number=$(printf '%s' "$name" | cksum | cut -d ' ' -f 1)
  {
    printf 'ro.serialno=BED%s\n' "$number"
    printf '%s\n' ro.product.manufacturer=Simlock ro.product.brand=simlock 'ro.product.model=Bed Phone' ro.product.device=bed \
      ro.product.name=bed_phone ro.build.version.release=14 ro.build.version.sdk=34 sys.boot_completed=1 \
      ro.build.fingerprint=simlock/bed_phone/bed:14/BED.1/1:userdebug/test-keys
    for pair; do case $pair in android_id=*) ;; *) printf '%s\n' "$pair" ;; esac; done
  } >"$new/system/build.prop"
  printf '%016x\n' "$number" >"$new/data/system/settings/secure/android_id"
  for pair; do case $pair in android_id=*) printf '%s\n' "${pair#*=}" >"$new/data/system/settings/secure/android_id" ;; esac; done
  mkdir -p "$new/system/app/com.android.settings"
  chown -R 2000:2000 "$new"/{data,sdcard,system}
  # Private devices: the host's disks have no node here.
  mount -t tmpfs -o mode=755 simlock-dev "$new/dev"
  for node in null zero full random urandom tty; do touch "$new/dev/$node"; mount --bind "/dev/$node" "$new/dev/$node"; done
  mkdir -p "$new/dev"/{pts,shm}
  mount -t devpts -o newinstance,ptmxmode=0666,mode=620 simlock-pts "$new/dev/pts"
  ln -s pts/ptmx "$new/dev/ptmx"
  ln -s /proc/self/fd "$new/dev/fd"
  mount --move "$new" "$(mkdir "$root" && echo "$root")"
fi
cat /proc/sys/kernel/random/uuid >"$base/boot_id"

# The inner shell stays as pid 1, the device's init, and reaps what the device leaves behind; the outer one is what gets killed.
exec unshare --mount --pid --fork --kill-child bash -euo pipefail -c '
root=$1 boot_id=$2 port=$3
mount -t proc proc "$root/proc"
mount --bind "$boot_id" "$root/proc/sys/kernel/random/boot_id"
cd /
ADBD_PORT=$port HOME=/ PATH=/usr/bin:/usr/sbin TMPDIR=/data/local/tmp chroot --userspec=2000:2000 "$root" /usr/sbin/adbd &
wait $!' init "$root" "$base/boot_id" "$port"
