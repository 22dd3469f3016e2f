/** A file, or a large pasted text, that is sent as text without being shown. */
import { isolated } from '@open-presence/protocol';
import type { VNode } from 'preact';

import { useWords } from '../shell.ts';

/** A longer text would make the field slow. In UTF-16 code units. */
const MAX_PASTED = 1_000_000;

/** The large text of a paste, which then stays out of the field. */
export function largePaste(event: ClipboardEvent, name: string): File | undefined {
  const text = event.clipboardData?.getData('text/plain') ?? '';
  if (text.length <= MAX_PASTED) return undefined;
  event.preventDefault();
  return new File([text], name);
}

interface AttachmentProps {
  readonly file: File | undefined;
  readonly onChange: (file: File | undefined) => void;
}

export function Attachment({ file, onChange }: AttachmentProps): VNode {
  const { entry, speaking } = useWords();
  const choose = (event: Event): void => {
    const input = event.currentTarget as HTMLInputElement;
    const chosen = input.files?.[0];
    input.value = '';
    if (chosen !== undefined) onChange(chosen);
  };
  return (
    <div class="attachment needs-script">
      {file === undefined ? (
        <label class="more">
          {speaking.file}
          <input type="file" title={speaking.fileMeaning} onChange={choose} />
        </label>
      ) : (
        <p>
          {speaking.attached(isolated(file.name), entry.size(file.size))}{' '}
          <button type="button" class="more" onClick={() => onChange(undefined)}>
            {speaking.removeFile}
          </button>
        </p>
      )}
    </div>
  );
}
