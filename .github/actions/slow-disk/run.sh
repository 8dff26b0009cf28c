#!/usr/bin/env bash
# Runs a command on an emulated drive, with the inputs of action.yml in the environment. The record of the session is in
# the folder, whatever the command's status is, unless the time limit has ended it.
set -euo pipefail

mkdir -p -- "$INPUT_DIRECTORY"
arguments=(--run "$INPUT_RUN" --clock "$INPUT_CLOCK" --record "$INPUT_DIRECTORY/record.json")
if [[ -n $INPUT_SCENARIO ]]; then
    arguments+=("$INPUT_SCENARIO")
else
    arguments+=(--drive "$INPUT_DRIVE")
fi
while IFS= read -r option; do
    [[ -z $option ]] || arguments+=("$option")
done <<< "$INPUT_OPTIONS"

status=0
timeout --foreground --kill-after=60s "$INPUT_TIME_LIMIT" drivelab emulate "${arguments[@]}" || status=$?
echo "exit-code=$status" >> "$GITHUB_OUTPUT"
case $status in
    124 | 137) echo "::error::not ended after $INPUT_TIME_LIMIT, unless the command itself ended with $status: raise time-limit, or take the clock skip or x10" ;;
    125) echo "::error::time-limit is no time such as 10m: $INPUT_TIME_LIMIT" ;;
esac
exit "$status"
