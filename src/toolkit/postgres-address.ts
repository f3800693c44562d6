/** Where a PostgreSQL database is, and how it is reached. What is absent has the default of PostgreSQL's own programs. */
export interface PostgresAddress {
  /** A name, an address, or the folder of a socket, which begins with a slash. */
  readonly host: string;
  readonly port: number;
  readonly user: string;
  readonly password?: string | undefined;
  readonly database: string;
  readonly client: "bun" | "pg";
  readonly sslmode: SslMode;
  /** Files in PEM: whom the server's certificate must come from, and our own with its key. */
  readonly sslrootcert?: string | undefined;
  readonly sslcert?: string | undefined;
  readonly sslkey?: string | undefined;
  readonly applicationName?: string | undefined;
  readonly connectSeconds?: number | undefined;
}

const SSL_MODES = ["disable", "prefer", "require", "verify-ca", "verify-full"] as const;
type SslMode = (typeof SSL_MODES)[number];
const CLIENTS = ["bun", "pg"] as const;

/** What may be in the query of the URL, and the variable that is read where it is not (https://www.postgresql.org/docs/15/libpq-envars.html, checked 2026-11-27). */
const PARAMETERS = {
  host: "PGHOST",
  port: "PGPORT",
  user: "PGUSER",
  password: "PGPASSWORD",
  dbname: "PGDATABASE",
  passfile: "PGPASSFILE",
  sslmode: "PGSSLMODE",
  sslrootcert: "PGSSLROOTCERT",
  sslcert: "PGSSLCERT",
  sslkey: "PGSSLKEY",
  application_name: "PGAPPNAME",
  connect_timeout: "PGCONNECT_TIMEOUT",
  client: undefined,
} as const;
type ParameterName = keyof typeof PARAMETERS;

/** Variables that would lead PostgreSQL's own programs elsewhere. They are not passed over in silence. */
const NOT_READ = ["PGSERVICE", "PGHOSTADDR", "PGTARGETSESSIONATTRS", "PGOPTIONS", "PGREQUIRESSL"];

export class AddressError extends Error {}

const WITHOUT_HOST = /^postgres(?:ql)?:\/\/[^/?#]*@(?=[/?#]|$)/;

interface Sources {
  readonly env: Readonly<Record<string, string | undefined>>;
  /** The lines of a password file; undefined where there is none. @throws AddressError for one that others may read */
  readonly passwordLines: (named: string | undefined) => readonly string[] | undefined;
}

/** Says nothing of what is not in the URL. */
const NOTHING: Sources = { env: {}, passwordLines: () => undefined };

/**
 * Reads the URL of a database as PostgreSQL's own programs do, and the variables and the password file that they read besides.
 *
 * @throws AddressError for what it has and nobody here understands. No message has a password
 */
export function readPostgresAddress(raw: string, sources: Sources = NOTHING): PostgresAddress {
  const text = raw.trim();
  // A user without a host, which URLs of other kinds cannot have.
  const isWithoutHost = WITHOUT_HOST.test(text);
  const url = URL.parse(isWithoutHost ? text.replace(WITHOUT_HOST, "$&localhost") : text);
  if (
    url === null ||
    !/^postgres(?:ql)?:$/.test(url.protocol) ||
    url.hash !== "" ||
    url.pathname.indexOf("/", 1) > 0
  )
    throw new AddressError(
      "is not the URL of a PostgreSQL database, such as postgres://user@db.example.com/svc",
    );
  const given = inUrl(url, isWithoutHost ? "" : url.hostname);
  for (const name of NOT_READ)
    if (sources.env[name])
      throw new AddressError(`cannot be used with ${name}, which is not read here; unset it`);
  const of = (name: ParameterName): string | undefined => {
    const variable = PARAMETERS[name];
    return given.get(name) || (variable && sources.env[variable]) || undefined;
  };
  const user = of("user") ?? sources.env.USER ?? "postgres";
  const place = {
    host: of("host") ?? "localhost",
    port: numberOf("port", of("port") ?? "5432", 65_535),
    user,
  };
  if (place.host.includes(","))
    throw new AddressError("names several hosts; name one, which may stand for several");
  const database = of("dbname") ?? user;
  const timeout = of("connect_timeout");
  return {
    ...place,
    database,
    password: of("password") ?? passwordFor({ ...place, database }, sources.passwordLines(of("passfile"))),
    client: oneOf("client", of("client") ?? "bun", CLIENTS),
    ...securityOf(of),
    applicationName: of("application_name"),
    connectSeconds: timeout === undefined ? undefined : numberOf("connect_timeout", timeout, 3_600),
  };
}

/** The same address as a URL that needs no variables and no files but certificates. */
export function toPostgresUrl(address: PostgresAddress): string {
  const { user, password, database, host, port } = address;
  const url = new URL(`postgres://${host.startsWith("/") ? "localhost" : bracketed(host)}:${port}/`);
  url.username = encodeURIComponent(user);
  if (password !== undefined) url.password = encodeURIComponent(password);
  url.pathname = `/${encodeURIComponent(database)}`;
  const more = {
    ...(host.startsWith("/") && { host }),
    ...{ sslmode: address.sslmode, sslrootcert: address.sslrootcert, sslcert: address.sslcert },
    ...{ sslkey: address.sslkey, application_name: address.applicationName, client: address.client },
    connect_timeout: address.connectSeconds?.toString(),
  };
  for (const [name, value] of Object.entries(more))
    if (value !== undefined) url.searchParams.set(name, value);
  return url.href;
}

/** A host as a URL has it. */
export const bracketed = (host: string) => (host.includes(":") ? `[${host}]` : host);

function inUrl(url: URL, host: string): Map<ParameterName, string> {
  const given = new Map<ParameterName, string>([
    ["host", decoded(host.replace(/^\[(.*)\]$/, "$1"))],
    ["port", url.port],
    ["user", decoded(url.username)],
    ["password", decoded(url.password)],
    ["dbname", decoded(url.pathname.slice(1))],
  ]);
  for (const [name, value] of url.searchParams) {
    if (!Object.hasOwn(PARAMETERS, name))
      throw new AddressError(
        `has a parameter that is not known here, ${name.slice(0, 40)}; known are ${Object.keys(PARAMETERS).join(", ")}`,
      );
    // Safe: it is one of the names.
    given.set(name as ParameterName, value);
  }
  return given;
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    throw new AddressError("has a % that begins no character; a % in a password is written %25");
  }
}

