import type { AccountId, TaskId } from "../../../domain/ids.ts";
import type { FamilyPage } from "../../../domain/task/family.ts";
import { accountNumber } from "../../sqlite/account-store/account-table.ts";
import { type FamilyRow, goneNode, nodeOf, parentsOutside } from "../../sqlite/task-store/family.ts";
import { REMOVED, SUMMARY_COLUMNS } from "../../sqlite/task-store/task-table.ts";
import { type Session, statement } from "../session.ts";

const ROOT = statement<{ root: number }, [id: TaskId, account: AccountId]>(
  `select coalesce(family_number, number) as root from task
   where id = $1 and account_number = ${accountNumber("$2")} and status <> '${REMOVED}'`,
);
const FIRST = statement<FamilyRow, [number: number, account: AccountId]>(
  `select ${SUMMARY_COLUMNS} from task where number = $1 and account_number = ${accountNumber("$2")}`,
);
const MEMBERS = statement<FamilyRow, [family: number, account: AccountId, after: string, limit: number]>(
  `select ${SUMMARY_COLUMNS} from task
   where family_number = $1 and account_number = ${accountNumber("$2")} and id > $3 order by id limit $4`,
);
const GONE = statement<{ id: TaskId }, [ids: readonly TaskId[]]>(
  `select given.id from unnest($1::text[]) with ordinality as given (id, place)
   where not exists (select 1 from task where task.id = given.id) order by place`,
);

/**
 * The body of `TaskStore.family`, for a session that sees one moment. It costs two seeks and as much as the page is long, and a seek
 * for each parent outside it.
 */
export async function family(
  session: Session,
  id: TaskId,
  owner: AccountId,
  { limit, after }: { readonly limit: number; readonly after?: TaskId | undefined },
): Promise<FamilyPage | undefined> {
  const found = await ROOT.get(session, id, owner);
  if (found === undefined) return undefined;
  // One more than asked for shows whether there is another page.
  const [first, rows] = await Promise.all([
    after === undefined ? FIRST.all(session, found.root, owner) : [],
    MEMBERS.all(session, found.root, owner, after ?? "", limit + 1),
  ]);
  const all = [...first, ...rows];
  const shown = all.slice(0, limit);
  const next = all.length > limit ? shown.at(-1)?.id : undefined;
  const outside = parentsOutside(shown);
  const gone = outside.length === 0 ? [] : await GONE.all(session, outside);
  return { nodes: [...gone.map((node) => goneNode(node.id)), ...shown.map(nodeOf)], next };
}
