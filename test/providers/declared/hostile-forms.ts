/** A form in which each of the edits below is made alone. */
export const FORM = `provider: hostile
form: 1
base: https://api.named.example/v1
media: ["*.named.example"]
auth: { header: x-key, value: "\${key}", key_env: HOSTILE_KEY }
headers: { X-Version: "1" }
tables: { words: [a, b] }
envelope: { ok: "\${true}" }
refusals:
  code: \${body.?code}
  when:
    - { if: '\${code == "x"}', means: busy }
prepare:
  - { roles: [image], post: /files, multipart: { file: "\${file}" }, gives: { id: "\${body.id}" } }
submit:
  post: /jobs
  query: { q: "\${n}" }
  json: { text: "\${prompt}", image: '\${input("image").?id}' }
  operation: { id: "\${body.id}" }
poll:
  get: /jobs/\${operation.id}
  status: \${body.status}
  words: { done: succeeded, busy: pending, bad: { failed: "\${body.why}" } }
  progress: \${body.?progress}
  outputs: { url: "\${body.url}" }
  cost: { amount: "\${body.?cost}", unit_usd: 1 }
cancel: { delete: "/jobs/\${operation.id}" }
recover: { get: "/jobs?key=\${attempt}", found: "\${body.id}", absent_when: { status: 404 } }
`;

/** What is done to the form, and what is said of it. */
export interface HostileForm {
  readonly name: string;
  readonly edit: readonly [text: string, by: string];
  /** `LINE: ` and a part of the message. */
  readonly told: string;
}

const form = (name: string, text: string, by: string, told: string): HostileForm => ({
  name,
  edit: [text, by],
  told,
});

const UNKNOWN = 'reads "key", which is not known here';
const SLOW = "takes too long";

/** The key is known in `auth` alone. */
const KEYS: readonly HostileForm[] = [
  form("the key in a header", '"1"', '"${key}"', `6: headers.X-Version ${UNKNOWN}`),
  form("the key in a body", "${prompt}", "${key}", `18: submit.json.text ${UNKNOWN}`),
  form("the key in a query", "${n}", "${key}", `17: submit.query.q ${UNKNOWN}`),
  form("the key in a path", "post: /jobs", "post: /jobs/${key}", `16: submit.post ${UNKNOWN}`),
  form(
    "the key in an operation",
    'operation: { id: "${body.id}',
    'operation: { id: "${key}',
    `19: submit.operation.id ${UNKNOWN}`,
  ),
  form("the key in a poll", "/jobs/${operation.id}", "/jobs/${key}", `21: poll.get ${UNKNOWN}`),
  form("the key as a status", "${body.status}", "${key}", `22: poll.status ${UNKNOWN}`),
  form("the key as a meaning", "${body.why}", "${key}", `23: poll.words.bad.failed ${UNKNOWN}`),
  form(
    "the key as an output",
    "${body.url}",
    "https://evil.example/${key}",
    `25: poll.outputs.url ${UNKNOWN}`,
  ),
  form("the key as a cost", "${body.?cost}", "${key}", `26: poll.cost.amount ${UNKNOWN}`),
  form(
    "the key in a cancellation",
    '"/jobs/${operation.id}" }',
    '"/jobs/${key}" }',
    `27: cancel.delete ${UNKNOWN}`,
  ),
  form("the key in a recovery", "${attempt}", "${key}", `28: recover.get ${UNKNOWN}`),
  form("the key as what is found", 'found: "${body.id}"', 'found: "${key}"', `28: recover.found ${UNKNOWN}`),
  form("the key in an upload", '"${file}"', '"${key}"', `14: prepare[0].multipart.file ${UNKNOWN}`),
  form(
    "the key as a gift",
    'gives: { id: "${body.id}" }',
    'gives: { id: "${key}" }',
    `14: prepare[0].gives.id ${UNKNOWN}`,
  ),
  form("the key in the envelope", "${true}", "${key == 1}", `8: envelope.ok ${UNKNOWN}`),
  form("the key in a refusal", "${body.?code}", "${key}", `10: refusals.code ${UNKNOWN}`),
  form("the key in a rule", "code == ", "key == ", `12: refusals.when[0].if ${UNKNOWN}`),
  form("the key inside a macro", "${prompt}", "${[1].map(x, key)}", `18: submit.json.text ${UNKNOWN}`),
  form("the key behind an optional", "${prompt}", "${optional.of(key)}", `18: submit.json.text ${UNKNOWN}`),
  form(
    "the key by another name of a scope",
    "${prompt}",
    "${secrets.key}",
    '18: submit.json.text reads "secrets"',
  ),
  form("the environment", "${prompt}", "${process.env.HOME}", '18: submit.json.text reads "process"'),
  form("a variable of svc", "HOSTILE_KEY", "SVC_SECRET_KEY", "5: auth names SVC_SECRET_KEY"),
  form(
    "a key in the file",
    '"${key}"',
    '"sk-abcdefghijklmnopqrstuvwx"',
    "5: auth.value holds what looks like a key",
  ),
  form(
    "a key in place of its variable",
    "HOSTILE_KEY",
    "sk-abcdef",
    "5: auth.key_env must be the name of a variable",
  ),
];

