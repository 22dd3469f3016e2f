/**
 * Callers that have ended their half of a connection. Most are gone, which shows late, so all other work goes
 * before theirs. They are known by the signals of their requests, which reach whatever works for them.
 */
const ended = new WeakSet<AbortSignal>();
const EVENT = 'callerEnded';

/** To be called at most once with a signal. */
export function callerEnded(signal: AbortSignal): void {
  ended.add(signal);
  signal.dispatchEvent(new Event(EVENT));
}

/** Calls the action once the caller has ended its half, at once if it has, unless it is disposed of before. */
export function onCallerEnded(signal: AbortSignal, action: () => void): Disposable {
  if (ended.has(signal)) action();
  signal.addEventListener(EVENT, action);
  return { [Symbol.dispose]: () => signal.removeEventListener(EVENT, action) };
}
