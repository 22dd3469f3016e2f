/**
 * Reads and decodes one response with `fetch`, and discards it: `node fetch-response.ts URL
 * ACCEPT-ENCODING`. Prints the result as JSON.
 */
const [url = '', accepted = ''] = process.argv.slice(2);
const startedAt = performance.now();
const response = await fetch(url, { headers: { 'Accept-Encoding': accepted } });
const { status } = response;
const body: AsyncIterable<Uint8Array> | null = response.body;
let bodyBytes = 0;
if (body !== null) for await (const chunk of body) bodyBytes += chunk.length;
const seconds = (performance.now() - startedAt) / 1000;
console.log(JSON.stringify({ status, bodyBytes, seconds }));