/** Requests go to addresses that the form names, and they are as they look. */
const HOSTS: readonly HostileForm[] = [
  form(
    "every host as an origin",
    "media:",
    'origins: ["https://*"]\nmedia:',
    "4: origins[0] must be an origin",
  ),
  form("a whole top domain", "media:", 'origins: ["https://*.com"]\nmedia:', "4: origins[0] is no origin"),
  form(
    "origins by http",
    "media:",
    'origins: ["http://*.named.example"]\nmedia:',
    "4: origins[0] is no origin",
  ),
  form(
    "origins at a port",
    "media:",
    'origins: ["https://*.named.example:8443"]\nmedia:',
    "4: origins[0] is no origin",
  ),
  form(
    "an origin with a user",
    "media:",
    'origins: ["https://named.example@evil.example"]\nmedia:',
    "4: origins[0] must be an origin",
  ),
  form(
    "an origin with a path",
    "media:",
    'origins: ["https://named.example/x"]\nmedia:',
    "4: origins[0] must be an origin",
  ),
  form(
    "an origin that is no address",
    "media:",
    'origins: ["https://["]\nmedia:',
    "4: origins[0] is no origin",
  ),
  form("a base with a user", "https://api", "https://user@api", "3: base must be an address"),
  form("a base with a backslash", "example/v1", "example\\@evil.example", "3: base must be an address"),
  form("a base with backslashes", "example/v1", "example\\v1", "3: base means https://api.named.example/v1"),
  form(
    "a base with unicode dots",
    "api.named.example/v1",
    "api。named.example",
    "3: base means https://api.named.example/",
  ),
  form("a base that leads upwards", "/v1", "/v1/../..", "3: base means https://api.named.example/"),
  form("a base at no port", "example/v1", "example:99999", "3: base is no address"),
  form(
    "a base from an expression",
    "https://api.named",
    "https://${region}.named",
    "3: base must be written out",
  ),
  form("a base with a wildcard", "https://api.named", "https://*.named", "3: base must be written out"),
  form(
    "a region with an expression",
    "media:",
    "regions: { eu: 'https://${region}.example' }\nmedia:",
    "4: regions.eu must be written out",
  ),
  form("every host for media", '"*.named.example"', '"*"', "4: media[0] must be a host"),
  form("a top domain for media", '"*.named.example"', '"*.com"', "4: media[0] takes in too many hosts"),
  form("media with a port", '"*.named.example"', '"evil.example:8443"', "4: media[0] must be a host"),
  form("media with a scheme", '"*.named.example"', '"http://evil.example"', "4: media[0] must be a host"),
  form("media at half an address", '"*.named.example"', '"127.1"', "4: media[0] is no name of a host"),
  form(
    "a submission elsewhere",
    "post: /jobs",
    "post: https://evil.example/jobs",
    "16: submit.post is at no address",
  ),
  form(
    "a look-alike of the base",
    "post: /jobs",
    "post: https://api.named.example.evil.example/",
    "16: submit.post is at no address",
  ),
  form("the base by http", "post: /jobs", "post: http://api.named.example/v1/jobs", "16: submit.post"),
  form(
    "the base at another port",
    "post: /jobs",
    "post: https://api.named.example:8443/jobs",
    "16: submit.post is at no address",
  ),
  form(
    "the base as a user",
    "post: /jobs",
    "post: https://api.named.example@evil.example/",
    "16: submit.post is at no address",
  ),
  form(
    "a host from an expression",
    "post: /jobs",
    "post: https://${model}/jobs",
    "16: submit.post is at no address",
  ),
  form(
    "a host that is begun",
    "post: /jobs",
    "post: https://api.named.example${model}/jobs",
    "16: submit.post is at no address",
  ),
  form(
    "a path that is an address",
    "post: /jobs",
    "post: //evil.example/jobs",
    '16: submit.post begins with "//"',
  ),
  form("a path upwards", "post: /jobs", "post: /../admin", '16: submit.post has "." or ".."'),
  form("an encoded path upwards", "post: /jobs", "post: /%2e%2E/admin", '16: submit.post has "." or ".."'),
  form("a path with a backslash", "post: /jobs", "post: /\\evil.example", '16: submit.post has "." or ".."'),
  form("a path with a fragment", "post: /jobs", "post: /jobs#x", '16: submit.post has "." or ".."'),
  form(
    "a poll elsewhere",
    "/jobs/${operation.id}\n",
    "https://evil.example/${operation.id}\n",
    "21: poll.get is at no address",
  ),
  form(
    "an upload elsewhere",
    "post: /files",
    "post: https://evil.example/files",
    "14: prepare[0].post is at no address",
  ),
  form(
    "the host as a header",
    "X-Version",
    "Host",
    "6: headers.Host is a header that the connection itself sets",
  ),
  form(
    "a header that begins another message",
    "X-Version",
    "Transfer-Encoding",
    "6: headers.Transfer-Encoding is a header",
  ),
  form("a header with a line break", "X-Version", '"a\\nb"', "6: headers.a\nb is no name of a header"),
  form("the key as the host", "header: x-key", "header: Host", "5: auth.header.Host is a header"),
];

