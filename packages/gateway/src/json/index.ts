/** What reads JSON of any size in flat memory, for other packages. */
export { PathFinder, type FoundValue, type JsonPath } from './path-finder.ts';
export { JsonScanner } from './scanner.ts';
