/** Programs in Python that import the client. */
import { type ChildProcess, spawn } from 'node:child_process';
import { join } from 'node:path';

import { parseJson } from '../../conformance/value.ts';

const CLIENT = join(import.meta.dirname, '../../clients/python');
/** What each program begins with. `URL` is its first argument; `shown` is what the test gets. */
const OPENING = `import decimal, io, json, logging, resource, sys, threading, time
import open_presence
from open_presence import Gateway, PresenceError
URL, *ARGS = sys.argv[1:]
logging.getLogger("open_presence").setLevel(logging.ERROR)
def show(value): print(json.dumps(value), flush=True)
def caught(call):
    try: call()
    except PresenceError as error: return error
    raise AssertionError("it was not refused")
`;

export function startPython(source: string, ...args: readonly string[]): ChildProcess {
  return spawn('python3', ['-c', OPENING + source, ...args], {
    env: {
      ...process.env,
      PYTHONPATH: CLIENT,
      PYTHONDONTWRITEBYTECODE: '1',
      no_proxy: '127.0.0.1',
    },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
}

/** What the program shows, one value a line. Throws what it says where it fails. */
export async function* shownBy(child: ChildProcess): AsyncGenerator {
  const said: string[] = [];
  child.stderr?.setEncoding('utf8').on('data', (text: string) => said.push(text));
  const ended = new Promise<number | null>((resolve) => child.once('close', resolve));
  let rest = '';
  for await (const text of child.stdout?.setEncoding('utf8') ?? []) {
    const lines = (rest + String(text)).split('\n');
    rest = lines.pop() ?? '';
    yield* lines.map(parseJson);
  }
  const code = await ended;
  if (code !== 0) throw new Error(`The program ended with ${code}:\n${said.join('')}`);
}

/** All that a program shows. */
export async function runPython(source: string, ...args: readonly string[]): Promise<unknown[]> {
  return await Array.fromAsync(shownBy(startPython(source, ...args)));
}
