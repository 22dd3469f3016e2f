/**
 * Tells systemd that the gateway is ready, and that all its threads have their turns (sd_notify(3)). Uses
 * the program `systemd-notify`, since Node.js has no sockets of that type.
 */
import { spawn } from 'node:child_process';

export interface ServiceManager extends Disposable {
  /** The gateway serves now. `turn` resolves when each serving thread has had a turn. */
  ready(turn: () => Promise<void>): void;
}

export interface ServiceManagerOptions {
  /** Whether systemd wants to be told (`NOTIFY_SOCKET`). */
  readonly isTold: boolean;
  /** Systemd kills the service after this long without a message; undefined: never (`WATCHDOG_USEC`). */
  readonly watchdogMs: number | undefined;
}

export function serviceManager({ isTold, watchdogMs }: ServiceManagerOptions): ServiceManager {
  let timer: NodeJS.Timeout | undefined;
  return {
    ready(turn) {
      if (!isTold) return;
      tell('--ready');
      if (watchdogMs === undefined) return;
      // Asks again only after all threads have answered: one that hangs is asked once.
      let asked: Promise<void> | undefined;
      timer = setInterval(() => {
        asked ??= turn().then(() => {
          asked = undefined;
          tell('WATCHDOG=1');
        });
      }, watchdogMs / 2).unref();
    },
    [Symbol.dispose]: () => clearInterval(timer),
  };
}

function tell(what: string): void {
  const child = spawn('systemd-notify', [what], { stdio: 'ignore' });
  // Where the program is missing, systemd says that the service did not become ready.
  child.on('error', () => {});
  child.unref();
}
