import { Database } from "bun:sqlite";
import { truncateSync } from "node:fs";
import { join } from "node:path";
import { freePort } from "../helpers/free-port.ts";
import { inWords } from "../helpers/in-words.ts";
import { emptyFolder, keepFolders, type Server, spawnServer } from "../helpers/server.ts";
import { openCallers } from "./accounts.ts";
import { auditIsClean } from "./audit.ts";
import { checkCommitted, openCopy, STANDINGS, type Standing, standingsOf } from "./database.ts";
import { checkFiles, type FileTally, sizeOf } from "./files.ts";
import type { Findings } from "./findings.ts";
import type { Killer } from "./killer.ts";
import { type Caller, type Load, startLoad } from "./load.ts";
import { rehearse } from "./rehearsal.ts";
import { checkUpstream, type UpstreamTally } from "./upstream.ts";
import { checkStored, checkThroughApi, type Tally, tallyOf } from "./verify.ts";

/** Between two creates of one client. */
const PAUSE_MS: [number, number] = [20, 110];

/** Rounds for each kill that must come, at most: one that is aimed at an event may miss it, on a busy machine above all. */
const ROUNDS_PER_KILL = 5;

/** What a run is told. */
export interface Torment {
  readonly kills: number;
  readonly seed: number;
  readonly keep: boolean;
  readonly killer: Killer;
  /** Where files lie, if not in the data folder. */
  readonly store?: FileStore | undefined;
  /** What is asked for, if not the usual. */
  readonly rehearse?: typeof rehearse | undefined;
}

/** Another place of files than the data folder. */
export interface FileStore {
  /** Variables of the server. */
  readonly env: Readonly<Record<string, string>>;
  /** From now on nothing goes wrong with it any more. */
  heal(): void;
  /** Looks at everything once the last server has ended. */
  check(place: Pick<Place, "folder" | "dataDir" | "port">, findings: Findings): Promise<FileTally>;
}

export interface Report {
  readonly seed: number;
  readonly kills: Readonly<Record<string, number>>;
  readonly tally: Tally;
  readonly reads: number;
  readonly found: Readonly<Record<Standing, number>>;
  /** Submissions without a recorded outcome at a kill: how many the upstream turned out to have, and not to have. */
  readonly unknownSubmissions: { readonly had: number; readonly never: number };
  readonly readyMs: { readonly median: number; readonly max: number };
  /** From the start of a process to the first end of a task it found. */
  readonly firstEndMs: { readonly median: number; readonly max: number };
  readonly settledInMs: number;
  readonly files: FileTally;
  readonly upstream: UpstreamTally;
  readonly database: { readonly files: number; readonly bytes: number };
  readonly elapsedMs: number;
  readonly dataDir: string;
}

/** What is seen while the server is killed over and over. */
interface Ordeal {
  readonly kills: Record<string, number>;
  readonly found: Record<Standing, number>;
  readonly unknownAttempts: Set<string>;
  readonly readyMs: number[];
  readonly firstEndMs: number[];
}

export interface Place {
  readonly folder: string;
  readonly env: Readonly<Record<string, string>>;
  readonly dataDir: string;
  readonly port: number;
  readonly logs: string;
  readonly scratch: string;
}

export async function runTorture(options: Torment, findings: Findings): Promise<Report> {
  const startedAtMs = performance.now();
  const folder = emptyFolder("torture");
  const place: Place = {
    folder,
    env: options.store?.env ?? {},
    dataDir: join(folder, "svc-data"),
    port: freePort(),
    logs: emptyFolder("torture-log"),
    scratch: emptyFolder("torture-copy"),
  };
  const callers = await prepare(place);
  const load = startLoad({
    origin: `http://127.0.0.1:${place.port}`,
    seed: options.seed,
    callers,
    pauseMs: PAUSE_MS,
    rehearse: options.rehearse ?? rehearse,
  });
  const ordeal = await killOften(options, place, { load, findings });
  options.store?.heal();
  const { ends, settledInMs } = await letEnd(place, { callers, load, findings });
  const elsewhere = await options.store?.check(place, findings);
  const stored = checkAtRest(place, { ordeal, load, ends, findings }, elsewhere);
  await auditIsClean(place.dataDir, "at rest", findings);
  if (options.keep || findings.all.length > 0) keepFolders();
  return {
    ...stored,
    seed: options.seed,
    kills: ordeal.kills,
    tally: tallyOf(load.creations, ends),
    reads: load.reads(),
    found: ordeal.found,
    readyMs: summary(ordeal.readyMs),
    firstEndMs: summary(ordeal.firstEndMs),
    settledInMs,
    elapsedMs: performance.now() - startedAtMs,
    dataDir: place.dataDir,
  };
}

function launch({ folder, dataDir, port, logs, env }: Place, via: readonly string[] = []): Server {
  return spawnServer({ folder, dataDir, port, logs, via, env });
}

