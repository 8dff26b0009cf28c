# A crash test with fio's own account of what it has synced: it takes a fio that has verify_policy (newer than 3.42), root
# and a file system.
#
#   sh write-fsynced.sh STATE             verifies the writes that were synced: nothing is lost
#   sh write-fsynced.sh STATE completed   verifies all that fio had completed: the last 4 of each part are lost
#
# fio syncs after each 8 of 60 writes, so the last 4 of a part were never promised. STATE is a folder outside the device,
# where fio saves for the checker which writes were synced. The checker gets the same arguments.
set -eu
state=$1
mkdir -p "$state"
for n in 1 2 3; do
    # At its full size from the beginning: fio would write a shorter file anew before it verifies it.
    truncate -s 1M "$DRIVELAB_MOUNT/part$n"
    fio --name="part$n" --filename="$DRIVELAB_MOUNT/part$n" --rw=randwrite --bs=4k --size=1m --number_ios=60 \
        --randseed="$n" --verify=crc32c --do_verify=0 --fsync=8 --verify_policy="${2:-fsynced}" --verify_state_save=1 \
        --aux-path="$state" --fallocate=none --output=/dev/null
    echo "committed $n"
done
