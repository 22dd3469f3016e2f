/** Keeps the sign of the gateway's status true while the page is visible. */

const INTERVAL_MS = 20_000;

type States = Readonly<Record<string, { readonly name: string; readonly meaning: string }>>;

export function startStatus(): void {
  const sign = document.querySelector<HTMLElement>('.status');
  if (sign === null) return;
  const states = JSON.parse(sign.dataset['states'] ?? '{}') as States;
  const update = async (): Promise<void> => {
    if (document.visibilityState !== 'visible') return;
    const status = await fetchStatus();
    const { name = '', meaning = '' } = states[status] ?? {};
    if (sign.dataset['status'] === status || name === '') return;
    sign.dataset['status'] = status;
    sign.title = meaning;
    const text = sign.querySelector('.status-name');
    if (text !== null) text.textContent = name;
  };
  const onChange = (): void => void update();
  setInterval(onChange, INTERVAL_MS);
  for (const change of ['online', 'offline', 'visibilitychange'])
    addEventListener(change, onChange);
}

async function fetchStatus(): Promise<string> {
  try {
    const answer = await fetch('/readyz');
    return ((await answer.json()) as { readonly status: string }).status;
  } catch {
    return 'unreachable';
  }
}
