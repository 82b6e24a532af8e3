#!/usr/bin/env bash
# Installs the built wheel, base only, in a clean environment and uses it as a newcomer would: try_wheel.sh DIST BIN
# (BIN has python and uv; where uv cannot run, pip does the same)
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
"$2/python" -m venv "$folder/venv"
"$2/uv" pip install --quiet --python "$folder/venv/bin/python" "$1"/tacit-*.whl ||
  "$folder/venv/bin/python" -m pip install --quiet "$1"/tacit-*.whl
cd "$folder"
tacit=venv/bin/tacit
$tacit --version
{ echo smokes,age; for _ in $(seq 50); do printf 'yes,young\nno,old\nno,young\nno,old\n'; done; } > people.csv
$tacit design scheme --data people.csv --public age --gamma 3 --out scheme.json > design.txt
$tacit disguise people.csv --scheme scheme.json --out reports.parquet
$tacit estimate reports.parquet --attributes smokes
$tacit prevalence people.csv --item smokes --device crosswise --parameters p=1/4 > prevalence.txt
# What the base cannot do says in one sentence what to install, and exits with 2.
if $tacit demo --out out 2> refusal.txt; then echo "the demonstration ran without its extras" >&2; exit 1; fi
grep -q "pip install 'tacit\[" refusal.txt
echo "the wheel works in a clean environment: $(du -sm venv | cut -f1) MB"
