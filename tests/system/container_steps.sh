#!/bin/sh
# The Containerfile's steps and compose.yaml's settings without an engine: a clean virtual environment, the same wheels by their digests, the same
# environment variables, the same user number, a home that is the only place it can write to; then a study with two sites.
# Usage (as root, for the user number):  sh tests/system/container_steps.sh
set -eu
root=$(cd "$(dirname "$0")/../.." && pwd)
work=$(mktemp -d)
chmod 711 "$work"
started=
# what runs is a child of what was started: a shell that is killed leaves it behind, on the port that the next run wants
trap 'for one in $started; do pkill -P "$one" || true; kill "$one" 2>/dev/null || true; done; rm -rf "$work"' EXIT
trap 'exit 1' INT TERM

test -s "$root/build/wheelhouse/requirements.txt" || make -C "$root" wheelhouse
mkdir "$work/build"
cp -r "$root/build/wheelhouse" "$work/build/"
python3 -m venv "$work/opt"
(cd "$work/build" && "$work/opt/bin/pip" install --quiet --no-cache-dir --no-index --find-links wheelhouse --require-hashes -r wheelhouse/requirements.txt)
install -D -m 0644 "$work/build/wheelhouse/sbom.cdx.json" "$work/opt/share/consilience/sbom.cdx.json"
chmod -R a+rX "$work/opt" && chmod 755 "$work/opt"

as() ( # as HOME COMMAND...: the container's user, its environment, and nothing else
  home=$1
  shift
  exec env -i PATH="$work/opt/bin:/usr/bin:/bin" PYTHONDONTWRITEBYTECODE=1 PYTHONUNBUFFERED=1 OPENBLAS_NUM_THREADS=1 \
    CONSILIENCE_SERVER_HOME="$home" CONSILIENCE_SERVER_HOST=127.0.0.1 CONSILIENCE_SERVER_PORT=18443 \
    CONSILIENCE_SERVER_PUBLIC_URL=https://127.0.0.1:18443 CONSILIENCE_SERVER_CA="$work/tls.crt" CONSILIENCE_SERVER_TOKEN="${token:-}" \
    CONSILIENCE_CLIENT_HOME="$home" setpriv --reuid 10001 --regid 10001 --clear-groups --no-new-privs "$@"
)

install -d -o 10001 -g 10001 -m 0700 "$work/server" "$work/one" "$work/two"
install -d -m 0755 "$work/data"
"$work/opt/bin/python" - "$work/data" <<'PY'
import sys
import consilience as cs
for name, frame in cs.simulate.mixed_sites(n=200, sites=2, seed=4).items():
    frame.write_csv(f"{sys.argv[1]}/{name}.csv")
PY
cat > "$work/data/study.toml" <<'TOML'
name = "container trial"
datasets = [["A", "B", "C", "D", "E"]]
[settings]
min_rows = 20  # as the example of a policy wants it
[variables]
A = "continuous"
B = "continuous"
C = "binary"
D = { kind = "ordinal", levels = ["1", "2", "3", "4"] }
E = { kind = "multinomial", levels = ["p", "q", "r", "s"] }
TOML
"$work/opt/bin/consilience" client policy --write "$work/data/example.toml"
sed 's/^min_contributors = .*/min_contributors = 2/; s/^max_given = .*/max_given = 8/' "$work/data/example.toml" > "$work/data/policy.toml"
chmod -R a+rX "$work/data"

echo "correct horse battery staple" | as "$work/server" consilience server init --owner ada --self-signed 127.0.0.1 --password-stdin
cp "$work/server/tls.crt" "$work/tls.crt" && chmod 644 "$work/tls.crt"
as "$work/server" consilience server run > "$work/server.log" 2>&1 &
started="$started $!"
for _ in $(seq 60); do
  as "$work/server" python -c "import ssl, urllib.request as u; u.urlopen('https://127.0.0.1:18443/health', context=ssl._create_unverified_context(), timeout=5)" \
    2> /dev/null && break
  sleep 0.5
done
token=$(echo "correct horse battery staple" | as "$work/server" consilience server study login ada --password-stdin)
study=$(as "$work/server" consilience server study create "$work/data/study.toml")
as "$work/server" consilience server study open "$study"
for site in one two; do
  as "$work/server" consilience server study invite "$study" "$site" | as "$work/$site" consilience client join -
done
as "$work/one" consilience client run --data "$work/data/site1.csv" --policy "$work/data/policy.toml" --yes > "$work/one.log" 2>&1 &
started="$started $!"
as "$work/two" consilience client run --data "$work/data/site2.csv" --policy "$work/data/policy.toml" --yes > "$work/two.log" 2>&1 &
started="$started $!"
sleep 4
as "$work/server" consilience server study start "$study"
as "$work/server" consilience server study watch "$study" | tail -n 1
as "$work/one" consilience client ledger | tail -n 1
as "$work/server" consilience server study result "$study" --out "$work/server/out"
test -s "$work/server/out/result.json"
echo "the container's steps work: user 10001, clean environment, only its home writable"
