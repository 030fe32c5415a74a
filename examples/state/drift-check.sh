#!/bin/sh
# Whether the devices of this machine still are what the profiles say. Changes nothing; for a pipeline that runs every night.
#   sh examples/state/drift-check.sh examples/state/team/base.yaml
# Ends with 0 where nothing differs, 1 where something does or is not known, and 2 where a profile could not be compared.
set -u
if [ "$#" -eq 0 ]; then
  echo "usage: drift-check.sh PROFILE..." >&2
  exit 2
fi

result=0
for profile in "$@"; do
  simlock state diff --profile "$profile" --exit-code
  case $? in
    0) echo "$profile: as it should be" ;;
    3)
      echo "$profile: differs, or a field of it could not be read" >&2
      [ "$result" -eq 2 ] || result=1
      ;;
    *)
      echo "$profile: could not be compared" >&2
      result=2
      ;;
  esac
done
exit "$result"
