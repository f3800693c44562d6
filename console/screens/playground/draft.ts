import { effect, signal } from "@preact/signals";
import { session } from "../../api/session.ts";
import type { Values } from "./request.ts";
import type { Run } from "./run.ts";

/** What the reader has given. It outlives the screen, a reload and the end of a session, in this tab alone. */
export const values = signal<Values>({});
/** Ids of the models, of which the first is the one whose form is shown. */
export const chosen = signal<readonly string[]>([]);
/** What was run, the latest first. */
export const runs = signal<readonly Run[]>([]);
/** Fields whose files were too large to be kept over a reload. */
export const lostFiles = signal<readonly string[]>([]);

/** How many files are read or uploaded at present: a request without them would be another one. */
export const filesUnderWay = signal(0);

interface Draft {
  readonly values: Values;
  readonly chosen: readonly string[];
  readonly runs: readonly Run[];
  readonly lost?: readonly string[];
}

const KEPT_RUNS = 24;
/** Characters of a request that is kept. */
const MOST_KEPT = 1_000_000;
let stop: (() => void) | undefined;
let owner: string | undefined;

/** Takes up what was begun here by whoever is signed in, and keeps it from now on. */
export function openDraft(): void {
  const holder = session.peek()?.holder.id;
  if (holder === undefined || owner === holder) return;
  stop?.();
  owner = holder;
  const key = `svc.playground.${holder}`;
  const found = read(key);
  values.value = found?.values ?? {};
  chosen.value = found?.chosen ?? [];
  runs.value = found?.runs ?? [];
  lostFiles.value = found?.lost ?? [];
  let due: ReturnType<typeof setTimeout> | undefined;
  const keep = () => {
    clearTimeout(due);
    const draft: Draft = {
      ...{ values: values.peek(), chosen: chosen.peek(), lost: lostFiles.peek() },
      runs: runs.peek().slice(0, KEPT_RUNS).map(kept),
    };
    if (!write(key, draft)) write(key, withoutFiles(draft));
  };
  const end = effect(() => {
    for (const each of [values, chosen, runs, lostFiles]) each.value;
    clearTimeout(due);
    due = setTimeout(keep, 250);
  });
  addEventListener("pagehide", keep);
  stop = () => {
    end();
    keep();
    removeEventListener("pagehide", keep);
  };
}

/** A request is kept until it is known to have arrived, so that it can be sent again after a reload. */
function kept({ body, ...run }: Run): Run {
  const isOpen = run.taskId === undefined && run.problem === undefined;
  return isOpen && body !== undefined && JSON.stringify(body).length < MOST_KEPT ? { ...run, body } : run;
}

function read(key: string): Draft | undefined {
  try {
    return JSON.parse(sessionStorage.getItem(key) ?? "null") ?? undefined;
  } catch {
    return undefined;
  }
}

/** @returns false where there is no room */
function write(key: string, draft: Draft): boolean {
  try {
    sessionStorage.setItem(key, JSON.stringify(draft));
    return true;
  } catch {
    return false;
  }
}

function withoutFiles({ values: all, ...draft }: Draft): Draft {
  const lost: string[] = [];
  const kept = Object.entries(all).map(([name, value]) => {
    const isFiles = JSON.stringify(value ?? null).length > 100_000;
    if (isFiles) lost.push(name);
    return [name, isFiles ? undefined : value];
  });
  return { ...draft, lost: [...(draft.lost ?? []), ...lost], values: Object.fromEntries(kept) };
}

export function setValue(name: string, value: unknown): void {
  values.value = { ...values.peek(), [name]: value };
  if (lostFiles.peek().includes(name)) lostFiles.value = lostFiles.peek().filter((each) => each !== name);
}
