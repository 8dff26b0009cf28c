# The checker of write-fsynced.sh: fio verifies of each part that was committed the writes that it had synced.
set -eu
# Status 1 says that data are lost; what keeps the checker itself from its work is status 2.
command -v fio >/dev/null || { echo "fio: not found"; exit 2; }
# fio writes its state anew when it has verified: each checker has a copy of its own.
state=$(mktemp -d) || exit 2
trap 'rm -rf "$state"' EXIT
cp "$1"/* "$state" || exit 2
for n in $(seq "${DRIVELAB_COMMITTED:-0}"); do
    said=$(fio --name="part$n" --filename="$DRIVELAB_MOUNT/part$n" --rw=randwrite --bs=4k --size=1m --number_ios=60 \
        --randseed="$n" --verify=crc32c --verify_only --verify_policy="${2:-fsynced}" --verify_state_load=1 \
        --aux-path="$state" --output=/dev/null 2>&1) || {
        echo "part $n of $DRIVELAB_COMMITTED: $said" | head -n 1
        exit 1
    }
done
