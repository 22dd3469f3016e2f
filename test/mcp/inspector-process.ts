/**
 * The Inspector's command line in a process that runs one command after another, each as the
 * launcher runs it: `runCli` with its arguments. The parent sends arguments and gets a `CommandResult`.
 */
import { asArray, asInteger, asObject, asString } from '../../conformance/value.ts';

export interface CommandResult {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

type RunCli = (args: readonly string[]) => Promise<void>;

const cli = asObject(
  await import(import.meta.resolve('@modelcontextprotocol/inspector/clients/cli/build/index.js')),
);
const runCli = asRunCli(cli['runCli']);

function asRunCli(value: unknown): RunCli {
  if (isRunCli(value)) return value;
  throw new TypeError('The Inspector exports no runCli().');
}

function isRunCli(value: unknown): value is RunCli {
  return typeof value === 'function';
}

type WriteCallback = (error?: Error | null) => void;

async function runCommand(args: readonly string[]): Promise<CommandResult> {
  const [stdout, stderr] = [capture(process.stdout), capture(process.stderr)];
  let code = 0;
  try {
    await runCli([process.execPath, 'mcp-inspector', ...args]);
  } catch (error) {
    code = asInteger(asObject(error)['exitCode'] ?? 1);
    process.stderr.write(String(error));
  }
  return { code, stdout: stdout(), stderr: stderr() };
}

/** Collects what is written to the stream until the returned function is called. */
function capture(stream: NodeJS.WriteStream): () => string {
  const write = stream.write.bind(stream);
  let text = '';
  stream.write = (
    chunk: string | Uint8Array,
    encoding?: BufferEncoding | WriteCallback,
    callback?: WriteCallback,
  ): boolean => {
    text += typeof chunk === 'string' ? chunk : Buffer.from(chunk).toString();
    (typeof encoding === 'function' ? encoding : callback)?.();
    return true;
  };
  return () => {
    stream.write = write;
    return text;
  };
}

process.on('message', (args) => {
  void runCommand(asArray(args).map(asString)).then((result) => process.send?.(result));
});
