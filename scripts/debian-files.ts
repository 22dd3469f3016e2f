/** Which files of `deploy/` the Debian package has, and where. */

const DOCUMENTS = 'usr/share/doc/open-presence';

export const COMMAND_LINK = 'usr/bin/presence';

/** To be copied and changed by whoever sets up a machine. */
const EXAMPLES = [
  'caddy/Caddyfile',
  'cluster/certificates.sh',
  'cluster/nats-server.service.d-presence.conf',
  'cluster/nats.conf',
  'grafana/presence.json',
  'haproxy/haproxy.cfg',
  'nginx/presence.conf',
  'prometheus/presence-alerts.yml',
  'prometheus/prometheus.yml',
  'systemd/presence-backup.service',
  'systemd/presence-backup.timer',
] as const;

/** Paths in the package, and the file of `deploy/` that is there. */
export const DEPLOYED_FILES: Readonly<Record<string, string>> = {
  'etc/logrotate.d/open-presence': 'debian/logrotate',
  'etc/presence/presence.env': 'presence.env',
  'lib/systemd/system/presence.service': 'systemd/presence.service',
  'lib/systemd/system/presence.socket': 'systemd/presence.socket',
  'usr/lib/sysusers.d/open-presence.conf': 'systemd/presence.sysusers',
  'usr/share/lintian/overrides/open-presence': 'debian/lintian-overrides',
  ...Object.fromEntries(EXAMPLES.map((file) => [`${DOCUMENTS}/examples/${file}`, file])),
};
