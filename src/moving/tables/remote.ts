import { SQL } from "bun";
import { reasonOf } from "../../toolkit/system-error.ts";
import type { Row } from "../fields.ts";
import { UnreadableSource } from "../holdings.ts";
import type { PageQuery, Tables } from "./tables.ts";

const CONNECT_WITHIN_SEC = 10;

/** How the two kinds of server differ. */
interface Dialect {
  readonly title: string;
  readonly quoted: (name: string) => string;
  readonly placeholder: (number: number) => string;
  /** What keeps a session from changing anything. */
  readonly readOnly: string;
  readonly schema: string;
}

const DIALECTS: Readonly<Record<string, Dialect>> = {
  postgres: {
    title: "PostgreSQL",
    quoted: (name) => `"${name.replaceAll('"', '""')}"`,
    placeholder: (number) => `$${number}`,
    readOnly: "set session characteristics as transaction read only",
    schema: "current_schema()",
  },
  mysql: {
    title: "MySQL",
    quoted: (name) => `\`${name.replaceAll("`", "``")}\``,
    placeholder: () => "?",
    readOnly: "set session transaction read only",
    schema: "database()",
  },
};

const SCHEMES: Readonly<Record<string, keyof typeof DIALECTS>> = {
  ...{ "postgres:": "postgres", "postgresql:": "postgres", "pg:": "postgres" },
  ...{ "mysql:": "mysql", "mariadb:": "mysql" },
};

/** Whether a text names a database on a server, and not a file. */
export function isServerAddress(text: string): boolean {
  return /^[a-z]+:\/\//i.test(text);
}

/**
 * Connects to a database on a server, for reading only.
 * @throws UnreadableSource for an address of another kind, and where there is no connection. It never tells a password.
 */
export async function openServer(address: string): Promise<Tables> {
  const url = URL.canParse(address) ? new URL(address) : undefined;
  const kind = SCHEMES[url?.protocol ?? ""];
  const dialect = DIALECTS[kind ?? ""];
  if (url === undefined || kind === undefined || dialect === undefined)
    throw new UnreadableSource("The address of the database must be mysql://… or postgres://….");
  const name = `${kind}://${url.host}${url.pathname}`;
  const sql = new SQL({
    url: `${kind}:${address.slice(url.protocol.length)}`,
    max: 1,
    connectionTimeout: CONNECT_WITHIN_SEC,
  });
  const ask = async <T>(text: string, values: readonly (string | number)[] = []): Promise<readonly T[]> => {
    try {
      // Names in these texts are quoted, and values are apart from them.
      return (await sql.unsafe(text, [...values])) as T[];
    } catch (error) {
      const told = withoutSecrets(reasonOf(error), url);
      throw new UnreadableSource(`${name} cannot be read: ${told}.`);
    }
  };
  const stop = () => sql.close({ timeout: 1 });
  try {
    await ask(dialect.readOnly);
  } catch (error) {
    await stop();
    throw error;
  }
  return { name, ...reading(dialect, ask), stop };
}

function reading(
  { quoted, placeholder, schema }: Dialect,
  ask: <T>(text: string, values?: readonly (string | number)[]) => Promise<readonly T[]>,
): Pick<Tables, "columns" | "page"> {
  return {
    async columns(table) {
      const found = await ask<{ name: string }>(
        `select column_name as name from information_schema.columns
           where table_schema = ${schema} and table_name = ${placeholder(1)}`,
        [table],
      );
      return new Set(found.map(({ name }) => name));
    },
    page({ table, columns, by, after, limit }: PageQuery) {
      const where = after === undefined ? "" : ` where ${quoted(by)} > ${placeholder(1)}`;
      const text = `select ${columns.map(quoted).join(", ")} from ${quoted(table)}${where} order by ${quoted(by)} limit ${limit}`;
      return ask<Row>(text, after === undefined ? [] : [after]);
    },
  };
}

/** A server's own message may repeat what it was given. */
function withoutSecrets(message: string, { password, username }: URL): string {
  const secrets = [password, decoded(password), username].filter((each) => each.length > 0);
  return secrets.reduce((text, secret) => text.replaceAll(secret, "…"), message);
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    // It is no encoding of anything, so nobody was given anything else.
    return text;
  }
}