/** A first, quiet run: accounts and keys. */
async function prepare(place: Place): Promise<Caller[]> {
  const server = launch(place);
  await server.ready();
  const callers = await openCallers(server);
  await server.stop();
  return callers;
}

async function killOften(
  options: Torment,
  place: Place,
  { load, findings }: { load: Load; findings: Findings },
): Promise<Ordeal> {
  const ordeal: Ordeal = {
    kills: Object.fromEntries(options.killer.kinds.map((kind) => [kind, 0])),
    found: Object.fromEntries(STANDINGS.map((name) => [name, 0])) as Record<Standing, number>,
    unknownAttempts: new Set(),
    readyMs: [],
    firstEndMs: [],
  };
  let orphans: readonly string[] = [];
  let hits = 0;
  for (let round = 1; hits < options.kills && round <= options.kills * ROUNDS_PER_KILL; round++) {
    const { via, end } = options.killer.next(place.dataDir);
    const server = launch(place, via);
    const startedAt = Date.now();
    const killed = await end(server, load.nextCreate);
    ordeal.kills[killed.kind] = (ordeal.kills[killed.kind] ?? 0) + 1;
    if (killed.hasMissed !== true) hits++;
    if (killed.readyInMs !== undefined) ordeal.readyMs.push(killed.readyInMs);
    const firstEnd = firstEndOf(server.stderr(), orphans, startedAt);
    if (firstEnd !== undefined) ordeal.firstEndMs.push(firstEnd);
    orphans = look(place, `after kill ${round}`, ordeal, findings);
    load.backlog(orphans.length);
    if (round % 20 === 0) process.stdout.write(`  ${hits} kills, ${findings.all.length} findings\n`);
    clearLogs(place);
  }
  return ordeal;
}

/** Looks at what the killed process had committed. @returns the tasks it left unfinished */
function look(place: Place, where: string, ordeal: Ordeal, findings: Findings): string[] {
  using db = openCopy(join(place.dataDir, "svc.db"), place.scratch);
  checkCommitted(db, where, findings);
  const { counts, unknownAttempts, live } = standingsOf(db);
  for (const name of STANDINGS) ordeal.found[name] += counts[name];
  for (const id of unknownAttempts) ordeal.unknownAttempts.add(id);
  return live;
}

/** A last start, without any kill: every question is asked to its end, every task let run to its own. */
async function letEnd(place: Place, to: { callers: readonly Caller[]; load: Load; findings: Findings }) {
  const server = launch(place);
  await server.ready();
  const readyAtMs = performance.now();
  await to.load.finish();
  const ends = await checkThroughApi(server.url, to);
  const settledInMs = performance.now() - readyAtMs;
  for (const surprise of to.load.surprises) to.findings.add(surprise);
  const exitCode = await server.stop();
  to.findings.check(
    exitCode === 0,
    () => `the last server ended with exit code ${exitCode}: ${server.stderr().slice(-2_000)}`,
  );
  return { ends, settledInMs };
}

function checkAtRest(
  place: Place,
  seen: { ordeal: Ordeal; load: Load; ends: Awaited<ReturnType<typeof letEnd>>["ends"]; findings: Findings },
  elsewhere: FileTally | undefined,
): Pick<Report, "files" | "upstream" | "database" | "unknownSubmissions"> {
  const { findings } = seen;
  using db = inWords(new Database(join(place.dataDir, "svc.db"), { strict: true }));
  checkCommitted(db, "at rest", findings);
  checkStored(db, seen, findings);
  const ids = [...seen.ordeal.unknownAttempts];
  const kills = Object.values(seen.ordeal.kills).reduce((sum, count) => sum + count, 0);
  const state = db.query<{ state: string }, [string]>("SELECT state FROM attempt WHERE id = ?");
  const never = ids.filter((id) => state.get(id)?.state === "rejected").length;
  return {
    files: elsewhere ?? checkFiles(db, join(place.dataDir, "assets"), kills, findings),
    upstream: checkUpstream(place.dataDir, db, findings),
    database: sizeOf(place.dataDir),
    unknownSubmissions: { had: ids.length - never, never },
  };
}

/** How long after the start the first task that an earlier process had left came to its end, by the server's own log. */
function firstEndOf(log: string, orphans: readonly string[], startedAt: number): number | undefined {
  const left = new Set(orphans);
  for (const line of log.split("\n")) {
    if (!/"task (?:completed|failed|cancelled)"/.test(line)) continue;
    const entry: unknown = JSON.parse(line);
    if (typeof entry !== "object" || entry === null || !("task" in entry) || !("time" in entry)) continue;
    if (left.has(String(entry.task))) return new Date(entry.time as string | number).getTime() - startedAt;
  }
  return undefined;
}

function clearLogs(place: Place): void {
  for (const name of ["stdout", "stderr"]) truncateSync(join(place.logs, name));
}

function summary(values: readonly number[]): { median: number; max: number } {
  const sorted = [...values].sort((a, b) => a - b);
  return { median: sorted[Math.floor(sorted.length / 2)] ?? 0, max: sorted.at(-1) ?? 0 };
}
