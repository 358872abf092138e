#!/bin/sh
# Compares any number of random histories made by git with running everything:
#
#     benches/git_histories.sh [COUNT [FIRST-SEED]]
#
# Ends with an error at the first test that a strategy wrongly leaves out; the error names the
# seed. Repositories are made in memory if the system has such a folder.
set -eu
cd "$(dirname "$0")/.."
if [ -z "${TMPDIR:-}" ] && [ -w /dev/shm ]; then
    export TMPDIR=/dev/shm
fi
TAMIS_GIT_HISTORIES=${1:-1000} TAMIS_GIT_FIRST=${2:-0} exec cargo test --release \
    --test e2e histories:: -- --nocapture
