/** Makes of an event stream the lines that its data are, in flat memory (PROTOCOL.md section 20.3). */

const LF = 0x0a;
const DATA = new TextEncoder().encode('data: ');

export async function* dataLines(
  stream: AsyncIterable<Uint8Array>,
): AsyncGenerator<Uint8Array, void> {
  /** How much of a line's beginning was `data: ` so far; -1 in a line that begins otherwise. */
  let matched = 0;
  for await (const chunk of stream) {
    for (let at = 0; at < chunk.length;) {
      if (matched >= 0 && matched < DATA.length) {
        const isData = chunk[at] === DATA[matched];
        if (!isData) matched = chunk[at] === LF ? 0 : -1;
        else matched += 1;
        at += 1;
        continue;
      }
      const newline = chunk.indexOf(LF, at);
      const end = newline === -1 ? chunk.length : newline + 1;
      if (matched === DATA.length && end > at) yield chunk.subarray(at, end);
      if (newline !== -1) matched = 0;
      at = end;
    }
  }
}
