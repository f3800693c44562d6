import { afterAll, expect, setDefaultTimeout, test } from "bun:test";
import { existsSync, mkdirSync, readFileSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { blocksOf, documents, ROOT, readDocument } from "../docs/blocks.ts";
import { problemsOf, scriptOf } from "../docs/script.ts";
import { cleanEnvironment, emptyFolder, SVC } from "../helpers/server.ts";
import { HAS_POSTGRES } from "../moving/database-servers.ts";
import { needsDatabase, startDocumentedServers } from "./support/documented-servers.ts";

setDefaultTimeout(120_000);

/** Ports that the documents speak of; each run has others in their place. */
const PORTS = ["8787", "8788", "3000", "3001"];
const LIMIT_MS = 120_000;
/** A node that was killed counts as there for ten seconds. */
const LIMIT_OF_NODES_MS = 180_000;

const running = new Set<{ kill(): void }>();
afterAll(() => {
  for (const each of running) each.kill();
});

for (const path of await documents()) {
  const blocks = blocksOf(await readDocument(path));
  if (!blocks.some(({ treatment }) => treatment.kind === "run" || treatment.kind === "background")) continue;
  const script = scriptOf(blocks, process.execPath);
  const ofNodes = needsDatabase(script);
  (ofNodes && !HAS_POSTGRES ? test.skip : test.concurrent)(
    `${path} says what happens`,
    async () => {
      const servers = ofNodes ? await startDocumentedServers() : undefined;
      const ports = new Map(PORTS.map((port) => [port, String(portOfOwn())]));
      for (const [documented, actual] of servers?.ports ?? []) ports.set(documented, actual);
      const folder = folderToRunIn();
      const transcript = await runScript(folder, translated(script, ports), ports);
      await servers?.stop();
      const back = new Map([...ports].map(([documented, actual]) => [actual, documented]));
      const logOf = (line: number) => {
        const log = join(folder, `background-${line}.log`);
        return existsSync(log) ? translated(readFileSync(log, "utf8"), back) : "";
      };
      expect(problemsOf(blocks, translated(transcript, back), logOf)).toEqual([]);
    },
    ofNodes ? LIMIT_OF_NODES_MS : LIMIT_MS,
  );
}

const taken = new Set<number>();

/** A port that no other document has, and below those that systems give to outgoing connections, as minutes may pass before its use. */
function portOfOwn(): number {
  for (;;) {
    const port = 20_000 + Math.floor(Math.random() * 10_000);
    if (taken.has(port) || !isFree(port)) continue;
    taken.add(port);
    return port;
  }
}

function isFree(port: number): boolean {
  try {
    Bun.listen({ hostname: "127.0.0.1", port, socket: { data() {} } }).stop(true);
    return true;
  } catch {
    return false;
  }
}

/** An empty folder in which the executable is where the documents say it is, and the libraries they use are installed. */
function folderToRunIn(): string {
  const folder = emptyFolder("documentation");
  mkdirSync(join(folder, "dist"));
  symlinkSync(SVC, join(folder, "dist/svc"));
  symlinkSync(join(ROOT, "node_modules"), join(folder, "node_modules"));
  return folder;
}

function translated(text: string, ports: ReadonlyMap<string, string>): string {
  return text.replace(/\b\d{4,5}\b/g, (port) => ports.get(port) ?? port);
}

/** Runs a script on a terminal of its own, as a reader would. @returns everything it prints */
async function runScript(
  folder: string,
  script: string,
  ports: ReadonlyMap<string, string>,
): Promise<string> {
  const file = join(folder, "document.sh");
  await Bun.write(file, script);
  const port = ports.get("8787") ?? "";
  let printed = "";
  const decoder = new TextDecoder();
  const child = Bun.spawn(["bash", file], {
    cwd: folder,
    env: cleanEnvironment({
      PATH: `${join(folder, "dist")}:${process.env.PATH}`,
      SVC_PORT: port,
      SVC_SERVER: `http://127.0.0.1:${port}`,
      TERM: "xterm-256color",
    }),
    terminal: {
      cols: 200,
      rows: 50,
      data(_, data) {
        printed += decoder.decode(data, { stream: true });
      },
    },
  });
  running.add(child);
  await child.exited;
  running.delete(child);
  return printed.replaceAll("\r\n", "\n");
}