function securityOf(of: (name: ParameterName) => string | undefined) {
  const sslmode = oneOf("sslmode", of("sslmode") ?? "prefer", SSL_MODES);
  const [sslrootcert, sslcert, sslkey] = [of("sslrootcert"), of("sslcert"), of("sslkey")];
  if ((sslcert === undefined) !== (sslkey === undefined))
    throw new AddressError("needs both sslcert and sslkey, or neither");
  if ((sslmode === "disable" || sslmode === "prefer") && (sslrootcert ?? sslcert) !== undefined)
    throw new AddressError("has certificates and may go without TLS; give sslmode=verify-full");
  // As PostgreSQL's own programs have it: who names a root wants it checked.
  const isChecked = sslmode === "require" && sslrootcert !== undefined;
  return { sslmode: isChecked ? ("verify-ca" as const) : sslmode, sslrootcert, sslcert, sslkey };
}

function oneOf<T extends string>(name: string, value: string, values: readonly T[]): T {
  const found = values.find((each) => each === value);
  if (found === undefined) throw new AddressError(`has a wrong ${name}; it is one of ${values.join(", ")}`);
  return found;
}

function numberOf(name: string, value: string, most: number): number {
  const number = /^\d{1,5}$/.test(value) ? Number(value) : 0;
  if (number < 1 || number > most)
    throw new AddressError(`has a wrong ${name}; it is a number from 1 to ${most}`);
  return number;
}

/** The password of the first line `host:port:database:user:password` that fits (https://www.postgresql.org/docs/15/libpq-pgpass.html, checked 2026-11-27). */
function passwordFor(
  { host, port, database, user }: Pick<PostgresAddress, "host" | "port" | "database" | "user">,
  lines: readonly string[] = [],
): string | undefined {
  const wanted = [host.startsWith("/") ? "localhost" : host, String(port), database, user];
  for (const line of lines) {
    if (line.startsWith("#")) continue;
    const fields = (line.match(/(?:\\.|[^:\\])+|(?<=^|:)(?=:|$)/g) ?? []).map((field) =>
      field.replaceAll(/\\(.)/g, "$1"),
    );
    if (fields.length === 5 && wanted.every((value, i) => fields[i] === "*" || fields[i] === value))
      return fields[4];
  }
  return undefined;
}
