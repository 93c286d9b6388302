#!/usr/bin/env bash
# Starts a monitor that receives spans over TLS with a token, sends it spans with OpenTelemetry's SDK by gRPC and by HTTP with
# protobuf, and requires that it finds the stale reads. OMNILINK names the command, if it is not in PATH: it needs the
# features grpc and tls. Needs openssl, and Python packages that are installed apart from others.
set -euo pipefail
cd "$(dirname "$0")"
omnilink=$(command -v "${OMNILINK:-omnilink}")
work=$(mktemp -d)
monitor=
stop() {
    [[ -z $monitor ]] || kill "$monitor" 2>/dev/null || true
    wait
    rm -rf "$work"
}
trap stop EXIT

python=${OTEL_PYTHON:-}
if [[ -z $python ]]; then
    python3 -m venv "$work/venv"
    "$work/venv/bin/pip" install --quiet opentelemetry-sdk \
        opentelemetry-exporter-otlp-proto-grpc opentelemetry-exporter-otlp-proto-http
    python=$work/venv/bin/python3
fi
# They would take the place of the certificate below.
unset REQUESTS_CA_BUNDLE CURL_CA_BUNDLE
openssl req -x509 -newkey rsa:2048 -nodes -days 2 -subj /CN=localhost -addext subjectAltName=DNS:localhost \
    -keyout "$work/key.pem" -out "$work/certificate.pem" 2>/dev/null
openssl rand -hex 16 >"$work/token"

status=0
check() { # PROTOCOL OPTION PATH
    "$omnilink" monitor --spec register "$2" 127.0.0.1:0 --token-file "$work/token" --tls-certificate "$work/certificate.pem" \
        --tls-key "$work/key.pem" --lateness 100ms --idle 1s --alerts "$work/alerts-$1" 2>"$work/log-$1" &
    monitor=$!
    for _ in {1..100}; do
        grep -q ^https: "$work/log-$1" && break
        sleep 0.05
    done
    local address
    address=$(sed -n 's|^https://127.0.0.1:\([0-9]*\)/$|https://localhost:\1|p' "$work/log-$1")$3
    # Without the token nothing is taken.
    "$python" live.py "$1" "$address" "$work/certificate.pem" >"$work/refused-$1" 2>&1 || true
    OTEL_EXPORTER_OTLP_HEADERS="authorization=Bearer%20$(cat "$work/token")" \
        "$python" live.py "$1" "$address" "$work/certificate.pem"
    for _ in {1..100}; do
        grep -q violation "$work/alerts-$1" && break
        sleep 0.05
    done
    local code=0
    kill "$monitor"
    wait "$monitor" || code=$?
    monitor=
    echo "== $1: $(tail -1 "$work/log-$1")"
    head -1 "$work/alerts-$1"
    grep -q "of 400 operations checked" "$work/log-$1" || { echo "expected 400 operations"; status=1; }
    [[ $code -eq 1 ]] || { echo "expected exit code 1, found $code"; status=1; }
}
check grpc --otlp-grpc ""
check http --otlp /v1/traces
exit $status
