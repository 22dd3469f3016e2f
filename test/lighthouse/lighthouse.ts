/** Prints the scores of Lighthouse for each page, and what it marks down: `npm run lighthouse [PAGE…]`. */
import lighthouse, { desktopConfig, type Result } from 'lighthouse';

import { startGatewayProcess } from '../gateway-process.ts';
import { startChromium } from '../browser/chromium.ts';
import { fillPlace } from '../browser/seeded-place.ts';
import { PAGE_NAMES, pathOf } from '../browser/visited-pages.ts';

const PORT = 9444;
const CATEGORIES = ['performance', 'accessibility', 'best-practices', 'seo'];

const wanted = process.argv.slice(2);
await using gateway = await startGatewayProcess();
const ids = await fillPlace(gateway.url);
await using _browser = await startChromium([`--remote-debugging-port=${PORT}`]);
for (const name of PAGE_NAMES) {
  if (wanted.length > 0 && !wanted.includes(name)) continue;
  for (const device of ['mobile', 'desktop'] as const) {
    const url = gateway.url + pathOf(name, ids.get('window') ?? '');
    const config = device === 'desktop' ? desktopConfig : undefined;
    const options = { port: PORT, onlyCategories: CATEGORIES, logLevel: 'error' as const };
    const result = await lighthouse(url, options, config);
    if (result !== undefined) report(`${name}, ${device}`, result.lhr);
  }
}

function report(title: string, { categories, audits }: Result): void {
  const scores = Object.values(categories).map((category) => {
    return `${category.title} ${Math.round((category.score ?? 0) * 100)}`;
  });
  console.log(`${title}: ${scores.join(', ')}`);
  const weighted = Object.values(categories).flatMap(({ auditRefs }) => {
    return auditRefs.filter(({ weight }) => weight > 0).map(({ id }) => id);
  });
  for (const id of weighted) {
    const audit = audits[id];
    if (audit === undefined || audit.score === null || audit.score >= 0.995) continue;
    console.log(`  ${id} ${Math.round(audit.score * 100)}: ${audit.displayValue ?? audit.title}`);
  }
}
