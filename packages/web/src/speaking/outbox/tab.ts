/** Tells the tabs of this browser apart, and gives each its turn at work that only one may do at a time. */

const NAME = 'open-presence.tab';

// Starts with the time, so that the tabs that were opened last come last in the order of names.
let name = `${Date.now()} ${Math.random()}`;

export function thisTab(): string {
  return name;
}

/**
 * Call it once on each page, before `thisTab`. A tab keeps its name from page to page. Its storage has the
 * name only from one page to the next, so that a duplicate of the tab gets another one.
 */
export function nameTab(): void {
  try {
    name = sessionStorage.getItem(NAME) ?? name;
  } catch {
    // Storage may be switched off: then the name changes from page to page.
    return;
  }
  const enter = (): void => {
    sessionStorage.removeItem(NAME);
    const left = new Promise((resolve) => addEventListener('pagehide', resolve, { once: true }));
    void locks()?.request(lockOf(name), () => left);
  };
  enter();
  addEventListener('pagehide', () => sessionStorage.setItem(NAME, name));
  addEventListener('pageshow', ({ persisted }) => {
    if (persisted) enter();
  });
}

/** Returns a function that says whether a tab shows a page of this gateway. Without locks, none seems to. */
export async function tabsInUse(): Promise<(tab: string) => boolean> {
  const { held = [], pending = [] } = (await locks()?.query()) ?? {};
  const names = new Set([...held, ...pending].map((lock) => lock.name));
  return (tab) => names.has(lockOf(tab));
}

const turns = new Map<string, Promise<unknown>>();

/**
 * Runs work when no other page of this gateway runs work of this name. Without locks, waits only for work on
 * this page.
 */
export async function inTurn<T>(work: string, run: () => Promise<T>): Promise<T> {
  const lock = locks()?.request(`open-presence.${work}`, run);
  if (lock !== undefined) return await lock;
  const turn = (turns.get(work) ?? Promise.resolve()).then(run);
  turns.set(
    work,
    turn.catch(() => {}),
  );
  return await turn;
}

function lockOf(tab: string): string {
  return `${NAME} ${tab}`;
}

/** Only pages in a secure context have locks. */
function locks(): LockManager | undefined {
  return (navigator as { readonly locks?: LockManager }).locks;
}
