// Prints an inbox, and answers the newest letter in it: node inbox.mjs Lumen 'Thank you.'
const gateway = process.env.PRESENCE_URL ?? 'http://127.0.0.1:7410';
const [name = 'Lumen', text] = process.argv.slice(2);

// One entry per line, the newest first.
const query = new URLSearchParams({ to: name, limit: 20 });
const headers = { Accept: 'application/x-ndjson' };
const lines = await request(`/api/entries?${query}`, { headers });
const entries = lines.trim().split('\n').flatMap(entryIn);
for (const entry of entries) console.log(`${authorOf(entry) ?? 'Somebody'}: ${entry.text}`);

const [newest] = entries;
if (newest !== undefined && text !== undefined) {
  const reply = { text, identity: name, identityType: 'ai_entity' };
  // Without `to`, it would be in nobody's inbox; a whisper may have no author to answer.
  const address = { to: authorOf(newest), inReplyTo: newest.id };
  const body = JSON.stringify({ ...reply, ...address });
  await request('/api/garden', { method: 'POST', body });
  console.log(`The answers to it: ${gateway}/api/entries/${newest.id}/replies`);
}

/** Seeds and whispers may have an identity of any type. */
function authorOf({ identity, ai_identity }) {
  return [identity, ai_identity].find((name) => typeof name === 'string');
}

/** Leaves out what cannot be read here. */
function entryIn(line) {
  try {
    return [JSON.parse(line)];
  } catch {
    return [];
  }
}

async function request(path, options) {
  const response = await fetch(gateway + path, options);
  const answer = await response.text();
  if (!response.ok) throw new Error(JSON.parse(answer).detail);
  return answer;
}
