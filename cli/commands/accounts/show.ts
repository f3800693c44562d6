import type { Command } from "commander";
import { accountForm, ledgerForm } from "../../../src/domain/access/record-form.ts";
import { formatAmount } from "../../../src/domain/money/money.ts";
import { placeAgain } from "../../again.ts";
import { given } from "../../command.ts";
import type { Context } from "../../context.ts";
import { renderFields } from "../../format/table.ts";
import { formatTime } from "../../format/units.ts";
import { withExamples } from "../../help/manual.ts";
import { addManagedCommand, onManagedRun } from "../../manage/managed.ts";
import type { Manage, ShownEntry } from "../../manage/port.ts";
import { accountFields } from "./fields.ts";

/** How many holds and movements are shown. */
const SHOWN = 20;
const PAGE = 1000;
/** Holds that are older than so many movements are not looked for. */
const MOST_READ = 20_000;

export function addShow(accounts: Command, context: Context): void {
  const about = "show an account, what its money is held for, and the latest of its ledger, by id or name";
  const command = addManagedCommand(accounts, "show <account>", about);
  withExamples(command, "svc accounts show studio", "svc accounts show studio --field holds.0.task_id");
  onManagedRun(command, context, async ({ args, output, open }) => {
    const { manage } = await open();
    const { account, holds, ledger, hasMore } = await explain(manage, given(args, 0));
    const value = { ...accountForm(account), holds: holds.map(holdForm), ledger: ledger.map(ledgerForm) };
    const title = (text: string) => `\n${output.style.bold(text)}\n`;
    const part = (text: string, lines: readonly string[]) =>
      lines.length === 0 ? [] : [title(text), ...lines];
    output.show(value, () =>
      [
        renderFields(accountFields(account), output),
        ...part("HELD FOR", holds.slice(0, SHOWN).map(holdLine)),
        ...part("LEDGER (balance, held)", ledger.map(ledgerLine)),
      ].join(""),
    );
    const place = placeAgain(command);
    if (holds.length > SHOWN)
      output.say(`Money is held for ${holds.length - SHOWN} more tasks; --json has all.`);
    if (holds.length > 0) output.say(`What one waits for: svc task trace TASK${place}`);
    if (hasMore) output.say(`There are earlier movements: svc ledger ${account.name} --limit all${place}`);
  });
}

/** An account, the holds of tasks that have not ended, and its latest movements, each oldest first. */
async function explain(manage: Manage, idOrName: string) {
  let page = await manage.readLedger(idOrName, { limit: PAGE });
  const { account, rows } = page;
  const holds: ShownEntry[] = [];
  const ended = new Set<ShownEntry["taskId"]>();
  let left: number = account.held;
  for (let read = 0; ; ) {
    for (const row of page.rows) {
      if (row.kind === "capture" || row.kind === "release") ended.add(row.taskId);
      if (row.kind !== "hold" || ended.has(row.taskId)) continue;
      holds.unshift(row);
      left -= row.heldDelta;
    }
    read += page.rows.length;
    if (left <= 0 || page.next === undefined || read >= MOST_READ) break;
    page = await manage.readLedger(account.id, { limit: PAGE, before: page.next });
  }
  return { account, holds, ledger: rows.slice(0, SHOWN).reverse(), hasMore: rows.length > SHOWN };
}

function holdForm({ taskId, heldDelta, at }: ShownEntry) {
  return { task_id: taskId ?? null, amount: formatAmount(heldDelta), since: Math.floor(at / 1000) };
}

function holdLine({ taskId, heldDelta, at }: ShownEntry): string {
  return `${formatTime(at)}  ${formatAmount(heldDelta).padStart(12)}  ${taskId ?? ""}\n`;
}

function ledgerLine({ at, kind, balanceDelta, heldDelta, taskId, reason }: ShownEntry): string {
  const amounts = `${formatAmount(balanceDelta).padStart(12)} ${formatAmount(heldDelta).padStart(12)}`;
  return `${formatTime(at)}  ${kind.padEnd(10)} ${amounts}  ${taskId ?? ""} ${reason}\n`;
}
