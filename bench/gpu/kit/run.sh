#!/bin/bash
# Runs what is in this folder on the GPU of this machine, for so many minutes (10), and writes results.json.
#
# usage: ./run.sh [MINUTES] [OPTION ...]      ./run.sh --help says the options
#
# Needs a driver and Python 3. `scripts/gpu --import results.json` puts the results into the project's pages.
cd "$(dirname "$0")" || exit
exec python3 run.py "$@"
