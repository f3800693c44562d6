/*
 * Two machines: a server, and across a wire somebody's laptop with nothing but the executable. Run in new network and mount
 * namespaces, by root, with the commands of the laptop as JSON; tells what each printed as one line of JSON.
 */
import { existsSync, mkdirSync, readlinkSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { cleanEnvironment, emptyFolder, SVC, startServer, stopServers } from "../../helpers/server.ts";

const SERVER = "192.0.2.10";
const LAPTOP = "192.0.2.20";
const PORT = 8787;

export interface Played {
  readonly command: string;
  readonly exitCode: number;
  /** Both streams, as a terminal shows them. */
  readonly output: string;
}

if (import.meta.main) {
  const played = await play(JSON.parse(process.argv[2] ?? "[]"));
  process.stdout.write(`${JSON.stringify(played)}\n`);
  process.exit(0);
}

async function play(commands: readonly string[]): Promise<Played[]> {
  const laptop = await addMachine();
  const server = await startServer({ port: PORT, args: ["--host", "0.0.0.0"] });
  const folder = emptyFolder("laptop");
  const bin = join(folder, "bin");
  mkdirSync(bin);
  symlinkSync(SVC, join(bin, "svc"));
  const made = command(SVC, "tokens", "create", "--name", "laptop", "--plain", "--data-dir", server.dataDir);
  writeFileSync(join(folder, "token.txt"), made);
  const env = cleanEnvironment({ HOME: folder, PATH: `${bin}:${process.env.PATH}` });
  const played = commands.map((line): Played => {
    const shell = ["sh", "-c", `exec 2>&1\n${line}`];
    const { stdout, exitCode } = Bun.spawnSync(["nsenter", "-t", String(laptop.pid), "-n", ...shell], {
      cwd: folder,
      env,
    });
    return { command: line, exitCode, output: stdout.toString() };
  });
  laptop.kill("SIGKILL");
  await stopServers();
  return played;
}

/** A machine of its own on the other end of a wire, with a process that keeps it. */
async function addMachine() {
  const child = Bun.spawn(["unshare", "-n", "sleep", "infinity"], { stdout: "ignore", stderr: "ignore" });
  const own = readlinkSync("/proc/self/ns/net");
  while (existsSync(`/proc/${child.pid}`) && readlinkSync(`/proc/${child.pid}/ns/net`) === own)
    await Bun.sleep(1);
  const inside = (...args: string[]) => command("nsenter", "-t", String(child.pid), "-n", ...args);
  command("ip", "link", "set", "lo", "up");
  command("ip", "link", "add", "wire0", "type", "veth", "peer", "name", "wire1");
  command("ip", "link", "set", "wire1", "netns", String(child.pid));
  command("ip", "addr", "add", `${SERVER}/24`, "dev", "wire0");
  command("ip", "link", "set", "wire0", "up");
  inside("ip", "link", "set", "lo", "up");
  inside("ip", "addr", "add", `${LAPTOP}/24`, "dev", "wire1");
  inside("ip", "link", "set", "wire1", "up");
  return child;
}

function command(...parts: string[]): string {
  const { success, stdout, stderr } = Bun.spawnSync(parts);
  if (!success) throw new Error(`${parts.join(" ")}: ${stderr.toString()}`);
  return stdout.toString();
}
