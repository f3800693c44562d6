import type { KeyId } from "../../../domain/ids.ts";
import type { Seal } from "../../../domain/ports/runtime.ts";
import type { SealReport } from "../../sqlite/account-store/sealed-secrets.ts";
import type { Connection } from "../connection.ts";
import { statement } from "../session.ts";

interface Row {
  readonly id: KeyId;
  readonly name: string;
  readonly secret: string;
}

const ALL = statement<Row>(
  "select id, name, callback_secret as secret from api_key where callback_secret is not null order by id",
);
/** Skips secrets that another process has sealed or replaced meanwhile. */
const REPLACE = statement<never, [id: string, before: string, after: string]>(
  "update api_key set callback_secret = $3 where id = $1 and callback_secret = $2",
);

/** Seals every callback secret with the key in use. Nodes that do so at once seal each once. */
export async function sealSecrets(
  { read, write }: Pick<Connection, "read" | "write">,
  seal: Seal,
): Promise<SealReport> {
  const locked: string[] = [];
  const changes: [id: KeyId, before: string, after: string][] = [];
  for (const { id, name, secret } of await read((session) => ALL.all(session))) {
    const state = seal.stateOf(secret);
    const plain = state === "clear" ? secret : seal.open(secret, id);
    if (plain === undefined) locked.push(name);
    else if (state !== "sealed") changes.push([id, secret, seal.seal(plain, id)]);
  }
  if (changes.length === 0) return { sealed: 0, locked };
  const sealed = await write(async (session) => {
    let count = 0;
    for (const change of changes) count += await REPLACE.run(session, ...change);
    return count;
  });
  return { sealed, locked };
}
