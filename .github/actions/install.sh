#!/usr/bin/env bash
# Installs drivelab for the steps of a job that follow. In DRIVELAB_WHEEL: the path or the address of a wheel; without one,
# a drivelab that is on PATH is used, and otherwise pip builds the checkout of this action, which takes Rust and minutes.
set -euo pipefail

wheel=${DRIVELAB_WHEEL:-}
if [[ -z $wheel ]] && command -v drivelab > /dev/null; then
    drivelab --version
    exit 0
fi
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
home=$RUNNER_TEMP/drivelab
python3 -c 'import sys; sys.exit(sys.version_info < (3, 11))' || {
    echo "::error::drivelab needs Python 3.11 or later: put actions/setup-python before this action"
    exit 1
}
python3 -m venv "$home"
"$home/bin/pip" install --quiet --disable-pip-version-check -- "${wheel:-$here/../..}"
echo "$home/bin" >> "$GITHUB_PATH"
"$home/bin/drivelab" --version
