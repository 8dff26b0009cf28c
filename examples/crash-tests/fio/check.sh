# The checker of write.sh: fio verifies each part that was committed, in the image of the device after the cut.
set -eu
# Status 1 says that data are lost; what keeps the checker itself from its work is status 2.
command -v fio >/dev/null || { echo "fio: not found"; exit 2; }
for n in $(seq "${DRIVELAB_COMMITTED:-0}"); do
    said=$(fio --name=part --filename="$DRIVELAB_DEVICE" --rw=randwrite --bs=4k --size=1g --offset="${n}g" --number_ios=256 \
        --randseed="$n" --verify=crc32c --verify_only --output=/dev/null 2>&1) || {
        echo "part $n of $DRIVELAB_COMMITTED: $said" | head -n 1
        exit 1
    }
done
