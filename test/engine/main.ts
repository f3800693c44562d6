/*
 * `bun run engine`: a real sd-server of stable-diffusion.cpp, driven by the compiled service through each of its three APIs. It makes
 * pictures, is cancelled, killed and short of memory; no task may end as done that was not made as asked for, and none may be paid
 * for nothing.
 */
import { existsSync } from "node:fs";
import { keepFolders, SVC, stopServers } from "../helpers/server.ts";
import { type Case, Skip } from "./bench.ts";
import { createEngine, type Engine } from "./engine.ts";
import { FAMILIES, type Family } from "./families.ts";
import { type Options, readOptions, USAGE } from "./options.ts";
import { PICTURE_CASES } from "./picture-cases.ts";
import { openService } from "./service.ts";
import { TROUBLE_CASES } from "./trouble-cases.ts";

const CASES = [...PICTURE_CASES, ...TROUBLE_CASES];
const NAME_WIDTH = 31;
const counts = { passed: 0, failed: 0, skipped: 0 };

// The engine and the servers end with this process, whatever ends it.
for (const signal of ["SIGINT", "SIGTERM"] as const) process.once(signal, () => process.exit(130));

const options = read();
const engine = createEngine(options.engine);
process.exit(await drive(options, engine));

function read(): Options {
  try {
    if (!existsSync(SVC)) throw new Error(`There is no ${SVC}; \`bun run build\` makes it.`);
    return readOptions(process.argv.slice(2));
  } catch (error) {
    process.stderr.write(`${reasonOf(error)}\n\n${USAGE}`);
    process.exit(2);
  }
}

async function drive({ only, keep }: Options, engine: Engine): Promise<number> {
  if (!FAMILIES.some((family) => casesOf(family, only).length > 0)) {
    process.stderr.write(`No case and no provider has any of these in its name: ${only.join(", ")}\n`);
    return 2;
  }
  if (engine.isOurs) engine.spawn();
  try {
    await engine.ready();
  } catch (error) {
    process.stderr.write(`${reasonOf(error)}\n`);
    return 2;
  }
  for (const family of FAMILIES) await driveFamily(family, engine, only);
  await stopServers();
  if (engine.isOurs) await engine.kill();
  if (keep) {
    keepFolders();
    say("\nFolders are left in the one for temporary files; the next run of tests removes them.");
  }
  const skipped = counts.skipped === 0 ? "" : `, ${counts.skipped} skipped`;
  say(`\n${counts.passed} passed, ${counts.failed} failed${skipped}`);
  return counts.failed === 0 ? 0 : 1;
}

async function driveFamily(family: Family, engine: Engine, only: readonly string[]): Promise<void> {
  const cases = casesOf(family, only);
  if (cases.length === 0) return;
  say(`\n${family.title} (provider ${family.provider}, ${family.baseUrl(engine.address)})`);
  const service = await openService(family, engine.address);
  for (const each of cases) await runCase(each, { family, engine, service });
  await service.stop();
}

async function runCase({ name, needsOwn, run }: Case, bench: Parameters<Case["run"]>[0]): Promise<void> {
  try {
    if (needsOwn === true && !bench.engine.isOurs) throw new Skip("the engine was started by somebody else");
    await revive(bench.engine);
    tell("pass", name, await run(bench));
    counts.passed += 1;
  } catch (error) {
    const isSkipped = error instanceof Skip;
    tell(isSkipped ? "skip" : "FAIL", name, reasonOf(error));
    counts[isSkipped ? "skipped" : "failed"] += 1;
  }
}

/** A case that failed may have left the engine dead. */
async function revive(engine: Engine): Promise<void> {
  if (engine.isRunning()) return;
  engine.spawn();
  await engine.ready();
}

function casesOf({ provider }: Family, only: readonly string[]): readonly Case[] {
  const isChosen = (title: string) => only.length === 0 || only.some((word) => title.includes(word));
  return CASES.filter(({ name }) => isChosen(`${provider} ${name}`.toLowerCase()));
}

function tell(result: string, name: string, seen: string): void {
  say(`  ${result}  ${name.padEnd(NAME_WIDTH)} ${seen}`);
}

function reasonOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

function say(line: string): void {
  process.stdout.write(`${line}\n`);
}
