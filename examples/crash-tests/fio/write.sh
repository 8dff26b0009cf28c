# A crash test with fio over the network block device: it needs neither root nor a file system.
#
#   sh write.sh            each part ends with a FLUSH before it is reported as committed: nothing is lost
#   sh write.sh --no-sync  it does not: what is in the drive's cache is lost in a power cut
set -eu
sync=--end_fsync=1
test "${1:-}" != --no-sync || sync=--end_fsync=0
for n in 1 2; do
    fio --name=part --ioengine=nbd --uri="$DRIVELAB_URI" --rw=randwrite --bs=4k --size=1g --offset="${n}g" --number_ios=256 \
        --randseed="$n" --verify=crc32c --do_verify=0 "$sync" --output=/dev/null
    echo "committed $n"
done
