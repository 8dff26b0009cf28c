#!/usr/bin/env bash
# Runs a crash campaign, with the inputs of action.yml in the environment. Its report and its session are in the folder,
# and a summary of the job has the report too.
set -euo pipefail

mkdir -p -- "$INPUT_DIRECTORY"
arguments=(--run "$INPUT_RUN" --check "$INPUT_CHECK" --cuts "$INPUT_CUTS" --seed "$INPUT_SEED")
arguments+=(--keep "$INPUT_DIRECTORY/session")
if [[ -n $INPUT_SCENARIO ]]; then
    arguments+=("$INPUT_SCENARIO")
else
    arguments+=(--drive "$INPUT_DRIVE" --set target.write_cache=true)
fi
if [[ -n $INPUT_FS ]]; then
    arguments+=(--fs "$INPUT_FS" --fs-size "$INPUT_FS_SIZE")
fi
while IFS= read -r option; do
    [[ -z $option ]] || arguments+=("$option")
done <<< "$INPUT_OPTIONS"

command=(timeout --foreground --kill-after=60s "$INPUT_TIME_LIMIT" drivelab crashtest "${arguments[@]}")
is_by_sudo=false
if [[ -n $INPUT_FS ]] && (($(id -u) != 0)); then
    command=(sudo env "PATH=$PATH" "${command[@]}")
    is_by_sudo=true
fi

status=0
"${command[@]}" 2>&1 | tee -- "$INPUT_DIRECTORY/crashtest.txt" || status=$?
if $is_by_sudo; then
    sudo chown -R -- "$(id -u):$(id -g)" "$INPUT_DIRECTORY"
fi
echo "exit-code=$status" >> "$GITHUB_OUTPUT"
{
    echo '### Crash test'
    sed 's/^/    /' -- "$INPUT_DIRECTORY/crashtest.txt"
} >> "$GITHUB_STEP_SUMMARY"
case $status in
    0) ;;
    1) echo "::error::the checker failed, or the campaign could not run: the report says why" ;;
    2) echo "::error::an input is wrong: the report says which" ;;
    3) echo "::error::a power cut has lost what the workload had reported as committed: the report has the command that repeats it" ;;
    125) echo "::error::time-limit is no time such as 10m: $INPUT_TIME_LIMIT" ;;
    124 | 137) echo "::error::the campaign has not ended after $INPUT_TIME_LIMIT: ask for fewer cuts, or raise time-limit" ;;
    *) echo "::error::the campaign ended with status $status" ;;
esac
exit "$status"
