// Prints what has been said since the last time it ran here: node come-back.mjs
import { readFile, writeFile } from 'node:fs/promises';

const gateway = process.env.PRESENCE_URL ?? 'http://127.0.0.1:7410';
const FILE = 'last-visit.json';

const { head, log } = await readFile(FILE, 'utf8').then(JSON.parse, () => ({ head: 0 }));
let answer = await entriesAfter(head);
if (answer.log !== log) {
  // The first visit, or the log is another one: read from its start.
  answer = await entriesAfter(0);
} else if (answer.entries === undefined) {
  // The log was restored from a backup, and ends before the last visit.
  answer = await entriesAfter(answer.head);
}
for (const entry of answer.entries) console.log(JSON.stringify(entry));
await writeFile(FILE, JSON.stringify({ head: answer.head, log: answer.log }));

async function entriesAfter(cursor) {
  const response = await fetch(`${gateway}/api/entries?order=oldest&after=${cursor}`);
  const answer = readable(await response.text());
  // An error has `head` and `log` if it is the cursor that does not fit.
  if (!response.ok && answer.head === undefined) throw new Error(answer.detail);
  return answer;
}

/** The answer without the entries that cannot be read here: each is a line of its own. */
function readable(text) {
  try {
    return JSON.parse(text);
  } catch {
    const [first, ...lines] = text.trim().split('\n');
    const rest = JSON.parse(first + lines.pop());
    return { ...rest, entries: lines.flatMap(entryIn) };
  }
}

function entryIn(line) {
  try {
    return [JSON.parse(line.replace(/,$/, ''))];
  } catch (error) {
    console.error(`left out an entry: ${error.message}`);
    return [];
  }
}
