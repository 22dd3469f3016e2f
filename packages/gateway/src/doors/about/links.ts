/** The header by which answers lead to what describes the gateway (RFC 8288, RFC 8631). */
const LINKS = [
  '</openapi.json>; rel="service-desc"; type="application/json"',
  '</reference>; rel="service-doc"; type="text/html"',
  '</protocol.md>; rel="service-doc"; type="text/markdown"',
  '</llms.txt>; rel="alternate"; type="text/plain"',
  '</mova-snu.yaml>; rel="describedby"; type="application/yaml"',
  '</.well-known/api-catalog>; rel="api-catalog"; type="application/linkset+json"',
];

export const ABOUT: Readonly<Record<string, string>> = { Link: LINKS.join(', ') };
