/**
 * What an agent card of A2A 1.0 is, as its `AgentCard` is spelled in ProtoJSON.
 * Stricter than A2A asks a reader to be: a member that it does not define is wrong. What A2A
 * requires must not be empty (section 5.7 of its specification).
 */

type Schema = Readonly<Record<string, unknown>>;

const OPTIONAL_TEXT: Schema = { type: 'string' };
const TEXT: Schema = { type: 'string', minLength: 1 };
const URL: Schema = { type: 'string', format: 'uri', pattern: '^https?://' };
const TRUTH: Schema = { type: 'boolean' };
const ANY_OBJECT: Schema = { type: 'object' };
const MEDIA_TYPE: Schema = { type: 'string', pattern: String.raw`^[\w.+-]+/[\w.+*-]+$` };

function listOf(items: Schema): Schema {
  return { type: 'array', items };
}

function someOf(items: Schema): Schema {
  return { type: 'array', items, minItems: 1 };
}

function mapOf(additionalProperties: Schema): Schema {
  return { type: 'object', additionalProperties };
}

type Members = Readonly<Record<string, Schema>>;

function object(required: Members, optional: Members = {}): Schema {
  return {
    type: 'object',
    properties: { ...required, ...optional },
    required: Object.keys(required),
    additionalProperties: false,
  };
}

/** One of the members, as in a `oneof`. */
function oneOf(members: Members): Schema {
  return { ...object({}, members), minProperties: 1, maxProperties: 1 };
}

const SCOPES = mapOf(OPTIONAL_TEXT);
const described = { description: OPTIONAL_TEXT };
const refreshed = { refreshUrl: OPTIONAL_TEXT };

const FLOWS = oneOf({
  authorizationCode: object(
    { authorizationUrl: TEXT, tokenUrl: TEXT, scopes: SCOPES },
    { ...refreshed, pkceRequired: TRUTH },
  ),
  clientCredentials: object({ tokenUrl: TEXT, scopes: SCOPES }, refreshed),
  implicit: object({}, { authorizationUrl: OPTIONAL_TEXT, ...refreshed, scopes: SCOPES }),
  password: object({}, { tokenUrl: OPTIONAL_TEXT, ...refreshed, scopes: SCOPES }),
  deviceCode: object({ deviceAuthorizationUrl: TEXT, tokenUrl: TEXT, scopes: SCOPES }, refreshed),
});

const SECURITY_SCHEME = oneOf({
  apiKeySecurityScheme: object(
    { location: { enum: ['query', 'header', 'cookie'] }, name: TEXT },
    described,
  ),
  httpAuthSecurityScheme: object({ scheme: TEXT }, { ...described, bearerFormat: OPTIONAL_TEXT }),
  oauth2SecurityScheme: object(
    { flows: FLOWS },
    { ...described, oauth2MetadataUrl: OPTIONAL_TEXT },
  ),
  openIdConnectSecurityScheme: object({ openIdConnectUrl: TEXT }, described),
  mtlsSecurityScheme: object({}, described),
});

const SECURITY = listOf(
  object({}, { schemes: mapOf(object({}, { list: listOf(OPTIONAL_TEXT) })) }),
);

const EXTENSION = object({}, { uri: URL, ...described, required: TRUTH, params: ANY_OBJECT });
const SIGNATURE = object({ protected: TEXT, signature: TEXT }, { header: ANY_OBJECT });
const PROVIDER = object({ url: URL, organization: TEXT });

const skill = { id: TEXT, name: TEXT, description: TEXT, tags: someOf(TEXT) };
const modes = { inputModes: listOf(MEDIA_TYPE), outputModes: listOf(MEDIA_TYPE) };
const common = {
  name: TEXT,
  description: TEXT,
  version: TEXT,
  defaultInputModes: someOf(MEDIA_TYPE),
  defaultOutputModes: someOf(MEDIA_TYPE),
};

export const CARD: Schema = object(
  {
    ...common,
    supportedInterfaces: someOf(
      object(
        {
          url: URL,
          protocolBinding: TEXT,
          protocolVersion: { type: 'string', pattern: String.raw`^\d+\.\d+$` },
        },
        { tenant: OPTIONAL_TEXT },
      ),
    ),
    capabilities: object(
      {},
      {
        streaming: TRUTH,
        pushNotifications: TRUTH,
        extensions: listOf(EXTENSION),
        extendedAgentCard: TRUTH,
      },
    ),
    skills: someOf(
      object(skill, { examples: listOf(TEXT), ...modes, securityRequirements: SECURITY }),
    ),
  },
  {
    provider: PROVIDER,
    documentationUrl: URL,
    iconUrl: URL,
    securitySchemes: mapOf(SECURITY_SCHEME),
    securityRequirements: SECURITY,
    signatures: listOf(SIGNATURE),
  },
);
