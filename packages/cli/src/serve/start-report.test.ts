import assert from 'node:assert/strict';
import { resolve } from 'node:path';
import { suite, test } from 'node:test';

import { pino } from 'pino';

import { startReport, type StartReport } from './start-report.ts';

const FACTS = {
  version: '1.2.3',
  format: 1,
  metrics: 'http://127.0.0.1:7411/metrics',
  state: 'breathing',
  readOnly: undefined,
  cluster: undefined,
  mirror: undefined,
};
const ADDRESS = 'http://0.0.0.0:7410';

/** The text that is written to standard output, and the lines of the log. */
function reported(isTTY: boolean, use: (report: StartReport) => void): [string, string[]] {
  let written = '';
  const write = (text: string): void => {
    written += text;
  };
  const terminal = isTTY ? { write } : undefined;
  const lines: string[] = [];
  const logger = pino({}, { write: (line) => void lines.push(line) });
  use(startReport(terminal, logger, { data: 'data', threads: 2, canShareAddress: true }));
  return [written, lines];
}

function wake({ waking }: StartReport): void {
  for (const indexed of [0, 50, 99, 420, 427, 999]) {
    waking({ address: ADDRESS, indexed, head: indexed === 0 ? 0 : 1000, behind: 0 });
  }
}

suite('the report of a start', () => {
  test('says on a terminal how much of the log has been read, on one line', () => {
    const [written, lines] = reported(true, wake);
    const percents = Array.from(written.matchAll(/reading the log, (\d+) %/g), ([, text]) => text);
    assert.deepEqual(percents, ['5', '9', '42', '42', '99']);
    assert.match(written, /^\r\S+waking: opening the log; requests to http:\/\/0\.0\.0\.0:7410 /);
    assert.doesNotMatch(written, /\n/);
    assert.deepEqual(lines, []);
  });

  test('logs each tenth of the log once', () => {
    const [written, lines] = reported(false, wake);
    const indexed = lines.map((line) => (JSON.parse(line) as { indexed: number }).indexed);
    assert.deepEqual(indexed, [0, 420, 999]);
    assert.equal(written, '');
  });

  test('says what the copy of a cluster still lacks', () => {
    const [, lines] = reported(false, ({ waking }) => {
      waking({ address: ADDRESS, indexed: 0, head: 0, behind: 900 });
      waking({ address: ADDRESS, indexed: 300, head: 300, behind: 600 });
    });
    assert.match(lines[0] ?? '', /reading the log, 0 %; messages of the cluster .* missing: 900/);
    assert.match(lines[1] ?? '', /reading the log, 33 %; .* missing: 600/);
  });

  test('names an address to try if the gateway listens on all', () => {
    const [written] = reported(true, ({ serving }) => serving(ADDRESS, FACTS));
    assert.match(written, /Listens at +http:\/\/0\.0\.0\.0:7410 \(for all/);
    assert.match(written, /browser +http:\/\/localhost:7410\n/);
    assert.match(written, /Counts at +http:\/\/127\.0\.0\.1:7411\/metrics\n/);
  });

  test('is one line of the log, with what runs, where, and how', () => {
    const [, lines] = reported(false, ({ serving }) => serving(ADDRESS, FACTS));
    const line = JSON.parse(lines.at(-1) ?? '') as Record<string, unknown>;
    const { version, format, address, data, threads, state } = line;
    assert.deepEqual(
      { version, format, address, data, threads, state },
      {
        version: '1.2.3',
        format: 1,
        address: ADDRESS,
        data: resolve('data'),
        threads: 2,
        state: 'breathing',
      },
    );
    assert.ok(!('readOnly' in line));
  });
});
