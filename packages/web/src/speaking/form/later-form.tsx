/** The form, loaded when it is first opened, or soon after the page, so that it opens at once. */
import type { ComponentType, VNode } from 'preact';
import { useEffect, useState } from 'preact/hooks';

import type { SpeakFormProps } from './speak-form-props.ts';

let Form: ComponentType<SpeakFormProps> | undefined;
const DELAY_MS = 2000;

async function loadForm(): Promise<void> {
  Form ??= (await import('./speak-form.tsx')).SpeakForm;
}

/** Loads the form once the page has had time to show itself. */
export function useFormSoon(): void {
  useEffect(() => {
    const timer = setTimeout(() => void loadForm().catch(() => {}), DELAY_MS);
    return () => clearTimeout(timer);
  }, []);
}

interface LaterFormProps extends SpeakFormProps {
  /** Called if the form cannot be loaded. */
  readonly onMissing: () => void;
}

export function LaterForm({ onMissing, ...props }: LaterFormProps): VNode {
  const [, setLoaded] = useState(Form !== undefined);
  useEffect(() => {
    if (Form === undefined) loadForm().then(() => setLoaded(true), onMissing);
  }, []);
  return Form === undefined ? <></> : <Form {...props} />;
}
