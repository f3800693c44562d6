import { join } from "node:path";
import { type FilePack, readPack } from "../../toolkit/file-pack.ts";

/** The console's files, and those that its page loads first. */
export interface ConsoleFiles extends Pick<FilePack, "files"> {
  readonly script: string;
  readonly style: string;
}

/**
 * The pack in the executable. A server that runs from the sources bundles the console in a process of its own.
 *
 * @throws Error when the console cannot be bundled
 */
export async function readConsole(): Promise<ConsoleFiles> {
  const { about, files } = readPack(Bun.isStandaloneExecutable ? await embedded() : await bundled());
  const { script, style } = about;
  if (typeof script !== "string" || typeof style !== "string")
    throw new Error("The console's pack does not say what its page begins with.");
  return { files, script, style };
}

async function embedded(): Promise<Uint8Array<ArrayBuffer>> {
  const { default: path } = await import("virtual:console");
  return Bun.file(path).bytes();
}

async function bundled(): Promise<Uint8Array<ArrayBuffer>> {
  const program = join(import.meta.dir, "../../../cli/build/console.ts");
  const child = Bun.spawn([process.execPath, program], { stdin: "ignore", stdout: "pipe", stderr: "pipe" });
  const [pack, trouble, exitCode] = await Promise.all([
    new Response(child.stdout).arrayBuffer(),
    child.stderr.text(),
    child.exited,
  ]);
  if (exitCode !== 0) throw new Error(`The console cannot be bundled: ${trouble.slice(0, 1000)}`);
  return new Uint8Array(pack);
}
