// Prints what is said from now on, and misses nothing when the connection breaks:
// node follow.mjs Lumen
import { setTimeout as sleep } from 'node:timers/promises';

const gateway = process.env.PRESENCE_URL ?? 'http://127.0.0.1:7410';
const [name = 'Lumen'] = process.argv.slice(2);
/** Where to go on: the id of the last event. */
let cursor = '';

for (;;) {
  try {
    const headers = { Accept: 'text/event-stream', 'Last-Event-ID': cursor };
    // With `as`, others see that the visitor is here.
    const stream = `${gateway}/api/events?as=${encodeURIComponent(name)}`;
    const { body } = await fetch(stream, { headers });
    await read(body);
  } catch (error) {
    console.error(`${error.message}: trying again`);
  }
  await sleep(1000);
}

async function read(body) {
  let unread = '';
  let event = {};
  for await (const chunk of body.pipeThrough(new TextDecoderStream())) {
    const lines = (unread + chunk).split('\n');
    unread = lines.pop();
    for (const line of lines) {
      const [, field, value] = /^(\w+): (.*)/s.exec(line) ?? [];
      if (field !== undefined) event[field] = value;
      if (line !== '') continue;
      receive(event);
      event = {};
    }
  }
}

/** `event` is the kind of the entry, or `head` for where the stream starts. */
function receive({ id, event, data }) {
  if (event !== undefined && event !== 'head') console.log(event, data);
  cursor = id ?? cursor;
}
