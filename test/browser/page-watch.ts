/** What a page must not do while it is visited, and what is measured on it. */
import assert from 'node:assert/strict';

import type { BrowserContext, Page } from 'playwright-core';

/** Runs in the page before its own scripts. */
const WATCH = `globalThis.watched = { violations: [], shifts: [] };
  document.addEventListener('securitypolicyviolation', ({ violatedDirective, blockedURI, sample }) =>
    watched.violations.push([violatedDirective, blockedURI, sample].join(' ')));
  new PerformanceObserver((list) => {
    for (const { value, sources } of list.getEntries()) {
      watched.shifts.push([value, ...sources.map(({ node }) => node?.outerHTML?.slice(0, 200))]);
    }
  }).observe({ type: 'layout-shift', buffered: true });`;

export interface WatchedPage extends AsyncDisposable {
  readonly page: Page;
  /** Throws if the page complained, broke its policy, or loaded anything from elsewhere. */
  check(): Promise<void>;
}

export async function openWatched(context: BrowserContext, url: string): Promise<WatchedPage> {
  const page = await context.newPage();
  const complaints: string[] = [];
  const elsewhere: string[] = [];
  const { origin } = new URL(url);
  page.on('request', (request) => {
    if (new URL(request.url()).origin !== origin) elsewhere.push(request.url().slice(0, 200));
  });
  page.on('pageerror', ({ message }) => complaints.push(message));
  page.on('console', (message) => {
    if (['error', 'warning'].includes(message.type())) complaints.push(message.text());
  });
  await page.addInitScript(WATCH);
  const answer = await page.goto(url, { waitUntil: 'load' });
  assert.equal(answer?.status(), 200, url);
  return {
    page,
    async check() {
      assert.deepEqual(elsewhere, [], 'it loads nothing from elsewhere');
      assert.deepEqual(complaints, [], 'it complains of nothing');
      assert.deepEqual(await page.evaluate('watched.violations'), [], 'it keeps its policy');
      assert.equal(await page.evaluate('globalThis.broken'), undefined, 'no text was run');
    },
    [Symbol.asyncDispose]: () => page.close(),
  };
}

/**
 * Resolves once the expression is true in the page. Playwright's waitForFunction evaluates it anew
 * from within the page, which the policy of our pages refuses whenever it is not true at once.
 */
export async function becomesTrue(page: Page, expression: string): Promise<void> {
  while (!(await page.evaluate<boolean>(`Boolean(${expression})`))) await page.waitForTimeout(50);
}

/** Resolves once the script of the page runs, and what it then loads and draws had a moment. */
export async function isReady(page: Page): Promise<void> {
  await becomesTrue(page, `performance.getEntriesByName('ready').length > 0`);
  await page.waitForTimeout(250);
}

/** Compressed bytes of the scripts that the page has loaded. */
export async function scriptBytes(page: Page): Promise<number> {
  return await page.evaluate<number>(
    `performance.getEntriesByType('resource')
      .filter(({ name }) => new URL(name).pathname.endsWith('.js'))
      .reduce((sum, { encodedBodySize }) => sum + encodedBodySize, 0)`,
  );
}

/** What does not fit into the width of the page, and by how much. */
export async function overflow(page: Page): Promise<string[]> {
  return await page.evaluate<string[]>(`(() => {
    const width = document.documentElement.clientWidth;
    if (document.documentElement.scrollWidth <= width) return [];
    return Array.from(document.body.querySelectorAll('*'))
      .filter((element) => element.getBoundingClientRect().right > width + 1)
      .map((element) => element.outerHTML.slice(0, 120))
      .concat('the page is ' + document.documentElement.scrollWidth + ' wide');
  })()`);
}

/** Presses Tab through the page; returns what is wrong with the focus on its way. */
export async function tabThrough(page: Page): Promise<string[]> {
  await page.evaluate(`(() => {
    const reachable = 'a[href], button, input, select, textarea, summary, [tabindex]';
    const isShown = (element) =>
      element.checkVisibility({ visibilityProperty: true }) && element.tabIndex >= 0 &&
      !element.disabled && (element.type !== 'radio' || element.checked);
    globalThis.tabbing = {
      left: new Set(Array.from(document.querySelectorAll(reachable)).filter(isShown)),
      seen: new Set(),
      faults: [],
      last: undefined,
    };
    document.activeElement?.blur();
  })()`);
  for (;;) {
    await page.keyboard.press('Tab');
    const goesOn = await page.evaluate<boolean>(`(() => {
      const { left, seen, faults, last } = tabbing;
      const element = document.activeElement;
      if (element === null || element === document.body || seen.has(element)) return false;
      seen.add(element);
      left.delete(element);
      const name = element.outerHTML.slice(0, 120);
      const { outlineStyle, outlineWidth, outlineColor, boxShadow } = getComputedStyle(element);
      const isOutlined = outlineStyle !== 'none' && outlineWidth !== '0px';
      const isSeen = outlineColor !== 'rgba(0, 0, 0, 0)' || boxShadow !== 'none';
      if (!isOutlined || !isSeen) faults.push('unseen focus: ' + name);
      if (last?.compareDocumentPosition(element) === Node.DOCUMENT_POSITION_PRECEDING) {
        faults.push('out of order: ' + name);
      }
      tabbing.last = element;
      return true;
    })()`);
    if (!goesOn) break;
  }
  return await page.evaluate<string[]>(
    `[...tabbing.faults, ...Array.from(tabbing.left).filter((element) => element.isConnected && element.checkVisibility()).map((element) => 'not reached: ' + element.outerHTML.slice(0, 120))]`,
  );
}
