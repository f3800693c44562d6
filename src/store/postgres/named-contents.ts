import { storedHash } from "../sqlite/task-store/asset-table.ts";
import { type Session, statement } from "./session.ts";

const NAMED = statement<{ sha256: string }, [contents: readonly string[]]>(
  `select content as sha256 from unnest($1::text[]) as content
   where exists (select 1 from asset where sha256 = ${storedHash("content")})
      or exists (select 1 from upload where sha256 = ${storedHash("content")})`,
);

/** The contents among these that a task or an uploaded file has. */
async function namedContents(session: Session, contents: readonly string[]): Promise<Set<string>> {
  if (contents.length === 0) return new Set();
  return new Set((await NAMED.all(session, contents)).map(({ sha256 }) => sha256));
}

/** The contents among these that nothing has, without duplicates. */
export async function unneededContents(session: Session, contents: readonly string[]): Promise<string[]> {
  const named = await namedContents(session, contents);
  return [...new Set(contents)].filter((sha256) => !named.has(sha256));
}
