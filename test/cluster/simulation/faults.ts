/** What a broken gateway would do. */
export const FAULTS = [
  'applies repeats',
  'forgets its position',
  'skips a message',
  'swaps messages',
  'takes its own clock',
  'draws its own salts',
  'applies void messages',
  'remembers publishers for ever',
  'forgets unfinished uploads',
  'applies what has not wholly come',
  'withholds nothing',
  'erases without a replacement',
] as const;
export type Fault = (typeof FAULTS)[number];
