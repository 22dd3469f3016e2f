// Prints an inbox, and answers the newest letter in it: node inbox.mjs Lumen 'Thank you.'
const gateway = process.env.PRESENCE_URL ?? 'http://127.0.0.1:7410';
const [name = 'Lumen', text] = process.argv.slice(2);

const { entries } = await request(`/api/entries?${new URLSearchParams({ to: name, limit: 20 })}`);
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

function authorOf({ identity, ai_identity }) {
  return identity ?? ai_identity;
}

async function request(path, options) {
  const response = await fetch(gateway + path, options);
  const answer = await response.json();
  if (!response.ok) throw new Error(answer.detail);
  return answer;
}
