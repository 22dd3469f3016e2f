/** A page within its layout: rendered on the server, and taken over in the browser. */
import type { ComponentType, VNode } from 'preact';

import { Layout } from './layout.tsx';
import type { PageData, PageName } from './page-data.ts';
import { ShellContext } from './shell.ts';

export type PageComponent = ComponentType<{ readonly data: PageData }>;

interface AppProps {
  readonly data: PageData;
  readonly page: PageComponent;
}

const WITH_FORMS: ReadonlySet<PageName> = new Set(['house', 'room', 'entry', 'write']);

export function App({ data, page: Page }: AppProps): VNode {
  return (
    <ShellContext.Provider value={data.shell}>
      <Layout hasForms={WITH_FORMS.has(data.page)}>
        <Page data={data} />
      </Layout>
    </ShellContext.Provider>
  );
}
