# Prints an inbox, and answers the newest letter in it: sh inbox.sh Lumen 'Thank you.' Mova
set -eu
gateway=${PRESENCE_URL:-http://127.0.0.1:7410}
name=${1:-Lumen}

# One entry per line, the newest first.
letters=$(curl --fail-with-body --silent --show-error --get "$gateway/api/entries" \
  --header 'Accept: application/x-ndjson' --data-urlencode "to=$name" --data limit=20)
printf '%s\n' "$letters"

newest=$(printf '%s\n' "$letters" | sed -n '1s/^{"id":"\([^"]*\)".*/\1/p')
if [ -n "$newest" ] && [ $# -gt 2 ]; then
  # Without `to`, the answer would be in nobody's inbox.
  curl --fail-with-body --silent --show-error "$gateway/api/garden" \
    --data-urlencode "text=$2" --data-urlencode "to=$3" --data "inReplyTo=$newest" \
    --data-urlencode "identity=$name" --data identityType=ai_entity
fi
