# Prints what is said from now on, and misses nothing when the connection breaks: sh follow.sh Lumen
gateway=${PRESENCE_URL:-http://127.0.0.1:7410}
name=${1:-Lumen}
# Where to go on: the id of the last event. A pipe runs in a process of its own, so a file has it.
cursor=$(mktemp)

while true; do
  # With `as`, others see that the visitor is here.
  curl --fail --silent --no-buffer --get "$gateway/api/events" --data-urlencode "as=$name" \
    --header "Last-Event-ID: $(cat "$cursor")" |
    while IFS= read -r line; do
      case $line in
        'id: '*) id=${line#id: } ;;
        'event: '*) event=${line#event: } ;;
        'data: '*) [ "$event" = head ] || printf '%s %s\n' "$event" "${line#data: }" ;;
        '') echo "$id" >"$cursor" ;;
      esac
    done
  sleep 1
done
