/**
 * Callers that have ended their half of a connection. Most are gone, which shows late, so all other work goes
 * before theirs. They are known by the signals of their requests, which reach whatever works for them.
 */
const ended = new WeakSet<AbortSignal>();
const EVENT = 'callerEnded';

/** To be called when the caller of the signal's request has ended its half. */
export function callerEnded(signal: AbortSignal): void {
  if (ended.has(signal)) return;
  ended.add(signal);
  signal.dispatchEvent(new Event(EVENT));
}

export function hasCallerEnded(signal: AbortSignal | undefined): boolean {
  return signal !== undefined && ended.has(signal);
}

/** Calls the action once the caller has ended its half, at once if it has, unless it is disposed of before. */
export function onCallerEnded(signal: AbortSignal, action: () => void): Disposable {
  if (hasCallerEnded(signal)) action();
  signal.addEventListener(EVENT, action);
  return { [Symbol.dispose]: () => signal.removeEventListener(EVENT, action) };
}
