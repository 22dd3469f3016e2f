/** In which order, and with which settings, a running gateway reads again what its operator may change. */
import type { ReloadedSettings } from './load-language.ts';

/** Reloads take effect one after the other. A missing setting stays as it is. If `apply` rejects, all do. */
export function reloader(
  initial: ReloadedSettings,
  apply: (settings: ReloadedSettings) => Promise<void>,
): (changed?: ReloadedSettings) => Promise<void> {
  let current = { language: initial.language, publicUrl: initial.publicUrl };
  let last = Promise.resolve();
  return async (changed = {}) => {
    const reloading = last.then(async () => {
      const settings = { ...current, ...changed };
      await apply(settings);
      current = settings;
    });
    last = reloading.catch(() => {});
    await reloading;
  };
}