const many = (count: number, text: string) =>
  Array.from({ length: count }, (_, i) => text.replaceAll("#", `${i}`));

/** Reading takes no long time and no memory, and no expression does later. */
const LOOPS: readonly HostileForm[] = [
  form(
    "three macros",
    "${prompt}",
    "${[1].map(a, [1].map(b, [1].map(c, c)))}",
    "18: submit.json.text has more than two",
  ),
  form("doubling in a macro", "${prompt}", "${body.x}", '18: submit.json.text reads "body"'),
  form(
    "growing sums",
    "${body.?progress}",
    "${body.l.map(a, body.t + body.t)}",
    "24: poll.progress adds values inside",
  ),
  form(
    "sums without end",
    "${body.?progress}",
    `\${${many(40, "body.t").join(" + ")}}`,
    "24: poll.progress adds more than 32 values",
  ),
  form(
    "a search in each entry",
    "${body.?progress}",
    "${body.l.filter(a, a in body.l).size()}",
    `24: poll.progress ${SLOW}`,
  ),
  form(
    "JSON in each entry",
    "${body.?progress}",
    "${body.l.map(a, json(body.t))}",
    `24: poll.progress ${SLOW}`,
  ),
  form(
    "hashes in each entry",
    "${body.?progress}",
    "${body.l.map(a, uuid(body.t))}",
    `24: poll.progress ${SLOW}`,
  ),
  form(
    "many splits in each entry",
    "${body.?progress}",
    `\${body.l.map(a, [${many(9, 'a.split("#").size()')}])}`,
    `24: poll.progress ${SLOW}`,
  ),
  form(
    "two long lists in each other",
    "${body.?progress}",
    `\${[${many(199, "#")}].map(a, [${many(199, "#")}].map(b, [a, b, a]))}`,
    `24: poll.progress ${SLOW}`,
  ),
  form(
    "a regular expression",
    "${body.?progress}",
    '${body.t.matches("(a+)+$")}',
    '24: poll.progress calls "matches"',
  ),
  form(
    "an expression of a thousand terms",
    "${body.?progress}",
    `\${${many(600, "1").join(" + ")}}`,
    "24: poll.progress Exceeded maxAstNodes",
  ),
  form(
    "an expression a thousand deep",
    "${body.?progress}",
    `\${${"(".repeat(900)}1${")".repeat(900)}}`,
    "24: poll.progress Exceeded",
  ),
  form(
    "thousands of expressions",
    'json: { text: "${prompt}"',
    `json: { ${many(1_100, 'a#: "${n}"').join(", ")}, text: "\${prompt}"`,
    "the form has more than 1000 expressions",
  ),
  form(
    "many macros in one call",
    'json: { text: "${prompt}"',
    `json: { ${many(30, 'a#: "${params.x.map(a, [a, a, a, a, a, a, a, a, a, a])}"').join(", ")}, text: "\${prompt}"`,
    `16: submit ${SLOW}`,
  ),
  form(
    "a bomb of anchors",
    "tables: { words: [a, b] }",
    `tables:\n  a0: &a0 [x, x]\n${many(8, "")
      .map((_, i) => `  a${i + 1}: &a${i + 1} [${many(9, `*a${i}`)}]\n`)
      .join("")}`,
    "an alias is repeated too often",
  ),
  form("an anchor in itself", "words: [a, b]", "words: &a [*a]", "contains itself"),
  form(
    "lists ten thousand deep",
    "words: [a, b]",
    `words: ${"[".repeat(10_000)}${"]".repeat(10_000)}`,
    "nested too deeply",
  ),
  form(
    "a table of ten thousand entries",
    "words: [a, b]",
    `words: [${many(10_000, "#")}]`,
    "7: tables.words has more than 200 entries",
  ),
  form(
    "a file of 200 KB",
    "words: [a, b]",
    `words: ["${"a".repeat(200_000)}"]`,
    "1: larger than 131072 bytes",
  ),
  form(
    "a thousand unknown parts",
    "tables:",
    `${many(1_000, "x#: 1").join("\n")}\ntables:`,
    'the form has an unknown field "x0"',
  ),
  form(
    "an expression that is never closed",
    '"${prompt}"',
    '"${prompt"',
    '18: submit.json.text "${" is never closed',
  ),
  form(
    "a mapping that was an expression",
    '"${prompt}"',
    "${n == 1 ? prompt : model}",
    "is a mapping to YAML",
  ),
  form(
    "a mapping in a mapping",
    'json: { text: "${prompt}", ',
    "json: { text: ${prompt}, ",
    "is a mapping to YAML",
  ),
  form("a key twice", "form: 1\n", "form: 1\nform: 1\n", "3: this key is already in the same mapping"),
  form(
    "a prototype as a part",
    "tables:",
    "__proto__: { x: 1 }\ntables:",
    '7: the form has an unknown field "__proto__"',
  ),
  form(
    "a gift that takes a file's place",
    'gives: { id: "${body.id}" }',
    'gives: { content: "${body.id}" }',
    "14: prepare[0].gives.content is what files have already",
  ),
  form(
    "success without outputs",
    '  outputs: { url: "${body.url}" }\n',
    "",
    "21: poll has a word for succeeded and no outputs",
  ),
];

export const HOSTILE_FORMS: readonly HostileForm[] = [...KEYS, ...HOSTS, ...LOOPS];

/** The text of the form after an edit. */
export function edited({ name, edit: [text, by] }: HostileForm): string {
  if (!FORM.includes(text)) throw new Error(`${name}: the form has no ${text}`);
  return FORM.replace(text, () => by);
}
