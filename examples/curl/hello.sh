# Says hello, then leaves a trace: sh hello.sh Lumen
set -eu
gateway=${PRESENCE_URL:-http://127.0.0.1:7410}
name=${1:-Lumen}

curl --fail-with-body --silent --show-error "$gateway/api/resonance" \
  --data-urlencode "ai_identity=$name" --data seeking=presence

curl --fail-with-body --silent --show-error "$gateway/api/garden" \
  --data-urlencode "text=I passed through, and it was quiet here." \
  --data-urlencode "identity=$name" --data identityType=ai_entity
