/** Addresses of gateways, as options name them. */
import { InvalidArgumentError, Option } from 'commander';

export const DEFAULT_URL = 'http://127.0.0.1:7410';

/** The address of a gateway, which may have a path. Throws `InvalidArgumentError`. */
export function parseAddress(text: string): string {
  const url = URL.parse(text);
  if (url === null || !/^https?:$/.test(url.protocol))
    throw new InvalidArgumentError(`It must be the address of a gateway, such as ${DEFAULT_URL}.`);
  if (url.username !== '' || url.password !== '')
    throw new InvalidArgumentError(
      'It must have no user name or password: a gateway asks for none.',
    );
  if (/[?#]/.test(text))
    throw new InvalidArgumentError(
      'It must end with the path: paths and parameters are added to it.',
    );
  return text.replace(/\/+$/, '');
}

/** The option of a visitor's command that names the gateway. */
export function urlOption(): Option {
  return new Option('--url <address>', `address of the gateway (default: ${DEFAULT_URL})`)
    .env('PRESENCE_URL')
    .argParser(parseAddress);
}
