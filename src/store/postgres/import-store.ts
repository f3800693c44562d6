import type { Act } from "../../domain/access/actor.ts";
import type {
  Brought,
  ImportBatch,
  ImportMark,
  ImportStore,
  MarkKind,
} from "../../domain/ports/import-store.ts";
import { Clash } from "../sqlite/import-store.ts";
import { createAccounts } from "./account-store/accounts.ts";
import { createKeys } from "./account-store/keys.ts";
import type { Connection } from "./connection.ts";
import type { Ledger } from "./ledger.ts";
import { takeLock } from "./locks.ts";
import { type Session, statement } from "./session.ts";

const OF = statement<ImportMark, [source: string]>(
  "select kind, origin, target from import_mark where source = $1 order by kind, origin",
);
const MARK = statement<never, [source: string, kind: string, origin: string, target: string]>(
  "insert into import_mark (source, kind, origin, target) values ($1, $2, $3, $4) on conflict do nothing",
);
const HAS_HASH = statement<{ taken: 1 }, [hash: string]>(
  "select 1 as taken from api_key where hash = $1 or previous_hash = $1 limit 1",
);

/** What was brought from other gateways, in PostgreSQL. */
export function createImportStore(
  { read, write }: Pick<Connection, "read" | "write">,
  { ledger }: { readonly ledger: Ledger },
): ImportStore {
  const accounts = createAccounts({ ledger });
  // Imported keys have no callback secret.
  const keys = createKeys(undefined);

  async function mark(
    session: Session,
    [source, kind, origin, target]: [source: string, kind: MarkKind, origin: string, target: string],
    name: string,
  ): Promise<void> {
    if ((await MARK.run(session, source, kind, origin, target)) !== 1) throw new Clash(kind, name);
  }

  async function bring(session: Session, batch: ImportBatch, act: Act): Promise<void> {
    // Two imports of the same things at once would not see each other.
    await takeLock(session, "import");
    for (const { origin, account, terms } of batch.accounts) {
      const { id, name } = account;
      if ((await accounts.create(session, account, act)) !== "created") throw new Clash("account", name);
      if (typeof (await accounts.update(session, id, terms, act)) === "string")
        throw new Clash("account", name);
      await mark(session, [batch.source, "account", origin, id], name);
    }
    for (const { origin, key } of batch.keys) {
      if ((await HAS_HASH.get(session, key.hash)) !== undefined) throw new Clash("key", key.name);
      if ((await keys.create(session, key, undefined, act)) !== "created") throw new Clash("key", key.name);
      await mark(session, [batch.source, "key", origin, key.id], key.name);
    }
  }

  return {
    marks: (source) => read((session) => OF.all(session, source)),
    async bringIn(batch, act): Promise<Brought> {
      try {
        await write((session) => bring(session, batch, act));
        return { kind: "brought" };
      } catch (error) {
        if (error instanceof Clash) return { kind: "clash", of: error.of, name: error.what };
        throw error;
      }
    },
  };
}
