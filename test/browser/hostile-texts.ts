/** Texts that break pages which trust them, each with words by which it is found on a page. */
export interface HostileText {
  readonly marker: string;
  readonly text: string;
}

const MARKUP = [
  '<script>globalThis.broken = 1</script>',
  '<img src=x onerror="globalThis.broken = 2">',
  '<svg onload=globalThis.broken=3><style>*{display:none}</style>',
  '"><form action=//evil.example><button>ok</button></form>',
  '<a href="javascript:globalThis.broken=4">link</a>',
].join(' ');

const ENDINGS = [
  '</script><!--<script>',
  '--></textarea></title></template></details></main>',
  ']]> {{constructor.constructor("globalThis.broken=5")()}} ${7*7} <%= 7*7 %>',
  '\\u003c/script> \\" \\u2028 \u2028 \u2029 \u0000 \ud800 \ufffe',
].join(' ');

/** Letters under and over letters. */
function zalgo(text: string): string {
  const marks = Array.from({ length: 60 }, (_, index) => String.fromCodePoint(0x300 + index));
  return Array.from(text, (letter) => letter + marks.join('')).join('');
}

export const HOSTILE_TEXTS: readonly HostileText[] = [
  { marker: 'markup', text: `markup ${MARKUP}` },
  { marker: 'endings', text: `endings ${ENDINGS}` },
  {
    marker: 'direction',
    text: `direction \u202e\u2067\u202b${'evil.example/moc.elpmaxe'.repeat(5)} \u061c\u200f`,
  },
  { marker: 'isolate', text: `isolate \u2069\u2069\u202e${'tale '.repeat(3)}\u2069\u202e` },
  { marker: 'tower', text: `tower ${zalgo('tower of marks '.repeat(20))}` },
  { marker: 'emoji', text: `emoji ${'🌱'.repeat(10_000)}` },
  { marker: 'word', text: `word ${'w'.repeat(10_000)}` },
  { marker: 'lines', text: `lines${'\n'.repeat(10_000)}end` },
  { marker: 'family', text: `family ${'👩\u200d'.repeat(500)} ${'\u200b'.repeat(5000)}` },
  {
    marker: 'address',
    text: `address https://evil.example/${'a'.repeat(3000)} javascript:globalThis.broken=6`,
  },
];

export const MEGABYTE_NAME: string = 'Мавка '.repeat(100_000);
